// Products of the matrices that most cases have: by ten numbers a point, and of the wall columns. Other matrices are in
// matrix.cu, which takes longer to compile.
#include "stencil.cuh"

// y <- A x, or y + A x, for a matrix by ten numbers a point. One thread a point.
KERNEL(multiply_ten_numbers, uint32 mi, uint32 mj, uint32 edges, const real* values, const Pair* x,
       uint64 from, uint64 count, uint32 add, Pair* y) {
    const Stencil at = {mi, mj, edges};
    const ThreadPoint own(mi);
    if (own.j >= mj) return;
    const Pair start = add ? y[own.k] : pair(0, 0);
    y[own.k] = start + by_ten_numbers(at, values, own.i, own.j,
                                      [=](uint64 point) { return point_of(x, point, from, count); });
}

// sum + B x at point k for the wall columns: both rows of every point hold the (p, q) of the walls at the ends of the
// lines through it, a bit of `walls` each.
__device__ inline Pair with_wall_columns(Pair sum, uint32 mi, uint64 points, uint32 walls, const real* values,
                                         const Pair* x, uint64 k, uint32 i) {
    const uint64 terms[4] = {i, points - mi + i, k - i, k - i + mi - 1};
    Slots a = {values + 2 * k, slot_stride(points)};
#pragma unroll
    for (uint32 side = 0; side < 4; ++side) {
        if (!(walls >> side & 1)) continue;
        const Pair p = a.next(), q = a.next(), u = x[terms[side]];
        sum = pair(sum.x + p.x * u.x + q.x * u.y, sum.y + p.y * u.x + q.y * u.y);
    }
    return sum;
}

// y <- A x + B x for both. One thread a point.
KERNEL(multiply_with_walls, uint32 mi, uint32 mj, uint32 edges, const real* values, uint32 walls, const real* columns,
       const Pair* x, uint64 from, uint64 count, Pair* y) {
    const Stencil at = {mi, mj, edges};
    const ThreadPoint own(mi);
    if (own.j >= mj) return;
    const Pair sum = by_ten_numbers(at, values, own.i, own.j,
                                    [=](uint64 point) { return point_of(x, point, from, count); });
    y[own.k] = with_wall_columns(sum, mi, uint64(mi) * mj, walls, columns, x, own.k, own.i);
}

// y <- B x, or y + B x, for the wall columns.
KERNEL(multiply_wall_columns, uint32 mi, uint64 points, uint32 walls, const real* values, const Pair* x,
       uint32 add, Pair* y) {
    const uint64 k = thread_index();
    if (k >= points) return;
    y[k] = with_wall_columns(add ? y[k] : pair(0, 0), mi, points, walls, values, x, k, uint32(k) % mi);
}
