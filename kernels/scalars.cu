// Sums with coefficients that stay on the device, and inner products that end there.
#include "common.cuh"
#include "peers.cuh"
#include "halo.cuh"
#include "stencil.cuh"

// factor * slot * slot / (slot * slot), the four slots packed into bytes, the first lowest.
__device__ inline double coefficient(const double* slots, const ScalarFactor& of) {
    const uint32 packed = uint32(of.slots);
    const double over = slots[packed & 255] * slots[(packed >> 8) & 255];
    const double under = slots[(packed >> 16) & 255] * slots[packed >> 24];
    return of.factor * over / under;
}

// beta and the alphas of a sum of `terms` <= 2 terms; zero where there are fewer.
struct SumFactors {
    real b, a0, a1;

    // beta y + sum of alpha_k x_k at k, of reals or of pairs; beta = 0 overwrites y, even a NaN.
    template <class V>
    __device__ V at(uint64 k, uint32 terms, const V* y, const V* x0, const V* x1) const {
        V sum{};
        if (terms > 0) sum = sum + a0 * x0[k];
        if (terms > 1) sum = sum + a1 * x1[k];
        return b == real(0) ? sum : b * y[k] + sum;
    }
};

__device__ inline SumFactors sum_factors(const double* slots, const ScalarFactor& beta, uint32 terms,
                                         const ScalarFactor& alpha0, const ScalarFactor& alpha1) {
    return {real(coefficient(slots, beta)), terms > 0 ? real(coefficient(slots, alpha0)) : real(0),
            terms > 1 ? real(coefficient(slots, alpha1)) : real(0)};
}

// d o u at a point.
__device__ inline Pair scaled(const ScaledMatrix& of, Pair u, uint64 point) {
    const Pair s = reinterpret_cast<const Pair*>(of.d)[point];
    return pair(s.x * u.x, s.y * u.y);
}

// y <- beta y + sum of alpha_k x_k over `terms` <= 2 terms with coefficients of slots; nothing if
// the slots are halted.
KERNEL(lincomb_by, uint64 n, const double* slots, real* y, ScalarFactor beta, uint32 terms,
       ScalarFactor alpha0, const real* x0, ScalarFactor alpha1, const real* x1) {
    const double halted = slots[HALTED];
    const SumFactors factors = sum_factors(slots, beta, terms, alpha0, alpha1);
    if (halted != 0.0) return;
    for (uint64 k = thread_index(); k < n; k += thread_count()) y[k] = factors.at(k, terms, y, x0, x1);
}

// The same by the points of a grid, whose outer columns of d o y are sent to the neighbours: the product by
// `scale_multiply_and_sum` receives theirs.
KERNEL(lincomb_and_send, ScaledMatrix of, const double* slots, real* y, ScalarFactor beta, uint32 terms,
       ScalarFactor alpha0, const real* x0, ScalarFactor alpha1, const real* x1) {
    const double halted = slots[HALTED];
    const SumFactors factors = sum_factors(slots, beta, terms, alpha0, alpha1);
    if (halted != 0.0) return;
    const HaloExchange exchange = halo_exchange(of.columns, of.edges, of.mj);
    Pair* const result = reinterpret_cast<Pair*>(y);
    const uint64 points = uint64(of.mi) * of.mj;
    for (uint64 k = thread_index(); k < points; k += thread_count()) {
        const Pair next = factors.at(k, terms, result, reinterpret_cast<const Pair*>(x0),
                                     reinterpret_cast<const Pair*>(x1));
        result[k] = next;
        const uint32 j = uint32(k) / of.mi, i = uint32(k) - j * of.mi;
        for (uint32 side = 0; side < 2; ++side)
            if (i == (side ? of.mi - 1 : 0) && exchange.sends(side))
                exchange.send(side, j, scaled(of, next, k));
    }
}

// to <- from. A copy by the driver would make the kernels before and after it wait for each other for
// longer than they take. `to` may be pinned memory of the host.
KERNEL(copy_words, uint64 n, const uint64* from, uint64* to) {
    for (uint64 k = thread_index(); k < n; k += thread_count()) to[k] = from[k];
}

