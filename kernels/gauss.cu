// ILU(0): Gaussian elimination that drops every entry outside the pattern (Meijerink and van der Vorst
// 1977), in place, on rows with rising columns. Entries left of the diagonal stay as they are before
// their division by the pivot, as the triangular solves want them.
#include "slices.cuh"

// Lanes that eliminate a row together.
#define TEAM 8u

// Eliminates the row at a place of the order, by the lanes of `mask`: lane `lane` of TEAM.
template <bool WAIT>
__device__ void eliminate(uint64 own_place, uint32 lane, uint32 mask, const uint32* order,
                          const uint32* place, const uint32* row_start, const uint32* split,
                          const uint32* columns, real* values, real scale, uint32 positive,
                          real* pivots, real* inverse, uint64* first) {
    const uint32 row = order[own_place];
    const uint32 begin = row_start[row], end = row_start[row + 1], at = split[row];
    const bool present = at < end && columns[at] == row;
    if (lane == 0 && present) values[at] *= scale;
    __syncwarp(mask);
    for (uint32 k = begin; k < at; ++k) {
        const uint32 column = columns[k];
        const real factor = values[k] * fetched<WAIT>(inverse + place[column]);
        // The flag was seen; what was written before it is read behind a fence, past the first cache,
        // which may hold what stood there before.
        __threadfence();
        const uint32 last = row_start[column + 1];
        uint32 upper = split[column];
        upper += upper < last && columns[upper] == column;
        for (uint32 m = upper + lane; m < last; m += TEAM) {
            const uint32 target = find(columns, k + 1, end, columns[m]);
            if (target < end) values[target] -= factor * __ldcg(values + m);
        }
        __syncwarp(mask);
    }
    __threadfence();
    __syncwarp(mask);
    if (lane != 0) return;
    const real pivot = present ? values[at] : real(0);
    pivots[own_place] = pivot;
    publish(inverse + own_place, known(real(1) / pivot));
    if (pivot == real(0) || !is_finite(pivot) || (positive && pivot < real(0)))
        atomicMin(first, uint64(row));
}

// The lanes of this thread's team.
__device__ inline uint32 team_mask() {
    return ((1u << TEAM) - 1) << (threadIdx.x % WARP / TEAM * TEAM);
}

// Every row waits for the rows whose entries it eliminates.
KERNEL(eliminate_flags, uint64 rows, const uint32* order, const uint32* place,
       const uint32* row_start, const uint32* split, const uint32* columns, real* values, real scale,
       uint32 positive, real* pivots, real* inverse, uint32* ticket, uint64* first) {
    const uint32 lane = threadIdx.x % TEAM, mask = team_mask(), teams = WARP / TEAM;
    for_slices_by_warps((rows + teams - 1) / teams, ticket, [&](uint64 slice) {
        const uint64 k = slice * teams + threadIdx.x % WARP / TEAM;
        if (k < rows)
            eliminate<true>(k, lane, mask, order, place, row_start, split, columns, values, scale,
                            positive, pivots, inverse, first);
    });
}

// Level after level, several in one block alone.
KERNEL(eliminate_levels, uint64 rows, const uint32* order, const uint32* place,
       const uint32* row_start, const uint32* split, const uint32* columns, real* values, real scale,
       uint32 positive, real* pivots, real* inverse, const uint64* starts, uint32 first_level,
       uint32 last_level, uint64* first) {
    const uint32 lane = threadIdx.x % TEAM, mask = team_mask();
    for (uint32 level = first_level; level < last_level; ++level) {
        for (uint64 k = starts[level] + thread_index() / TEAM; k < starts[level + 1];
             k += thread_count() / TEAM)
            eliminate<false>(k, lane, mask, order, place, row_start, split, columns, values, scale,
                             positive, pivots, inverse, first);
        __syncthreads();
    }
}
