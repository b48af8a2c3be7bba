// The reduced system of the wall terms: block-tridiagonal, three blocks a point: inverse pivot D, D U, and L.
#include "common.cuh"

// Row i of the tridiagonal matrix with these answers to the probes: the diagonal block and that on both sides of it.
__device__ inline void probed(const Pair* even_p, const Pair* even_q, const Pair* odd_p,
                              const Pair* odd_q, uint32 walls, uint32 i, Block& centre,
                              Block& beside) {
    const real sign = i % 2 ? real(-1) : real(1);
    const Block a = block(even_p[i].x, even_q[i].x, even_p[i].y, even_q[i].y);
    const Block b = sign * block(odd_p[i].x, odd_q[i].x, odd_p[i].y, odd_q[i].y);
    const real share = i == 0 || i + 1 == walls ? real(0.5) : real(0.25);
    beside = share * (a - b);
    centre = real(0.5) * (a + b);
}

// s <- factors of that matrix: D_i = (C_i - L_i D_{i-1} U_{i-1})^-1. first <- the first point whose pivot is singular.
// One warp: its threads fetch the answers of the next points while one eliminates.
KERNEL(factor_wall, uint32 walls, const Pair* even_p, const Pair* even_q, const Pair* odd_p,
       const Pair* odd_q, Block* s, uint64* first) {
    __shared__ Block centres[WARP], besides[WARP];
    Block carried = diagonal(0);
    bool singular = false;
    for (uint32 start = 0; start < walls; start += WARP) {
        const uint32 mine = start + threadIdx.x;
        __syncthreads();
        if (mine < walls)
            probed(even_p, even_q, odd_p, odd_q, walls, mine, centres[threadIdx.x], besides[threadIdx.x]);
        __syncthreads();
        if (threadIdx.x > 0) continue;
        for (uint32 i = start; i < walls && i < start + WARP && !singular; ++i) {
            const Block beside = besides[i - start];
            const Block pivot = inverse(centres[i - start] - beside * carried);
            if (!is_finite(pivot)) {
                *first = i;
                singular = true;
            }
            carried = i + 1 == walls ? diagonal(0) : pivot * beside;
            Block* out = s + 3 * uint64(i);
            out[0] = pivot;
            out[1] = carried;
            out[2] = i == 0 ? diagonal(0) : beside;
        }
    }
}

// d <- S^-1 z over the leading points; the rest of d is as it was.
//
// Both recurrences, y_i = D_i (z_i - L_i y_{i-1}) and d_i = y_i - (D U)_i d_{i+1}, are affine maps of
// the value before. Each thread of one block composes the maps of its chunk, the block scans the
// chunks' maps, and each thread goes through its chunk again with the right start.
// Value that comes out of all chunks before this thread's, in the order of the threads.
__device__ Pair scan_chunks(Affine map, Affine* shared) {
    const uint32 t = threadIdx.x, n = blockDim.x;
    shared[t] = map;
    __syncthreads();
    for (uint32 step = 1; step < n; step *= 2) {
        const bool has = t >= step;
        Affine before;
        if (has) before = shared[t - step];
        __syncthreads();
        if (has) {
            map = compose(map, before);
            shared[t] = map;
        }
        __syncthreads();
    }
    const Pair value = t > 0 ? shared[t - 1].b : pair(0, 0);
    __syncthreads();
    return value;
}

KERNEL(solve_wall, uint32 walls, const Block* factors, const Pair* right, Pair* result) {
    DYNAMIC_SHARED(Affine, shared);
    const uint32 chunk = (walls + blockDim.x - 1) / blockDim.x;
    const uint32 begin = min(threadIdx.x * chunk, walls), end = min(begin + chunk, walls);

    Affine map = {diagonal(1), pair(0, 0)};
    for (uint32 i = begin; i < end; ++i) {
        const Block pivot = factors[3 * i], lower = factors[3 * i + 2];
        const Affine step = {real(-1) * (pivot * lower), pivot * right[i]};
        map = compose(step, map);
    }
    Pair value = scan_chunks(map, shared);
    for (uint32 i = begin; i < end; ++i) {
        value = factors[3 * i] * (right[i] - factors[3 * i + 2] * value);
        result[i] = value;
    }

    // Backward: thread t takes the chunk that the threads before it in reversed order precede.
    const uint32 r = blockDim.x - 1 - threadIdx.x;
    const uint32 last = min((r + 1) * chunk, walls), top = min(r * chunk, walls);
    __syncthreads();
    map.a = diagonal(1);
    map.b = pair(0, 0);
    for (uint32 i = last; i-- > top;) {
        const Affine step = {real(-1) * factors[3 * i + 1], result[i]};
        map = compose(step, map);
    }
    value = scan_chunks(map, shared);
    for (uint32 i = last; i-- > top;) {
        value = result[i] - factors[3 * i + 1] * value;
        result[i] = value;
    }
}
