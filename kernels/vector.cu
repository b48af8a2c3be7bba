// Vectors: sums, conversions and reductions, with numbers or scalars of the device for coefficients. All loops stride
// over the grid.
#include "common.cuh"
#include "peers.cuh"
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
