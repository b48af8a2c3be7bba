// The order of the rows of triangular factors: levels, rows sorted by level, and the places of their entries. Rows of a
// pattern have rising columns; the lower part of row r ends at split[r], where its diagonal entry is, if it has one.
#include "fold.cuh"

// The part of a row left of the diagonal (`upper` = 0), right of it (1), or the whole row (2).
struct TrianglePart {
    uint32 begin, end;

    __device__ TrianglePart(uint32 upper, uint64 row, const SplitPattern& pattern) {
        const uint32 at = pattern.split[row], last = pattern.row_start[row + 1];
        begin = upper == 1 ? at + (at < last && pattern.columns[at] == row) : pattern.row_start[row];
        end = upper == 0 ? at : last;
    }
    __device__ uint32 length() const { return end - begin; }
};

// split <- where the entries of each row stop to be left of the diagonal. One thread a row.
KERNEL(split_rows, uint64 rows, const uint32* row_start, const uint32* columns, uint32* split) {
    const uint64 row = thread_index();
    if (row >= rows) return;
    split[row] = lower_bound(columns, row_start[row], row_start[row + 1], row);
}

// order <- the rows in natural order, or from the last to the first; place <- its inverse.
KERNEL(number_rows, uint64 rows, uint32 backwards, uint32* order, uint32* place) {
    const uint64 k = thread_index();
    if (k >= rows) return;
    const uint32 row = uint32(backwards ? rows - 1 - k : k);
    order[k] = row;
    place[row] = uint32(k);
}

// levels <- 1 + the highest level among the rows that a row waits for, or 1 (Wang and Liu 2022, algorithm 7). Levels
// and the ticket start at zero; a slice of rows a warp.
KERNEL(level_rows, uint64 rows, uint32 upper, SplitPattern pattern, uint32* levels, uint32* ticket) {
    for_slices_by_warps((rows + WARP - 1) / WARP, ticket, [&](uint64 slice) {
        const uint64 k = slice * WARP + threadIdx.x % WARP;
        const uint64 own = upper ? rows - 1 - k : k;
        const Row row = pattern_row(k < rows, [&]() -> Two<uint32> {
            const TrianglePart part(upper, own, pattern);
            return {part.begin, part.end};
        });
        fold_rows<true>(row, 1, pattern.columns, Largest(), levels,
                              [&](uint32 most) { store_relaxed(levels + own, most + 1); });
    });
}

// depth <- the highest level. It starts at zero.
KERNEL(find_depth, uint64 rows, const uint32* levels, uint32* depth) {
    uint32 most = 0;
    for (uint64 row = thread_index(); row < rows; row += thread_count())
        most = max(most, levels[row]);
    for (int step = WARP / 2; step > 0; step /= 2)
        most = max(most, __shfl_xor_sync(FULL_WARP, most, step));
    if (threadIdx.x % WARP == 0) atomicMax(depth, most);
}

// starts <- where each level begins in an order by level, and the number of rows. One thread a row.
KERNEL(find_starts, uint64 rows, const uint32* levels, const uint32* order, uint64* starts) {
    const uint64 k = thread_index();
    if (k >= rows) return;
    const uint32 level = levels[order[k]];
    if (k == 0 || levels[order[k - 1]] != level) starts[level - 1] = k;
    if (k + 1 == rows) starts[level] = rows;
}

// Rows sorted by level, in passes over DIGITS values of a level's number: rows of one level keep their order, so that a
// warp finds what they need in few pieces of memory. `order` holds the rows after the last pass, none at first.

__device__ inline uint32 digit_of(const uint32* levels, const uint32* order, uint64 k,
                                  uint32 shift) {
    return (levels[order ? order[k] : k] - 1) >> shift & (DIGITS - 1);
}

// counts[digit * blocks + block] <- keys of a block with a digit.
KERNEL(count_digits, uint64 rows, uint32 shift, const uint32* levels, const uint32* order,
       uint32* counts) {
    __shared__ uint32 own[DIGITS];
    for (uint32 d = threadIdx.x; d < DIGITS; d += blockDim.x) own[d] = 0;
    __syncthreads();
    const uint64 first = uint64(blockIdx.x) * KEYS, last = min(first + KEYS, rows);
    for (uint64 k = first + threadIdx.x; k < last; k += blockDim.x)
        atomicAdd(own + digit_of(levels, order, k, shift), 1u);
    __syncthreads();
    for (uint32 d = threadIdx.x; d < DIGITS; d += blockDim.x)
        counts[uint64(d) * gridDim.x + blockIdx.x] = own[d];
}

