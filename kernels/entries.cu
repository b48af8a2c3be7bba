// Levels of multigrid by all blocks of a point: operators from matrices with the nine-point pattern, and turned levels.
#include "load.cuh"

// Loads the operator of the finest level from a matrix with the nine-point pattern (stencil.cuh); couplings across a
// periodic seam are dropped if the level does not wrap.
template <class T>
struct LoadEntries {
    LevelLayout layout;
    Operator<false> a;
    const T *values, *columns;
    // Edges of the matrix's rows.
    uint32 edges;

    __device__ void operator()(uint32 i, uint32 j) const {
        const int64 k = int64(j) * layout.mi + i;
        const int at = j * layout.row() + layout.column(i);
        SlotsOf<T> slots = {values + 2 * k, slot_stride(uint64(layout.mi) * layout.mj)};
        const bool west = i > 0 || (edges & EDGE_WEST), east = i + 1 < layout.mi || (edges & EDGE_EAST);
        const bool keep_west = i > 0 || (layout.edges & EDGE_WEST);
        const bool keep_east = i + 1 < layout.mi || (layout.edges & EDGE_EAST);
        Block sw = diagonal(0), south = sw, se = sw, w = sw, e = sw, nw = sw, north = sw, ne = sw;
        auto corner = [&](bool kept) {
            const Pair value = slots.next();
            return kept ? block(value.x, 0, 0, value.y) : diagonal(0);
        };
        if (j > 0) {
            if (west) sw = corner(keep_west);
            south = slots.next_block(true);
            if (east) se = corner(keep_east);
        }
        if (west) w = slots.next_block(keep_west);
        const Block centre = corner(true);
        if (east) e = slots.next_block(keep_east);
        if (j + 1 < layout.mj) {
            if (west) nw = corner(keep_west);
            north = slots.next_block(true);
            if (east) ne = corner(keep_east);
        }
        load_columns(layout, a, columns, i, j);
        const Block all[3][3] = {{sw, south, se}, {w, centre, e}, {nw, north, ne}};
#pragma unroll
        for (int k = 0; k < 9; ++k) a.towards(k % 3 - 1, k / 3 - 1)[at] = all[k / 3][k % 3];
    }
};

// The kernels for matrices of a precision.
#define LOAD_ENTRIES(name, T)                                                                                 \
    KERNEL(name, LevelLayout layout, uint32 edges, const T* values, const T* columns, real* a,                \
           uint32* borders, uint32* bad) {                                                                    \
        begin_operator(borders, bad);                                                                         \
        each_point(layout, LoadEntries<T>{layout, operator_of<false>(layout, a), values, columns, edges});    \
    }
LOAD_ENTRIES(load_entries_single, float)
LOAD_ENTRIES(load_entries_double, double)

// Returns the row of a turned level that column i of `count` becomes.
__device__ inline uint32 turned_row(uint32 i, uint32 count, uint32 mirrored) { return mirrored ? count - 1 - i : i; }

// The operator of the turned level: its point (j, i) is (i, j), or (i', j) counted from the other end where it is
// `mirrored`. borders <- all, unless they are null.
KERNEL(turn_level, LevelLayout layout, real* values, LevelLayout turned, uint32 mirrored, real* to_values,
       uint32* borders) {
    const Operator<false> a = operator_of<false>(layout, values), to = operator_of<false>(turned, to_values);
    if (borders && blockIdx.x + blockIdx.y + threadIdx.x == 0) borders[0] = borders[2] = ALL_BORDERS;
    each_point(layout, [=](uint32 i, uint32 j) {
        const int at = j * layout.row() + layout.column(i);
        const int there = turned_row(i, layout.mi, mirrored) * turned.row() + turned.column(j);
        for (int dj = -1; dj <= 1; ++dj)
            for (int di = -1; di <= 1; ++di)
                to.towards(dj, mirrored ? -di : di)[there] = a.towards(di, dj)[at];
        for (uint32 side = 0; side < 4; ++side)
            if (layout.has(side)) to.columns_of(side < 2 ? side + 2 : side - 2 ^ mirrored)[there] = a.columns_of(side)[at];
    });
}

// Values of the turned level from those of the level, or `back`; where `of_walls`, of lines along walls alone.
KERNEL(turn_values, LevelLayout layout, LevelLayout turned, uint32 mirrored, uint32 back, uint32 of_walls, Pair* values,
       Pair* to) {
    each_point(layout, [=](uint32 i, uint32 j) {
        if (of_walls && !layout.along_wall(i)) return;
        Pair& own = values[j * layout.row() + layout.column(i)];
        Pair& other = to[turned_row(i, layout.mi, mirrored) * turned.row() + turned.column(j)];
        (back ? own : other) = back ? other : own;
    });
}
