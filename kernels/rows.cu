// Matrices spread over several devices by rows: entries of a vector that others need, and what theirs add
// to a product.
#include "common.cuh"

// to[k] <- x[rows[k]]. One thread an entry.
KERNEL(pack_entries, uint64 count, const uint32* rows, const real* x, real* to) {
    const uint64 k = thread_index();
    if (k < count) to[k] = x[rows[k]];
}

// y[rows[k]] += sums[k]; no row stands there twice. One thread a row.
KERNEL(add_sums, uint64 count, const uint32* rows, const real* sums, real* y) {
    const uint64 k = thread_index();
    if (k < count) y[rows[k]] += sums[k];
}
