// Incomplete factors M = (I + L)(D + U) in slices, and their triangular solves.
//
// Neither L nor U is scaled: with w = D^-1 y the solves are
//   w_i = (r_i - sum of l_ij w_j) / D_i,   z_i = w_i - (sum of u_ij z_j) / D_i,
// where l_ij is the entry before its division by D_j: that of A itself for DILU. Rows of L come in one
// order, those of U in another; w and D^-1 are kept in the first, z in the second.
//
// A value of w or z that has no bit set is not known yet. Each solve leaves the values of the other
// unknown, and its tickets at zero, so that no launch is needed to make room for the next.
#include "fold.cuh"

// values <- entries of A; zero where source says that there is none. One thread an entry.
KERNEL(take_values, uint64 entries, const uint32* source, const real* a, real* values) {
    const uint64 k = thread_index();
    if (k < entries) values[k] = source[k] == 0xffffffffu ? real(0) : a[source[k]];
}

// source <- where an entry comes from that is read from the lower triangle alone; missed grows by the
// entries without a partner across the diagonal. One thread a row.
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

// lower <- entries left of the diagonal; products, if there are any, <- those of L o U^T: a_ij a_ji,
// zero where one of them is absent (Wang and Liu 2022). A warp a unit, so many lanes a row.
KERNEL(take_lower, uint64 rows, uint32 lanes, const uint32* order, const uint32* row_start,
       const uint32* split, const uint32* columns, const real* a, const uint32* width,
       const uint64* start, const uint32* length, real* lower, real* products) {
    const uint64 number = thread_index() / WARP;
    if (number >= (rows + WARP - 1) / WARP * lanes) return;
    const Slices slices = {rows, width, start, length};
    const Unit unit = slices.team(number, lanes);
    const uint32 from = unit.row.mine ? row_start[order[unit.place]] : 0;
    for_entries(unit, from, [&](uint64 at, uint32 entry, uint64 place) {
        lower[at] = a[entry];
        if (!products) return;
        const uint32 column = columns[entry], begin = split[column], end = row_start[column + 1];
        const uint32 mirror = find(columns, begin, end, order[place]);
        products[at] = mirror < end ? a[entry] * a[mirror] : real(0);
    });
}

// upper <- entries right of the diagonal. A warp a unit, so many lanes a row.
KERNEL(take_upper, uint64 rows, uint32 lanes, const uint32* order, const uint32* row_start,
       const real* a, const uint32* width, const uint64* start, const uint32* length,
       real* upper) {
    const uint64 number = thread_index() / WARP;
    if (number >= (rows + WARP - 1) / WARP * lanes) return;
    const Slices slices = {rows, width, start, length};
    const Unit unit = slices.team(number, lanes);
    const uint32 from = unit.row.mine ? row_start[order[unit.place] + 1] - unit.row.length : 0;
    for_entries(unit, from, [&](uint64 at, uint32 entry, uint64) { upper[at] = a[entry]; });
}

// Keeps a pivot and its inverse at a place; first <- the first row whose pivot is zero or not finite,
// or negative if it must not be.
__device__ inline void keep_pivot(uint64 place, uint32 row, real pivot, uint32 positive,
                                  real* pivots, real* inverse, uint64* first) {
    pivots[place] = pivot;
    publish(inverse + place, known(real(1) / pivot));
    if (pivot == real(0) || !is_finite(pivot) || (positive && pivot < real(0)))
        atomicMin(first, uint64(row));
}

