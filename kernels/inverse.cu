// The inverse of the matrix of a level, by which a coarsest level is solved. The matrix is block tridiagonal: a block
// has the points of a column, or of two columns where the rows close (`ColumnBlocks` of the host). Where it has many
// rows, runs of them are inverted at the same time, with a separator between two runs: a row whose unknowns x_s follow
// from the equations of all separators, where those of the runs have been eliminated. With the solution y = G f of a
// run by itself, x = y - B x_s - C x_t between separators s and t.
#include "level.cuh"

// The order of the points in the matrix: point l of block k.
struct ColumnBlocks {
    const LevelLayout& layout;

    __device__ uint32 points() const { return layout.mj << layout.wraps(); }
    __device__ uint32 count() const { return layout.mi >> layout.wraps(); }
    __device__ uint32 column(uint32 k, uint32 l) const { return l < layout.mj ? k : layout.mi - 1 - k; }
    __device__ uint32 row(uint32 l) const { return (l + 1) % layout.mj; }
    // Place of the nth point in f and u, where wall terms have the places of their points.
    __device__ int place(uint32 nth) const {
        const uint32 k = nth / points(), l = nth % points();
        return row(l) * layout.row() + layout.column(column(k, l));
    }
};

// The rows of the matrix: runs of `length` rows, or fewer in the last one, with a separator after each.
struct Runs : RunsFields {
    __device__ uint32 separators() const { return count / (length + 1); }
    __device__ uint32 separator(uint32 nth) const { return nth * (length + 1) + length; }
    __device__ bool separates(uint32 k) const { return k % (length + 1) == length; }
    // First row of the run of row k, and the row after its last one.
    __device__ uint32 first(uint32 k) const { return k - k % (length + 1); }
    __device__ uint32 end(uint32 k) const { return min(first(k) + length, count); }
    // Blocks before those of the inverse of the run of row k, and of all runs.
    __device__ uint64 inverse(uint32 k) const {
        const uint64 across = uint64(length) * points;
        return k / (length + 1) * across * across;
    }
    __device__ uint64 inverses() const { return inverse(count + length); }
};

// The blocks of a row k of the matrix: L, A and U; those of the eliminations from both ends of its run, W_k = D_k^-1
// U_k with D_k = A_k - L_k W_{k-1} and V_k = E_k^-1 L_k with E_k = A_k - U_k V_{k+1}; B and C.
enum RowSlot { BEFORE, OWN, AFTER, FROM_FIRST, FROM_LAST, TO_BEFORE, TO_AFTER };

__device__ inline Block* row_blocks(Block* rows, uint32 points, uint32 k, uint32 slot) {
    return rows + (uint64(k) * ROW_BLOCKS + slot) * points * points;
}

__device__ inline bool is_zero(const Block& a) { return a.xx == 0 && a.xy == 0 && a.yx == 0 && a.yy == 0; }

// The end of the eta-lines with a wall at row j, or 2.
__device__ inline uint32 wall_at(const LevelLayout& layout, uint32 j) {
    return layout.walls() && j == 0 ? 0 : layout.above() && j + 1 == layout.mj ? 1 : 2;
}

// The block that couples the equations of point (i, j) with the unknowns of point (to_i, to_j): zero for those of wall
// terms that are held.
__device__ inline Block coupling(const LevelLayout& layout, const Operator<false>& a, uint32 i, uint32 j, uint32 to_i,
                                 uint32 to_j) {
    const int column = layout.column(i), at = j * layout.row() + column;
    const uint32 wall = wall_at(layout, j), to_wall = wall_at(layout, to_j);
    if (wall < 2 && is_zero(a.border(wall)[at])) return diagonal(0);
    if (layout.transposed() && wall < 2)
        return i == to_i ? transposed(a.columns(wall)[to_j * layout.row() + column]) : diagonal(0);
    if (!layout.transposed() && to_wall < 2) return i == to_i ? a.columns(to_wall)[at] : diagonal(0);
    const int dj = int(to_j) - int(j);
    Block sum = diagonal(0);
    if (dj < -1 || dj > 1) return sum;
    for (int di = -1; di <= 1; ++di) {
        int beside = int(i) + di;
        if (layout.wraps()) beside = beside < 0 ? int(layout.mi) - 1 : beside == int(layout.mi) ? 0 : beside;
        if (beside == int(to_i)) sum = sum + a.towards(di, dj)[at];
    }
    return sum;
}

