// How a level of multigrid stands in memory.
//
// Point (i, j) of mi x mj unknown points stands at j * 2 half + (i mod 2) half + i div 2: split by
// the parity of i, the points of one colour of eta-lines follow one another. `half` is greater
// than the points of a parity, so every row has a column of zeros for neighbours that are not
// there; u has a row of zeros below and above as well, at j = -1 and j = mj.
#pragma once

// Places of a level, fewer than 2^31.
struct Layout {
    uint32 mi, mj, half;
    // Whether the first and the last point of a row are neighbours.
    bool wraps;

    __device__ int row() const { return 2 * half; }
    __device__ int points() const { return row() * mj; }
    // Place of column i; a column that holds zeros for i = -1.
    __device__ int column(int i) const {
        return i < 0 ? int(half) - 1 : (i & 1) * int(half) + (i >> 1);
    }
    // Place of the column before and after i.
    __device__ int west(int i) const { return column(i == 0 && wraps ? int(mi) - 1 : i - 1); }
    __device__ int east(int i) const { return column(i + 1 == int(mi) && wraps ? 0 : i + 1); }
};

// A level's operator: planes of 2x2 blocks by compass, then what the storage needs, then inverse
// pivots. On the finest level (COMPACT) the corner blocks are +-d I and the centre is c I.
template <bool COMPACT>
struct Operator {
    real* values;
    int64 points;

    __device__ Block* plane(int64 reals) const {
        return reinterpret_cast<Block*>(values + reals * points);
    }
    __device__ Block* west() const { return plane(0); }
    __device__ Block* east() const { return plane(4); }
    __device__ Block* south() const { return plane(8); }
    __device__ Block* north() const { return plane(12); }
    // Inverse pivots of the eta-lines.
    __device__ Block* eta_pivot() const { return plane(16); }
    // Scalars of the compact storage.
    __device__ real* corner() const { return values + 20 * points; }
    __device__ real* diagonal_centre() const { return values + 21 * points; }
    // Blocks of the full storage.
    __device__ Block* southwest() const { return plane(20); }
    __device__ Block* southeast() const { return plane(24); }
    __device__ Block* northwest() const { return plane(28); }
    __device__ Block* northeast() const { return plane(32); }
    __device__ Block* full_centre() const { return plane(36); }
    // Inverse pivots of the xi-lines, and H of those that are closed.
    __device__ Block* xi_pivot() const { return plane(COMPACT ? 22 : 40); }
    __device__ Block* closing() const { return plane(COMPACT ? 26 : 44); }

    __device__ Block centre(int at) const {
        return COMPACT ? diagonal(diagonal_centre()[at]) : full_centre()[at];
    }
};

// b <- b - a u.
__device__ inline void subtract(Pair& b, const Block& a, Pair u) {
    b.x -= a.xx * u.x + a.xy * u.y;
    b.y -= a.yx * u.x + a.yy * u.y;
}
