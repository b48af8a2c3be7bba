// Vectors: sums, conversions and reductions, with numbers or scalars of the device for coefficients. All loops stride
// over the grid.
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

// A coefficient of one of three kinds: a quotient of slots as above, a number, or a factor times a value.
__device__ inline double coefficient_of_kind(const double* values, const ScalarFactor& of) {
    if (of.slots == NUMBER) return of.factor;
    return of.slots & ELEMENT ? of.factor * values[uint32(of.slots)] : coefficient(values, of);
}

__device__ inline double dot(Pair a, Pair b) { return double(a.x) * double(b.x) + double(a.y) * double(b.y); }

// d o u at a point.
__device__ inline Pair scaled(const ScaledMatrix& of, Pair u, uint64 point) {
    const Pair s = reinterpret_cast<const Pair*>(of.d)[point];
    return pair(s.x * u.x, s.y * u.y);
}

// y <- beta y + sum of alpha_k x_k over `terms` <= 4 terms; beta = 0 overwrites y, even a NaN. Does nothing if the
// coefficients are quotients of slots that are halted.
KERNEL(lincomb, uint64 n, const double* values, real* y, ScalarFactor beta, uint32 terms, SumTerms of) {
    const bool halted = beta.slots < NUMBER && values[HALTED] != 0.0;
    const real b = real(coefficient_of_kind(values, beta));
    real alpha[4];
#pragma unroll
    for (uint32 m = 0; m < 4; ++m) alpha[m] = m < terms ? real(coefficient_of_kind(values, of.alpha[m])) : real(0);
    const real *x0 = of.x[0], *x1 = of.x[1], *x2 = of.x[2], *x3 = of.x[3];
    if (halted) return;
    for (uint64 k = thread_index(); k < n; k += thread_count()) {
        real sum = 0;
        if (terms > 0) sum += alpha[0] * x0[k];
        if (terms > 1) sum += alpha[1] * x1[k];
        if (terms > 2) sum += alpha[2] * x2[k];
        if (terms > 3) sum += alpha[3] * x3[k];
        y[k] = b == real(0) ? sum : b * y[k] + sum;
    }
}

// z <- d o r, entry by entry.
KERNEL(scale, uint64 n, const real* d, const real* r, real* z) {
    for (uint64 k = thread_index(); k < n; k += thread_count()) z[k] = d[k] * r[k];
}

// y <- scale x from one precision to `real`.
KERNEL(convert_from_single, uint64 n, double scale, const float* x, real* y) {
    for (uint64 k = thread_index(); k < n; k += thread_count()) y[k] = real(scale * double(x[k]));
}

KERNEL(convert_from_double, uint64 n, double scale, const double* x, real* y) {
    for (uint64 k = thread_index(); k < n; k += thread_count()) y[k] = real(scale * x[k]);
}

// Sends d o u of a point k of a grid to the neighbour whose band borders on its column.
__device__ inline void send_outer(const ScaledMatrix& of, const HaloExchange& exchange, uint64 k, Pair u) {
    const uint32 j = uint32(k) / of.mi, i = uint32(k) - j * of.mi;
    for (uint32 side = 0; side < 2; ++side)
        if (i == (side ? of.mi - 1 : 0) && exchange.sends(side)) exchange.send(side, j, scaled(of, u, k));
}

// p <- p + alpha x by the points of a grid, whose outer columns of d o p are sent to the neighbours: the product by
// `scale_multiply_and_sum` receives theirs. Nothing if the slots are halted.
KERNEL(add_and_send, ScaledMatrix of, const double* slots, real* p, ScalarFactor alpha, const real* x) {
    const double halted = slots[HALTED];
    const real by = real(coefficient(slots, alpha));
    if (halted != 0.0) return;
    const HaloExchange exchange = halo_exchange(of.columns, of.edges, of.mj);
    const uint64 points = uint64(of.mi) * of.mj;
    for (uint64 k = thread_index(); k < points; k += thread_count()) {
        const Pair next = reinterpret_cast<Pair*>(p)[k] + by * reinterpret_cast<const Pair*>(x)[k];
        reinterpret_cast<Pair*>(p)[k] = next;
        send_outer(of, exchange, k, next);
    }
}

