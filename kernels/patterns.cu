// Patterns made from that of a matrix: its rows renumbered by colour, or cut into tiles. Rows have
// rising columns; `source` says which entry of the matrix each entry is.
#include "fold.cuh"

// The union of sets of colours, a bit each.
struct Union {
    typedef uint64 type;

    __device__ uint64 start() const { return 0; }
    __device__ uint64 coefficient(uint64) const { return 0; }
    __device__ uint64 term(uint64, uint64 x) const { return x; }
    __device__ uint64 join(uint64 a, uint64 b) const { return a | b; }
};

// The row of this lane in a slice of rows in natural order, from its first entry to `end`.
__device__ inline Row row_of(uint64 slice, uint64 rows, const uint32* begin, const uint32* end) {
    const uint64 k = slice * WARP + threadIdx.x % WARP;
    return pattern_row(k < rows, [=]() -> Two<uint32> { return {begin[k], end[k]}; });
}

// colours <- the first colour that no neighbour with a smaller number has, as a bit; numbers <- its number, from 1 on:
// the greedy colouring in natural order, of a pattern that equals its transpose. A row waits for the entries left of
// its diagonal. Colours and the ticket start at zero; crowded <- 1 if 64 colours do not suffice.
KERNEL(colour_rows, uint64 rows, SplitPattern pattern, uint64* colours, uint32* numbers, uint32* ticket,
       uint32* crowded) {
    for_slices_by_warps((rows + WARP - 1) / WARP, ticket, [&](uint64 slice) {
        const Row row = row_of(slice, rows, pattern.row_start, pattern.split);
        const uint64 own = slice * WARP + threadIdx.x % WARP;
        fold_rows<true>(row, 1, pattern.columns, Union(), colours, [&](uint64 taken) {
            uint64 free = ~taken & (taken + 1);
            if (free == 0) {
                free = 1ull << 63;
                *crowded = 1;
            }
            const uint64 before = free - 1;
            numbers[own] = __popc(uint32(before)) + __popc(uint32(before >> 32)) + 1;
            store_relaxed(colours + own, free);
        });
    });
}

// begin, end <- the entries of each row within its tile of this number of rows. One thread per row.
KERNEL(cut_rows, uint64 rows, uint32 tile, const uint32* row_start, const uint32* columns,
       uint32* begin, uint32* end, uint32* length) {
    const uint64 row = thread_index();
    if (row >= rows) return;
    const uint32 first = row_start[row], last = row_start[row + 1];
    const uint64 from = row / tile * tile;
    begin[row] = lower_bound(columns, first, last, from);
    end[row] = lower_bound(columns, begin[row], last, from + tile);
    length[row] = end[row] - begin[row];
}

// narrow <- wide: row starts of a pattern. One thread a value.
KERNEL(take_starts, uint64 count, const uint64* wide, uint32* narrow) {
    const uint64 k = thread_index();
    if (k < count) narrow[k] = uint32(wide[k]);
}

// The entries that `cut_rows` keeps. A warp a slice of rows.
KERNEL(take_tiles, uint64 rows, const uint32* begin, const uint32* end, const uint32* columns,
       const uint32* source, const uint32* starts, uint32* to_columns, uint32* to_source) {
    const uint64 row = thread_index(), slice = row / WARP;
    if (slice * WARP >= rows) return;
    Unit unit = {{}, row, 1, false};
    unit.row = row_of(slice, rows, begin, end);
    unit.together = __any_sync(FULL_WARP, unit.row.large);
    const uint32 to = unit.row.mine ? starts[row] : 0;
    for_entries(unit, to, [&](uint64 at, uint32 entry, uint64) {
        to_columns[entry] = columns[at];
        to_source[entry] = source ? source[at] : uint32(at);
    });
}

// Row order[k] becomes row k: its entries colour after colour, those of a colour in natural order, so
// that columns rise again. `numbers` are the colours of the rows. A warp a slice of rows of the order.
KERNEL(take_colours, uint64 rows, uint32 colours, const uint32* order, const uint32* place,
       const uint32* numbers, const uint32* row_start, const uint32* columns, const uint32* source,
       EntryTarget target) {
    uint32 *const to_columns = target.columns, *const to_source = target.source;
    const uint64 k = thread_index();
    const uint32 lane = threadIdx.x % WARP;
    if (k / WARP * WARP >= rows) return;
    const bool mine = k < rows;
    const uint32 row = mine ? order[k] : 0;
    const uint32 begin = mine ? row_start[row] : 0, end = mine ? row_start[row + 1] : 0;
    uint32 to = mine ? target.starts[k] : 0;
    auto take = [&](uint32 at, uint32 entry) {
        to_columns[entry] = place[columns[at]];
        to_source[entry] = source ? source[at] : at;
    };
    if (!__any_sync(FULL_WARP, end - begin > LONG_ROW)) {
        for (uint32 colour = 1; colour <= colours; ++colour)
            for (uint32 at = begin; at < end; ++at)
                if (numbers[columns[at]] == colour) take(at, to++);
        return;
    }
    for (uint32 owner = 0; owner < WARP; ++owner) {
        const uint32 first = __shfl_sync(FULL_WARP, begin, int(owner));
        const uint32 last = __shfl_sync(FULL_WARP, end, int(owner));
        uint32 next = __shfl_sync(FULL_WARP, to, int(owner));
        for (uint32 colour = 1; colour <= colours; ++colour) {
            for (uint32 base = first; base < last; base += WARP) {
                const uint32 at = base + lane;
                const bool now = at < last && numbers[columns[at]] == colour;
                const uint32 all = __ballot_sync(FULL_WARP, now);
                if (now) take(at, next + __popc(all & ((1u << lane) - 1)));
                next += __popc(all);
            }
        }
    }
}