// sorted <- the rows by digit, those with the same one in the order that they had. DIGITS threads.
BOUNDED_KERNEL(DIGITS, move_rows, uint64 rows, uint32 shift, const uint32* levels,
               const uint32* order, const uint64* starts, uint32* sorted) {
    __shared__ uint32 seen[DIGITS / WARP][DIGITS];
    const uint32 lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    // First place of the digit with this thread's number.
    uint64 next = starts[uint64(threadIdx.x) * gridDim.x + blockIdx.x];
    __shared__ uint64 base[DIGITS];
    const uint64 first = uint64(blockIdx.x) * KEYS, last = min(first + KEYS, rows);
    for (uint64 turn = first; turn < last; turn += DIGITS) {
        for (uint32 w = 0; w < DIGITS / WARP; ++w) seen[w][threadIdx.x] = 0;
        base[threadIdx.x] = next;
        __syncthreads();
        const uint64 k = turn + threadIdx.x;
        const bool mine = k < last;
        const uint32 digit = mine ? digit_of(levels, order, k, shift) : 0;
        uint32 same = __ballot_sync(FULL_WARP, mine);
        for (uint32 bit = 1; bit < DIGITS; bit *= 2) {
            const uint32 set = __ballot_sync(FULL_WARP, (digit & bit) != 0);
            same &= digit & bit ? set : ~set;
        }
        const uint32 before = __popc(same & ((1u << lane) - 1));
        if (mine && before == 0) seen[warp][digit] = __popc(same);
        __syncthreads();
        if (mine) {
            uint64 to = base[digit] + before;
            for (uint32 w = 0; w < warp; ++w) to += seen[w][digit];
            sorted[to] = order ? order[k] : uint32(k);
        }
        for (uint32 w = 0; w < DIGITS / WARP; ++w) next += seen[w][threadIdx.x];
        __syncthreads();
    }
}

// place <- the inverse of an order. One thread a row.
KERNEL(invert_order, uint64 rows, const uint32* order, uint32* place) {
    const uint64 k = thread_index();
    if (k < rows) place[order[k]] = uint32(k);
}

// backwards <- where the levels of an order start that begins at its end.
KERNEL(turn_starts, uint64 rows, uint32 depth, const uint64* starts, uint64* backwards) {
    const uint64 level = thread_index();
    if (level <= depth) backwards[level] = rows - starts[depth - level];
}

// missed[0] <- entries left of the diagonal without a partner across it; missed[1] <- 0 if both sides have as many.
KERNEL(match_entries, uint64 rows, uint32 lanes, SplitPattern pattern, uint32* missed) {
    const uint64 row = thread_index() / lanes;
    uint32 alone = 0, more = 0;
    if (row < rows) {
        const TrianglePart lower(0, row, pattern), upper(1, row, pattern);
        const uint32 nth = uint32(thread_index() % lanes);
        if (nth == 0) more = lower.length() - upper.length();
        for (uint32 k = lower.begin + nth; k < lower.end; k += lanes) {
            const uint32 column = pattern.columns[k], end = pattern.row_start[column + 1];
            alone += find(pattern.columns, pattern.split[column], end, uint32(row)) == end;
        }
    }
    for (int step = WARP / 2; step > 0; step /= 2)
        more += __shfl_xor_sync(FULL_WARP, more, step);
    if (alone) atomicAdd(missed, alone);
    if (threadIdx.x % WARP == 0 && more) atomicAdd(missed + 1, more);
}

// inner[k] <- place of row order[k] in another order.
KERNEL(link_rows, uint64 rows, const uint32* order, const uint32* place, uint32* inner) {
    const uint64 k = thread_index();
    if (k < rows) inner[k] = place[order[k]];
}

// Sums of what comes before: eight values a thread, then the parts of the blocks, then both.