// The blocks L, A and U of all rows. One thread for each 2x2 block of them.
KERNEL(gather_columns, LevelLayout layout, real* values, Block* rows) {
    const ColumnBlocks columns = {layout};
    const uint32 points = columns.points(), size = points * points;
    const uint64 nth = thread_index();
    const uint32 k = uint32(nth / (3 * size)), slot = uint32(nth / size % 3), e = uint32(nth % size);
    if (k >= columns.count()) return;
    const uint32 l = e / points, to = e % points;
    const bool there = k + slot >= 1 && k + slot <= columns.count();
    row_blocks(rows, points, k, slot)[e] =
        there ? coupling(layout, operator_of<false>(layout, values), columns.column(k, l), columns.row(l),
                         columns.column(k + slot - 1, to), columns.row(to))
              : diagonal(0);
}

// The work of one block of threads with matrices of `points` x `points` blocks of 2x2, one of each for a thread.
struct Elimination {
    uint32 points, row, column;
    bool live;

    __device__ explicit Elimination(uint32 points)
        : points(points), row(threadIdx.x / points), column(threadIdx.x % points), live(row < points) {}

    // The own block of a matrix.
    __device__ Block block(Block* rows, uint32 k, uint32 slot) const {
        return live ? row_blocks(rows, points, k, slot)[threadIdx.x] : diagonal(0);
    }
    // sum - a b of matrices of which each thread has its block.
    __device__ Block subtract_product(Block sum, const Block& a, const Block& b) const {
        __shared__ Block left[INVERSE_POINTS * INVERSE_POINTS], right[INVERSE_POINTS * INVERSE_POINTS];
        if (live) left[threadIdx.x] = a, right[threadIdx.x] = b;
        __syncthreads();
#pragma unroll 5
        for (uint32 t = 0; live && t < points; ++t) sum = sum - left[row * points + t] * right[t * points + column];
        __syncthreads();
        return sum;
    }
    // e <- d^-1 e by Gauss-Jordan elimination with 2x2 pivots. Rows of zeros of d, for points that are held, have the
    // pivot zero and become rows of zeros of e.
    __device__ void solve(Block d, Block& e) const {
        // The two buffers spare a second barrier.
        __shared__ Block rows[2][2][INVERSE_POINTS], columns[2][INVERSE_POINTS];
        for (uint32 p = 0; p < points; ++p) {
            Block *const of_d = rows[p % 2][0], *const of_e = rows[p % 2][1], *const beside = columns[p % 2];
            if (live && row == p) of_d[column] = d, of_e[column] = e;
            if (live && column == p) beside[row] = d;
            __syncthreads();
            if (!live) continue;
            const Block pivot = is_zero(of_d[p]) ? diagonal(0) : inverse(of_d[p]);
            const Block x = pivot * of_d[column], y = pivot * of_e[column], factor = beside[row];
            d = row == p ? x : d - factor * x;
            e = row == p ? y : e - factor * y;
        }
    }
};

// Eliminates the rows of a run from the first one on, or from the last one on: W_k or V_k of each row. bad <- 1 if a
// value is not finite. One block of threads for each way and run.
BOUNDED_KERNEL(INVERSE_THREADS, eliminate_columns, Runs runs, Block* rows, uint32* bad) {
    const Elimination of(runs.points);
    const bool back = blockIdx.x == 1;
    const uint32 first = blockIdx.y * (runs.length + 1), count = runs.end(first) - first;
    auto row = [&](uint32 nth) { return first + (back ? count - 1 - nth : nth); };
    // The blocks of a row are loaded while the one before it is eliminated.
    Block next[3], found = diagonal(0);
    auto load = [&](uint32 nth) {
#pragma unroll
        for (uint32 slot = BEFORE; slot <= AFTER; ++slot)
            next[slot] = nth < count ? of.block(rows, row(nth), back ? AFTER - slot : slot) : diagonal(0);
    };
    bool finite = true;
    load(0);
    for (uint32 nth = 0; nth < count; ++nth) {
        const Block before = next[BEFORE], d = next[OWN], after = next[AFTER];
        load(nth + 1);
        const Block reduced = nth > 0 ? of.subtract_product(d, before, found) : d;
        found = after;
        of.solve(reduced, found);
        finite = finite && is_finite(found);
        if (of.live) row_blocks(rows, runs.points, row(nth), back ? FROM_LAST : FROM_FIRST)[threadIdx.x] = found;
    }
    if (!finite) *bad = 1;
}

