// Folds over the entries of rows, some of which wait for values that other warps find at the same time.
#pragma once

#include "slices.cuh"

// Entries of a row that a lane waits for at the same time. More take registers from those that do the waiting.
#define PENDING 8

__device__ inline double product(double a, double b) { return __dmul_rn(a, b); }
__device__ inline float product(float a, float b) { return __fmul_rn(a, b); }

// Rows of a pattern as long as this are taken by whole warps.
#define LONG_ROW 64u

// The row of this lane whose entries of a pattern begin and end at ends(); no row unless it is `mine`.
template <class Ends>
__device__ inline Row pattern_row(bool mine, const Ends& ends) {
    Row row = {mine, 0, 1, 0, false};
    if (!mine) return row;
    const Two<uint32> at = ends();
    row.at = at.x;
    row.length = at.y - at.x;
    row.large = row.length > LONG_ROW;
    return row;
}

// Sum of coefficients times values.
struct Weighted {
    typedef real type;
    const real* values;

    __device__ real start() const { return 0; }
    __device__ real coefficient(uint64 at) const { return values[at]; }
    // Not fused with the sum, which would depend on how the entries are gone through.
    __device__ real term(real coefficient, real x) const { return product(coefficient, x); }
    __device__ real join(real a, real b) const { return a + b; }
};

// The largest of some numbers.
struct Largest {
    typedef uint32 type;

    __device__ uint32 start() const { return 0; }
    __device__ uint32 coefficient(uint64) const { return 0; }
    __device__ uint32 term(uint32, uint32 x) const { return x; }
    __device__ uint32 join(uint32 a, uint32 b) const { return a > b ? a : b; }
};

// The sum over a row that the whole warp takes, in every lane; COUNT entries of a lane are read together.
template <bool WAIT, uint32 COUNT, class Memory, class Fold>
__device__ typename Fold::type fold_together(uint64 at, uint32 length, const uint32* columns,
                                             const Fold& fold, const typename Fold::type* x) {
    typedef typename Fold::type T;
    const uint32 lane = threadIdx.x % WARP;
    T sum = fold.start();
    for (uint32 from = lane; from < length; from += WARP * COUNT) {
        uint32 column[COUNT];
        T term[COUNT], seen[COUNT];
#pragma unroll
        for (uint32 k = 0; k < COUNT; ++k) {
            const bool there = from + k * WARP < length;
            column[k] = there ? columns[at + from + k * WARP] : 0;
            term[k] = there ? fold.coefficient(at + from + k * WARP) : fold.start();
        }
#pragma unroll
        for (uint32 k = 0; k < COUNT; ++k) {
            const bool there = from + k * WARP < length;
            seen[k] = !there ? T(0) : WAIT ? Memory::load(x + column[k]) : x[column[k]];
        }
#pragma unroll
        for (uint32 k = 0; k < COUNT; ++k) {
            if (from + k * WARP >= length) break;
            const bool missed = WAIT && !is_known(seen[k]);
            const T value = missed ? fetched<WAIT, Memory>(x + column[k]) : seen[k];
            sum = fold.join(sum, fold.term(term[k], value));
        }
    }
    for (int step = WARP / 2; step > 0; step /= 2)
        sum = fold.join(sum, __shfl_xor_sync(FULL_WARP, sum, step));
    return sum;
}

