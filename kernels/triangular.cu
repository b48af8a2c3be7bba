// Incomplete factors M = (I + L)(D + U) in slices, and their triangular solves. With w = D^-1 y these are
//
//   w_i = (r_i - sum of l_ij w_j) / D_i,   z_i = w_i - (sum of u_ij z_j) / D_i,
//
// where l_ij is the entry before its division by D_j: that of A itself for DILU. Rows of L come in one order, as w and
// D^-1, those of U in another, as z. A value without a bit set is not known yet. Each solve leaves the values of the
// other unknown, and its tickets at zero.
#include "fold.cuh"

// source <- the place of each entry, of the lower triangle alone; missed grows by the entries without a partner.
KERNEL(mirror_entries, uint64 rows, const uint32* row_start, const uint32* columns, uint32* source,
       uint32* missed) {
    const uint64 row = thread_index();
    if (row >= rows) return;
    for (uint32 k = row_start[row]; k < row_start[row + 1]; ++k) {
        const uint32 column = columns[k], end = row_start[column + 1];
        const uint32 at = find(columns, row_start[column], end, uint32(row));
        if (at == end) atomicAdd(missed, 1u);
        source[k] = column > row ? at : k;
    }
}

// to <- entries left of the diagonal, or right of it if `upper`; products, if there are any, <- a_ij a_ji, zero where
// one is absent (Wang and Liu 2022). A warp a unit, `lanes` lanes a row.
KERNEL(take_side, uint32 lanes, uint32 upper, const uint32* order, SplitPattern pattern, const real* a,
       SliceRows slices, real* to, real* products) {
    const uint64 number = thread_index() / WARP;
    if (number >= slices.count() * lanes) return;
    const Unit unit = slices.team(number, lanes);
    uint32 from = 0;
    if (unit.row.mine) {
        const uint32 row = order[unit.place];
        from = upper ? pattern.row_start[row + 1] - unit.row.length : pattern.row_start[row];
    }
    for_entries(unit, from, [&](uint64 at, uint32 entry, uint64 place) {
        to[at] = a[entry];
        if (!products) return;
        const uint32 column = pattern.columns[entry], begin = pattern.split[column];
        const uint32 end = pattern.row_start[column + 1];
        const uint32 mirror = find(pattern.columns, begin, end, order[place]);
        products[at] = mirror < end ? a[entry] * a[mirror] : real(0);
    });
}

// D_i = a_ii - sum of (L o U^T)_ij / D_j, a_ii times `scale` or zero, for the rows of a unit.
template <bool WAIT, bool TEAMS>
__device__ void dilu_rows(const Unit& unit, const uint32* columns, const real* products,
                          const uint32* order, const SplitPattern& pattern, const real* a, real scale,
                          const PivotRows& to) {
    const uint64 place = unit.place;
    uint32 row = 0;
    bool present = false;
    real diagonal = 0;
    if (unit.row.mine) {
        row = order[place];
        const uint32 at = pattern.split[row];
        present = at < pattern.row_start[row + 1] && pattern.columns[at] == row;
        if (present) diagonal = a[at] * scale;
    }
    fold_rows<WAIT, TEAMS>(unit.row, unit.lanes, columns, Weighted{products}, to.inverse,
                           [&](real sum) { keep_pivot(to, place, row, present ? diagonal - sum : real(0)); });
}

// Forward substitution for the rows of a unit. Also resets z to "not known" (0) for the backward substitution, as
// the last statement: an early store whose address is known late would stall the loads after it.
template <bool WAIT, bool TEAMS>
__device__ void lower_rows(const Unit& unit, const uint32* columns, const real* lower,
                           const uint32* order, const SolveVectors& vectors, const real* r) {
    const uint64 place = unit.place;
    real right = 0, factor = 0;
    if (unit.row.mine) {
        right = r[order[place]];
        factor = vectors.inverse[place];
    }
    fold_rows<WAIT, TEAMS>(unit.row, unit.lanes, columns, Weighted{lower}, vectors.w, [&](real sum) {
        store_relaxed(vectors.w + place, known((right - sum) * factor));
        vectors.z[place] = 0;
    });
}

// Backward substitution for the rows of a unit; resets w to "not known". `out` gets z by the rows of A.
template <bool WAIT, bool TEAMS>
__device__ void upper_rows(const Unit& unit, const uint32* columns, const real* upper,
                           const uint32* order, const uint32* inner, const SolveVectors& vectors,
                           real* out) {
    const uint64 place = unit.place;
    real right = 0, factor = 0;
    uint32 row = 0, from = 0;
    if (unit.row.mine) {
        from = inner[place];
        right = vectors.w[from];
        factor = vectors.inverse[from];
        row = order[place];
    }
    fold_rows<WAIT, TEAMS>(unit.row, unit.lanes, columns, Weighted{upper}, vectors.z, [&](real sum) {
        const real value = right - factor * sum;
        store_relaxed(vectors.z + place, known(value));
        out[row] = value;
        vectors.w[from] = 0;
    });
}

// Calls work(slice, first, last) for all levels, whose rows are first..last: several in one block alone.
template <class Work>
__device__ void for_levels(const LevelRange& levels, Work work) {
    const uint64 warp = thread_index() / WARP, warps = thread_count() / WARP;
    for (uint32 level = levels.first; level < levels.last; ++level) {
        const uint64 first = levels.starts[level], last = levels.starts[level + 1];
        for (uint64 slice = first / WARP + warp; slice * WARP < last; slice += warps)
            work(slice, first, last);
        __syncthreads();
    }
}