// D_i = a_ii - sum of (L o U^T)_ij / D_j for the rows of a unit, a_ii times `scale`. A row without a
// diagonal entry has the pivot zero.
template <bool WAIT, bool TEAMS>
__device__ void dilu_rows(const Unit& unit,
                           const uint32* columns, const real* products, const uint32* order,
                           const uint32* row_start, const uint32* split, const uint32* a_columns,
                           const real* a, real scale, uint32 positive, real* pivots, real* inverse,
                           uint64* first) {
    const uint64 place = unit.place;
    uint32 row = 0;
    bool present = false;
    real diagonal = 0;
    if (unit.row.mine) {
        row = order[place];
        const uint32 at = split[row];
        present = at < row_start[row + 1] && a_columns[at] == row;
        if (present) diagonal = a[at] * scale;
    }
    const Weighted fold = {products};
    fold_rows<WAIT, TEAMS>(unit.row, unit.lanes, unit.together, columns, fold, inverse, [&](real sum) {
        keep_pivot(place, row, present ? diagonal - sum : real(0), positive, pivots, inverse, first);
    });
}

// The rows of a unit of (I + L) D w = r; their z becomes unknown, at the end: a store that waits for its
// address would keep back all loads behind it.
template <bool WAIT, bool TEAMS>
__device__ void lower_rows(const Unit& unit,
                            const uint32* columns, const real* lower, const uint32* order,
                            const real* inverse, const real* r, real* w, real* z) {
    const uint64 place = unit.place;
    real right = 0, factor = 0;
    if (unit.row.mine) {
        right = r[order[place]];
        factor = inverse[place];
    }
    const Weighted fold = {lower};
    fold_rows<WAIT, TEAMS>(unit.row, unit.lanes, unit.together, columns, fold, w,
                           [&](real sum) {
        publish(w + place, known((right - sum) * factor));
        z[place] = 0;
    });
}

// The rows of a unit of (D + U) z = D w; their w, at place inner[k], becomes unknown. `out` gets z
// by the rows of A.
template <bool WAIT, bool TEAMS>
__device__ void upper_rows(const Unit& unit,
                            const uint32* columns, const real* upper, const uint32* order,
                            const uint32* inner, const real* inverse, real* w, real* z, real* out) {
    const uint64 place = unit.place;
    real right = 0, factor = 0;
    uint32 row = 0, from = 0;
    if (unit.row.mine) {
        from = inner[place];
        right = w[from];
        factor = inverse[from];
        row = order[place];
    }
    const Weighted fold = {upper};
    fold_rows<WAIT, TEAMS>(unit.row, unit.lanes, unit.together, columns, fold, z, [&](real sum) {
        const real value = right - factor * sum;
        publish(z + place, known(value));
        out[row] = value;
        w[from] = 0;
    });
}

// Calls work(slice, first, last) for the slices of all levels, level after level: the rows of a level
// are first..last. Several levels in one block alone.
template <class Work>
__device__ void for_levels(const uint64* starts, uint32 first_level, uint32 last_level, Work work) {
    const uint64 warp = thread_index() / WARP, warps = thread_count() / WARP;
    for (uint32 level = first_level; level < last_level; ++level) {
        const uint64 first = starts[level], last = starts[level + 1];
        for (uint64 slice = first / WARP + warp; slice * WARP < last; slice += warps)
            work(slice, first, last);
        __syncthreads();
    }
}

// Kernels whose rows wait for their own entries: `flags` for rows sorted by level, `slim` for natural
// order, in which the rows that can be worked on stand far apart and many must be at hand.
BOUNDED_KERNEL(256, dilu_flags, uint64 rows, const uint32* width, const uint64* start, const uint32* length,
       const uint32* columns, const real* products, const uint32* order, const uint32* row_start,
       const uint32* split, const uint32* a_columns, const real* a, real scale, uint32 positive,
       real* pivots, real* inverse, uint32* tickets, uint32 lanes, uint64* first) {
    const Slices slices = {rows, width, start, length};
    for_drawn_slices((rows + WARP - 1) / WARP * lanes, tickets + 2, [&](uint64 unit) {
        if (lanes == 1)
            dilu_rows<true, false>(slices.unit(unit, 0, rows), columns, products, order, row_start, split,
                         a_columns, a, scale, positive, pivots, inverse, first);
        else
            dilu_rows<true, true>(slices.team(unit, lanes), columns, products, order, row_start, split,
                         a_columns, a, scale, positive, pivots, inverse, first);
    });
}