// The columns of the inverse G of a run for the points of a block p: G_pp = (A_p - L_p W_{p-1} - U_p V_{p+1})^-1, and
// from there G_kp = -V_k G_{k-1,p} to the last row or, by another block of threads, G_kp = -W_k G_{k+1,p} to the first
// one. From -1 in place of G_pp at a separator p, B of the rows after it and C of those before follow so.
BOUNDED_KERNEL(INVERSE_THREADS, invert_columns, Runs runs, Block* rows, Block* inverse, uint32* bad) {
    const uint32 p = blockIdx.x, points = runs.points;
    const Elimination of(points);
    const bool back = blockIdx.y == 1, separates = runs.separates(p);
    // The rows that are passed: up to `end`, or down to `first`.
    const uint32 first = separates ? p - runs.length : runs.first(p);
    const uint32 end = separates ? (p + 1 < runs.count ? runs.end(p + 1) : p + 1) : runs.end(p);
    Block g = diagonal(of.row != of.column ? 0 : separates ? -1 : 1);
    const uint64 across = uint64(runs.length) * points;
    Block* const to = inverse + runs.inverse(p) + of.row * across + (p - first) * points + of.column;
    auto store = [&](uint32 k) {
        if (!of.live) return;
        if (separates)
            row_blocks(rows, points, k, back ? TO_AFTER : TO_BEFORE)[threadIdx.x] = g;
        else
            to[(k - first) * points * across] = g;
    };
    if (!separates) {
        Block d = of.block(rows, p, OWN);
        if (p > first) d = of.subtract_product(d, of.block(rows, p, BEFORE), of.block(rows, p - 1, FROM_FIRST));
        if (p + 1 < end) d = of.subtract_product(d, of.block(rows, p, AFTER), of.block(rows, p + 1, FROM_LAST));
        of.solve(d, g);
        if (!is_finite(g)) *bad = 1;
        if (!back) store(p);
    }
    const uint32 steps = back ? p - first : end - 1 - p;
    auto factor = [&](uint32 step) {
        return step < steps ? of.block(rows, back ? p - 1 - step : p + 1 + step, back ? FROM_FIRST : FROM_LAST)
                            : diagonal(0);
    };
    Block next = factor(0);
    for (uint32 step = 0; step < steps; ++step) {
        const Block now = next;
        next = factor(step + 1);
        g = of.subtract_product(diagonal(0), now, g);
        store(back ? p - 1 - step : p + 1 + step);
    }
}

// The blocks L, A or U of the equations of a separator k after the runs have been eliminated:
// -L_k B_{k-1}, A_k - L_k W_{k-1} - U_k V_{k+1}, -U_k C_{k+1}. A block of threads for each.
BOUNDED_KERNEL(INVERSE_THREADS, reduce_columns, Runs runs, Block* rows, Block* reduced) {
    const Elimination of(runs.points);
    const uint32 nth = blockIdx.x, k = runs.separator(nth), slot = blockIdx.y;
    Block sum = slot == OWN ? of.block(rows, k, OWN) : diagonal(0);
    auto subtract = [&](uint32 slot, uint32 to, uint32 solved) {
        sum = of.subtract_product(sum, of.block(rows, k, slot), of.block(rows, to, solved));
    };
    if (slot == OWN || (slot == BEFORE && nth > 0)) subtract(BEFORE, k - 1, slot == OWN ? FROM_FIRST : TO_BEFORE);
    if (k + 1 < runs.count && (slot == OWN || (slot == AFTER && nth + 1 < runs.separators())))
        subtract(AFTER, k + 1, slot == OWN ? FROM_LAST : TO_AFTER);
    if (of.live) row_blocks(reduced, runs.points, nth, slot)[threadIdx.x] = sum;
}

