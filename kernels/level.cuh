// Memory layout of a level of multigrid.
//
// Point (i, j) of mi x mj unknown points has the place j * 2 half + (i mod 2) half + i div 2: the points of one colour
// of eta-lines are contiguous. `half` is greater than the points of a parity, so that every row has a column of zeros
// for neighbours that do not exist, and u has rows of zeros at j = -1 and j = mj. In bands the columns i = -1 and i =
// mi are ghost columns.
//
// With wall terms the points of the first row are held at zero, and the row of u holds the wall terms d_i in their
// places: as a point, row 0 is read from the row of zeros below it. With terms of the outer line the last row is such a
// row, too. In transposed equations these rows have unknowns like the others, and their equations are the sums of B^T u
// along the eta-lines. Terms of walls at the ends of the xi-lines likewise take the places of the first and of the last
// column. Xi-lines are solved as eta-lines of a second, turned level then, whose rows are the columns of this one.
#pragma once
#include "numbers.cuh"

// Walls that a kernel has code for: the section's alone, those at both ends of the eta-lines, or those of all sides.
// Each kind costs kernels that do not need it up to a third of their time.
enum Walls { SECTION, ENDS, SIDES };

// The ends of the eta-lines that may have walls.
__device__ constexpr int end_count(Walls walls) { return walls == SECTION ? 1 : 2; }

// Places of a level, fewer than 2^31. `edges` says what lies beyond the ends of the rows.
struct LevelLayout : LevelLayoutFields {
    // Whether the first and the last point of a row are neighbours.
    __device__ bool wraps() const { return edges & EDGE_PERIODIC; }
    // Whether there are columns of wall terms.
    __device__ bool walls() const { return edges & EDGE_WALLS; }
    // Whether wall terms take the places of the first row: where they have columns, unless equations are transposed.
    __device__ bool terms() const { return (edges & (EDGE_WALLS | EDGE_TRANSPOSED)) == EDGE_WALLS; }
    // Whether there are columns of wall terms of the last row too.
    __device__ bool above() const { return edges & EDGE_ABOVE; }
    // Whether these take the places of the last row.
    __device__ bool terms_above() const { return (edges & (EDGE_ABOVE | EDGE_TRANSPOSED)) == EDGE_ABOVE; }
    // Walls at the ends of the eta-lines.
    __device__ uint32 ends() const { return walls() + above(); }
    // Whether there are columns of wall terms of a side.
    __device__ bool has(uint32 side) const { return edges / EDGE_WALLS >> side & 1; }
    // Whether eta-line i stands along a wall: it is not solved.
    __device__ bool along_wall(uint32 i) const { return (has(2) && i == 0) || (has(3) && i + 1 == mi); }
    // Whether terms of such walls take the places of these lines.
    __device__ bool terms_beside() const { return (edges & (EDGE_BEFORE | EDGE_BEHIND)) && !transposed(); }
    // Whether row j holds wall terms.
    __device__ bool holds(int j) const { return (terms() && j == 0) || (terms_above() && j == int(mj) - 1); }
    // Start of the row of u with the terms of an end of the eta-lines.
    __device__ int terms_of(uint32 end) const { return end ? (int(mj) - 1) * row() : 0; }
    __device__ bool transposed() const { return edges & EDGE_TRANSPOSED; }
    // Whether the operator has the compact storage.
    __device__ bool compact() const { return edges & EDGE_COMPACT; }
    // Whether the equations of row j are sums along the eta-lines.
    __device__ bool sums(uint32 j) const {
        return transposed() && ((walls() && j == 0) || (above() && j + 1 == mj));
    }
    // True if column -1 is a ghost column of another band.
    __device__ bool comes_from() const { return (edges & (EDGE_WEST | EDGE_PERIODIC)) == EDGE_WEST; }
    // True if column mi is a ghost column of another band.
    __device__ bool goes_on() const { return (edges & (EDGE_EAST | EDGE_PERIODIC)) == EDGE_EAST; }
    __device__ int row() const { return 2 * half; }
    // Start of the points of row j in u.
    template <Walls WALLS = ENDS>
    __device__ int points_of_row(int j) const {
        return (terms() && j == 0 ? -1 : WALLS != SECTION && terms_above() && j == int(mj) - 1 ? int(mj) : j) * row();
    }
    __device__ int points() const { return row() * mj; }
    // First point of this block's tile of LEVEL_I x LEVEL_J points. More tiles along eta than MOST_BLOCKS are along x.
    __device__ bool tall() const { return mj > MOST_BLOCKS * LEVEL_J; }
    __device__ uint32 tile_i() const { return (tall() ? blockIdx.y : blockIdx.x) * LEVEL_I; }
    __device__ uint32 tile_j(uint32 rows = LEVEL_J) const { return (tall() ? blockIdx.x : blockIdx.y) * rows; }
    // Place of column i; a column that holds zeros for i = -1.
    __device__ int column(int i) const {
        return i < 0 ? int(half) - 1 : (i & 1) * int(half) + (i >> 1);
    }
    // Place of the points of column i: of zeros where wall terms have theirs.
    template <Walls WALLS>
    __device__ int points_of_column(int i) const {
        return column(WALLS == SIDES && terms_beside() && along_wall(i) ? -1 : i);
    }
    // Places of the points of the columns before and after i.
    template <Walls WALLS>
    __device__ int west(int i) const {
        return points_of_column<WALLS>(i == 0 && wraps() ? int(mi) - 1 : i - 1);
    }
    template <Walls WALLS>
    __device__ int east(int i) const {
        return points_of_column<WALLS>(i + 1 == int(mi) && wraps() ? 0 : i + 1);
    }
};