// Folds x[column] over the entries of the row of each team of `lanes` lanes, always in one order, and calls
// finish(result) in its first lane; rows that are not large. With WAIT entries of x may be unknown yet, those of rows
// of the same warp too. Without, or without TEAMS, a lane is a team.
template <bool WAIT, bool TEAMS, class Memory, class Fold, class Finish>
__device__ void fold_small_rows(const Row& row, uint32 lanes, const uint32* columns, const Fold& fold,
                                const typename Fold::type* x, Finish finish) {
    typedef typename Fold::type T;
    const uint32 lane = threadIdx.x % WARP;
    T sum = fold.start();
    if (!WAIT) {
        if (!row.mine) return;
        for (uint32 k = 0; k < row.length; ++k) {
            const uint64 at = row.at + uint64(k) * row.step;
            sum = fold.join(sum, fold.term(fold.coefficient(at), x[columns[at]]));
        }
        finish(sum);
        return;
    }
    // This lane's entries: every so-many-th. A coefficient becomes a term once its value is known.
    const uint32 nth = TEAMS ? lane % lanes : 0, step = TEAMS ? row.step * lanes : row.step;
    const uint64 begin = row.at + uint64(nth) * row.step;
    const uint32 shared = row.length > nth ? (row.length - nth - 1) / lanes + 1 : 0;
    const uint32 length = TEAMS ? shared : row.length;
    uint32 column[PENDING], pending = 0, from = 0;
    T term[PENDING];
    auto load = [&] {
#pragma unroll
        for (uint32 k = 0; k < PENDING; ++k) {
            const uint64 at = begin + uint64(from + k) * step;
            const bool there = from + k < length;
            column[k] = there ? columns[at] : 0;
            term[k] = there ? fold.coefficient(at) : fold.start();
            pending |= uint32(there) << k;
        }
    };
    const uint32 team = lanes == WARP ? FULL_WARP : ((1u << lanes) - 1) << (lane - nth);
    bool ready = !row.mine, done = ready;
    Wait wait;
    if (!ready) load();
    while (TEAMS ? __any_sync(FULL_WARP, !done) : __any_sync(FULL_WARP, !ready)) {
        if (!ready) {
            T seen[PENDING];
#pragma unroll
            for (uint32 k = 0; k < PENDING; ++k)
                seen[k] = pending >> k & 1 ? Memory::load(x + column[k]) : T(0);
#pragma unroll
            for (uint32 k = 0; k < PENDING; ++k) {
                if (!is_known(seen[k])) continue;
                term[k] = fold.term(term[k], seen[k]);
                pending &= ~(1u << k);
            }
            if (pending == 0) {
#pragma unroll
                for (uint32 k = 0; k < PENDING; ++k) sum = fold.join(sum, term[k]);
                from += PENDING;
                ready = from >= length;
                if (!ready) load();
                else if (!TEAMS) finish(sum);
            } else {
                wait.pause();
            }
        }
        if (!TEAMS) continue;
        const bool whole = (__ballot_sync(FULL_WARP, ready) & team) == team && !done;
        if (!__any_sync(FULL_WARP, whole)) continue;
        T total = sum;
        for (uint32 half = lanes / 2; half > 0; half /= 2)
            total = fold.join(total, __shfl_xor_sync(FULL_WARP, total, int(half)));
        if (whole && nth == 0) finish(total);
        done |= whole;
    }
}

// Sums rows of any length. The whole warp takes a large row after the rows of the lanes before it.
template <bool WAIT, bool TEAMS = false, class Memory = GlobalMemory, class Fold, class Finish>
__device__ void fold_rows(const Row& row, uint32 lanes, const uint32* columns, const Fold& fold,
                          const typename Fold::type* x, Finish finish) {
    const uint32 lane = threadIdx.x % WARP;
    uint32 large = __ballot_sync(FULL_WARP, row.mine && row.large);
    for (uint32 from = 0;;) {
        const uint32 next = large == 0 ? WARP : uint32(__ffs(int(large))) - 1;
        if (next > from) {
            Row small = row;
            small.mine = row.mine && from <= lane && lane < next;
            fold_small_rows<WAIT, TEAMS, Memory>(small, lanes, columns, fold, x, finish);
            __syncwarp();
        }
        if (next == WARP) return;
        const uint64 at = __shfl_sync(FULL_WARP, row.at, int(next));
        const uint32 length = __shfl_sync(FULL_WARP, row.length, int(next));
        const auto sum = fold_together<WAIT, WAIT ? 8 : 4, Memory>(at, length, columns, fold, x);
        if (lane == next) finish(sum);
        __syncwarp();
        from = next + lanes;
        large = from < WARP ? large >> from << from : 0;
    }
}
