// Triangular solves that push known values along columns (Liu, Jin et al. 2020): every unknown sums
// what it is given and counts what is still to come, and L and U are solved in one pass.
//
// Unknowns 0..rows are those of L, first row first; unknowns rows..2 rows are those of U, last row
// first. Sums and counters of an unknown stand at its own row, those of U behind those of L. Sums of
// floating-point numbers come in any order: results differ by roundings from run to run.
#include "slices.cuh"

// counts[c] <- entries of column c, which starts at zero. One thread an entry.
KERNEL(count_columns, uint64 entries, const uint32* columns, uint32* counts) {
    const uint64 k = thread_index();
    if (k < entries) atomicAdd(counts + columns[k], 1u);
}

// The entries by column, in any order within one: their rows, and where they come from. Counts become
// zero again. One thread a row.
KERNEL(turn_entries, uint64 rows, const uint32* row_start, const uint32* columns,
       const uint64* starts, uint32* counts, uint32* to_rows, uint32* source) {
    const uint64 row = thread_index();
    if (row >= rows) return;
    for (uint32 k = row_start[row]; k < row_start[row + 1]; ++k) {
        const uint32 column = columns[k];
        const uint64 at = starts[column] + atomicSub(counts + column, 1u) - 1;
        to_rows[at] = uint32(row);
        source[at] = k;
    }
}

// What an unknown of L or U waits for: the entries of its row, and for U that of L.
__device__ inline uint32 awaited(uint64 row, bool upper, const SplitPattern& pattern) {
    const uint32 at = pattern.split[row], end = pattern.row_start[row + 1];
    if (!upper) return at - pattern.row_start[row];
    return end - at - (at < end && pattern.columns[at] == row) + 1;
}

// Counters of all unknowns. One thread a row.
KERNEL(set_counters, uint64 rows, SplitPattern pattern, uint32* counters) {
    const uint64 row = thread_index();
    if (row >= rows) return;
    counters[row] = awaited(row, false, pattern);
    counters[rows + row] = awaited(row, true, pattern);
}

// z <- M^-1 r. Sums, counters and tickets are left as they are found: sums and tickets at zero.
KERNEL(push_columns, uint64 rows, SplitPattern pattern, const uint64* starts, const uint32* to_rows,
       const real* values, PushState state, const real* r, real* z) {
    real *const sums = state.sums, *const w = state.w;
    uint32 *const counters = state.counters, *const tickets = state.tickets;
    for_slices_by_warps((2 * rows + WARP - 1) / WARP, tickets, [&](uint64 slice) {
        const uint64 unknown = slice * WARP + threadIdx.x % WARP;
        bool done = unknown >= 2 * rows;
        const bool upper = unknown >= rows;
        const uint64 row = done ? 0 : upper ? 2 * rows - 1 - unknown : unknown;
        const uint64 own = upper ? rows + row : row;
        const uint64 base = upper ? rows : 0;
        Wait wait;
        while (__any_sync(FULL_WARP, !done)) {
            if (done) continue;
            if (load_relaxed(counters + own) != 0) {
                wait.pause();
                continue;
            }
            __threadfence();
            const real sum = load_relaxed(sums + own), factor = state.inverse[row];
            const real value = upper ? load_relaxed(w + row) - factor * sum : (r[row] - sum) * factor;
            for (uint64 k = starts[row]; k < starts[row + 1]; ++k) {
                const uint32 other = to_rows[k];
                if (upper ? other < row : other > row)
                    atomicAdd(sums + base + other, values[k] * value);
            }
            if (upper) z[row] = value;
            else store_relaxed(w + row, value);
            sums[own] = 0;
            counters[own] = awaited(row, upper, pattern);
            // What was given must be there before the counters say so.
            __threadfence();
            for (uint64 k = starts[row]; k < starts[row + 1]; ++k) {
                const uint32 other = to_rows[k];
                if (upper ? other < row : other > row) atomicSub(counters + base + other, 1u);
            }
            if (!upper) atomicSub(counters + rows + row, 1u);
            done = true;
        }
    });
    if (threadIdx.x % WARP != 0) return;
    __threadfence();
    if (atomicAdd(tickets + 1, 1u) + 1 < thread_count() / WARP) return;
    tickets[0] = tickets[1] = 0;
}
