// Residual and exact Jacobian of the grid equations (theory eq. 1-7). Coordinates, control
// functions and weights are double; matrices are `real`.
//
// The unknown points form mi x mj points, i fastest; unknown (i, j) is node (i + 1, j + 1) of a
// frame of (mi + 2) x (mj + 2) nodes.
#include "common.cuh"
#include "equations.cuh"

// The largest of result 0, the smallest of result 4, of which a NaN is none, and sums.
struct Judged : Extremes<1, 1 << 4> {
    static __device__ double combine(uint32 k, double a, double b) {
        return k == 4 ? (b < a ? b : a) : Extremes<1>::combine(k, a, b);
    }
};

// f <- w R (theory eq. 5), the weights of the merit. Results: the largest magnitude in f; the sums of the squared
// merits of all points (theory eq. 7) with these weights and with those that are kept; cells of the frame from column
// `first` on whose area is not positive, a NaN being none; the smallest area.
KERNEL(residual, uint32 mi, uint32 mj, uint32 first, EquationState s, double* merit_weights, const double* kept,
       double* f, Reduction out) {
    const uint64 points = uint64(mi) * mj;
    double all[5] = {0.0, 0.0, 0.0, 0.0, infinity()};
    for (uint64 k = thread_index(); k < points; k += thread_count()) {
        const uint32 j = uint32(k) / mi, i = uint32(k) - j * mi;
        const Metrics m = metrics(s, mi, i, j);
        const Vec c = control(s, mi, i, j, k);
        const double weight = row_weight(s, m, mi, mj, i, j);
        const double merit = weight / sqrt(m.g11 < m.g22 ? m.g11 : m.g22);
        merit_weights[k] = merit;
        const Vec r = m.g22 * (m.xixi + c.x * m.xi) - 2.0 * m.g12 * m.xieta
                      + m.g11 * (m.etaeta + c.y * m.eta);
        const Vec scaled = weight * r;
        reinterpret_cast<Vec*>(f)[k] = scaled;
        all[0] = larger(larger(all[0], fabs(scaled.x)), fabs(scaled.y));
        const double square = r.x * r.x + r.y * r.y;
        all[1] += merit * merit * square;
        all[2] += kept[k] * kept[k] * square;
    }
    const uint64 stride = uint64(mi) + 2;
    const uint32 columns = mi + 1 - first;
    const uint64 cells = uint64(columns) * (uint64(mj) + 1);
    for (uint64 cell = thread_index(); cell < cells; cell += thread_count()) {
        const uint64 j = cell / columns;
        const uint64 a = j * stride + (cell - j * columns) + first;
        const uint64 b = a + 1, c = b + stride, d = a + stride;
        const double area = 0.5 * ((s.x[c] - s.x[a]) * (s.y[d] - s.y[b]) - (s.x[d] - s.x[b]) * (s.y[c] - s.y[a]));
        if (!(area > 0.0)) all[3] += 1.0;
        all[4] = Judged::combine(4, all[4], area);
    }
    grid_reduce<Judged>(all, 5, out);
}

// Writes the two rows of a point, slot after slot.
struct Writer {
    real* values;
    uint64 stride;

    __device__ void put(double x, double y) {
        *reinterpret_cast<Pair*>(values) = pair(real(x), real(y));
        values += stride;
    }
};

// A coupling (own I + sign (shift I + slope)) of a neighbour across a face: first the entries of
// the rows' own variables, then those of the other ones.
__device__ inline void put_face(Writer& a, double own, double sign, double shift, Vec row_x,
                                Vec row_y) {
    a.put(own + sign * (shift + row_x.x), own + sign * (shift + row_y.y));
    a.put(sign * row_x.y, sign * row_y.x);
}

