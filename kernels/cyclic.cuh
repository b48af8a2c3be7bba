// Cyclic tridiagonal systems L_i x_{i-1} + D_i x_i + U_i x_{i+1} = f_i with scalar or 2x2 entries,
// solved by all blocks of two launches of one shape: `eliminate_cyclic`, then `solve_cyclic`.
//
// Partition method on two levels. Each thread eliminates the inner points of its chunk,
// x_i = g_i - P_i x_before - Q_i x_kept, where x_kept is the last point of its chunk and x_before that
// of the chunk before. The kept points of a block but the last are a chain between two points that
// the blocks keep; parallel cyclic reduction couples each with nothing but those two. The points that
// the blocks keep are a ring, which every block solves for itself by parallel cyclic reduction in the second
// launch: blocks, like threads, are a power of two, so that each couples with itself in the end.
#pragma once
#include "common.cuh"

// Scalars of double modules and blocks are entries alike.
__device__ inline double inverse(double a) { return 1.0 / a; }
__device__ inline double identity(double) { return 1.0; }
__device__ inline Block identity(const Block&) { return diagonal(1); }
__device__ inline double nothing(double) { return 0.0; }
__device__ inline Pair nothing(Pair) { return pair(0, 0); }

// One row.
template <class M, class V>
struct CyclicRow {
    M lower, centre, upper;
    V right;
};

