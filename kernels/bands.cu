// Levels of multigrid in bands: columns of their operators on their way between neighbours, and levels
// that every rank holds as a whole.
#include "common.cuh"
#include "level.cuh"

// Columns are passed in two pieces: the first column goes west, the last one east; what comes stands
// in the same order, to be put at i = -1 and i = mi.
struct Side {
    uint32 side, j;

    __device__ Side(uint64 k, uint32 mj) : side(k >= mj), j(uint32(k - side * uint64(mj))) {}
    __device__ bool there(const LevelLayout& layout) const {
        return layout.edges & (side ? EDGE_EAST : EDGE_WEST);
    }
    __device__ int own(const LevelLayout& layout) const {
        return j * layout.row() + layout.column(side ? layout.mi - 1 : 0);
    }
    __device__ int beyond(const LevelLayout& layout) const {
        return j * layout.row() + layout.column(side ? int(layout.mi) : -1);
    }
};

template <bool COMPACT>
__device__ inline uint32 operator_values(const LevelLayout& layout) {
    return (COMPACT ? COMPACT_VALUES : FULL_VALUES) + (layout.walls() ? 4 : 0);
}

// Where value v of a point at place `at` stands.
template <bool COMPACT>
__device__ inline int64 value_at(int64 points, uint32 v, int at) {
    const uint32 own = COMPACT ? COMPACT_VALUES : FULL_VALUES;
    if (v >= own) return ((COMPACT ? COMPACT_STORAGE : FULL_STORAGE) + 4) * points + 4 * int64(at) + v - own;
    if (COMPACT && v >= 16) return (4 + v) * points + at;
    const uint32 plane = v < 16 ? v / 4 : v / 4 + 1;
    return 4 * plane * points + 4 * int64(at) + v % 4;
}

template <bool COMPACT>
__device__ void pack_operator(const LevelLayout& layout, const real* a, real* to) {
    const uint64 k = thread_index();
    if (k >= 2 * uint64(layout.mj)) return;
    const Side side(k, layout.mj);
    const uint32 values = operator_values<COMPACT>(layout);
    const int at = side.own(layout);
    for (uint32 v = 0; v < values; ++v)
        to[(side.side * values + v) * uint64(layout.mj) + side.j] =
            a[value_at<COMPACT>(layout.points(), v, at)];
}

template <bool COMPACT>
__device__ void unpack_operator(const LevelLayout& layout, const real* from, real* a) {
    const uint64 k = thread_index();
    if (k >= 2 * uint64(layout.mj)) return;
    const Side side(k, layout.mj);
    if (!side.there(layout)) return;
    const uint32 values = operator_values<COMPACT>(layout);
    const int at = side.beyond(layout);
    for (uint32 v = 0; v < values; ++v)
        a[value_at<COMPACT>(layout.points(), v, at)] =
            from[(side.side * values + v) * uint64(layout.mj) + side.j];
}

#define OPERATOR_COLUMNS(pack, unpack, COMPACT)                                                   \
    KERNEL(pack, LevelLayout layout, const real* a, real* to) {        \
        pack_operator<COMPACT>(layout, a, to);                                       \
    }                                                                                             \
    KERNEL(unpack, LevelLayout layout, const real* from, real* a) {    \
        unpack_operator<COMPACT>(layout, from, a);                                   \
    }

OPERATOR_COLUMNS(pack_operator_compact, unpack_operator_compact, true)
OPERATOR_COLUMNS(pack_operator_full, unpack_operator_full, false)

// A level from the pieces of all ranks: `planes` planes of `each` values a point; and u <- 0, if there is
// a u.
struct Join {
    LevelLayout layout;
    uint32 width, ranks, piece_half, each, planes;
    int64 piece_values;
    const real* pieces;
    real* to;
    Pair* u;

    __device__ void operator()(uint32 i, uint32 j) const {
        if (u) clear_point(layout, u, i, j);
        const uint32 rank = min(i / width, ranks - 1);
        const LevelLayout piece = {0, layout.mj, piece_half, 0, 1};
        const int64 from = each * int64(j * piece.row() + piece.column(i - rank * width));
        const int64 at = each * int64(j * layout.row() + layout.column(i));
        for (uint32 plane = 0; plane < planes; ++plane)
            for (uint32 e = 0; e < each; ++e)
                to[plane * each * int64(layout.points()) + at + e] =
                    pieces[rank * piece_values + plane * each * int64(piece.points()) + from + e];
    }
};

KERNEL(join_pieces, LevelLayout layout, uint32 width, uint32 ranks, uint32 piece_half,
       uint32 each, uint32 planes, uint64 piece_values, const real* pieces, real* to, real* u) {
    const Join join = {layout, width,  ranks,  piece_half, each,
                       planes, int64(piece_values), pieces, to, reinterpret_cast<Pair*>(u)};
    each_point(layout, join);
}
