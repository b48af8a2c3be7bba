// Kernels that exchange the outer columns of bands with their neighbours. One thread per row: it sends
// in both directions before it waits, so that ranks in a cycle do not wait for each other.
#include "common.cuh"
#include "level.cuh"
#include "peers.cuh"
#include "halo.cuh"
#include "stencil.cuh"

__device__ inline uint64 row_of_thread(const HaloExchange& exchange) {
    return uint64(exchange.block()) * blockDim.x + threadIdx.x;
}

// Sends the outer columns of pairs, scaled if there is a scale: the rows of one plane after those of another. The
// pairs received become the ghost columns, or stay in the buffer where there are none.
KERNEL(exchange_columns, ExchangedColumns of, HaloColumns columns) {
    const uint32 rows = of.planes * of.rows;
    const HaloExchange exchange = halo_exchange(columns, of.edges, rows);
    const uint64 n = row_of_thread(exchange);
    if (n >= rows) return;
    const uint32 plane = uint32(n) / of.rows;
    const uint64 first = plane * of.plane + (n - plane * of.rows) * of.row;
    for (uint32 side = 0; side < 2; ++side) {
        if (!exchange.sends(side)) continue;
        const uint64 at = first + of.step * of.own[side];
        const Pair s = of.scale ? pair(of.scale[at], of.scale[at + 1]) : pair(1, 1);
        exchange.send(side, uint32(n), pair(s.x * of.x[at], s.y * of.y[at]));
    }
    for (uint32 side = 0; side < 2; ++side) {
        if (!exchange.receives(side)) continue;
        const Pair arrived = exchange.receive(side, uint32(n));
        if (of.ghosts[side] == NO_GHOSTS) {
            exchange.received[side * uint64(rows) + n] = arrived;
            continue;
        }
        const uint64 at = first + of.step * of.ghosts[side];
        of.x[at] = arrived.x;
        of.y[at] = arrived.y;
    }
}

// y <- y + A halo: what the column before the first and the one after the last give to a product, which have been
// sent by an earlier launch; of them rows before `from` and from `to` on count as zero. One thread a point of both
// columns, to which with_beyond(at, j, last, sum, beyond) adds.
template <class WithBeyond>
__device__ inline void add_columns(uint32 mi, uint32 mj, uint32 edges, const HaloColumns& columns, uint32 from, uint32 to,
                                   real* y, const WithBeyond& with_beyond) {
    const Stencil at = {mi, mj, edges};
    const HaloExchange exchange = halo_exchange(columns, edges, mj);
    const uint64 k = thread_index();
    const bool last = k >= mj;
    if (k >= 2 * uint64(mj) || !exchange.receives(last)) return;
    const uint32 j = uint32(k - last * mj);
    Pair* result = reinterpret_cast<Pair*>(y) + uint64(j) * mi + (last ? mi - 1 : 0);
    *result = with_beyond(at, j, last, *result, [&](uint32 row) {
        return row < from || row >= to ? pair(0, 0) : exchange.receive(last, row);
    });
}

// y <- y + A halo for a matrix by entries.
KERNEL(add_halo, uint32 mi, uint32 mj, uint32 edges, const real* values, HaloColumns columns, uint32 from, uint32 to,
       real* y) {
    add_columns(mi, mj, edges, columns, from, to, y, [=](const Stencil& at, uint32 j, bool last, Pair sum, auto beyond) {
        return add_beyond(at, values, j, last, sum, beyond);
    });
}

// y <- y + A halo for a matrix by ten numbers a point.
KERNEL(add_halo_by_ten_numbers, uint32 mi, uint32 mj, uint32 edges, const real* values, HaloColumns columns,
       uint32 from, uint32 to, real* y) {
    add_columns(mi, mj, edges, columns, from, to, y, [=](const Stencil& at, uint32 j, bool last, Pair sum, auto beyond) {
        return sum + beyond_by_ten_numbers(at, values, j, last, beyond);
    });
}

template <bool COMPACT>
__device__ inline Pair own_residual(const LevelLayout& layout, real* a, const real* f, const real* u, uint32 j) {
    const Operator<COMPACT> operator_ = operator_of<COMPACT>(layout, a);
    return residual<COMPACT>(layout, operator_, reinterpret_cast<const Pair*>(f), reinterpret_cast<const Pair*>(u), 0, j);
}

// The residual f - A u - B d of column 0, sent west; stores that of the column after the last one. Zeros
// are sent east, so that exchanges are counted alike on both sides. Of walled rows of transposed equations
// f alone is sent: the restriction adds the other terms of its sum.
KERNEL(exchange_residual, LevelLayout layout, real* a, const real* f, const real* u, HaloColumns columns) {
    const HaloExchange exchange = halo_exchange(columns, layout.edges, layout.mj);
    const uint64 j = row_of_thread(exchange);
    if (j >= layout.mj) return;
    if (exchange.sends(0)) {
        const bool sum = layout.sums(uint32(j));
        exchange.send(0, uint32(j), sum ? reinterpret_cast<const Pair*>(f)[j * layout.row() + layout.column(0)]
                                    : layout.compact() ? own_residual<true>(layout, a, f, u, uint32(j))
                                                       : own_residual<false>(layout, a, f, u, uint32(j)));
    }
    if (exchange.sends(1)) exchange.send(1, uint32(j), pair(0, 0));
    for (uint32 side = 0; side < 2; ++side)
        if (exchange.receives(side)) exchange.received[side * uint64(layout.mj) + j] = exchange.receive(side, uint32(j));
}
