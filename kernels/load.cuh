// The operator of the finest level of multigrid from a matrix.
#pragma once
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

// One thread clears the flag of bad pivots and marks all borders as kept, before an operator is loaded.
__device__ inline void begin_operator(uint32* borders, uint32* bad) {
    if (blockIdx.x + blockIdx.y + threadIdx.x == 0) *bad = 0, borders[0] = borders[2] = ALL_BORDERS;
}