// to <- 0.
KERNEL(clear_words, uint64 n, uint32* to) {
    for (uint64 k = thread_index(); k < n; k += thread_count()) to[k] = 0;
}

// Whether a condition holds: kind, slots and flag packed into bytes. Kind 1: value <= bound. Kind
// 2: value^2 <= factor * slot * slot, or not a number.
__device__ inline bool holds(const double* slots, const HaltCondition& condition) {
    const uint64 packed = condition.packed;
    const uint32 kind = packed & 255;
    const double value = slots[(packed >> 8) & 255];
    const double a = slots[(packed >> 16) & 255], b = slots[(packed >> 24) & 255];
    if (kind == 1) return value <= a;
    return kind == 2 && !(value * value > condition.factor * a * b);
}

// slots[first..] <- `count` results, and what follows, by one thread; `known` are the slots with the results. The
// first is logged if `log`; then the first of two conditions that holds halts the slots with its flag.
__device__ inline void end(const ScalarReduction& into, uint32 count, const double* known) {
    double* const slots = into.slots;
    for (uint32 k = 0; k < count; ++k) slots[into.first + k] = known[into.first + k];
    if (into.log) {
        const uint32 logged = uint32(known[LOGGED]);
        slots[SLOTS + logged % LOG] = known[into.first];
        slots[LOGGED] = known[LOGGED] + 1.0;
    }
    for (uint32 k = 0; k < 2; ++k) {
        const HaltCondition& condition = into.conditions[k];
        if (!holds(known, condition)) continue;
        slots[HALTED] = double((condition.packed >> 32) & 255);
        return;
    }
}

// slots[first..] <- the sums of all threads, of all ranks; then what follows.
template <int N>
__device__ inline void sum_into_slots(const double (&sums)[N], uint32 count,
                                      const ScalarReduction& into) {
    // What follows the sums is at hand when they are.
    __shared__ double known[SLOTS];
    if (threadIdx.x < SLOTS) known[threadIdx.x] = into.slots[threadIdx.x];
    const PeerAccess access = {into.access};
    const uint32 number = next_gather(access);
    if (!grid_reduce<Sum>(sums, count, {into.partials, into.ticket, known + into.first})) return;
    all_reduce(access, number, count, known + into.first);
    if (threadIdx.x == 0) end(into, count, known);
}

// slots[first..] <- up to three inner products. Nothing if the slots are halted already.
KERNEL(dots_into, uint64 n, uint32 pairs, VectorPairs of, ScalarReduction into) {
    if (into.slots[HALTED] != 0.0) return;
    const real *a0 = of.a[0], *a1 = of.a[1], *a2 = of.a[2];
    const real *b0 = of.b[0], *b1 = of.b[1], *b2 = of.b[2];
    double sums[3] = {0.0, 0.0, 0.0};
    for (uint64 k = thread_index(); k < n; k += thread_count()) {
        sums[0] += double(a0[k]) * double(b0[k]);
        if (pairs > 1) sums[1] += double(a1[k]) * double(b1[k]);
        if (pairs > 2) sums[2] += double(a2[k]) * double(b2[k]);
    }
    sum_into_slots(sums, pairs, into);
}