KERNEL(dilu_slim, uint64 rows, const uint32* width, const uint64* start, const uint32* length,
       const uint32* columns, const real* products, const uint32* order, const uint32* row_start,
       const uint32* split, const uint32* a_columns, const real* a, real scale, uint32 positive,
       real* pivots, real* inverse, uint32* tickets, uint64* first) {
    const Slices slices = {rows, width, start, length};
    for_slices_by_warps((rows + WARP - 1) / WARP, tickets + 2, [&](uint64 slice) {
        dilu_rows<true, false>(slices.unit(slice, 0, rows), columns, products, order, row_start, split,
                         a_columns, a, scale, positive, pivots, inverse, first);
    });
}

BOUNDED_KERNEL(1024, dilu_levels, uint64 rows, const uint32* width, const uint64* start, const uint32* length,
       const uint32* columns, const real* products, const uint32* order, const uint32* row_start,
       const uint32* split, const uint32* a_columns, const real* a, real scale, uint32 positive,
       real* pivots, real* inverse, const uint64* starts, uint32 first_level, uint32 last_level,
       uint64* first) {
    const Slices slices = {rows, width, start, length};
    for_levels(starts, first_level, last_level, [&](uint64 slice, uint64 begin, uint64 end) {
        dilu_rows<false, false>(slices.unit(slice, begin, end), columns, products, order, row_start, split,
                          a_columns, a, scale, positive, pivots, inverse, first);
    });
}

BOUNDED_KERNEL(256, lower_flags, uint64 rows, const uint32* width, const uint64* start, const uint32* length,
       const uint32* columns, const real* lower, const uint32* order, const real* inverse,
       real* w, real* z, const real* r, uint32* tickets,
       uint32 lanes) {
    const Slices slices = {rows, width, start, length};
    if (thread_index() == 0) tickets[1] = 0;
    for_drawn_slices((rows + WARP - 1) / WARP * lanes, tickets, [&](uint64 unit) {
        if (lanes == 1)
            lower_rows<true, false>(slices.unit(unit, 0, rows), columns, lower, order, inverse, r, w, z);
        else
            lower_rows<true, true>(slices.team(unit, lanes), columns, lower, order, inverse, r, w, z);
    });
}

KERNEL(lower_slim, uint64 rows, const uint32* width, const uint64* start, const uint32* length,
       const uint32* columns, const real* lower, const uint32* order, const real* inverse,
       real* w, real* z, const real* r, uint32* tickets) {
    const Slices slices = {rows, width, start, length};
    if (thread_index() == 0) tickets[1] = 0;
    for_slices_by_warps((rows + WARP - 1) / WARP, tickets, [&](uint64 slice) {
        lower_rows<true, false>(slices.unit(slice, 0, rows), columns, lower, order, inverse, r, w, z);
    });
}

BOUNDED_KERNEL(1024, lower_levels, uint64 rows, const uint32* width, const uint64* start, const uint32* length,
       const uint32* columns, const real* lower, const uint32* order, const real* inverse,
       real* w, real* z, const real* r, const uint64* starts, uint32 first_level,
       uint32 last_level) {
    const Slices slices = {rows, width, start, length};
    for_levels(starts, first_level, last_level, [&](uint64 slice, uint64 begin, uint64 end) {
        lower_rows<false, false>(slices.unit(slice, begin, end), columns, lower, order, inverse, r, w, z);
    });
}

BOUNDED_KERNEL(256, upper_flags, uint64 rows, const uint32* width, const uint64* start, const uint32* length,
       const uint32* columns, const real* upper, const uint32* order, const uint32* inner,
       const real* inverse, real* w, real* z, real* out, uint32* tickets,
       uint32 lanes) {
    const Slices slices = {rows, width, start, length};
    if (thread_index() == 0) tickets[0] = 0;
    for_drawn_slices((rows + WARP - 1) / WARP * lanes, tickets + 1, [&](uint64 unit) {
        if (lanes == 1)
            upper_rows<true, false>(slices.unit(unit, 0, rows), columns, upper, order, inner, inverse, w, z, out);
        else
            upper_rows<true, true>(slices.team(unit, lanes), columns, upper, order, inner, inverse, w, z, out);
    });
}