// Values that a step reads at k, reals or pairs: see `step`.
template <class V>
struct StepValues {
    V x, z, h, r, u, p, y;

    __device__ StepValues(const StepVectors& of, uint64 k, bool there) : x(), z(), h(), r(), u(), p(), y() {
        if (!there) return;
        auto value = [&](const real* v) { return reinterpret_cast<const V*>(v)[k]; };
        x = value(of.x), z = value(of.z), h = value(of.h), r = value(of.r), u = value(of.u), p = value(of.p),
        y = value(of.y);
    }

    // The step at k; returns p.
    __device__ V store(const StepVectors& of, uint64 k, const real (&by)[5]) const {
        const V next_r = r + by[2] * u, next_p = next_r + by[3] * p + by[4] * y;
        reinterpret_cast<V*>(of.x)[k] = x + by[0] * z + by[1] * h;
        reinterpret_cast<V*>(of.r)[k] = next_r;
        reinterpret_cast<V*>(of.p)[k] = next_p;
        return next_p;
    }
};

// A step at n places, of reals or of pairs; done(k, p) after each. The first values are on their way while the
// coefficients are found, one by a thread.
template <class V, class Done>
__device__ inline void take_step(uint64 n, const double* slots, const StepVectors& of, const Done& done) {
    __shared__ real by[5];
    uint64 k = thread_index();
    StepValues<V> values(of, k, k < n);
    const double halted = slots[HALTED];
    if (threadIdx.x < 5) by[threadIdx.x] = real(coefficient(slots, of.factors[threadIdx.x]));
    __syncthreads();
    if (halted != 0.0) return;
    const real factors[5] = {by[0], by[1], by[2], by[3], by[4]};
    while (k < n) {
        done(k, values.store(of, k, factors));
        k += thread_count();
        values = StepValues<V>(of, k, k < n);
    }
}

// x <- x + a z + b h, r <- r + c u and then p <- r + beta p + gamma y. Nothing if the slots are halted.
KERNEL(step, uint64 n, const double* slots, StepVectors of) {
    take_step<real>(n, slots, of, [](uint64, real) {});
}

