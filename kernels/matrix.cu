// ELL matrices (Liu, Zhong and Chen 2011) with the nine-point pattern: see stencil.cuh. Unused slots hold zero.
#include "stencil.cuh"

// y <- A x, or y + A x. One thread a point.
KERNEL(multiply_nine_point, uint32 mi, uint32 mj, uint32 edges, const real* values, const Pair* x,
       uint64 from, uint64 count, uint32 add, Pair* y) {
    const Stencil at = {mi, mj, edges};
    const ThreadPoint own(mi);
    if (own.j >= mj) return;
    const Pair start = add ? y[own.k] : pair(0, 0);
    y[own.k] = nine_points(at, values, own.i, own.j, start, [=](uint64 point) { return point_of(x, point, from, count); });
}

// values <- the entries, by the nine-point pattern, of a matrix by ten numbers a point. One thread a point.
KERNEL(entries_of_ten_numbers, uint32 mi, uint32 mj, uint32 edges, const real* numbers, real* values) {
    const Stencil at = {mi, mj, edges};
    const ThreadPoint own(mi);
    if (own.j >= mj) return;
    const uint64 stride = slot_stride(uint64(mi) * mj);
    const TenNumbers a = ten_numbers(numbers + 2 * own.k, stride);
    const Sides xi = a.along_xi(), eta = a.along_eta();
    const bool west = at.west(own.i), east = at.east(own.i);
    uint32 slot = 0;
    auto put = [&](bool there, Pair v) {
        if (there) reinterpret_cast<Pair*>(values + slot++ * stride)[own.k] = v;
    };
    auto put_block = [&](bool there, const Block& b) {
        put(there, pair(b.xx, b.yy));
        put(there, pair(b.xy, b.yx));
    };
    auto put_row = [&](bool there, real corner, const Block& beside) {
        put(there && west, pair(corner, corner));
        put_block(there, beside);
        put(there && east, pair(-corner, -corner));
    };
    put_row(own.j > 0, a.corner(), eta.before);
    put_block(west, xi.before);
    put(true, pair(-1, -1));
    put_block(east, xi.after);
    put_row(own.j + 1 < mj, -a.corner(), eta.after);
    while (slot < SLOTS_OF_POINT) put(true, pair(0, 0));
}

// t <- A^T for the nine-point pattern. One thread a point, each of whose slots is the opposite one of the neighbour
// there. The slots of the columns beyond the ends, if other ranks have them, are in `beyond`, mj pairs each.
KERNEL(transpose_nine_point, uint32 mi, uint32 mj, uint32 edges, const real* values, const real* beyond,
       Pair* transposed) {
    const Stencil at = {mi, mj, edges};
    const auto [k, i, j] = ThreadPoint(mi);
    if (j >= mj) return;
    const uint64 stride = slot_stride(uint64(mi) * mj);
    uint32 slot = 0;
    Pair* const out = transposed + k;
    auto put = [&](Pair v) { out[slot++ * (stride / 2)] = v; };
    for (int dj = -1; dj <= 1; ++dj) {
        if ((dj < 0 && j == 0) || (dj > 0 && j + 1 == mj)) continue;
        for (int di = -1; di <= 1; ++di) {
            if ((di < 0 && !at.west(i)) || (di > 0 && !at.east(i))) continue;
            const uint32 row = uint32(int(j) + dj);
            // Columns of other ranks have neighbours on both sides.
            const bool mine = di == 0 || (di < 0 ? at.own_west(i) : at.own_east(i));
            const uint64 there = di < 0   ? at.west_of(i, row)
                                 : di > 0 ? at.east_of(i, row)
                                          : uint64(row) * mi + i;
            const uint32 column = uint32(there - uint64(row) * mi);
            const bool west = !mine || at.west(column), east = !mine || at.east(column);
            Slots a = mine ? Slots{values + 2 * there, stride}
                          : Slots{beyond + 2 * ((di > 0) * SLOTS_OF_POINT * uint64(mj) + row), 2 * uint64(mj)};
            // The slots before the one of (-di, -dj): four with both corners below, five in the row.
            if (dj < 1 && row > 0) a.pass(2 + west + east);
            if (dj < 0) a.pass(1 + 2 * west + 2 * east);
            const bool corner = di != 0 && dj != 0;
            if (di < 1 && west) a.pass(dj == 0 ? 2 : 1);
            if (di < 0) a.pass(dj == 0 ? 1 : 2);
            put(a.next());
            if (corner || (di == 0 && dj == 0)) continue;
            const Pair other = a.next();
            put(pair(other.y, other.x));
        }
    }
    while (slot < SLOTS_OF_POINT) put(pair(0, 0));
}

