// Vectors and products of a matrix with scaled columns, A D: the steps of a Krylov method preconditioned by the
// diagonal. Also inner products of several ranks.
#include "halo.cuh"
#include "stencil.cuh"
#include "slots.cuh"

__device__ inline double dot(Pair a, Pair b) { return double(a.x) * double(b.x) + double(a.y) * double(b.y); }

// d o u at a point.
__device__ inline Pair scaled(const ScaledMatrix& of, Pair u, uint64 point) {
    const Pair s = reinterpret_cast<const Pair*>(of.d)[point];
    return pair(s.x * u.x, s.y * u.y);
}

// Sends d o u of a point k of a grid to the neighbour whose band borders on its column.
__device__ inline void send_outer(const ScaledMatrix& of, const HaloExchange& exchange, uint64 k, Pair u) {
    const uint32 j = uint32(k) / of.mi, i = uint32(k) - j * of.mi;
    for (uint32 side = 0; side < 2; ++side)
        if (i == (side ? of.mi - 1 : 0) && exchange.sends(side)) exchange.send(side, j, scaled(of, u, k));
}

// p <- p + alpha x by the points of a grid, whose outer columns of d o p are sent to the neighbours: the product by
// `scale_multiply_and_sum` receives theirs. Nothing if the slots are halted.
KERNEL(add_and_send, ScaledMatrix of, const double* slots, Pair* p, ScalarFactor alpha, const Pair* x) {
    const double halted = slots[HALTED];
    const real by = real(coefficient(slots, alpha));
    if (halted != 0.0) return;
    const HaloExchange exchange = halo_exchange(of.columns, of.edges, of.mj);
    const uint64 points = uint64(of.mi) * of.mj;
    for (uint64 k = thread_index(); k < points; k += thread_count()) {
        const Pair next = p[k] = p[k] + by * x[k];
        send_outer(of, exchange, k, next);
    }
}

// Takes a step by the points of a grid, whose outer columns of d o p are sent as by `add_and_send`.
KERNEL(step_and_send, ScaledMatrix of, const double* slots, StepVectors vectors) {
    const HaloExchange exchange = halo_exchange(of.columns, of.edges, of.mj);
    take_step<Pair>(uint64(of.mi) * of.mj, slots, vectors,
                    [&](uint64 k, Pair p) { send_outer(of, exchange, k, p); });
}

// z <- d o p, y <- A z, and slots[first..] <- none, two or five of (w, y), (y, y), (p, y), (p, p) and (w, p); nothing
// if the slots are halted. Every thread scales what it reads of p anew and waits for none of z. The columns of
// neighbours are received here. The bound leaves a thread 64 registers: four blocks of 256 fit on a multiprocessor.
BOUNDED_KERNEL(1024, scale_multiply_and_sum, ScaledMatrix of, const Pair* p, Pair* z, Pair* y, const Pair* w,
       ScalarReduction into) {
    const uint32 sums = of.sums;
    if (sums && into.slots[HALTED] != 0.0) return;
    const Stencil at = {of.mi, of.mj, of.edges};
    const HaloExchange exchange = halo_exchange(of.columns, of.edges, of.mj);
    const uint64 points = uint64(of.mi) * of.mj;
    // The points of the outer columns come last and by different threads: those take several times as long, and
    // a thread that strides by whole rows would have one of them in each.
    const uint64 all = points + (exchange.phase & PHASE_RECEIVE ? 2 * of.mj : 0);
    double products[SLOT_SUMS] = {};
    for (uint64 n = thread_index(); n < all; n += thread_count()) {
        const bool last = n >= points + of.mj, outer = n >= points;
        const uint32 j = outer ? uint32(n - points) - last * of.mj : uint32(n) / of.mi;
        const uint32 i = outer ? last * (of.mi - 1) : uint32(n) - j * of.mi;
        if (outer ? !exchange.receives(last)
                  : (i == 0 && exchange.receives(0)) || (i + 1 == of.mi && exchange.receives(1)))
            continue;
        const uint64 k = uint64(j) * of.mi + i;
        const Pair u = p[k];
        z[k] = scaled(of, u, k);
        Pair v = nine_points(at, of.values, i, j, pair(0, 0),
                             [&](uint64 point) { return scaled(of, p[point], point); });
        if (outer)
            v = add_beyond(at, of.values, j, last, v,
                           [&](uint32 row) { return exchange.receive(last, row); });
        y[k] = v;
        if (sums == 0) continue;
        const Pair with = w[k];
        products[0] += dot(with, v);
        products[1] += dot(v, v);
        if (sums == 2) continue;
        products[2] += dot(u, v);
        products[3] += dot(u, u);
        products[4] += dot(with, u);
    }
    if (sums) sum_into_slots(products, sums, into);
}

// slots[first..] <- sums of the parts of all ranks that do not access each other's memory, RANK_VALUES places each;
// then what follows. Does nothing if the slots are halted. One thread.
KERNEL(sum_parts, uint32 ranks, uint32 count, const double* parts, ScalarReduction into) {
    if (is_halted(into)) return;
    double known[SLOTS];
    for (uint32 k = 0; k < SLOTS && !into.plain; ++k) known[k] = into.slots[k];
    for (uint32 k = 0; k < count; ++k) {
        double sum = parts[k];
        for (uint32 rank = 1; rank < ranks; ++rank) sum += parts[RANK_VALUES * rank + k];
        known[into.first + k] = sum;
    }
    end(into, count, known);
}
