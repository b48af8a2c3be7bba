// Matrices spread over devices by rows: entries of a vector that others need, and what theirs add to a product.
#include "common.cuh"

// to[k] <- x[places[k]]. One thread an entry.
KERNEL(gather, uint64 count, const uint32* places, const real* x, real* to) {
    const uint64 k = thread_index();
    if (k < count) to[k] = x[places[k]];
}

// y[rows[k]] += row k of a matrix times x; `rows` has no row twice. `lanes` lanes a row: a power of two, at most a
// warp.
KERNEL(add_rows, uint64 count, uint32 lanes, const uint32* rows, const uint32* row_start,
       const uint32* columns, const real* values, const real* x, real* y) {
    const uint64 k = thread_index() / lanes;
    const uint32 lane = threadIdx.x % lanes;
    real sum = 0;
    if (k < count) {
        const uint32 end = row_start[k + 1];
        for (uint32 at = row_start[k] + lane; at < end; at += lanes) sum += values[at] * x[columns[at]];
    }
    sum = group_sum(sum, lanes);
    if (k < count && lane == 0) y[rows[k]] += sum;
}

// y[rows[k]] += sums[k]; `rows` has no row twice. One thread a row.
KERNEL(add_sums, uint64 count, const uint32* rows, const real* sums, real* y) {
    const uint64 k = thread_index();
    if (k < count) y[rows[k]] += sums[k];
}