// a <- w dR/dr in ELL format (theory eq. 3-4); entries of neighbours that do not exist are left
// out and the slots at the end of such rows are zero. One thread a point.
KERNEL(jacobian, uint32 mi, uint32 mj, uint32 edges, EquationState s, real* values) {
    const ThreadPoint at(mi);
    if (at.j >= mj) return;
    const uint32 i = at.i, j = at.j;
    const uint64 k = at.k, points = uint64(mi) * mj;
    const Slopes b = slopes(s, mi, mj, i, j, k);
    const bool west = i > 0 || (edges & EDGE_WEST), east = i + 1 < mi || (edges & EDGE_EAST);
    Writer a = {values + 2 * k, slot_stride(points)};
    if (j > 0) {
        if (west) a.put(b.corner, b.corner);
        put_face(a, b.g11, -1.0, b.eta_shift, b.eta_x, b.eta_y);
        if (east) a.put(-b.corner, -b.corner);
    }
    if (west) put_face(a, b.g22, -1.0, b.xi_shift, b.xi_x, b.xi_y);
    const double centre = -2.0 * (b.g11 + b.g22);
    a.put(centre, centre);
    if (east) put_face(a, b.g22, 1.0, b.xi_shift, b.xi_x, b.xi_y);
    if (j + 1 < mj) {
        if (west) a.put(-b.corner, -b.corner);
        put_face(a, b.g11, 1.0, b.eta_shift, b.eta_x, b.eta_y);
        if (east) a.put(b.corner, b.corner);
    }
    while (a.values < values + SLOTS_OF_POINT * a.stride) a.put(0.0, 0.0);
}

// a <- w dR/dr by ten numbers a point. One thread a point.
KERNEL(jacobian_by_ten_numbers, uint32 mi, uint32 mj, EquationState s, real* values) {
    const ThreadPoint at(mi);
    if (at.j >= mj) return;
    const uint64 k = at.k;
    const Slopes b = slopes(s, mi, mj, at.i, at.j, k);
    Writer a = {values + 2 * k, slot_stride(uint64(mi) * mj)};
    a.put(b.g22, b.corner);
    a.put(b.xi_shift + b.xi_x.x, b.xi_shift + b.xi_y.y);
    a.put(b.xi_x.y, b.xi_y.x);
    a.put(b.eta_shift + b.eta_x.x, b.eta_shift + b.eta_y.y);
    a.put(b.eta_x.y, b.eta_y.x);
}

// b <- w dR/d(p, q) (theory eq. 6), two entries a row for each wall. One thread a point.
KERNEL(wall_columns, uint32 mi, uint32 mj, EquationState s, real* values) {
    const ThreadPoint at(mi);
    if (at.j >= mj) return;
    const uint32 i = at.i, j = at.j;
    const uint64 k = at.k, points = uint64(mi) * mj;
    const Metrics m = metrics(s, mi, i, j);
    Writer b = {values + 2 * k, slot_stride(points)};
    const double weight = row_weight(s, m, mi, mj, i, j);
    const Vec of_p = weight * m.g22 * m.xi, of_q = weight * m.g11 * m.eta;
#pragma unroll
    for (uint32 side = 0; side < 4; ++side) {
        const WallState& wall = s.walls[side];
        if (!wall.phi) continue;
        const Vec turn = wall.phi[k] * (side < 2 ? of_p : of_q), stretch = wall.psi[k] * (side < 2 ? of_q : of_p);
        b.put(turn.x, turn.y);
        b.put(stretch.x, stretch.y);
    }
}

// Takes over the unknowns u: coordinates into the frame, and the amplitudes of the wall terms from the points on
// one wall. A closed frame repeats its outer columns, whose y is `shift` away: below in the
// first one, above in the last.
KERNEL(load_state, uint32 mi, uint32 mj, uint32 edges, double shift, EquationState s, const double* u) {
    const ThreadPoint at(mi);
    if (at.j >= mj) return;
    const uint32 i = at.i, j = at.j;
    const uint64 k = at.k;
    const double first = u[2 * k], second = u[2 * k + 1];
    if (const uint32 walls = s.walls_of(mi, mj, i, j)) {
#pragma unroll
        for (uint32 side = 0; side < 4; ++side) {
            if (walls != 1u << side) continue;
            double* const terms = s.walls[side].amplitudes + 2 * uint64(side < 2 ? i : j);
            terms[0] = first;
            terms[1] = second;
        }
        return;
    }
    double *const x = s.x, *const y = s.y;
    const uint64 row = (uint64(j) + 1) * (uint64(mi) + 2);
    x[row + i + 1] = first;
    y[row + i + 1] = second;
    if (!(edges & EDGE_PERIODIC)) return;
    // Without a shift the value stays bit for bit: -0 + 0 is 0.
    const bool shifted = shift != 0.0;
    if (i + 1 == mi) {
        x[row] = first;
        y[row] = shifted ? second - shift : second;
    }
    if (i == 0) {
        x[row + mi + 1] = first;
        y[row + mi + 1] = shifted ? second + shift : second;
    }
}