// `value` added over the threads of the block before this one; `total` over all of them.
__device__ inline uint64 scan_block(uint64 value, uint64* shared, uint64* total) {
    const uint32 lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    uint64 sum = value;
    for (uint32 step = 1; step < WARP; step *= 2) {
        const uint64 other = __shfl_up_sync(FULL_WARP, sum, step);
        if (lane >= step) sum += other;
    }
    __syncthreads();
    if (lane == WARP - 1) shared[warp] = sum;
    __syncthreads();
    uint64 before = 0;
    *total = 0;
    for (uint32 k = 0; k < blockDim.x / WARP; ++k) {
        if (k < warp) before += shared[k];
        *total += shared[k];
    }
    return before + sum - value;
}

// sums[k] <- what stands before values[k] in its block, parts[b] <- sum of block b.
KERNEL(scan_parts, uint64 n, const uint32* values, uint64* sums, uint64* parts) {
    __shared__ uint64 shared[WARP];
    const uint64 first = thread_index() * SCANNED;
    uint64 own = 0, total;
    for (uint64 k = first; k < first + SCANNED && k < n; ++k) own += values[k];
    uint64 before = scan_block(own, shared, &total);
    for (uint64 k = first; k < first + SCANNED && k < n; ++k) {
        sums[k] = before;
        before += values[k];
    }
    if (threadIdx.x == 0) parts[blockIdx.x] = total;
}

// parts[b] <- sum of the blocks before b; sums[n] <- that of all. One block.
KERNEL(scan_blocks, uint64 n, uint64 blocks, uint64* sums, uint64* parts) {
    __shared__ uint64 shared[WARP];
    uint64 before = 0, total;
    for (uint64 first = 0; first < blocks; first += blockDim.x) {
        const uint64 b = first + threadIdx.x;
        const uint64 sum = scan_block(b < blocks ? parts[b] : 0, shared, &total);
        if (b < blocks) parts[b] = before + sum;
        before += total;
    }
    if (threadIdx.x == 0) sums[n] = before;
}

// sums[k] <- sums[k] + what stands before its block.
KERNEL(scan_all, uint64 n, const uint64* parts, uint64* sums) {
    const uint64 first = thread_index() * SCANNED;
    for (uint64 k = first; k < first + SCANNED && k < n; ++k) sums[k] += parts[blockIdx.x];
}

// length <- entries of the parts of the rows in order. One thread a row.
KERNEL(part_lengths, uint64 rows, uint32 upper, const uint32* order, SplitPattern pattern, uint32* length) {
    const uint64 k = thread_index();
    if (k < rows) length[k] = TrianglePart(upper, order[k], pattern).length();
}

// The width of each slice of rows and its capacity. One warp a slice. Rows of more entries than `longest` are large.
KERNEL(shape_slices, uint64 rows, const uint32* length, uint32 longest, uint32* width, uint32* capacity) {
    const uint64 k = thread_index(), slice = k / WARP;
    if (slice >= (rows + WARP - 1) / WARP) return;
    const uint32 own = k < rows ? length[k] : 0;
    uint32 most = own, sum = own;
    for (int step = WARP / 2; step > 0; step /= 2) {
        most = max(most, __shfl_xor_sync(FULL_WARP, most, step));
        sum += __shfl_xor_sync(FULL_WARP, sum, step);
    }
    if (k % WARP != 0) return;
    const bool together = most > longest;
    width[slice] = together ? BY_ROWS : most;
    capacity[slice] = together ? sum : WARP * most;
}

// filled <- columns of the lower or upper parts of the rows, as places in order. A warp a unit, `lanes` lanes a row.
KERNEL(fill_columns, uint32 lanes, uint32 upper, const uint32* order, const uint32* place,
       SplitPattern pattern, SliceRows slices, uint32* filled) {
    const uint64 number = thread_index() / WARP;
    if (number >= slices.count() * lanes) return;
    const Unit unit = slices.team(number, lanes);
    const uint32 from = unit.row.mine ? TrianglePart(upper, order[unit.place], pattern).begin : 0;
    for_entries(unit, from, [&](uint64 at, uint32 entry, uint64) {
        filled[at] = place[pattern.columns[entry]];
    });
}
