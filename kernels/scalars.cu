// Sums with coefficients that stay on the device, and inner products that end there.
#include "common.cuh"
#include "peers.cuh"


// factor * slot * slot / (slot * slot), the four slots packed into bytes, the first lowest.
__device__ inline double coefficient(const double* slots, const ScalarFactor& of) {
    const uint32 packed = uint32(of.slots);
    const double over = slots[packed & 255] * slots[(packed >> 8) & 255];
    const double under = slots[(packed >> 16) & 255] * slots[packed >> 24];
    return of.factor * over / under;
}

// y <- beta y + sum of alpha_k x_k over `terms` <= 2 terms with coefficients of slots; nothing if
// the slots are halted.
KERNEL(lincomb_by, uint64 n, const double* slots, real* y, ScalarFactor beta, uint32 terms,
       ScalarFactor alpha0, const real* x0, ScalarFactor alpha1, const real* x1) {
    if (slots[HALTED] != 0.0) return;
    const real b = real(coefficient(slots, beta));
    const real a0 = terms > 0 ? real(coefficient(slots, alpha0)) : real(0);
    const real a1 = terms > 1 ? real(coefficient(slots, alpha1)) : real(0);
    for (uint64 k = thread_index(); k < n; k += thread_count()) {
        real sum = 0;
        if (terms > 0) sum += a0 * x0[k];
        if (terms > 1) sum += a1 * x1[k];
        y[k] = b == real(0) ? sum : b * y[k] + sum;
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

// What follows when results stand in slots, by one thread: the first is logged if `log`; then the
// first of two conditions that holds halts the slots with its flag.
__device__ inline void end(const ScalarReduction& into) {
    double* const slots = into.slots;
    if (into.log) {
        const uint32 logged = uint32(slots[LOGGED]);
        slots[SLOTS + logged % LOG] = slots[into.first];
        slots[LOGGED] += 1.0;
    }
        for (uint32 k = 0; k < 2; ++k) {
        const HaltCondition& condition = into.conditions[k];
        if (!holds(slots, condition)) continue;
        slots[HALTED] = double((condition.packed >> 32) & 255);
        return;
    }
}

// slots[first..] <- the sums of all threads, of all ranks; then what follows.
template <int N>
__device__ inline void sum_into_slots(const double (&sums)[N], uint32 count,
                                      const ScalarReduction& into) {
    double* const result = into.slots + into.first;
    if (!grid_reduce<Sum>(sums, count, {into.partials, into.ticket, result})) return;
    const PeerAccess access = {into.access};
    all_reduce(access, count, result);
    if (threadIdx.x == 0) end(into);
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

// x <- x + the sum of a_k h_k over `terms` <= 2 terms, r <- r + b v, slots[first..] <- (r, r) and (w, r), the
// latter if there is a w. Nothing if the slots are halted already.
KERNEL(advance, uint64 n, real* x, uint32 terms, StepTerms of, real* r, ScalarFactor b, const real* v,
       const real* w, ScalarReduction into) {
    if (into.slots[HALTED] != 0.0) return;
    const real *h0 = of.h[0], *h1 = of.h[1];
    const real a0 = terms > 0 ? real(coefficient(into.slots, of.a[0])) : real(0);
    const real a1 = terms > 1 ? real(coefficient(into.slots, of.a[1])) : real(0);
    const real change = real(coefficient(into.slots, b));
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
    for (uint32 k = 0; k < count; ++k) {
        double sum = parts[k];
        for (uint32 rank = 1; rank < ranks; ++rank) sum += parts[RANK_VALUES * rank + k];
        into.slots[into.first + k] = sum;
    }
        end(into);
}
