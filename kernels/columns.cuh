// Columns of a grid that a device holds, those of them that are its own, and lengths along its lines.
#pragma once
#include "common.cuh"

// The columns of a grid that a device holds: `count` of them in an array, the first being column `first`
// of the `around` distinct ones.
struct Columns : ColumnsFields {
    // Whether the array has all columns of a closed grid: its last repeats its first.
    __device__ bool wraps() const { return (flags & COLUMNS_WRAP) != 0; }
    // The columns beside column c of the array, `stride` from it. Past the ends of a part of a grid it is c itself:
    // what follows from that is not used.
    __device__ uint32 west(uint32 c, uint32 stride = 1) const {
        return c >= stride ? c - stride : wraps() ? c + (count - 1) - stride : c;
    }
    __device__ uint32 east(uint32 c, uint32 stride = 1) const {
        return c + stride < count ? c + stride : wraps() ? c + stride - (count - 1) : c;
    }
    // The stride, or the distance of column c from the nearer end of open lines where that is less.
    __device__ uint32 inside(uint32 c, uint32 stride) const {
        if (!(flags & COLUMNS_OPEN)) return stride;
        const uint32 i = column(c), from_end = i < around - 1 - i ? i : around - 1 - i;
        return stride < from_end ? stride : from_end;
    }
    // Returns the number of column c of the array among the distinct columns of the grid.
    __device__ uint32 column(uint32 c) const { return uint32((uint64(first) + c) % around); }
    // Whether it is a seam that keeps its points.
    __device__ bool held(uint32 c) const { return (flags & COLUMNS_HELD) && column(c) == 0; }
    // Whether it is an end of open lines.
    __device__ bool is_end(uint32 c) const {
        return (flags & COLUMNS_OPEN) && (column(c) == 0 || column(c) + 1 == around);
    }
    // The column, or that beside it where it is an end.
    __device__ uint32 off_ends(uint32 c) const {
        return !is_end(c) ? c : column(c) == 0 ? c + 1 : c - 1;
    }
};

// A device owns the columns from `begin` to before `end` of ni; its arrays have `stride`, column i at i + `shift`.
struct OwnColumns : OwnColumnsFields {
    // Columns of cells: each begins at a column of nodes, and at the last one none does.
    __device__ uint32 cells() const { return (end < ni ? end : ni - 1) - begin; }
    __device__ uint64 index(uint32 i, uint64 j) const { return j * stride + uint32(i + shift); }
};

// Calls each(k, s, node) for the nj nodes k of line i, which are `stride` apart in memory, with their distance s from
// the wall along the line; returns that of the last.
template <class Each>
__device__ inline double measure_line(uint64 i, uint64 stride, uint32 nj, const double* x, const double* y,
                                      const Each& each) {
    // Nodes of a batch are read before `each` writes anything, or one read would wait for the other.
    const uint32 batch = 16;
    double length = 0.0;
    Vec last = {x[i], y[i]};
    for (uint32 first = 0; first < nj; first += batch) {
        Vec line[batch];
#pragma unroll
        for (uint32 k = 0; k < batch; ++k) {
            const uint64 at = uint64(min(first + k, nj - 1)) * stride + i;
            line[k] = {x[at], y[at]};
        }
#pragma unroll
        for (uint32 k = 0; k < batch; ++k) {
            if (first + k >= nj) break;
            length += hypot(line[k].x - last.x, line[k].y - last.y);
            last = line[k];
            each(uint64(first + k) * stride + i, length, last);
        }
    }
    return length;
}
