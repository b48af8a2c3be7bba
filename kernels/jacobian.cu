// Exact Jacobian of the grid equations (theory eq. 3-6), whose unknowns are numbered as in elliptic.cu. Coordinates,
// control functions and weights are double; matrices are `real`.
#include "equations.cuh"

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
    const auto [k, i, j] = ThreadPoint(mi);
    if (j >= mj) return;
    const Slopes b = slopes(s, mi, mj, i, j, k);
    const bool west = i > 0 || (edges & EDGE_WEST), east = i + 1 < mi || (edges & EDGE_EAST);
    Writer a = {values + 2 * k, slot_stride(uint64(mi) * mj)};
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
    const auto [k, i, j] = ThreadPoint(mi);
    if (j >= mj) return;
    const Slopes b = slopes(s, mi, mj, i, j, k);
    Writer a = {values + 2 * k, slot_stride(uint64(mi) * mj)};
    a.put(b.g22, b.corner);
    a.put(b.xi_shift + b.xi_x.x, b.xi_shift + b.xi_y.y);
    a.put(b.xi_x.y, b.xi_y.x);
    a.put(b.eta_shift + b.eta_x.x, b.eta_shift + b.eta_y.y);
    a.put(b.eta_x.y, b.eta_y.x);
}

// b <- w dR/d(p, q) (theory eq. 6), two entries a row for each wall. One thread a point.
KERNEL(wall_columns, uint32 mi, uint32 mj, EquationState s, real* values) {
    const auto [k, i, j] = ThreadPoint(mi);
    if (j >= mj) return;
    const Metrics m = metrics(s, mi, i, j);
    Writer b = {values + 2 * k, slot_stride(uint64(mi) * mj)};
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
