// Sums with coefficients that stay on the device, and inner products that end there.
#include "common.cuh"
#include "mail.cuh"

// Scalars that stay on the device: slots, then a ring of logged values. The numbers are those of
// `backend::scalars`.
#define HALTED 0
#define LOGGED 2
#define SLOTS 16
#define LOG 48

// factor * slot * slot / (slot * slot), the four slots packed into bytes, the first lowest.
__device__ inline double coefficient(const double* slots, double factor, uint32 packed) {
    const double over = slots[packed & 255] * slots[(packed >> 8) & 255];
    const double under = slots[(packed >> 16) & 255] * slots[packed >> 24];
    return factor * over / under;
}

// y <- beta y + sum of alpha_k x_k over `terms` <= 2 terms with coefficients of slots; nothing if
// the slots are halted.
KERNEL(lincomb_by, uint64 n, const double* slots, real* y, double beta, uint32 beta_slots,
       uint32 terms, double alpha0, uint32 slots0, const real* x0, double alpha1, uint32 slots1,
       const real* x1) {
    if (slots[HALTED] != 0.0) return;
    const real b = real(coefficient(slots, beta, beta_slots));
    const real a0 = terms > 0 ? real(coefficient(slots, alpha0, slots0)) : real(0);
    const real a1 = terms > 1 ? real(coefficient(slots, alpha1, slots1)) : real(0);
    for (uint64 k = thread_index(); k < n; k += thread_count()) {
        real sum = 0;
        if (terms > 0) sum += a0 * x0[k];
        if (terms > 1) sum += a1 * x1[k];
        y[k] = b == real(0) ? sum : b * y[k] + sum;
    }
}

// to <- from. Not by the device's copying, which makes kernels before and after it wait for each other for
// longer than they take; `to` is memory of the host that the device reaches.
KERNEL(show_words, uint64 n, const uint64* from, uint64* to) {
    for (uint64 k = thread_index(); k < n; k += thread_count()) to[k] = from[k];
}

// Whether a condition holds: kind, slots and flag packed into bytes. Kind 1: value <= bound. Kind
// 2: value^2 <= factor * slot * slot, or not a number.
__device__ inline bool holds(const double* slots, uint64 packed, double factor) {
    const uint32 kind = packed & 255;
    const double value = slots[(packed >> 8) & 255];
    const double a = slots[(packed >> 16) & 255], b = slots[(packed >> 24) & 255];
    if (kind == 1) return value <= a;
    return kind == 2 && !(value * value > factor * a * b);
}

// What follows when results stand in slots, by one thread: the first is logged if `log`; then the
// first of two conditions that holds halts the slots with its flag.
__device__ inline void end(double* slots, uint32 first, uint32 log, uint64 condition0,
                           double factor0, uint64 condition1, double factor1) {
    if (log) {
        const uint32 logged = uint32(slots[LOGGED]);
        slots[SLOTS + logged % LOG] = slots[first];
        slots[LOGGED] += 1.0;
    }
    if (holds(slots, condition0, factor0)) {
        slots[HALTED] = double((condition0 >> 32) & 255);
    } else if (holds(slots, condition1, factor1)) {
        slots[HALTED] = double((condition1 >> 32) & 255);
    }
}

// The arguments of kernels that reduce into slots: where the results go, what follows, room for the
// parts of blocks, and the way to ranks that add up their results here, if any.
#define INTO_SLOTS                                                                                \
    double *slots, uint32 first, uint32 log, uint64 condition0, double factor0,                  \
        uint64 condition1, double factor1, double *partials, uint32 *ticket,                     \
        const uint64 *ends, uint32 rank, uint32 ranks, uint32 *alarm

// slots[first..] <- the sums of all threads, of all ranks; then what follows.
#define SUM_INTO_SLOTS(sums, count)                                                               \
    if (grid_reduce<Sum>(sums, count, partials, ticket, slots + first)) {                         \
        sum_ranks({ends, rank, ranks, alarm}, count, slots + first);                              \
        if (threadIdx.x == 0) end(slots, first, log, condition0, factor0, condition1, factor1);   \
    }

// slots[first..] <- up to three inner products. Nothing if the slots are halted already.
KERNEL(dots_into, uint64 n, uint32 pairs, const real* a0, const real* b0, const real* a1,
       const real* b1, const real* a2, const real* b2, INTO_SLOTS) {
    if (slots[HALTED] != 0.0) return;
    double sums[3] = {0.0, 0.0, 0.0};
    for (uint64 k = thread_index(); k < n; k += thread_count()) {
        sums[0] += double(a0[k]) * double(b0[k]);
        if (pairs > 1) sums[1] += double(a1[k]) * double(b1[k]);
        if (pairs > 2) sums[2] += double(a2[k]) * double(b2[k]);
    }
    SUM_INTO_SLOTS(sums, pairs)
}

// x <- x + a h, r <- r + b v, slots[first..] <- (r, r) and (w, r), the latter if there is a w.
// Nothing if the slots are halted already.
KERNEL(advance, uint64 n, real* x, double a, uint32 a_slots, const real* h, real* r, double b,
       uint32 b_slots, const real* v, const real* w, INTO_SLOTS) {
    if (slots[HALTED] != 0.0) return;
    const real along = real(coefficient(slots, a, a_slots));
    const real change = real(coefficient(slots, b, b_slots));
    double sums[2] = {0.0, 0.0};
    for (uint64 k = thread_index(); k < n; k += thread_count()) {
        x[k] += along * h[k];
        const real next = r[k] + change * v[k];
        r[k] = next;
        sums[0] += double(next) * double(next);
        if (w) sums[1] += double(w[k]) * double(next);
    }
    const uint32 count = w ? 2 : 1;
    SUM_INTO_SLOTS(sums, count)
}

// The same for ranks that do not reach each other's memory: slots[first..] <- sums of their parts, four
// places each; then what follows. Nothing if the slots are halted already. One thread.
KERNEL(sum_slots, uint32 ranks, uint32 count, const double* parts, double* slots, uint32 first,
       uint32 log, uint64 condition0, double factor0, uint64 condition1, double factor1) {
    if (slots[HALTED] != 0.0) return;
    for (uint32 k = 0; k < count; ++k) {
        double sum = parts[k];
        for (uint32 rank = 1; rank < ranks; ++rank) sum += parts[4 * rank + k];
        slots[first + k] = sum;
    }
    end(slots, first, log, condition0, factor0, condition1, factor1);
}