KERNEL(upper_slim, uint64 rows, const uint32* width, const uint64* start, const uint32* length,
       const uint32* columns, const real* upper, const uint32* order, const uint32* inner,
       const real* inverse, real* w, real* z, real* out, uint32* tickets) {
    const Slices slices = {rows, width, start, length};
    if (thread_index() == 0) tickets[0] = 0;
    for_slices_by_warps((rows + WARP - 1) / WARP, tickets + 1, [&](uint64 slice) {
        upper_rows<true, false>(slices.unit(slice, 0, rows), columns, upper, order, inner, inverse, w, z, out);
    });
}

BOUNDED_KERNEL(1024, upper_levels, uint64 rows, const uint32* width, const uint64* start, const uint32* length,
       const uint32* columns, const real* upper, const uint32* order, const uint32* inner,
       const real* inverse, real* w, real* z, real* out, const uint64* starts, uint32 first_level,
       uint32 last_level) {
    const Slices slices = {rows, width, start, length};
    for_levels(starts, first_level, last_level, [&](uint64 slice, uint64 begin, uint64 end) {
        upper_rows<false, false>(slices.unit(slice, begin, end), columns, upper, order, inner, inverse, w, z,
                           out);
    });
}

// z <- M^-1 r within tiles of rows, whose couplings with each other are dropped: a warp a tile, which
// keeps its values in shared memory and takes its rows, a slice at a time, in natural order and back.
// Rows of U come last row first.
#define TILE 1024u
// Tiles of a block.
#define TILES 4

KERNEL(solve_row_tiles, uint64 rows, const uint32* width, const uint64* start, const uint32* length,
       const uint32* columns, const real* lower, const uint32* upper_width,
       const uint64* upper_start, const uint32* upper_length, const uint32* upper_columns,
       const real* upper, const real* inverse, const real* r, real* z) {
    __shared__ real all[TILES][TILE];
    const uint32 lane = threadIdx.x % WARP;
    real* own = all[threadIdx.x / WARP];
    const uint64 first = thread_index() / WARP * TILE, last = min(first + TILE, rows);
    if (first >= rows) return;
    for (uint32 k = lane; k < TILE; k += WARP) own[k] = 0;
    __syncwarp();

    const Slices below = {rows, width, start, length};
    for (uint64 slice = first / WARP; slice * WARP < last; ++slice) {
        bool together;
        const Row row = below.row(slice, first, last, &together);
        const uint64 place = slice * WARP + lane;
        const real right = row.mine ? r[place] : real(0);
        const real factor = row.mine ? inverse[place] : real(0);
        const Weighted fold = {lower};
        fold_rows<true, false, Here>(row, 1, together, columns, fold, own - first, [&](real sum) {
            Here::put(own + (place - first), known((right - sum) * factor));
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
    const Slices above = {rows, upper_width, upper_start, upper_length};
    for (uint64 slice = from / WARP; slice * WARP < to; ++slice) {
        bool together;
        const Row row = above.row(slice, from, to, &together);
        const uint64 place = slice * WARP + lane;
        real right = 0, factor = 0;
        if (row.mine) {
            right = own[place - from];
            factor = inverse[rows - 1 - place];
            // Unknown until the row's turn.
            Here::put(own + (place - from), real(0));
        }
        __syncwarp();
        const Weighted fold = {upper};
        fold_rows<true, false, Here>(row, 1, together, upper_columns, fold, own - from, [&](real sum) {
            const real value = right - factor * sum;
            Here::put(own + (place - from), known(value));
            z[rows - 1 - place] = value;
        });
        __syncwarp();
    }
}
