// Vectors: sums, conversions and reductions. All loops stride over the grid.
#include "common.cuh"

// Factors of the vectors of a sum.
struct Factors {
    real at[4];
};

// y <- beta y + sum of alpha_k x_k over `terms` <= 4 terms; beta = 0 overwrites y, even a NaN.
KERNEL(lincomb, uint64 n, real* y, real beta, uint32 terms, Factors alpha, Vectors x) {
    const real *x0 = x.at[0], *x1 = x.at[1], *x2 = x.at[2], *x3 = x.at[3];
    for (uint64 k = thread_index(); k < n; k += thread_count()) {
        real sum = 0;
        if (terms > 0) sum += alpha.at[0] * x0[k];
        if (terms > 1) sum += alpha.at[1] * x1[k];
        if (terms > 2) sum += alpha.at[2] * x2[k];
        if (terms > 3) sum += alpha.at[3] * x3[k];
        y[k] = beta == real(0) ? sum : beta * y[k] + sum;
    }
}

// y <- y - sum of h_k x_k over `terms` <= 4 terms, the h_k in memory.
KERNEL(subtract, uint64 n, real* y, uint32 terms, const double* h, Vectors x) {
    const real *x0 = x.at[0], *x1 = x.at[1], *x2 = x.at[2], *x3 = x.at[3];
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
KERNEL(dots, uint64 n, uint32 pairs, VectorPairs of, Reduction out) {
    const real *a0 = of.a[0], *a1 = of.a[1], *a2 = of.a[2], *a3 = of.a[3];
    const real *b0 = of.b[0], *b1 = of.b[1], *b2 = of.b[2], *b3 = of.b[3];
    double sums[4] = {0.0, 0.0, 0.0, 0.0};
    for (uint64 k = thread_index(); k < n; k += thread_count()) {
        sums[0] += double(a0[k]) * double(b0[k]);
        if (pairs > 1) sums[1] += double(a1[k]) * double(b1[k]);
        if (pairs > 2) sums[2] += double(a2[k]) * double(b2[k]);
        if (pairs > 3) sums[3] += double(a3[k]) * double(b3[k]);
    }
    grid_reduce<Sum>(sums, pairs, out);
}

// result <- sums of the parts of all ranks, RANK_VALUES places each. One thread.
KERNEL(sum_parts, uint32 ranks, uint32 count, const double* parts, double* result) {
    for (uint32 k = 0; k < count; ++k) {
        double sum = parts[k];
        for (uint32 rank = 1; rank < ranks; ++rank) sum += parts[RANK_VALUES * rank + k];
        result[k] = sum;
    }
}

// The larger of two; a NaN wins.
struct Largest {
    static __device__ double start(uint32) { return 0.0; }
    static __device__ double combine(uint32, double a, double b) { return a != a || a > b ? a : b; }
};

// result <- max |x_k|, NaN if any entry is.
KERNEL(max_abs, uint64 n, const real* x, Reduction out) {
    double most[1] = {0.0};
    for (uint64 k = thread_index(); k < n; k += thread_count()) {
        const double value = double(x[k]);
        most[0] = Largest::combine(0, value < 0.0 ? -value : value, most[0]);
    }
    grid_reduce<Largest>(most, 1, out);
}
