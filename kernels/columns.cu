// Outer columns of bands on their way between neighbours. One thread a row: it sends in both directions
// before it waits, so that ranks in a ring do not wait for each other.
#include "common.cuh"
#include "level.cuh"
#include "mail.cuh"
#include "columns.cuh"

__device__ inline uint64 row_of_thread(const Borders& borders) {
    return uint64(borders.turn()) * blockDim.x + threadIdx.x;
}

// The outer columns of x on mi x mj points, or of d o x if there is a d; what comes is kept.
KERNEL(exchange_columns, uint32 mi, uint32 mj, uint32 rim, const real* d, const real* x, BORDERS) {
    const Borders borders = THE_BORDERS(rim, mj);
    const uint64 j = row_of_thread(borders);
    if (j >= mj) return;
    for (uint32 side = 0; side < 2; ++side) {
        if (!borders.puts(side)) continue;
        const uint64 point = j * mi + (side ? mi - 1 : 0);
        const Pair u = reinterpret_cast<const Pair*>(x)[point];
        const Pair s = d ? reinterpret_cast<const Pair*>(d)[point] : pair(1, 1);
        borders.put(side, uint32(j), pair(s.x * u.x, s.y * u.y));
    }
    for (uint32 side = 0; side < 2; ++side)
        if (borders.gets(side)) borders.keep(side, uint32(j));
}

// The outer columns of u on a level; what comes stands beyond them.
KERNEL(exchange_solution, uint32 mi, uint32 mj, uint32 half, uint32 rim, real* u, BORDERS) {
    const Layout layout = {mi, mj, half, rim};
    const Borders borders = THE_BORDERS(rim, mj);
    const uint64 j = row_of_thread(borders);
    if (j >= mj) return;
    Pair* row = reinterpret_cast<Pair*>(u) + j * layout.row();
    for (uint32 side = 0; side < 2; ++side)
        if (borders.puts(side))
            borders.put(side, uint32(j), row[layout.column(side ? int(mi) - 1 : 0)]);
    for (uint32 side = 0; side < 2; ++side)
        if (borders.gets(side))
            row[layout.column(side ? int(mi) : -1)] = borders.get(side, uint32(j));
}

// The residual f - A u - B d of column 0, to the west; that of the column after the last one is kept. What
// passes in the other direction, only to be counted, is zero.
template <bool COMPACT>
__device__ void exchange_residual(const Layout& layout, real* a, const real* f, const real* u,
                                  const Borders& borders) {
    const uint64 j = row_of_thread(borders);
    if (j >= layout.mj) return;
    if (borders.puts(0)) {
        const Operator<COMPACT> operator_ = operator_of<COMPACT>(layout, a);
        borders.put(0, uint32(j),
                    residual<COMPACT>(layout, operator_, reinterpret_cast<const Pair*>(f),
                                      reinterpret_cast<const Pair*>(u), 0, uint32(j)));
    }
    if (borders.puts(1)) borders.put(1, uint32(j), pair(0, 0));
    for (uint32 side = 0; side < 2; ++side)
        if (borders.gets(side)) borders.keep(side, uint32(j));
}

#define EXCHANGE_RESIDUAL(name, COMPACT)                                                          \
    KERNEL(name, uint32 mi, uint32 mj, uint32 half, uint32 rim, real* a, const real* f,           \
           const real* u, BORDERS) {                                                              \
        const Borders borders = THE_BORDERS(rim, mj);                                             \
        exchange_residual<COMPACT>({mi, mj, half, rim}, a, f, u, borders);                        \
    }

EXCHANGE_RESIDUAL(exchange_residual_compact, true)
EXCHANGE_RESIDUAL(exchange_residual_full, false)