// A level's operator by planes: on the finest level (COMPACT) pairs of the ten numbers of a point, else 2x2 blocks of
// its neighbours; then those of the wall terms if there are any, then inverse pivots of the xi-lines. With EITHER the
// level says which: kernels that wait for their recurrences are compiled once for both, in two thirds of the time, and
// the branches cost no time that could be measured.
//
// The numbers are the matrix's own. Others that are found anew give blocks that differ by rounding, and corrections are
// so much larger than residuals that a cycle then misses: with 4097 x 1025 points a grid took 8 linear iterations where
// it takes 5.
template <bool COMPACT, bool EITHER = false>
struct Operator {
    real* values;
    int64 points;
    // Walls at the ends of the eta-lines.
    uint32 walls;
    bool is_compact;

    __device__ constexpr bool compact() const { return EITHER ? is_compact : COMPACT; }
    __device__ Block* plane(int64 reals) const {
        return reinterpret_cast<Block*>(values + reals * points);
    }
    // Inverse pivots of the eta-lines.
    __device__ Block* eta_pivot() const { return plane(compact() ? 10 : 16); }
    // The ten numbers of a point of the compact storage.
    __device__ TenNumbers numbers(int at) const { return ten_numbers(values + 2 * at, 2 * points); }
    // A plane of their pairs.
    __device__ Pair* pairs(int slot) const { return reinterpret_cast<Pair*>(values + 2 * slot * points); }
    // Blocks of the full storage that couple points with their neighbours in a direction.
    __device__ Block* towards(int di, int dj) const {
        constexpr int at[3][3] = {{20, 8, 24}, {0, 36, 4}, {28, 12, 32}};
        return plane(at[dj + 1][di + 1]);
    }
    // Borders of the eta-lines at an end: V, and in the first row the inverse pivots of the wall terms; of transposed
    // equations W = V^T. With walls at both ends the inverse of the pivot of all four terms stands by rows in the
    // first and in the last row, and its transpose where equations are transposed.
    __device__ Block* border(uint32 end = 0) const {
        return plane((compact() ? COMPACT_STORAGE : FULL_STORAGE) + end * WALL_VALUES);
    }
    // Columns of the wall terms of an end of the eta-lines, and of any side. A level with walls at the ends of the
    // xi-lines has their columns where others have the pivots of the xi-lines.
    __device__ Block* columns(uint32 end = 0) const { return border(end) + points; }
    __device__ Block* columns_of(uint32 side) const {
        return side < 2 ? columns(side) : xi_pivot() + (side - 2) * points;
    }
    // Inverse pivots of the xi-lines. Periodic lines also store the correction H = T^-1 (coupling to the last
    // point). H decays from both ends: the blocks [n, m) are negligible and never written; n and m are kept as (n,
    // 0, 0, m) in the block of the line's last point.
    __device__ Block* xi_pivot() const { return border(walls); }
    __device__ Block* closing() const { return xi_pivot() + points; }

