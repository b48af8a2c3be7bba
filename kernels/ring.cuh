// Cyclic tridiagonal systems L_i x_{i-1} + D_i x_i + U_i x_{i+1} = f_i, solved by one block, with
// scalar or 2x2 entries.
//
// Partition method: each thread eliminates the inner points of its chunk, x_i = g_i - P_i x_before -
// Q_i x_kept, where x_kept is the last point of its chunk and x_before that of the chunk before.
// The kept points form a smaller ring, solved by parallel cyclic reduction: their number is a
// power of two, so that each couples with nothing but itself in the end.
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
struct RingRow {
    M lower, centre, upper;
    V right;
};

// An eliminated point: x = g - p x_before - q x_kept.
template <class M, class V>
struct Eliminated {
    V g;
    M p, q;
};

// A row of the ring of kept points, its diagonal 1.
template <class M, class V>
struct KeptRow {
    M lower, upper;
    V right;
};

// Chunks of a ring of n points for a block of `threads`: a power of two, at most n / 2.
__device__ inline uint32 ring_chunks(uint32 n, uint32 threads) {
    uint32 chunks = 1;
    while (2 * chunks <= threads && 4 * chunks <= n) chunks *= 2;
    return chunks;
}

// solution <- the solution of the ring whose rows are row(i). `eliminated` has room for n points,
// `kept` (shared) for a row a thread. All threads of the block call it.
template <class M, class V, class Row>
__device__ void solve_ring(uint32 n, const Row& row, Eliminated<M, V>* eliminated,
                           KeptRow<M, V>* kept, V* solution) {
    const uint32 t = threadIdx.x, chunks = ring_chunks(n, blockDim.x);
    const bool active = t < chunks;
    const uint32 begin = uint32(uint64(t) * n / chunks);
    const uint32 last = uint32(uint64(t + 1) * n / chunks) - 1;
    const M one = identity(M());
    const M zero = one - one;

    if (active && begin < last) {
        Eliminated<M, V> before;
        for (uint32 i = begin; i < last; ++i) {
            const RingRow<M, V> r = row(i);
            Eliminated<M, V> here;
            M pivot = r.centre;
            here.g = r.right;
            here.p = r.lower;
            if (i > begin) {
                pivot = pivot - r.lower * before.q;
                here.g = here.g - r.lower * before.g;
                here.p = zero - r.lower * before.p;
            }
            pivot = inverse(pivot);
            here.g = pivot * here.g;
            here.p = pivot * here.p;
            here.q = pivot * r.upper;
            eliminated[i] = here;
            before = here;
        }
        for (uint32 i = last - 1; i-- > begin;) {
            const Eliminated<M, V> after = before;
            before = eliminated[i];
            before.g = before.g - before.q * after.g;
            before.p = before.p - before.q * after.p;
            before.q = zero - before.q * after.q;
            eliminated[i] = before;
        }
    }
    __syncthreads();

    KeptRow<M, V> mine;
    if (active) {
        const RingRow<M, V> r = row(last);
        const uint32 next = last + 1 == n ? 0 : last + 1;
        const uint32 next_chunk = t + 1 == chunks ? 0 : t + 1;
        const uint32 next_last = uint32(uint64(next_chunk + 1) * n / chunks) - 1;
        // The points beside the kept one: inner points, or kept ones where a chunk has but one.
        Eliminated<M, V> west, east;
        if (begin < last) {
            west = eliminated[last - 1];
        } else {
            west.g = nothing(V());
            west.p = zero - one;
            west.q = zero;
        }
        if (next < next_last) {
            east = eliminated[next];
        } else {
            east.g = nothing(V());
            east.p = zero;
            east.q = zero - one;
        }
        const M pivot = inverse(r.centre - r.lower * west.q - r.upper * east.p);
        mine.right = pivot * (r.right - r.lower * west.g - r.upper * east.g);
        mine.lower = zero - pivot * (r.lower * west.p);
        mine.upper = zero - pivot * (r.upper * east.q);
        kept[t] = mine;
    }
    __syncthreads();
    for (uint32 step = 1; step < chunks; step *= 2) {
        if (active) {
            const KeptRow<M, V> west = kept[(t + chunks - step) & (chunks - 1)];
            const KeptRow<M, V> east = kept[(t + step) & (chunks - 1)];
            const M pivot = inverse(one - mine.lower * west.upper - mine.upper * east.lower);
            mine.right = pivot * (mine.right - mine.lower * west.right - mine.upper * east.right);
            const M lower = zero - pivot * (mine.lower * west.lower);
            mine.upper = zero - pivot * (mine.upper * east.upper);
            mine.lower = lower;
        }
        __syncthreads();
        if (active) kept[t] = mine;
        __syncthreads();
    }
    // Both neighbours of a kept point are now the point itself.
    if (active) {
        mine.right = inverse(one + mine.lower + mine.upper) * mine.right;
        kept[t].right = mine.right;
        solution[last] = mine.right;
    }
    __syncthreads();
    if (active) {
        const V before = kept[(t + chunks - 1) & (chunks - 1)].right;
        for (uint32 i = begin; i < last; ++i)
            solution[i] = eliminated[i].g - eliminated[i].p * before - eliminated[i].q * mine.right;
    }
    __syncthreads();
}
