// Vectors: sums, conversions and reductions. All loops stride over the grid.
#include "common.cuh"

// y <- beta y + sum of alpha_k x_k over `terms` <= 4 terms; beta = 0 overwrites y, even a NaN.
KERNEL(lincomb, uint64 n, real* y, real beta, uint32 terms, real alpha0, const real* x0, real alpha1,
       const real* x1, real alpha2, const real* x2, real alpha3, const real* x3) {
    for (uint64 k = thread_index(); k < n; k += thread_count()) {
        real sum = 0;
        if (terms > 0) sum += alpha0 * x0[k];
        if (terms > 1) sum += alpha1 * x1[k];
        if (terms > 2) sum += alpha2 * x2[k];
        if (terms > 3) sum += alpha3 * x3[k];
        y[k] = beta == real(0) ? sum : beta * y[k] + sum;
    }
}

// y <- y - sum of h_k x_k over `terms` <= 4 terms, the h_k in memory.
KERNEL(subtract, uint64 n, real* y, uint32 terms, const double* h, const real* x0, const real* x1,
       const real* x2, const real* x3) {
    real minus[4];
    for (uint32 k = 0; k < 4; ++k) minus[k] = k < terms ? real(-h[k]) : real(0);
    for (uint64 k = thread_index(); k < n; k += thread_count()) {
        real sum = 0;
        if (terms > 0) sum += minus[0] * x0[k];
        if (terms > 1) sum += minus[1] * x1[k];
        if (terms > 2) sum += minus[2] * x2[k];
        if (terms > 3) sum += minus[3] * x3[k];
        y[k] += sum;
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

// Inner products of up to four pairs, accumulated in double precision.
KERNEL(dots, uint64 n, uint32 pairs, const real* a0, const real* b0, const real* a1, const real* b1,
       const real* a2, const real* b2, const real* a3, const real* b3, double* partials,
       uint32* ticket, double* result) {
    double sums[4] = {0.0, 0.0, 0.0, 0.0};
    for (uint64 k = thread_index(); k < n; k += thread_count()) {
        sums[0] += double(a0[k]) * double(b0[k]);
        if (pairs > 1) sums[1] += double(a1[k]) * double(b1[k]);
        if (pairs > 2) sums[2] += double(a2[k]) * double(b2[k]);
        if (pairs > 3) sums[3] += double(a3[k]) * double(b3[k]);
    }
    grid_reduce<Sum>(sums, pairs, partials, ticket, result);
}

// result <- sums of the parts of all ranks, four places each. One thread.
KERNEL(sum_parts, uint32 ranks, uint32 count, const double* parts, double* result) {
    for (uint32 k = 0; k < count; ++k) {
        double sum = parts[k];
        for (uint32 rank = 1; rank < ranks; ++rank) sum += parts[4 * rank + k];
        result[k] = sum;
    }
}

// The larger of two; a NaN wins.
struct Largest {
    static __device__ double start(uint32) { return 0.0; }
    static __device__ double combine(uint32, double a, double b) { return a != a || a > b ? a : b; }
};

// result <- max |x_k|, NaN if any entry is.
KERNEL(max_abs, uint64 n, const real* x, double* partials, uint32* ticket, double* result) {
    double most[1] = {0.0};
    for (uint64 k = thread_index(); k < n; k += thread_count()) {
        const double value = double(x[k]);
        most[0] = Largest::combine(0, value < 0.0 ? -value : value, most[0]);
    }
    grid_reduce<Largest>(most, 1, partials, ticket, result);
}

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

// Whether a condition holds: kind, slots and flag packed into bytes. Kind 1: value <= bound. Kind
// 2: value^2 <= factor * slot * slot, or not a number.
__device__ inline bool holds(const double* slots, uint64 packed, double factor) {
    const uint32 kind = packed & 255;
    const double value = slots[(packed >> 8) & 255];
    const double a = slots[(packed >> 16) & 255], b = slots[(packed >> 24) & 255];
    if (kind == 1) return value <= a;
    return kind == 2 && !(value * value > factor * a * b);
}

// What follows a reduction into slots, by the one thread that wrote the results: the first is logged
// if `log`; then the first of two conditions that holds halts the slots with its flag.
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

// slots[first..] <- up to two inner products. Nothing if the slots are halted already.
KERNEL(dots_into, uint64 n, uint32 pairs, const real* a0, const real* b0, const real* a1,
       const real* b1, double* slots, uint32 first, uint32 log, uint64 condition0, double factor0,
       uint64 condition1, double factor1, double* partials, uint32* ticket) {
    if (slots[HALTED] != 0.0) return;
    double sums[2] = {0.0, 0.0};
    for (uint64 k = thread_index(); k < n; k += thread_count()) {
        sums[0] += double(a0[k]) * double(b0[k]);
        if (pairs > 1) sums[1] += double(a1[k]) * double(b1[k]);
    }
    if (grid_reduce<Sum>(sums, pairs, partials, ticket, slots + first))
        end(slots, first, log, condition0, factor0, condition1, factor1);
}

// x <- x + a h, r <- r + b v, slots[first..] <- (r, r) and (w, r), the latter if there is a w.
// Nothing if the slots are halted already.
KERNEL(advance, uint64 n, real* x, double a, uint32 a_slots, const real* h, real* r, double b,
       uint32 b_slots, const real* v, const real* w, double* slots, uint32 first, uint32 log,
       uint64 condition0, double factor0, uint64 condition1, double factor1, double* partials,
       uint32* ticket) {
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
    if (grid_reduce<Sum>(sums, w ? 2 : 1, partials, ticket, slots + first))
        end(slots, first, log, condition0, factor0, condition1, factor1);
}

// slots[first..] <- sums of the parts of all ranks, four places each; then what follows the
// reduction. Nothing if the slots are halted already. One thread.
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
