// Levels of multigrid: operators, right sides and solutions.
#include "common.cuh"
#include "level.cuh"
#include "stencil.cuh"

// The columns of wall terms at a point, from a matrix of two slots for each wall.
template <class T, bool COMPACT>
__device__ inline void load_columns(const LevelLayout& layout, const Operator<COMPACT>& a, const T* columns, uint32 i,
                                    uint32 j) {
    const int at = j * layout.row() + layout.column(i);
    const int64 k = int64(j) * layout.mi + i;
    SlotsOf<T> wall = {columns + 2 * k, slot_stride(uint64(layout.mi) * layout.mj)};
    for (uint32 side = 0; side < 4; ++side) {
        if (!layout.has(side)) continue;
        const Pair p = wall.next(), q = wall.next();
        a.columns_of(side)[at] = block(p.x, q.x, p.y, q.y);
    }
}

// Loads the operator of the finest level from a matrix with the nine-point pattern, in which couplings that do not
// exist at an edge are left out and the following ones have lower slot numbers; couplings across a periodic seam
// are dropped if the level does not wrap.
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

// Loads the operator of the finest level from a matrix by ten numbers a point.
template <class T>
struct LoadNumbers {
    LevelLayout layout;
    Operator<true> a;
    const T *values, *columns;

    __device__ void operator()(uint32 i, uint32 j) const {
        const int64 k = int64(j) * layout.mi + i;
        SlotsOf<T> slots = {values + 2 * k, slot_stride(uint64(layout.mi) * layout.mj)};
        for (int slot = 0; slot < 5; ++slot) a.pairs(slot)[j * layout.row() + layout.column(i)] = slots.next();
        load_columns(layout, a, columns, i, j);
    }
};

// One thread clears the flag of bad pivots and marks all borders as kept, before an operator is loaded.
__device__ inline void begin_operator(uint32* borders, uint32* bad) {
    if (blockIdx.x + blockIdx.y + threadIdx.x == 0) *bad = 0, borders[0] = borders[2] = ALL_BORDERS;
}

// f <- r, u <- 0.
template <class T>
__device__ inline void load_right(const LevelLayout& layout, const T* r, real* f, real* u) {
    each_point(layout, [=](uint32 i, uint32 j) {
        const Two<T> value = reinterpret_cast<const Two<T>*>(r)[int64(j) * layout.mi + i];
        const int at = j * layout.row() + layout.column(i);
        reinterpret_cast<Pair*>(f)[at] = pair(real(value.x), real(value.y));
        clear_point(layout, reinterpret_cast<Pair*>(u), i, j);
    });
}

// z <- u.
template <class T>
__device__ inline void store_solution(const LevelLayout& layout, const real* u, T* z) {
    each_point(layout, [=](uint32 i, uint32 j) {
        const Pair value = reinterpret_cast<const Pair*>(u)[j * layout.row() + layout.column(i)];
        reinterpret_cast<Two<T>*>(z)[int64(j) * layout.mi + i] = {T(value.x), T(value.y)};
    });
}

// The kernels for matrices and vectors of a precision.
#define FOR_PRECISION(T, numbers, entries, right, store)                                                      \
    KERNEL(numbers, LevelLayout layout, const T* values, const T* columns, real* a, uint32* borders,          \
           uint32* bad) {                                                                                     \
        begin_operator(borders, bad);                                                                         \
        each_point(layout, LoadNumbers<T>{layout, operator_of<true>(layout, a), values, columns});            \
    }                                                                                                         \
    KERNEL(entries, LevelLayout layout, uint32 edges, const T* values, const T* columns, real* a,             \
           uint32* borders, uint32* bad) {                                                                    \
        begin_operator(borders, bad);                                                                         \
        each_point(layout, LoadEntries<T>{layout, operator_of<false>(layout, a), values, columns, edges});    \
    }                                                                                                         \
    KERNEL(right, LevelLayout layout, const T* r, real* f, real* u) { load_right(layout, r, f, u); }          \
    KERNEL(store, LevelLayout layout, const real* u, T* z) { store_solution(layout, u, z); }

FOR_PRECISION(float, load_numbers_single, load_entries_single, load_right_single, store_solution_single)
FOR_PRECISION(double, load_numbers_double, load_entries_double, load_right_double, store_solution_double)

// One dimension of linear interpolation: share that a fine point takes of the coarse point
// `distance` fine points away.
__device__ inline real interpolation(int distance) {
    return distance == 0 ? real(1) : distance == 1 || distance == -1 ? real(0.5) : real(0);
}

// Returns the share that the coupling of fine point 2I + 1 + row with the point `step` after it has in the
// coupling of coarse point I with I + to, in one dimension of R A P (theory eq. 12).
__device__ inline real galerkin_share(int row, int step, int to) {
    return real(0.5) * interpolation(row) * interpolation(row + step - 2 * to);
}

// Coarse A <- R A P from the blocks of the fine points around each coarse point.
template <bool COMPACT>
struct Galerkin {
    LevelLayout fine, coarse;
    Operator<COMPACT> a;
    Operator<false> to;