// Takes a step by the points of a grid, whose outer columns of d o p are sent as by `add_and_send`.
KERNEL(step_and_send, ScaledMatrix of, const double* slots, StepVectors vectors) {
    const HaloExchange exchange = halo_exchange(of.columns, of.edges, of.mj);
    take_step<Pair>(uint64(of.mi) * of.mj, slots, vectors,
                    [&](uint64 k, Pair p) { send_outer(of, exchange, k, p); });
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

// Halts the slots with the flag of the first of two conditions that holds.
__device__ inline bool halt(double* slots, const double* known, const HaltCondition (&conditions)[2]) {
    for (uint32 k = 0; k < 2; ++k) {
        if (!holds(known, conditions[k])) continue;
        slots[HALTED] = double((conditions[k].packed >> 32) & 255);
        return true;
    }
    return false;
}

// slots[first..] <- `count` results, by one thread, and what follows unless these are `plain` values and no slots;
// `known` are the slots with the results. Unless a condition holds before, slots follow from others, one is logged,
// and further conditions are tried.
__device__ inline void end(const ScalarReduction& into, uint32 count, double* known) {
    double* const slots = into.slots;
    for (uint32 k = 0; k < count; ++k) slots[into.first + k] = known[into.first + k];
    if (into.plain || halt(slots, known, into.before)) return;
    for (uint32 k = 0; k < into.derivations; ++k) {
        const DerivedScalar& derived = into.derived[k];
        known[derived.slot] = known[derived.base] + coefficient(known, derived.plus);
        slots[derived.slot] = known[derived.slot];
    }
    if (into.log) {
        const uint32 logged = uint32(known[LOGGED]);
        slots[SLOTS + logged % LOG] = known[into.log];
        slots[LOGGED] = known[LOGGED] + 1.0;
    }
    halt(slots, known, into.conditions);
}

// Whether a reduction into slots has nothing to do, since they are halted.
__device__ inline bool is_halted(const ScalarReduction& into) { return !into.plain && into.slots[HALTED] != 0.0; }

// slots[first..] <- the sums of all threads, of all ranks; then what follows.
template <int N>
__device__ inline void sum_into_slots(const double (&sums)[N], uint32 count,
                                      const ScalarReduction& into) {
    // The slots are loaded before the sums are there.
    __shared__ double known[SLOTS];
    if (threadIdx.x < SLOTS && !into.plain) known[threadIdx.x] = into.slots[threadIdx.x];
    const PeerAccess access = {into.access};
    const uint32 number = next_gather(access);
    if (!grid_reduce<Sum>(sums, count, {into.partials, into.ticket, known + into.first})) return;
    all_reduce(access, number, count, known + into.first);
    if (threadIdx.x == 0) end(into, count, known);
}

// slots[first..] <- up to five inner products, accumulated in double precision. Does nothing if the slots are halted.
KERNEL(dots, uint64 n, uint32 pairs, VectorPairs of, ScalarReduction into) {
    if (is_halted(into)) return;
    double sums[SLOT_SUMS] = {};
    for (uint64 k = thread_index(); k < n; k += thread_count()) {
#pragma unroll
        for (uint32 m = 0; m < SLOT_SUMS; ++m)
            if (m < pairs) sums[m] += double(of.a[m][k]) * double(of.b[m][k]);
    }
    sum_into_slots(sums, pairs, into);
}

// z <- d o p, entry by entry, y <- A z, and slots[first..] <- none, two or five of (w, y), (y, y), (p, y), (p, p) and
// (w, p); nothing if those slots are halted already. Every thread scales what it reads of p anew and so waits for none
// of z. The columns of d o p that neighbours have sent are received here. The bound
// leaves a thread 64 registers: four blocks of 256 have room on a multiprocessor, as many as are launched.
BOUNDED_KERNEL(1024, scale_multiply_and_sum, ScaledMatrix of, const real* p, real* z, real* y, const real* w,
       ScalarReduction into) {
    const uint32 sums = of.sums;
    if (sums && into.slots[HALTED] != 0.0) return;
    const Stencil at = {of.mi, of.mj, of.edges};
    const HaloExchange exchange = halo_exchange(of.columns, of.edges, of.mj);
    const Pair* const own = reinterpret_cast<const Pair*>(p);
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
        products[0] += dot(with, v);
        products[1] += dot(v, v);
        if (sums == 2) continue;
        products[2] += dot(u, v);
        products[3] += dot(u, u);
        products[4] += dot(with, u);
    }
    if (sums) sum_into_slots(products, sums, into);
}

// x <- x + a h if there is an h, r <- r + b v, slots[first] <- (r, r). Nothing if the slots are halted already.
KERNEL(advance, uint64 n, real* x, ScalarFactor a, const real* h, real* r, ScalarFactor b, const real* v,
       ScalarReduction into) {
    const double halted = into.slots[HALTED];
    const real along = real(coefficient(into.slots, a)), change = real(coefficient(into.slots, b));
    if (halted != 0.0) return;
    double sums[1] = {0.0};
    for (uint64 k = thread_index(); k < n; k += thread_count()) {
        if (h) x[k] += along * h[k];
        const real next = r[k] + change * v[k];
        r[k] = next;
        sums[0] += double(next) * double(next);
    }
    sum_into_slots(sums, 1, into);
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

// result <- max |x_k|, NaN if any entry is.
KERNEL(max_abs, uint64 n, const real* x, Reduction out) {
    double most[1] = {0.0};
    for (uint64 k = thread_index(); k < n; k += thread_count()) {
        const double value = double(x[k]);
        most[0] = larger(most[0], value < 0.0 ? -value : value);
    }
    grid_reduce<Extremes<1>>(most, 1, out);
}
