// Vectors: sums and conversions, with numbers or scalars of the device for coefficients.
#include "slots.cuh"

// A coefficient of one of three kinds: a quotient of slots as above, a number, or a factor times a value.
__device__ inline double coefficient_of_kind(const double* values, const ScalarFactor& of) {
    if (of.slots == NUMBER) return of.factor;
    return of.slots & ELEMENT ? of.factor * values[uint32(of.slots)] : coefficient(values, of);
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

// x <- x + a z + b h, r <- r + c u and then p <- r + beta p + gamma y. Nothing if the slots are halted.
KERNEL(step, uint64 n, const double* slots, StepVectors of) {
    take_step<real>(n, slots, of, [](uint64, real) {});
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

// result <- max |x_k|, NaN if any entry is.
KERNEL(max_abs, uint64 n, const real* x, Reduction out) {
    double most[1] = {0.0};
    for (uint64 k = thread_index(); k < n; k += thread_count()) {
        const double value = double(x[k]);
        most[0] = larger(most[0], value < 0.0 ? -value : value);
    }
    grid_reduce<Extremes<1>>(most, 1, out);
}
