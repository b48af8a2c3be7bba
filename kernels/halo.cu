// Kernels that exchange the outer columns of bands with their neighbours. One thread per row: it sends
// in both directions before it waits, so that ranks in a cycle do not wait for each other.
#include "level.cuh"
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

// y <- y + A halo, for a matrix by entries or by ten numbers a point: what the column before the first and the one
// after the last give to a product, which have been sent by an earlier launch; of them rows before `from` and from `to`
// on count as zero. One thread a point of both columns.
KERNEL(add_halo, uint32 mi, uint32 mj, uint32 edges, uint32 by_entries, const real* values, HaloColumns columns,
       uint32 from, uint32 to, Pair* y) {
    const Stencil at = {mi, mj, edges};
    const HaloExchange exchange = halo_exchange(columns, edges, mj);
    const uint64 k = thread_index();
    const bool last = k >= mj;
    if (k >= 2 * uint64(mj) || !exchange.receives(last)) return;
    const uint32 j = uint32(k - last * mj);
    Pair* result = y + uint64(j) * mi + (last ? mi - 1 : 0);
    auto beyond = [&](uint32 row) {
        return row < from || row >= to ? pair(0, 0) : exchange.receive(last, row);
    };
    *result = by_entries ? add_beyond(at, values, j, last, *result, beyond)
                         : *result + beyond_by_ten_numbers(at, values, j, last, beyond);
}

// The residual f - A u - B d of column 0, sent west; stores that of the column after the last one. Zeros
// are sent east, so that exchanges are counted alike on both sides. Of walled rows of transposed equations
// f alone is sent: the restriction adds the other terms of its sum.
KERNEL(exchange_residual, LevelLayout layout, real* values, const Pair* f, const Pair* u, HaloColumns columns) {
    const HaloExchange exchange = halo_exchange(columns, layout.edges, layout.mj);
    const uint64 j = row_of_thread(exchange);
    if (j >= layout.mj) return;
    if (exchange.sends(0)) {
        const AnyOperator a = any_operator_of(layout, values);
        exchange.send(0, uint32(j), layout.sums(uint32(j)) ? f[j * layout.row() + layout.column(0)]
                                                           : residual(layout, a, f, u, 0, uint32(j)));
    }
    if (exchange.sends(1)) exchange.send(1, uint32(j), pair(0, 0));
    for (uint32 side = 0; side < 2; ++side)
        if (exchange.receives(side)) exchange.received[side * uint64(layout.mj) + j] = exchange.receive(side, uint32(j));
}
