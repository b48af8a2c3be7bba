// Kernels that exchange the outer columns of bands with their neighbours. One thread per row: it sends
// in both directions before it waits, so that ranks in a cycle do not wait for each other.
#include "common.cuh"
#include "level.cuh"
#include "peers.cuh"
#include "halo.cuh"

__device__ inline uint64 row_of_thread(const HaloExchange& exchange) {
    return uint64(exchange.block()) * blockDim.x + threadIdx.x;
}

// The outer columns of x on mi x mj points, or of d o x if there is a d; stores what is received.
KERNEL(exchange_columns, uint32 mi, uint32 mj, uint32 edges, const real* d, const real* x,
       HaloColumns columns) {
    const HaloExchange exchange = halo_exchange(columns, edges, mj);
    const uint64 j = row_of_thread(exchange);
    if (j >= mj) return;
    for (uint32 side = 0; side < 2; ++side) {
        if (!exchange.sends(side)) continue;
        const uint64 point = j * mi + (side ? mi - 1 : 0);
        const Pair u = reinterpret_cast<const Pair*>(x)[point];
        const Pair s = d ? reinterpret_cast<const Pair*>(d)[point] : pair(1, 1);
        exchange.send(side, uint32(j), pair(s.x * u.x, s.y * u.y));
    }
    for (uint32 side = 0; side < 2; ++side)
        if (exchange.receives(side)) exchange.store_received(side, uint32(j));
}

// The outer columns of u on a level; what is received becomes the columns beyond them.
KERNEL(exchange_solution, LevelLayout layout, real* u, HaloColumns columns) {
    const HaloExchange exchange = halo_exchange(columns, layout.edges, layout.mj);
    const uint64 j = row_of_thread(exchange);
    if (j >= layout.mj) return;
    Pair* row = reinterpret_cast<Pair*>(u) + j * layout.row();
    for (uint32 side = 0; side < 2; ++side)
        if (exchange.sends(side))
            exchange.send(side, uint32(j), row[layout.column(side ? int(layout.mi) - 1 : 0)]);
    for (uint32 side = 0; side < 2; ++side)
        if (exchange.receives(side))
            row[layout.column(side ? int(layout.mi) : -1)] = exchange.receive(side, uint32(j));
}

// The residual f - A u - B d of column 0, sent west; stores that of the column after the last one. Zeros
// are sent east, so that exchanges are counted alike on both sides. Of the first row of transposed equations
// f alone is sent: whoever restricts has all else of its sum.
template <bool COMPACT>
__device__ void exchange_residual(const LevelLayout& layout, real* a, const real* f, const real* u,
                                  const HaloExchange& exchange) {
    const uint64 j = row_of_thread(exchange);
    if (j >= layout.mj) return;
    if (exchange.sends(0)) {
        const Operator<COMPACT> operator_ = operator_of<COMPACT>(layout, a);
        const Pair* right = reinterpret_cast<const Pair*>(f);
        exchange.send(0, uint32(j), layout.sums() && j == 0
                                        ? right[layout.column(0)]
                                        : residual<COMPACT>(layout, operator_, right,
                                                            reinterpret_cast<const Pair*>(u), 0, uint32(j)));
    }
    if (exchange.sends(1)) exchange.send(1, uint32(j), pair(0, 0));
    for (uint32 side = 0; side < 2; ++side)
        if (exchange.receives(side)) exchange.store_received(side, uint32(j));
}

#define EXCHANGE_RESIDUAL(name, COMPACT)                                                          \
    KERNEL(name, LevelLayout layout, real* a, const real* f,         \
           const real* u, HaloColumns columns) {                                                        \
        const HaloExchange exchange = halo_exchange(columns, layout.edges, layout.mj);  \
        exchange_residual<COMPACT>(layout, a, f, u, exchange);                     \
    }

EXCHANGE_RESIDUAL(exchange_residual_compact, true)
EXCHANGE_RESIDUAL(exchange_residual_full, false)
