// Levels of multigrid in bands: columns of their operators on their way between neighbours, and levels
// that every rank holds as a whole.
#include "common.cuh"
#include "level.cuh"

// Place of value v of a point at place `at`, of those that the next coarser operator is made of.
template <bool COMPACT>
__device__ inline int64 value_at(int64 points, uint32 v, int at) {
    const uint32 own = COMPACT ? COMPACT_VALUES : FULL_VALUES;
    if (v >= own) return ((COMPACT ? COMPACT_STORAGE : FULL_STORAGE) + 4) * points + 4 * int64(at) + v - own;
    if (COMPACT && v >= 16) return (4 + v) * points + at;
    const uint32 plane = v < 16 ? v / 4 : v / 4 + 1;
    return 4 * plane * points + 4 * int64(at) + v % 4;
}

template <bool COMPACT>
__device__ inline void pass_operator(const LevelLayout& layout, bool arrived, real* a, real* columns) {
    const uint64 k = thread_index(), mj = layout.mj;
    if (k >= 2 * mj) return;
    const bool east = k >= mj;
    if (arrived && !(layout.edges & (east ? EDGE_EAST : EDGE_WEST))) return;
    const uint64 j = k - east * mj;
    const uint32 values = (COMPACT ? COMPACT_VALUES : FULL_VALUES) + (layout.walls() ? 4 : 0);
    const int column = (east ? int(layout.mi) - 1 : 0) + (!arrived ? 0 : east ? 1 : -1);
    const int at = int(j) * layout.row() + layout.column(column);
    for (uint32 v = 0; v < values; ++v) {
        real& own = a[value_at<COMPACT>(layout.points(), v, at)];
        real& passed = columns[(east * values + v) * mj + j];
        if (arrived) own = passed;
        else passed = own;
    }
}

// columns <- the outer columns of the operator, the first one, which goes west, then the last one, which goes east; or
// the ghost columns, at i = -1 and i = mi, <- what has `arrived` in the same order. One thread a point of both columns.
KERNEL(pass_operator_columns, LevelLayout layout, uint32 arrived, real* a, real* columns) {
    if (layout.compact()) pass_operator<true>(layout, arrived, a, columns);
    else pass_operator<false>(layout, arrived, a, columns);
}

// A level from the pieces of all ranks: `planes` planes of `each` values a point; and u <- 0, if there is
// a u.
KERNEL(join_pieces, LevelLayout layout, uint32 width, uint32 ranks, uint32 piece_half,
       uint32 each, uint32 planes, uint64 piece_values, const real* pieces, real* to, real* u) {
    each_point(layout, [=](uint32 i, uint32 j) {
        if (u) clear_point(layout, reinterpret_cast<Pair*>(u), i, j);
        const uint32 rank = min(i / width, ranks - 1);
        const LevelLayout piece = {0, layout.mj, piece_half, 0, 1};
        const int64 from = each * int64(j * piece.row() + piece.column(i - rank * width));
        const int64 at = each * int64(j * layout.row() + layout.column(i));
        for (uint32 plane = 0; plane < planes; ++plane)
            for (uint32 e = 0; e < each; ++e)
                to[plane * each * int64(layout.points()) + at + e] =
                    pieces[rank * int64(piece_values) + plane * each * int64(piece.points()) + from + e];
    });
}