    // The blocks of the neighbours of a point in a direction. Where there is no neighbour, u is zero there.
    __device__ Sides along_xi(int at) const {
        if (compact()) return numbers(at).along_xi();
        return {towards(-1, 0)[at], towards(1, 0)[at]};
    }
    __device__ Sides along_eta(int at) const {
        if (compact()) return numbers(at).along_eta();
        return {towards(0, -1)[at], towards(0, 1)[at]};
    }
    __device__ Block centre(int at) const { return compact() ? diagonal(-1) : towards(0, 0)[at]; }
};

typedef Operator<false, true> AnyOperator;

template <bool COMPACT>
__device__ inline Operator<COMPACT> operator_of(const LevelLayout& layout, real* values) {
    return {values, layout.points(), layout.ends(), COMPACT};
}

__device__ inline AnyOperator any_operator_of(const LevelLayout& layout, real* values) {
    return {values, layout.points(), layout.ends(), layout.compact()};
}

// b <- b - a u.
__device__ inline void subtract(Pair& b, const Block& a, Pair u) {
    b.x -= a.xx * u.x + a.xy * u.y;
    b.y -= a.yx * u.x + a.yy * u.y;
}

// b <- b - B d of the walls at the ends of the xi-line through point (i, j), which has this place.
template <class A>
__device__ inline void subtract_beside(Pair& b, const LevelLayout& layout, const A& a, const Pair* u, int at,
                                       uint32 j) {
    const Pair* const row = u + int(j) * layout.row();
    if (layout.has(2)) subtract(b, a.columns_of(2)[at], row[layout.column(0)]);
    if (layout.has(3)) subtract(b, a.columns_of(3)[at], row[layout.column(int(layout.mi) - 1)]);
}

// f - A u - B d at a point; that of a walled row of transposed equations is not this.
template <Walls WALLS = ENDS, class A>
__device__ inline Pair residual(const LevelLayout& layout, const A& a, const Pair* f, const Pair* u, uint32 i,
                                uint32 j) {
    const int w = layout.west<WALLS>(i), own = layout.column(i), e = layout.east<WALLS>(i);
    const int c = layout.points_of_column<WALLS>(i);
    const int at = j * layout.row() + own;
    const Pair* here = u + layout.points_of_row(j);
    const Pair* south = u + layout.points_of_row(int(j) - 1);
    const Pair* north = u + layout.points_of_row(int(j) + 1);
    Pair r = f[at];
    if (layout.terms()) subtract(r, a.columns()[at], u[own]);
    if (layout.terms_above()) subtract(r, a.columns(1)[at], u[layout.terms_of(1) + own]);
    if (WALLS == SIDES && layout.terms_beside()) subtract_beside(r, layout, a, u, at, j);
    if (a.compact()) {
        const Pair corners = (south[w] - south[e]) + (north[e] - north[w]);
        return r - a.numbers(at).product(here[w], here[c], here[e], south[c], north[c], corners);
    }
    subtract(r, a.towards(-1, 0)[at], here[w]);
    subtract(r, a.towards(1, 0)[at], here[e]);
    subtract(r, a.towards(0, -1)[at], south[c]);
    subtract(r, a.towards(0, 1)[at], north[c]);
    subtract(r, a.towards(-1, -1)[at], south[w]);
    subtract(r, a.towards(1, -1)[at], south[e]);
    subtract(r, a.towards(-1, 1)[at], north[w]);
    subtract(r, a.towards(1, 1)[at], north[e]);
    subtract(r, a.towards(0, 0)[at], here[c]);
    return r;
}

