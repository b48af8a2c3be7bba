// ILU(0) (Meijerink and van der Vorst 1977), in place, on rows with rising columns. Entries left of the diagonal stay
// as they are before their division by the pivot, as the triangular solves want them.
#include "slices.cuh"

// Eliminates the row at a place of the order, by the lanes of `mask`: lane `lane` of ELIMINATION_LANES.
template <bool WAIT>
__device__ void eliminate(uint64 own_place, uint32 lane, uint32 mask, const uint32* order,
                          const uint32* place, const SplitPattern& pattern, real* values, real scale,
                          const PivotRows& to) {
    const uint32 *row_start = pattern.row_start, *split = pattern.split, *columns = pattern.columns;
    const uint32 row = order[own_place];
    const uint32 begin = row_start[row], end = row_start[row + 1], at = split[row];
    const bool present = at < end && columns[at] == row;
    if (lane == 0 && present) values[at] *= scale;
    __syncwarp(mask);
    for (uint32 k = begin; k < at; ++k) {
        const uint32 column = columns[k];
        const real factor = values[k] * fetched<WAIT>(to.inverse + place[column]);
        // The flag was seen; what was written before it is read behind a fence, past the first cache,
        // which may hold what stood there before.
        __threadfence();
        const uint32 last = row_start[column + 1];
        uint32 upper = split[column];
        upper += upper < last && columns[upper] == column;
        for (uint32 m = upper + lane; m < last; m += ELIMINATION_LANES) {
            const uint32 target = find(columns, k + 1, end, columns[m]);
            if (target < end) values[target] -= factor * __ldcg(values + m);
        }
        __syncwarp(mask);
    }
    // The barrier orders the writes of all lanes before the fence of the lane that raises the flag.
    __syncwarp(mask);
    if (lane != 0) return;
    keep_pivot<true>(to, own_place, row, present ? values[at] : real(0));
}

// The lanes of this thread's team.
__device__ inline uint32 team_mask() {
    return ((1u << ELIMINATION_LANES) - 1) << (threadIdx.x % WARP / ELIMINATION_LANES * ELIMINATION_LANES);
}

// Every row waits for the rows whose entries it eliminates.
KERNEL(eliminate_flags, uint64 rows, const uint32* order, const uint32* place, SplitPattern pattern,
       real* values, real scale, PivotRows to, uint32* ticket) {
    const uint32 lane = threadIdx.x % ELIMINATION_LANES, mask = team_mask(), teams = WARP / ELIMINATION_LANES;
    for_slices_by_warps((rows + teams - 1) / teams, ticket, [&](uint64 slice) {
        const uint64 k = slice * teams + threadIdx.x % WARP / ELIMINATION_LANES;
        if (k < rows)
            eliminate<true>(k, lane, mask, order, place, pattern, values, scale, to);
    });
}

// Level after level, several in one block alone.
KERNEL(eliminate_levels, const uint32* order, const uint32* place, SplitPattern pattern, real* values,
       real scale, PivotRows to, LevelRange levels) {
    const uint32 lane = threadIdx.x % ELIMINATION_LANES, mask = team_mask();
    for (uint32 level = levels.first; level < levels.last; ++level) {
        for (uint64 k = levels.starts[level] + thread_index() / ELIMINATION_LANES; k < levels.starts[level + 1];
             k += thread_count() / ELIMINATION_LANES)
            eliminate<false>(k, lane, mask, order, place, pattern, values, scale, to);
        __syncthreads();
    }
}
