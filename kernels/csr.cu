// Matrices by rows: products, each kernel for another shape of rows, and the diagonal.
#include "fold.cuh"

// Calls each(k, product) for `count` <= ROW_CHUNK entries from `begin` on: those of a thread are read together.
template <class Each>
__device__ void for_products(uint32 begin, uint32 count, const uint32* columns, const real* values,
                             const real* x, Each each) {
    uint32 column[ROW_CHUNK / CHUNK_THREADS];
    real value[ROW_CHUNK / CHUNK_THREADS];
#pragma unroll
    for (uint32 k = 0; k < ROW_CHUNK / CHUNK_THREADS; ++k) {
        const uint32 at = k * CHUNK_THREADS + threadIdx.x;
        column[k] = at < count ? __ldcs(columns + begin + at) : 0;
        value[k] = at < count ? __ldcs(values + begin + at) : real(0);
    }
#pragma unroll
    for (uint32 k = 0; k < ROW_CHUNK / CHUNK_THREADS; ++k) {
        const uint32 at = k * CHUNK_THREADS + threadIdx.x;
        if (at < count) each(at, value[k] * __ldg(x + column[k]));
    }
}

// Rows of more than ROW_CHUNK entries in parts: part p has entries bounds[2p] to bounds[2p + 1] of long row owner[p];
// long row k is row rows[k] and has parts firsts[k] to firsts[k + 1]. Tickets start and end at zero.

// Adds a part to its row. The block that finishes last of a row sums the parts, always in the same order.
__device__ inline void multiply_part(const LongRows& rows, uint32 part, const uint32* columns,
                                     const real* values, const real* x, real* y) {
    __shared__ bool last;
    const uint32 begin = rows.bounds[2 * part], row = rows.owner[part];
    const uint32 first = rows.firsts[row], end = rows.firsts[row + 1];
    double sum[1] = {0};
    for_products(begin, rows.bounds[2 * part + 1] - begin, columns, values, x,
                 [&](uint32, real product) { sum[0] += product; });
    block_reduce<Sum>(sum, 1, [&](uint32, double all) { rows.sums[part] = real(all); });
    if (threadIdx.x == 0) last = take_ticket(rows.tickets + row) + 1 == end - first;
    __syncthreads();
    if (!last) return;
    sum[0] = 0;
    for (uint32 p = first + threadIdx.x; p < end; p += CHUNK_THREADS)
        sum[0] += ((const volatile real*)rows.sums)[p];
    block_reduce<Sum>(sum, 1, [&](uint32, double all) {
        y[rows.rows[row]] = real(all);
        rows.tickets[row] = 0;
    });
}

// y <- A x for rows in chunks: chunk c has rows bounds[2c] to bounds[2c + 1]. A block reads the entries of a chunk in
// one piece and keeps the products, which lanes add up by rows. The first blocks take the parts of longer rows.
BOUNDED_KERNEL(CHUNK_THREADS, multiply_chunks, const uint32* bounds, const uint32* row_start,
               const uint32* columns, const real* values, const real* x, real* y, LongRows longer) {
    __shared__ real products[ROW_CHUNK];
    if (blockIdx.x < longer.parts) {
        multiply_part(longer, blockIdx.x, columns, values, x, y);
        return;
    }
    const uint32 chunk = blockIdx.x - uint32(longer.parts);
    const uint32 first = bounds[2 * chunk], last = bounds[2 * chunk + 1];
    const uint32 begin = row_start[first], count = row_start[last] - begin;
    for_products(begin, count, columns, values, x,
                 [&](uint32 at, real product) { products[at] = product; });
    __syncthreads();
    const uint32 rows = last - first;
    uint32 lanes = 1;
    while (lanes < WARP && 2 * lanes * rows <= CHUNK_THREADS) lanes *= 2;
    const uint32 lane = threadIdx.x % lanes;
    for (uint32 base = 0; base < rows; base += CHUNK_THREADS / lanes) {
        const uint32 row = first + base + threadIdx.x / lanes;
        real sum = 0;
        if (row < last) {
            const uint32 end = row_start[row + 1] - begin;
            for (uint32 k = row_start[row] - begin + lane; k < end; k += lanes) sum += products[k];
        }
        sum = group_sum(sum, lanes);
        if (row < last && lane == 0) y[row] = sum;
    }
}

// y <- A x for rows in slices. A warp a slice.
KERNEL(multiply_slices, SliceRows slices, const uint32* columns, const real* values, const real* x,
       real* y) {
    const uint64 rows = slices.rows;
    const uint64 place = thread_index(), slice = place / WARP;
    if (slice * WARP >= rows) return;
    const Row own = slices.row(slice, 0, rows);
    if (own.step == 1) {
        fold_rows<false>(own, 1, columns, Weighted{values}, x, [&](real sum) { y[place] = sum; });
        return;
    }
    if (!own.mine) return;
    real sum = 0;
#pragma unroll 4
    for (uint32 k = 0; k < own.length; ++k) {
        const uint64 at = own.at + uint64(k) * own.step;
        sum += __ldcs(values + at) * __ldg(x + __ldcs(columns + at));
    }
    y[place] = sum;
}

// filled <- the entries of the rows in slices. A warp a slice.
KERNEL(fill_slices, SliceRows slices, const uint32* row_start, const uint32* columns,
       const real* values, uint32* to_columns, real* to_values) {
    const uint64 rows = slices.rows;
    const uint64 row = thread_index(), slice = row / WARP;
    if (slice * WARP >= rows) return;
    const Unit unit = slices.unit(slice, 0, rows);
    const uint32 from = unit.row.mine ? row_start[row] : 0;
    for_entries(unit, from, [&](uint64 at, uint32 entry, uint64) {
        to_columns[at] = columns[entry];
        to_values[at] = values[entry];
    });
}

// d <- 1 / diagonal; first <- the first row where it is absent, zero or not finite. One thread a row.
KERNEL(invert_diagonal, uint64 rows, const uint32* row_start, const uint32* columns,
       const real* values, real* d, uint64* first) {
    const uint64 row = thread_index();
    if (row >= rows) return;
    const uint32 end = row_start[row + 1];
    const uint32 at = find(columns, row_start[row], end, uint32(row));
    const real value = at < end ? values[at] : real(0);
    d[row] = real(1) / value;
    if (value == real(0) || !is_finite(value)) atomicMin(first, row);
}