// z <- d o r, entry by entry, y <- A z, and slots[first..] <- none, two or three of (w, y), (y, y) and (r, r); nothing
// if those slots are halted already. Every thread scales what it reads of r anew and so waits for none of z. Where
// neighbours access each other's memory, what they have sent of their d o r is received here. The bound leaves a
// thread 64 registers: four blocks of 256 have room on a multiprocessor, as many as are launched.
BOUNDED_KERNEL(1024, scale_multiply_and_sum, ScaledMatrix of, const real* r, real* z, real* y, const real* w,
       ScalarReduction into) {
    const uint32 sums = of.sums;
    if (sums && into.slots[HALTED] != 0.0) return;
    const Stencil at = {of.mi, of.mj, of.edges};
    const HaloExchange exchange = halo_exchange(of.columns, of.edges, of.mj);
    const Pair* const own = reinterpret_cast<const Pair*>(r);
    const uint64 points = uint64(of.mi) * of.mj;
    // The points of the outer columns come last and by different threads: those take several times as long, and
    // a thread that strides by whole rows would have one of them in each.
    const uint64 all = points + (exchange.access.windows ? 2 * of.mj : 0);
    double products[3] = {0.0, 0.0, 0.0};
    for (uint64 n = thread_index(); n < all; n += thread_count()) {
        const bool last = n >= points + of.mj, outer = n >= points;
        const uint32 j = outer ? uint32(n - points) - last * of.mj : uint32(n) / of.mi;
        const uint32 i = outer ? last * (of.mi - 1) : uint32(n) - j * of.mi;
        if (outer ? !exchange.receives(last)
                  : (i == 0 && exchange.receives(0)) || (i + 1 == of.mi && exchange.receives(1)))
            continue;
        const uint64 k = uint64(j) * of.mi + i;
        const Pair u = own[k];
        reinterpret_cast<Pair*>(z)[k] = scaled(of, u, k);
        Pair v = nine_points(at, of.values, i, j, pair(0, 0),
                             [&](uint64 point) { return scaled(of, own[point], point); });
        if (outer)
            v = add_beyond(at, of.values, j, last, v,
                           [&](uint32 row) { return exchange.receive(last, row); });
        reinterpret_cast<Pair*>(y)[k] = v;
        if (sums == 0) continue;
        const Pair with = reinterpret_cast<const Pair*>(w)[k];
        products[0] += double(with.x) * double(v.x) + double(with.y) * double(v.y);
        products[1] += double(v.x) * double(v.x) + double(v.y) * double(v.y);
        if (sums > 2) products[2] += double(u.x) * double(u.x) + double(u.y) * double(u.y);
    }
    if (sums) sum_into_slots(products, sums, into);
}

// x <- x + the sum of a_k h_k over `terms` <= 2 terms, r <- r + b v, slots[first..] <- (r, r) and (w, r), the
// latter if there is a w. Nothing if the slots are halted already.
KERNEL(advance, uint64 n, real* x, uint32 terms, StepTerms of, real* r, ScalarFactor b, const real* v,
       const real* w, ScalarReduction into) {
    const double halted = into.slots[HALTED];
    const real *h0 = of.h[0], *h1 = of.h[1];
    const real a0 = terms > 0 ? real(coefficient(into.slots, of.a[0])) : real(0);
    const real a1 = terms > 1 ? real(coefficient(into.slots, of.a[1])) : real(0);
    const real change = real(coefficient(into.slots, b));
    if (halted != 0.0) return;
    double sums[2] = {0.0, 0.0};
    for (uint64 k = thread_index(); k < n; k += thread_count()) {
        if (terms == 1) x[k] += a0 * h0[k];
        if (terms == 2) x[k] = x[k] + a0 * h0[k] + a1 * h1[k];
        const real next = r[k] + change * v[k];
        r[k] = next;
        sums[0] += double(next) * double(next);
        if (w) sums[1] += double(w[k]) * double(next);
    }
    const uint32 count = w ? 2 : 1;
    sum_into_slots(sums, count, into);
}

// The same for ranks that do not access each other's memory: slots[first..] <- sums of their parts, four
// places each; then what follows. Nothing if the slots are halted already. One thread.
KERNEL(sum_slots, uint32 ranks, uint32 count, const double* parts, ScalarReduction into) {
    if (into.slots[HALTED] != 0.0) return;
    double known[SLOTS];
    for (uint32 k = 0; k < SLOTS; ++k) known[k] = into.slots[k];
    for (uint32 k = 0; k < count; ++k) {
        double sum = parts[k];
        for (uint32 rank = 1; rank < ranks; ++rank) sum += parts[RANK_VALUES * rank + k];
        known[into.first + k] = sum;
    }
    end(into, count, known);
}