// Three kernels that call of_unit<WAIT, TEAMS>(unit, own...) for all rows. Rows that wait for their own entries are
// drawn in their order: with `flags` by blocks, a team of `lanes` lanes a row, for rows sorted by level; with `slim` by
// warps, for rows in natural order, of which many must be under way. With `levels` the rows of a level wait for the
// launch of the level before. DRAWN is the ticket that they draw from; the ticket CLEARED is zero again in the next
// launch, if it is another.
#define OF_ALL_ROWS(...) __VA_ARGS__
#define TRIANGULAR(flags, slim, levels, of_unit, DRAWN, CLEARED, PARAMETERS, OWN)                                 \
    BOUNDED_KERNEL(256, flags, SliceRows slices, PARAMETERS, uint32* tickets, uint32 lanes) {                  \
        if (CLEARED != DRAWN && thread_index() == 0) tickets[CLEARED] = 0;                                     \
        for_drawn_slices(slices.count() * lanes, tickets + DRAWN, [&](uint64 unit) {                           \
            if (lanes == 1) of_unit<true, false>(slices.unit(unit, 0, slices.rows), OWN);                         \
            else of_unit<true, true>(slices.team(unit, lanes), OWN);                                              \
        });                                                                                                    \
    }                                                                                                          \
    KERNEL(slim, SliceRows slices, PARAMETERS, uint32* tickets) {                                              \
        if (CLEARED != DRAWN && thread_index() == 0) tickets[CLEARED] = 0;                                     \
        for_slices_by_warps(slices.count(), tickets + DRAWN, [&](uint64 slice) {                               \
            of_unit<true, false>(slices.unit(slice, 0, slices.rows), OWN);                                        \
        });                                                                                                    \
    }                                                                                                          \
    BOUNDED_KERNEL(1024, levels, SliceRows slices, PARAMETERS, LevelRange range) {                             \
        for_levels(range, [&](uint64 slice, uint64 begin, uint64 end) {                                        \
            of_unit<false, false>(slices.unit(slice, begin, end), OWN);                                           \
        });                                                                                                    \
    }

TRIANGULAR(dilu_flags, dilu_slim, dilu_levels, dilu_rows, 2, 2,
           OF_ALL_ROWS(const uint32* columns, const real* products, const uint32* order, SplitPattern pattern,
                       const real* a, real scale, PivotRows to),
           OF_ALL_ROWS(columns, products, order, pattern, a, scale, to))
TRIANGULAR(lower_flags, lower_slim, lower_levels, lower_rows, 0, 1,
           OF_ALL_ROWS(const uint32* columns, const real* lower, const uint32* order, SolveVectors vectors,
                       const real* r),
           OF_ALL_ROWS(columns, lower, order, vectors, r))
TRIANGULAR(upper_flags, upper_slim, upper_levels, upper_rows, 1, 0,
           OF_ALL_ROWS(const uint32* columns, const real* upper, const uint32* order, const uint32* inner,
                       SolveVectors vectors, real* out),
           OF_ALL_ROWS(columns, upper, order, inner, vectors, out))

// z <- M^-1 r within tiles of rows, whose couplings with each other are dropped: a warp a tile, which keeps its values
// in shared memory and takes its rows, a slice at a time, in natural order and back. Rows of U come last row first.

KERNEL(solve_row_tiles, SliceRows below, const uint32* columns, const real* lower, SliceRows above,
       const uint32* upper_columns, const real* upper, const real* inverse, const real* r, real* z) {
    const uint64 rows = below.rows;
    __shared__ real all[BLOCK_TILES][MATRIX_TILE];
    const uint32 lane = threadIdx.x % WARP;
    real* own = all[threadIdx.x / WARP];
    const uint64 first = thread_index() / WARP * MATRIX_TILE, last = min(first + MATRIX_TILE, rows);
    if (first >= rows) return;
    for (uint32 k = lane; k < MATRIX_TILE; k += WARP) own[k] = 0;
    __syncwarp();

    for (uint64 slice = first / WARP; slice * WARP < last; ++slice) {
        const Row row = below.row(slice, first, last);
        const uint64 place = slice * WARP + lane;
        const real right = row.mine ? r[place] : real(0);
        const real factor = row.mine ? inverse[place] : real(0);
        fold_rows<true, false, SharedMemory>(row, 1, columns, Weighted{lower}, own - first, [&](real sum) {
            SharedMemory::store(own + (place - first), known((right - sum) * factor));
        });
        __syncwarp();
    }

    // From here on in the order of the rows of U.
    const uint64 from = rows - last, to = rows - first;
    for (uint32 k = lane; 2 * k + 1 < last - first; k += WARP) {
        const uint32 other = uint32(last - first) - 1 - k;
        const real value = own[k];
        own[k] = own[other];
        own[other] = value;
    }
    __syncwarp();
    for (uint64 slice = from / WARP; slice * WARP < to; ++slice) {
        const Row row = above.row(slice, from, to);
        const uint64 place = slice * WARP + lane;
        real right = 0, factor = 0;
        if (row.mine) {
            right = own[place - from];
            factor = inverse[rows - 1 - place];
            // Unknown until the row's turn.
            SharedMemory::store(own + (place - from), real(0));
        }
        __syncwarp();
        fold_rows<true, false, SharedMemory>(row, 1, upper_columns, Weighted{upper}, own - from, [&](real sum) {
            const real value = right - factor * sum;
            SharedMemory::store(own + (place - from), known(value));
            z[rows - 1 - place] = value;
        });
        __syncwarp();
    }
}
