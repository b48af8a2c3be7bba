// Inner products of vectors into slots. They are apart from the other kernels of vectors, which every case needs in
// both precisions, because they take longer to compile.
#include "slots.cuh"

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