// The sum of m[q] value(q) for the `count` points q, by the lanes of a warp.
template <class Value>
__device__ inline Pair warp_product(const Block* m, uint32 count, const Value& value) {
    Pair sum = pair(0, 0);
#pragma unroll 4
    for (uint32 q = threadIdx.x % WARP; q < count; q += WARP) sum = sum + m[q] * value(q);
    for (int step = WARP / 2; step > 0; step /= 2) sum = sum + shuffled<true>(sum, step);
    return sum;
}

// u <- G f in the runs, the wall terms too. One warp a point.
KERNEL(apply_inverse, LevelLayout layout, Runs runs, const Block* inverse, const Pair* f, Pair* u) {
    const ColumnBlocks columns = {layout};
    const uint32 nth = uint32(thread_index() / WARP), k = nth / runs.points;
    if (k >= runs.count || runs.separates(k)) return;
    const uint32 first = runs.first(k) * runs.points;
    const Block* const row = inverse + runs.inverse(k) + uint64(nth - first) * runs.length * runs.points;
    const Pair sum = warp_product(row, (runs.end(k) - runs.first(k)) * runs.points,
                                  [&](uint32 q) { return f[columns.place(first + q)]; });
    if (threadIdx.x % WARP == 0) u[columns.place(nth)] = sum;
}

// right <- f - L y - U y at the separators, with y = u in the runs beside. One warp a point.
KERNEL(reduce_right, LevelLayout layout, Runs runs, Block* rows, const Pair* f, const Pair* u, Pair* right) {
    const ColumnBlocks columns = {layout};
    const uint32 nth = uint32(thread_index() / WARP), points = runs.points, l = nth % points;
    if (nth >= runs.separators() * points) return;
    const uint32 k = runs.separator(nth / points);
    auto product = [&](uint32 slot, uint32 beside) {
        return warp_product(row_blocks(rows, points, k, slot) + l * points, points,
                            [&](uint32 q) { return u[columns.place(beside * points + q)]; });
    };
    Pair sum = f[columns.place(k * points + l)] - product(BEFORE, k - 1);
    if (k + 1 < runs.count) sum = sum - product(AFTER, k + 1);
    if (threadIdx.x % WARP == 0) right[nth] = sum;
}

// u <- the solution at the separators, by the inverse of their equations. One warp a point.
KERNEL(apply_reduced, LevelLayout layout, Runs runs, const Block* inverse, const Pair* right, Pair* u) {
    const ColumnBlocks columns = {layout};
    const uint32 nth = uint32(thread_index() / WARP), points = runs.points, count = runs.separators() * points;
    if (nth >= count) return;
    const Block* const row = inverse + runs.inverses() + uint64(nth) * count;
    const Pair sum = warp_product(row, count, [&](uint32 q) { return right[q]; });
    const uint32 k = runs.separator(nth / points);
    if (threadIdx.x % WARP == 0) u[columns.place(k * points + nth % points)] = sum;
}

// u <- u - B x_s - C x_t in the runs. One warp a point.
KERNEL(correct_runs, LevelLayout layout, Runs runs, Block* rows, Pair* u) {
    const ColumnBlocks columns = {layout};
    const uint32 nth = uint32(thread_index() / WARP), points = runs.points, k = nth / points, l = nth % points;
    if (k >= runs.count || runs.separates(k)) return;
    auto product = [&](uint32 slot, uint32 separator) {
        return warp_product(row_blocks(rows, points, k, slot) + l * points, points,
                            [&](uint32 q) { return u[columns.place(separator * points + q)]; });
    };
    Pair sum = u[columns.place(nth)];
    if (runs.first(k) > 0) sum = sum - product(TO_BEFORE, runs.first(k) - 1);
    if (runs.end(k) < runs.count) sum = sum - product(TO_AFTER, runs.end(k));
    if (threadIdx.x % WARP == 0) u[columns.place(nth)] = sum;
}