    // Block of fine point (i, j) for its neighbour (i + di, j + dj).
    __device__ Block coupling(uint32 i, uint32 j, int di, int dj) const {
        const int at = j * fine.row() + fine.column(i);
        if (di == 0 && dj == 0) return a.centre(at);
        const bool beside = di < 0 ? i > 0 || (fine.edges & EDGE_WEST)
                                   : di == 0 || i + 1 < fine.mi || (fine.edges & EDGE_EAST);
        const bool there = beside && (dj < 0 ? j > 0 : dj == 0 || j + 1 < fine.mj);
        if (COMPACT && !there) return diagonal(0);
        if (dj == 0) return di < 0 ? a.along_xi(at).before : a.along_xi(at).after;
        if (di == 0) return dj < 0 ? a.along_eta(at).before : a.along_eta(at).after;
        if (COMPACT) return diagonal(real(di * dj) * a.numbers(at).corner());
        return a.towards(di, dj)[at];
    }

    // Adds the share of fine row j, `row` off the coarse row in eta where `both` are coarsened.
    __device__ void add_row(Block (&sum)[3][3], uint32 coarse_i, uint32 j, int row,
                            bool both) const {
#pragma unroll
        for (int column = -1; column <= 1; ++column) {
            uint32 i = 2 * coarse_i + 1 + column;
            if (i == fine.mi && fine.wraps()) i = 0;
            if (i >= fine.mi + fine.goes_on()) continue;
#pragma unroll
            for (int dj = -1; dj <= 1; ++dj)
#pragma unroll
                for (int di = -1; di <= 1; ++di) {
                    const Block block = coupling(i, j, di, dj);
#pragma unroll
                    for (int to_j = -1; to_j <= 1; ++to_j)
#pragma unroll
                        for (int to_i = -1; to_i <= 1; ++to_i) {
                            const real along = both ? galerkin_share(row, dj, to_j)
                                                    : real(dj == to_j);
                            const real share = galerkin_share(column, di, to_i) * along;
                            Block& to = sum[to_j + 1][to_i + 1];
                            if (share != 0) to = to + share * block;
                        }
                }
        }
    }

    // Full weighting of the columns of the wall terms of a side.
    __device__ Block weighted_columns(uint32 coarse_i, uint32 coarse_j, uint32 side) const {
        const bool both = coarse.mj != fine.mj;
        Block sum = diagonal(0);
        for (int row = both ? -1 : 0; row <= (both ? 1 : 0); ++row) {
            const uint32 j = both ? 2 * coarse_j + 1 + row : coarse_j;
            if (j >= fine.mj) continue;
            for (int column = -1; column <= 1; ++column) {
                uint32 i = 2 * coarse_i + 1 + column;
                if (i == fine.mi && fine.wraps()) i = 0;
                if (i >= fine.mi + fine.goes_on()) continue;
                const real share = real(0.5) * interpolation(column) *
                                   (both ? real(0.5) * interpolation(row) : real(1));
                sum = sum + share * a.columns_of(side)[j * fine.row() + fine.column(i)];
            }
        }
        return sum;
    }

    __device__ void operator()(uint32 i, uint32 j) const {
        Block sum[3][3];
#pragma unroll
        for (int k = 0; k < 9; ++k) sum[k / 3][k % 3] = diagonal(0);
        if (coarse.mj == fine.mj) {
            add_row(sum, i, j, 0, false);
        } else {
#pragma unroll
            for (int row = -1; row <= 1; ++row) {
                const uint32 from = 2 * j + 1 + row;
                if (from < fine.mj) add_row(sum, i, from, row, true);
            }
        }
        const int at = j * coarse.row() + coarse.column(i);
        for (uint32 side = 0; side < 4; ++side)
            if (fine.has(side)) to.columns_of(side)[at] = weighted_columns(i, j, side);
#pragma unroll
        for (int k = 0; k < 9; ++k) to.towards(k % 3 - 1, k / 3 - 1)[at] = sum[k / 3][k % 3];
    }
};

// Coarse A <- R A P, coarse bad <- fine bad.
KERNEL(coarsen, LevelLayout fine, real* a, const uint32* fine_bad, LevelLayout coarse, real* to, uint32* bad) {
    if (blockIdx.x + blockIdx.y + threadIdx.x == 0) *bad = *fine_bad;
    const Operator<false> target = {to, coarse.points(), fine.ends()};
    if (fine.compact())
        each_point(coarse, Galerkin<true>{fine, coarse, operator_of<true>(fine, a), target});
    else
        each_point(coarse, Galerkin<false>{fine, coarse, operator_of<false>(fine, a), target});
}

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
KERNEL(turn_values, LevelLayout layout, LevelLayout turned, uint32 mirrored, uint32 back, uint32 of_walls, real* values,
       real* to) {
    each_point(layout, [=](uint32 i, uint32 j) {
        if (of_walls && !layout.along_wall(i)) return;
        Pair& own = reinterpret_cast<Pair*>(values)[j * layout.row() + layout.column(i)];
        Pair& other = reinterpret_cast<Pair*>(to)[turned_row(i, layout.mi, mirrored) * turned.row() + turned.column(j)];
        (back ? own : other) = back ? other : own;
    });
}
