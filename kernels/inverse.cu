// The inverse of the matrix of a level, by which a coarsest level is solved. The matrix is block tridiagonal: a block has
// the points of a column, or of two columns where the rows close (`ColumnBlocks` of the host).
#include "common.cuh"
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

// The blocks of a row k of the matrix: L, A and U; then those of the eliminations from both ends, W_k = D_k^-1 U_k with
// D_k = A_k - L_k W_{k-1} and V_k = E_k^-1 L_k with E_k = A_k - U_k V_{k+1}.
enum RowSlot { BEFORE, OWN, AFTER, FROM_FIRST, FROM_LAST };

__device__ inline Block* row_blocks(real* rows, uint32 points, uint32 k, uint32 slot) {
    return reinterpret_cast<Block*>(rows) + (uint64(k) * ROW_BLOCKS + slot) * points * points;
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
KERNEL(gather_columns, LevelLayout layout, real* values, real* rows) {
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

    // sum - a b of two matrices in shared memory.
    __device__ Block subtract_product(Block sum, const Block* a, const Block* b) const {
#pragma unroll 5
        for (uint32 t = 0; live && t < points; ++t) sum = sum - a[row * points + t] * b[t * points + column];
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

// Eliminates the rows of the matrix from the first one on, or from the last one on: W_k or V_k of each row. bad <- 1 if
// a value is not finite. One block of threads for each way.
BOUNDED_KERNEL(INVERSE_THREADS, eliminate_columns, uint32 count, uint32 points, real* rows, uint32* bad) {
    __shared__ Block before[INVERSE_POINTS * INVERSE_POINTS], found[INVERSE_POINTS * INVERSE_POINTS];
    const Elimination of(points);
    const bool back = blockIdx.x == 1;
    auto blocks = [&](uint32 nth, uint32 slot) {
        return row_blocks(rows, points, back ? count - 1 - nth : nth, back && slot <= AFTER ? AFTER - slot : slot);
    };
    // The blocks of a row are loaded while the one before it is eliminated.
    Block next[3];
    auto load = [&](uint32 nth) {
#pragma unroll
        for (uint32 slot = BEFORE; slot <= AFTER; ++slot)
            next[slot] = of.live && nth < count ? blocks(nth, slot)[threadIdx.x] : diagonal(0);
    };
    bool finite = true;
    load(0);
    for (uint32 nth = 0; nth < count; ++nth) {
        Block d = next[OWN], e = next[AFTER];
        if (of.live) before[threadIdx.x] = next[BEFORE];
        load(nth + 1);
        __syncthreads();
        if (nth > 0) d = of.subtract_product(d, before, found);
        of.solve(d, e);
        __syncthreads();
        finite = finite && is_finite(e);
        if (of.live) found[threadIdx.x] = blocks(nth, back ? FROM_LAST : FROM_FIRST)[threadIdx.x] = e;
    }
    if (!finite) *bad = 1;
}

// The columns of the inverse G for the points of a block p: G_pp = (A_p - L_p W_{p-1} - U_p V_{p+1})^-1, and from there
// G_kp = -V_k G_{k-1,p} to the last row or, by another block of threads, G_kp = -W_k G_{k+1,p} to the first one.
BOUNDED_KERNEL(INVERSE_THREADS, invert_columns, uint32 count, uint32 points, real* rows, real* inverse, uint32* bad) {
    __shared__ Block left[INVERSE_POINTS * INVERSE_POINTS], right[INVERSE_POINTS * INVERSE_POINTS];
    const Elimination of(points);
    const uint32 p = blockIdx.x;
    const bool back = blockIdx.y == 1;
    auto block = [&](uint32 k, uint32 slot) {
        return of.live ? row_blocks(rows, points, k, slot)[threadIdx.x] : diagonal(0);
    };
    Block d = block(p, OWN), g = diagonal(of.row == of.column);
    auto subtract = [&](uint32 slot, uint32 k, uint32 solved) {
        if (of.live) left[threadIdx.x] = block(p, slot), right[threadIdx.x] = block(k, solved);
        __syncthreads();
        d = of.subtract_product(d, left, right);
        __syncthreads();
    };
    if (p > 0) subtract(BEFORE, p - 1, FROM_FIRST);
    if (p + 1 < count) subtract(AFTER, p + 1, FROM_LAST);
    of.solve(d, g);
    if (!is_finite(g)) *bad = 1;
    const uint64 across = uint64(count) * points;
    Block* const to = reinterpret_cast<Block*>(inverse) + of.row * across + p * points + of.column;
    if (of.live && !back) to[p * points * across] = g;
    const uint32 steps = back ? p : count - 1 - p;
    auto factor = [&](uint32 step) {
        return step < steps ? block(back ? p - 1 - step : p + 1 + step, back ? FROM_FIRST : FROM_LAST) : diagonal(0);
    };
    Block next = factor(0);
    for (uint32 step = 0; step < steps; ++step) {
        if (of.live) left[threadIdx.x] = next, right[threadIdx.x] = g;
        __syncthreads();
        next = factor(step + 1);
        g = of.subtract_product(diagonal(0), left, right);
        if (of.live) to[(back ? p - 1 - step : p + 1 + step) * points * across] = g;
        __syncthreads();
    }
}

// u <- A^-1 f, the wall terms too. One warp a point.
KERNEL(apply_inverse, LevelLayout layout, const real* inverse, const real* f, real* u) {
    const ColumnBlocks columns = {layout};
    const uint32 count = layout.mi * layout.mj, lane = threadIdx.x % WARP, nth = uint32(thread_index() / WARP);
    if (nth >= count) return;
    const Block* const row = reinterpret_cast<const Block*>(inverse) + uint64(nth) * count;
    Pair sum = pair(0, 0);
#pragma unroll 4
    for (uint32 q = lane; q < count; q += WARP) sum = sum + row[q] * reinterpret_cast<const Pair*>(f)[columns.place(q)];
    for (int step = WARP / 2; step > 0; step /= 2) sum = sum + shuffled<true>(sum, step);
    if (lane == 0) reinterpret_cast<Pair*>(u)[columns.place(nth)] = sum;
}
