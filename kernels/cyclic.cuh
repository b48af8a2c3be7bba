// Cyclic tridiagonal systems L_i x_{i-1} + D_i x_i + U_i x_{i+1} = f_i with scalar or 2x2 entries, solved by all blocks
// of a launch: `eliminate_cyclic`, then, when all blocks have done it, `solve_cyclic`.
//
// Partition method on two levels. Each thread eliminates the inner points of its chunk, x_i = g_i - P_i x_before - Q_i
// x_kept, where x_kept is the last point of its chunk and x_before that of the chunk before. The kept points of a block
// but the last are a chain between two points that blocks keep: a step of cyclic reduction eliminates every second of
// them, and parallel cyclic reduction couples the others with nothing but those two. The points that blocks keep are a
// ring, which every block solves by parallel cyclic reduction in the second part. Blocks, like threads, are a power of
// two.
#pragma once
#include "common.cuh"

// 1 / a to an ulp or two for what is neither zero nor out of range: without the branch of a division, whose latency is
// most of a reduction's step.
__device__ inline double reciprocal(double a) {
#ifdef FIBERS
    return 1.0 / a;
#else
    double r;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(a));
    r = fma(r, fma(-a, r, 1.0), r);
    return fma(r, fma(-a, r, 1.0), r);
#endif
}

// Scalars of double modules and blocks are entries alike.
__device__ inline double inverted(double a) { return reciprocal(a); }
__device__ inline Block inverted(const Block& a) {
    const double s = reciprocal(a.xx * a.yy - a.xy * a.yx);
    return block(s * a.yy, -s * a.xy, -s * a.yx, s * a.xx);
}
__device__ inline double identity(double) { return 1.0; }
__device__ inline Block identity(const Block&) { return diagonal(1); }

// One row.
template <class M, class V>
struct CyclicRow {
    M lower, centre, upper;
    V right;
};

// Intermediate results between the two parts: n points, and a row for each block.
template <class M, class V>
struct CyclicWorkspace {
    EliminatedPoint<M, V>* points;
    KeptRow<M, V>* block_rows;
};

// Points of a chunk: inner ones from `begin`, then the kept one.
struct Chunk {
    uint32 begin, last;
};

__device__ inline Chunk chunk_of(uint32 n, uint64 t) {
    const uint64 chunks = thread_count();
    return {uint32(t * n / chunks), uint32((t + 1) * n / chunks) - 1};
}

// The chunk of a thread, that of the next one, and the first point of the block, among n points.
struct ThreadChunks {
    Chunk own, next;
    uint32 first;

    __device__ explicit ThreadChunks(uint32 n) {
        own = chunk_of(n, thread_index());
        next = chunk_of(n, thread_index() + 1);
        first = chunk_of(n, uint64(blockIdx.x) * blockDim.x).begin;
    }
};

// points[i] <- x_i of the inner points of a chunk; returns the row of its kept point. `row` is called at one place, as
// it is most of what there is to compile.
template <class M, class V, class Row>
__device__ CyclicRow<M, V> eliminate_chunk(const Chunk& chunk, const Row& row, EliminatedPoint<M, V>* points) {
    const M one = identity(M()), zero = one - one;
    EliminatedPoint<M, V> before;
    CyclicRow<M, V> r;
    for (uint32 i = chunk.begin;; ++i) {
        r = row(i);
        if (i == chunk.last) break;
        EliminatedPoint<M, V> here;
        M pivot = r.centre;
        here.g = r.right;
        here.p = r.lower;
        if (i > chunk.begin) {
            pivot = pivot - r.lower * before.q;
            here.g = here.g - r.lower * before.g;
            here.p = zero - r.lower * before.p;
        }
        pivot = inverted(pivot);
        here.g = pivot * here.g;
        here.p = pivot * here.p;
        here.q = pivot * r.upper;
        points[i] = here;
        before = here;
    }
    if (chunk.begin == chunk.last) return r;
    for (uint32 i = chunk.last - 1; i-- > chunk.begin;) {
        const EliminatedPoint<M, V> after = before;
        before = points[i];
        before.g = before.g - before.q * after.g;
        before.p = before.p - before.q * after.p;
        before.q = zero - before.q * after.q;
        points[i] = before;
    }
    return r;
}