// The sum of the magnitudes of a block's entries, a NaN if one is.
__device__ inline real magnitude(const Block& a) {
    return (a.xx < 0 ? -a.xx : a.xx) + (a.xy < 0 ? -a.xy : a.xy) + (a.yx < 0 ? -a.yx : a.yx) +
           (a.yy < 0 ? -a.yy : a.yy);
}

// u <- 0 at a point, and beyond the ends of its row.
__device__ inline void clear_point(const LevelLayout& layout, Pair* u, uint32 i, uint32 j) {
    Pair* row = u + int(j) * layout.row();
    row[layout.column(i)] = pair(0, 0);
    if (i == 0) row[layout.column(-1)] = pair(0, 0);
    if (i + 1 == layout.mi) row[layout.column(layout.mi)] = pair(0, 0);
}

// The blocks of a point named for the line through it: `prev` and `next` along it, `left` and `right` beside it.
template <bool XI, class A, Walls WALLS = SIDES>
struct LineOf {
    LevelLayout layout;
    A a;
    uint32 number;

    __device__ uint32 along() const { return XI ? layout.mi : layout.mj; }
    __device__ uint32 across() const { return XI ? layout.mj : layout.mi; }
    __device__ bool closed() const { return XI && layout.wraps(); }
    // Whether the line's first point gives its place to the wall terms.
    __device__ bool bordered() const { return !XI && layout.walls(); }
    // Whether its last point does so, too.
    __device__ bool bordered_above() const { return !XI && WALLS != SECTION && layout.above(); }
    // Whether the line is solved: not the rows of a level with wall terms whose points are held, or those rows of
    // transposed equations, which are sums along the eta-lines; nor an eta-line along a wall.
    __device__ bool solved() const {
        return number < across() && !(XI && layout.walls() && number == 0) &&
               !(XI && WALLS != SECTION && layout.above() && number + 1 == across()) &&
               !(!XI && WALLS == SIDES && layout.along_wall(number));
    }
    // Points of the recurrence: the last point of a closed line is condensed out.
    __device__ uint32 open() const { return along() - closed(); }

    __device__ int at(int l) const {
        return XI ? number * layout.row() + layout.column(l)
                  : l * layout.row() + layout.column(number);
    }
    // Places of the neighbours beside point l of -1 to the number of points: around a closed line, or of zeros.
    __device__ int left(int l) const {
        return XI ? layout.points_of_row<WALLS>(int(number) - 1) + around(l)
                  : layout.points_of_row<WALLS>(l) + layout.west<WALLS>(number);
    }
    __device__ int right(int l) const {
        return XI ? layout.points_of_row<WALLS>(int(number) + 1) + around(l)
                  : layout.points_of_row<WALLS>(l) + layout.east<WALLS>(number);
    }
    __device__ int around(int l) const {
        return l < 0                 ? layout.west<WALLS>(0)
               : l == int(layout.mi) ? layout.east<WALLS>(l - 1)
                                     : layout.column(l);
    }

    // Blocks of the neighbours in the line of the point at a place.
    __device__ Sides along_line(int at) const { return XI ? a.along_xi(at) : a.along_eta(at); }
    __device__ Block prev(int at) const { return along_line(at).before; }
    __device__ Block next(int at) const { return along_line(at).after; }
    __device__ Block* pivot() const { return XI ? a.xi_pivot() : a.eta_pivot(); }
};

template <bool XI, bool COMPACT, Walls WALLS = SIDES>
using Line = LineOf<XI, Operator<COMPACT>, WALLS>;

// Calls `at_point(i, j)` for the points of a level, each by a thread of a two-dimensional grid. Blocks have tiles of
// LEVEL_I x LEVEL_J points: what the rows of a tile share is loaded from memory once.
template <class AtPoint>
__device__ inline void each_point(const LevelLayout& layout, const AtPoint& at_point) {
    const uint32 i = layout.tile_i() + threadIdx.x % LEVEL_I;
    const uint32 j = layout.tile_j() + threadIdx.x / LEVEL_I;
    if (i < layout.mi && j < layout.mj) at_point(i, j);
}