// The points on walls of g <- B^T x: sums along eta-lines for walls of constant j, along xi-lines for others. The
// blocks of each place in y have the next wall of `walls`. A block takes a warp's width of lines, its warps share them.
KERNEL(sum_wall_columns, uint32 mi, uint32 mj, uint32 walls, const real* values, const Pair* x, Pair* g) {
    __shared__ Pair parts[WALL_SUMS][WARP];
    uint32 side = 0, nth = blockIdx.y;
    while (!(walls >> side & 1) || nth-- > 0) ++side;
    const bool of_j = side < 2;
    const uint32 lane = threadIdx.x % WARP, part = threadIdx.x / WARP;
    const uint32 line = blockIdx.x * WARP + lane, lines = of_j ? mi : mj, along = of_j ? mj : mi;
    const uint64 stride = slot_stride(uint64(mi) * mj), start = of_j ? line : uint64(line) * mi, step = of_j ? mi : 1;
    Pair sum = pair(0, 0);
    for (uint32 l = part; line < lines && l < along; l += WALL_SUMS) {
        const uint64 k = start + l * step;
        Slots b = {values + 2 * k + 2 * blockIdx.y * stride, stride};
        const Pair p = b.next(), q = b.next(), u = x[k];
        sum = pair(sum.x + p.x * u.x + p.y * u.y, sum.y + q.x * u.x + q.y * u.y);
    }
    parts[part][lane] = sum;
    __syncthreads();
    if (part > 0 || line >= lines) return;
    for (uint32 other = 1; other < WALL_SUMS; ++other)
        sum = pair(sum.x + parts[other][lane].x, sum.y + parts[other][lane].y);
    // The sum of the xi-line stands where two walls meet.
    const bool other_has_it = of_j && meet(walls_at(walls, mi, mj, line, side ? mj - 1 : 0));
    if (!other_has_it) g[start + (side % 2 ? (along - 1) * step : 0)] = sum;
}

// The points of x on these walls <- 0.
KERNEL(clear_walls, uint32 mi, uint32 mj, uint32 walls, Pair* x) {
    const ThreadPoint at(mi);
    if (at.j < mj && walls_at(walls, mi, mj, at.i, at.j)) x[at.k] = pair(0, 0);
}

// d <- 1 / diag(A); first <- the first row, if any, where that is not finite. One thread a point.
KERNEL(inverse_diagonal, uint32 mi, uint32 mj, uint32 edges, const real* values,
       Pair* d, uint64* first) {
    const Stencil at = {mi, mj, edges};
    const auto [k, i, j] = ThreadPoint(mi);
    if (j >= mj) return;
    const uint32 west = at.west(i), east = at.east(i);
    const uint32 slot = (j > 0 ? 2 + west + east : 0) + 2 * west;
    const Pair diagonal = reinterpret_cast<const Pair*>(values + slot * slot_stride(uint64(mi) * mj))[k];
    const Pair inverse = d[k] = pair(real(1) / diagonal.x, real(1) / diagonal.y);
    if (!is_finite(inverse.x)) {
        atomicMin(first, 2 * k);
    } else if (!is_finite(inverse.y)) {
        atomicMin(first, 2 * k + 1);
    }
}