// `row` without its neighbours: their rows couple it with the points behind them.
template <class M, class V>
__device__ inline ReducedRow<M, V> joined(const ReducedRow<M, V>& west, const ReducedRow<M, V>& row,
                                          const ReducedRow<M, V>& east) {
    const M one = identity(M()), zero = one - one;
    const M pivot = inverted(one - row.lower * west.upper - row.upper * east.lower);
    ReducedRow<M, V> joined;
    joined.right = pivot * (row.right - row.lower * west.right - row.upper * east.right);
    joined.lower = zero - pivot * (row.lower * west.lower);
    joined.upper = zero - pivot * (row.upper * east.upper);
    return joined;
}

// The rows that a thread keeps of the first part: that of its own kept point; and that of the kept point of thread
// 2 t + 1, if the block has it, which couples it with the points that blocks keep.
template <class M, class V>
struct ThreadRows {
    ReducedRow<M, V> own, reduced;
};

// First part: the rows are row(i), at least as many as threads. `kept` (shared) holds one row
// per thread. All threads of at least four call it.
template <class M, class V, class Row>
__device__ ThreadRows<M, V> eliminate_cyclic(const ThreadChunks& chunks, const Row& row,
                                             const CyclicWorkspace<M, V>& workspace, ReducedRow<M, V>* kept) {
    const uint32 t = threadIdx.x, links = blockDim.x - 1, odd = links / 2;
    const Chunk chunk = chunks.own;
    const M one = identity(M()), zero = one - one;
    const CyclicRow<M, V> r = eliminate_chunk(chunk, row, workspace.points);
    __syncthreads();

    // The row of the kept point, without the point before it.
    M left = r.lower, centre = r.centre;
    V right = r.right;
    if (chunk.begin < chunk.last) {
        const EliminatedPoint<M, V> west = workspace.points[chunk.last - 1];
        left = zero - r.lower * west.p;
        centre = centre - r.lower * west.q;
        right = right - r.lower * west.g;
    }
    ReducedRow<M, V> own, mine;
    if (t < links) {
        // The point after it: an inner one, or the kept one where the chunk has no other.
        const Chunk next = chunks.next;
        M pivot = centre, beyond = r.upper;
        if (next.begin < next.last) {
            const EliminatedPoint<M, V> east = workspace.points[next.begin];
            pivot = pivot - r.upper * east.p;
            right = right - r.upper * east.g;
            beyond = zero - r.upper * east.q;
        }
        pivot = inverted(pivot);
        own.lower = pivot * left;
        own.upper = pivot * beyond;
        own.right = pivot * right;
        kept[t] = own;
    }
    __syncthreads();
    // The kept points of even threads are eliminated; the first `odd` threads reduce those of the others.
    if (t < odd) mine = joined(kept[2 * t], kept[2 * t + 1], kept[2 * t + 2]);
    if (t == links) {
        const ReducedRow<M, V> even = kept[links - 1];
        right = right - left * even.right;
        centre = centre - left * even.upper;
        left = zero - left * even.lower;
    }
    __syncthreads();
    if (t < odd) kept[t] = mine;
    __syncthreads();
    // At each end of the chain a row keeps its coupling with the point that a block keeps.
    for (uint32 step = 1; step < odd; step *= 2) {
        if (t < odd) {
            ReducedRow<M, V> next = mine;
            M pivot = one;
            if (t >= step) {
                const ReducedRow<M, V> west = kept[t - step];
                pivot = pivot - mine.lower * west.upper;
                next.right = next.right - mine.lower * west.right;
                next.lower = zero - mine.lower * west.lower;
            }
            if (t + step < odd) {
                const ReducedRow<M, V> east = kept[t + step];
                pivot = pivot - mine.upper * east.lower;
                next.right = next.right - mine.upper * east.right;
                next.upper = zero - mine.upper * east.upper;
            }
            pivot = inverted(pivot);
            mine.lower = pivot * next.lower;
            mine.upper = pivot * next.upper;
            mine.right = pivot * next.right;
        }
        __syncthreads();
        if (t < odd) kept[t] = mine;
        __syncthreads();
    }

    KeptRow<M, V>& block_row = workspace.block_rows[blockIdx.x];
    if (t == links) {
        const ReducedRow<M, V> before = kept[odd - 1];
        block_row.lower = zero - left * before.lower;
        block_row.centre = centre - left * before.upper;
        block_row.upper = r.upper;
        block_row.right = right - left * before.right;
    }
    if (t == 0) {
        EliminatedPoint<M, V> first;
        first.g = own.right - own.upper * mine.right;
        first.p = own.lower - own.upper * mine.lower;
        first.q = zero - own.upper * mine.upper;
        if (chunk.begin < chunk.last) {
            const EliminatedPoint<M, V> inner = workspace.points[chunk.begin];
            first.g = inner.g - inner.q * first.g;
            first.p = inner.p - inner.q * first.p;
            first.q = zero - inner.q * first.q;
        }
        block_row.first = first;
    }
    return {own, mine};
}