// Intermediate results between the launches: n points, a row for each thread of all blocks, a row for
// each block.
template <class M, class V>
struct CyclicWorkspace {
    EliminatedPoint<M, V>* points;
    ReducedRow<M, V>* chunks;
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

// points[i] <- x_i of the inner points of a chunk.
template <class M, class V, class Row>
__device__ void eliminate_chunk(const Chunk& chunk, const Row& row, EliminatedPoint<M, V>* points) {
    const M one = identity(M()), zero = one - one;
    EliminatedPoint<M, V> before;
    for (uint32 i = chunk.begin; i < chunk.last; ++i) {
        const CyclicRow<M, V> r = row(i);
        EliminatedPoint<M, V> here;
        M pivot = r.centre;
        here.g = r.right;
        here.p = r.lower;
        if (i > chunk.begin) {
            pivot = pivot - r.lower * before.q;
            here.g = here.g - r.lower * before.g;
            here.p = zero - r.lower * before.p;
        }
        pivot = inverse(pivot);
        here.g = pivot * here.g;
        here.p = pivot * here.p;
        here.q = pivot * r.upper;
        points[i] = here;
        before = here;
    }
    if (chunk.begin == chunk.last) return;
    for (uint32 i = chunk.last - 1; i-- > chunk.begin;) {
        const EliminatedPoint<M, V> after = before;
        before = points[i];
        before.g = before.g - before.q * after.g;
        before.p = before.p - before.q * after.p;
        before.q = zero - before.q * after.q;
        points[i] = before;
    }
}

// First launch: the rows are row(i), i < n, at least as many as threads. `kept` (shared) holds one row
// per thread. All threads of at least two call it.
template <class M, class V, class Row>
__device__ void eliminate_cyclic(uint32 n, const Row& row, const CyclicWorkspace<M, V>& workspace,
                               ReducedRow<M, V>* kept) {
    const uint32 t = threadIdx.x, links = blockDim.x - 1;
    const Chunk chunk = chunk_of(n, thread_index());
    const M one = identity(M()), zero = one - one;
    eliminate_chunk(chunk, row, workspace.points);
    __syncthreads();

    // The row of the kept point, without the point before it.
    const CyclicRow<M, V> r = row(chunk.last);
    M left = r.lower, centre = r.centre;
    V right = r.right;
    if (chunk.begin < chunk.last) {
        const EliminatedPoint<M, V> west = workspace.points[chunk.last - 1];
        left = zero - r.lower * west.p;
        centre = centre - r.lower * west.q;
        right = right - r.lower * west.g;
    }
    ReducedRow<M, V> mine;
    if (t < links) {
        // The point after it: an inner one, or the kept one where the chunk has no other.
        const Chunk next = chunk_of(n, thread_index() + 1);
        M pivot = centre, beyond = r.upper;
        if (next.begin < next.last) {
            const EliminatedPoint<M, V> east = workspace.points[next.begin];
            pivot = pivot - r.upper * east.p;
            right = right - r.upper * east.g;
            beyond = zero - r.upper * east.q;
        }
        pivot = inverse(pivot);
        mine.lower = pivot * left;
        mine.upper = pivot * beyond;
        mine.right = pivot * right;
        kept[t] = mine;
    }
    __syncthreads();
    // At each end of the chain a row keeps its coupling with the point that a block keeps.
    for (uint32 step = 1; step < links; step *= 2) {
        if (t < links) {
            ReducedRow<M, V> next = mine;
            M pivot = one;
            if (t >= step) {
                const ReducedRow<M, V> west = kept[t - step];
                pivot = pivot - mine.lower * west.upper;
                next.right = next.right - mine.lower * west.right;
                next.lower = zero - mine.lower * west.lower;
            }
            if (t + step < links) {
                const ReducedRow<M, V> east = kept[t + step];
                pivot = pivot - mine.upper * east.lower;
                next.right = next.right - mine.upper * east.right;
                next.upper = zero - mine.upper * east.upper;
            }
            pivot = inverse(pivot);
            mine.lower = pivot * next.lower;
            mine.upper = pivot * next.upper;
            mine.right = pivot * next.right;
        }
        __syncthreads();
        if (t < links) kept[t] = mine;
        __syncthreads();
    }

    KeptRow<M, V>& block_row = workspace.block_rows[blockIdx.x];
    if (t < links) {
        workspace.chunks[thread_index()] = mine;
    } else {
        const ReducedRow<M, V> before = kept[links - 1];
        block_row.lower = zero - left * before.lower;
        block_row.centre = centre - left * before.upper;
        block_row.upper = r.upper;
        block_row.right = right - left * before.right;
    }
    if (t == 0) {
        EliminatedPoint<M, V> first;
        first.g = mine.right;
        first.p = mine.lower;
        first.q = mine.upper;
        if (chunk.begin < chunk.last) {
            const EliminatedPoint<M, V> inner = workspace.points[chunk.begin];
            first.g = inner.g - inner.q * mine.right;
            first.p = inner.p - inner.q * mine.lower;
            first.q = zero - inner.q * mine.upper;
        }
        block_row.first = first;
    }
}

// Second launch: take(i, x_i) for all points, each by the thread of its chunk. No more blocks than
// threads of a block.
template <class M, class V, class Take>
__device__ void solve_cyclic(uint32 n, const CyclicWorkspace<M, V>& workspace, ReducedRow<M, V>* kept,
                           const Take& take) {
    const uint32 t = threadIdx.x, blocks = gridDim.x, last_block = blocks - 1;
    const Chunk chunk = chunk_of(n, thread_index());
    const M one = identity(M()), zero = one - one;
    ReducedRow<M, V> mine;
    if (t < blocks) {
        const KeptRow<M, V> block_row = workspace.block_rows[t];
        const EliminatedPoint<M, V> east = workspace.block_rows[(t + 1) & last_block].first;
        const M pivot = inverse(block_row.centre - block_row.upper * east.p);
        mine.right = pivot * (block_row.right - block_row.upper * east.g);
        mine.lower = pivot * block_row.lower;
        mine.upper = zero - pivot * (block_row.upper * east.q);
        kept[t] = mine;
    }
    __syncthreads();
    for (uint32 step = 1; step < blocks; step *= 2) {
        if (t < blocks) {
            const ReducedRow<M, V> west = kept[(t + blocks - step) & last_block];
            const ReducedRow<M, V> east = kept[(t + step) & last_block];
            const M pivot = inverse(one - mine.lower * west.upper - mine.upper * east.lower);
            mine.right = pivot * (mine.right - mine.lower * west.right - mine.upper * east.right);
            mine.lower = zero - pivot * (mine.lower * west.lower);
            mine.upper = zero - pivot * (mine.upper * east.upper);
        }
        __syncthreads();
        if (t < blocks) kept[t] = mine;
        __syncthreads();
    }
    // Both neighbours of a kept point are now the point itself.
    if (t < blocks) kept[t].right = inverse(one + mine.lower + mine.upper) * mine.right;
    __syncthreads();
    const V here = kept[blockIdx.x].right;
    V before = kept[(blockIdx.x + last_block) & last_block].right;
    __syncthreads();
    V value = here;
    if (t + 1 < blockDim.x) {
        const ReducedRow<M, V> row = workspace.chunks[thread_index()];
        value = row.right - row.lower * before - row.upper * here;
    }
    kept[t].right = value;
    __syncthreads();
    if (t > 0) before = kept[t - 1].right;
    for (uint32 i = chunk.begin; i < chunk.last; ++i) {
        const EliminatedPoint<M, V> inner = workspace.points[i];
        take(i, inner.g - inner.p * before - inner.q * value);
    }
    take(chunk.last, value);
}