// Second part: take(i, x_i) for all points, each by the thread of its chunk. No more blocks than
// threads of a block or of a warp.
template <class M, class V, class Take>
__device__ void solve_cyclic(const ThreadChunks& chunks, const CyclicWorkspace<M, V>& workspace,
                             const ThreadRows<M, V>& rows, ReducedRow<M, V>* kept, const Take& take) {
    const uint32 t = threadIdx.x, blocks = gridDim.x, last_block = blocks - 1;
    const Chunk chunk = chunks.own;
    const M one = identity(M()), zero = one - one;
    // The ring of the blocks, by the first warp.
    if (t < WARP) {
        ReducedRow<M, V> mine;
        if (t < blocks) {
            const KeptRow<M, V> block_row = workspace.block_rows[t];
            const EliminatedPoint<M, V> east = workspace.block_rows[(t + 1) & last_block].first;
            const M pivot = inverted(block_row.centre - block_row.upper * east.p);
            mine.right = pivot * (block_row.right - block_row.upper * east.g);
            mine.lower = pivot * block_row.lower;
            mine.upper = zero - pivot * (block_row.upper * east.q);
            kept[t] = mine;
        }
        __syncwarp();
        for (uint32 step = 1; step < blocks; step *= 2) {
            if (t < blocks)
                mine = joined(kept[(t + blocks - step) & last_block], mine, kept[(t + step) & last_block]);
            __syncwarp();
            if (t < blocks) kept[t] = mine;
            __syncwarp();
        }
        // Both neighbours of a kept point are now the point itself.
        if (t < blocks) kept[t].right = inverted(one + mine.lower + mine.upper) * mine.right;
    }
    __syncthreads();
    const V here = kept[blockIdx.x].right;
    V before = kept[(blockIdx.x + last_block) & last_block].right;
    __syncthreads();
    // The kept points of odd threads, then those of even ones between them.
    const uint32 half = blockDim.x / 2, pair = t / 2;
    const ReducedRow<M, V>&own = rows.own, &reduced = rows.reduced;
    if (t + 1 < half) kept[t].right = reduced.right - reduced.lower * before - reduced.upper * here;
    if (t + 1 == half) kept[t].right = here;
    __syncthreads();
    V value = kept[pair].right;
    if (pair > 0) before = kept[pair - 1].right;
    if (t % 2 == 0) kept[half + pair].right = value = own.right - own.lower * before - own.upper * value;
    __syncthreads();
    if (t % 2 == 1) before = kept[half + pair].right;
    for (uint32 i = chunk.begin; i <= chunk.last; ++i) {
        V x = value;
        if (i < chunk.last) {
            const EliminatedPoint<M, V> inner = workspace.points[i];
            x = inner.g - inner.p * before - inner.q * value;
        }
        take(i, x);
    }
}
