// Metric tensor and control functions of the grid equations at an unknown point (theory eq. 2 and 6).
//
// The unknown points form mi x mj points, i fastest; unknown (i, j) is node (i + 1, j + 1) of a frame of
// (mi + 2) x (mj + 2) nodes.
#pragma once
#include "common.cuh"

__device__ inline Vec vec(double x, double y) { return {x, y}; }
__device__ inline double dot(Vec a, Vec b) { return a.x * b.x + a.y * b.y; }

// Central differences and metric tensor at a point (theory eq. 2).
struct Metrics {
    Vec xi, eta, xixi, etaeta, xieta;
    double g11, g12, g22;
};

// Computes the metrics from the nodes at(di, dj) around a point.
template <class At>
__device__ inline Metrics metrics_of(const At& at) {
    const Vec sw = at(-1, -1), so = at(0, -1), se = at(1, -1);
    const Vec we = at(-1, 0), c = at(0, 0), ea = at(1, 0);
    const Vec nw = at(-1, 1), no = at(0, 1), ne = at(1, 1);
    Metrics m;
    m.xi = 0.5 * (ea - we);
    m.eta = 0.5 * (no - so);
    m.xixi = ea - 2.0 * c + we;
    m.etaeta = no - 2.0 * c + so;
    m.xieta = 0.25 * (ne - nw - se + sw);
    m.g11 = dot(m.xi, m.xi);
    m.g12 = dot(m.xi, m.eta);
    m.g22 = dot(m.eta, m.eta);
    return m;
}

struct EquationState : EquationStateFields {
    // The walls on which an unknown point lies: see `walls_at`.
    __device__ uint32 walls_of(uint32 mi, uint32 mj, uint32 i, uint32 j) const {
        uint32 there = 0;
#pragma unroll
        for (uint32 side = 0; side < 4; ++side) there |= uint32(walls[side].phi != nullptr) << side;
        return walls_at(there, mi, mj, i, j);
    }
};

__device__ inline Metrics metrics(const EquationState& s, uint32 mi, uint32 i, uint32 j) {
    const uint64 stride = uint64(mi) + 2, centre = (j + 1) * stride + i + 1;
    return metrics_of([&](int di, int dj) {
        const uint64 k = centre + int64(dj) * int64(stride) + di;
        return vec(s.x[k], s.y[k]);
    });
}

// Control functions P, Q at an unknown point (theory eq. 6).
__device__ inline Vec control(const EquationState& s, uint32 mi, uint32 i, uint32 j, uint64 k) {
    Vec c = vec(s.control_p[k], s.control_q[k]);
#pragma unroll
    for (uint32 side = 0; side < 4; ++side) {
        const WallState& wall = s.walls[side];
        if (!wall.phi) continue;
        const double* const terms = wall.amplitudes + 2 * uint64(side < 2 ? i : j);
        const double turn = terms[0] * wall.phi[k], stretch = terms[1] * wall.psi[k];
        c.x += side < 2 ? turn : stretch;
        c.y += side < 2 ? stretch : turn;
    }
    return c;
}

// Weight of the rows of an unknown point (theory eq. 5); a point of two walls has no equations.
__device__ inline double row_weight(const EquationState& s, const Metrics& m, uint32 mi, uint32 mj, uint32 i,
                                    uint32 j) {
    return meet(s.walls_of(mi, mj, i, j)) ? 0.0 : 0.5 / (m.g11 + m.g22);
}

// Terms of the 2x2 blocks w dR/dr of a point (theory eq. 3), xi and eta by rows: neighbours across faces have g22 I +-
// (xi_shift I + xi) and g11 I +- (eta_shift I + eta), corners +-corner I, the centre -2 (g11 + g22) I.
struct Slopes {
    Vec xi_x, xi_y, eta_x, eta_y;
    double g11, g22, corner, xi_shift, eta_shift;
};

// Computes them at unknown point (i, j), the k-th of all.
__device__ inline Slopes slopes(const EquationState& s, uint32 mi, uint32 mj, uint32 i, uint32 j, uint64 k) {
    const Metrics m = metrics(s, mi, i, j);
    const Vec c = control(s, mi, i, j, k);
    const double w = row_weight(s, m, mi, mj, i, j);
    const Vec ra = m.xixi + c.x * m.xi, rc = m.etaeta + c.y * m.eta, rb = -2.0 * m.xieta;
    // Rows of the slopes: 1/2 (Rb (x) r_eta + 2 Rc (x) r_xi) and 1/2 (2 Ra (x) r_eta + Rb (x) r_xi).
    const double h = 0.5 * w;
    Slopes b;
    b.xi_x = h * (rb.x * m.eta + 2.0 * rc.x * m.xi);
    b.xi_y = h * (rb.y * m.eta + 2.0 * rc.y * m.xi);
    b.eta_x = h * (2.0 * ra.x * m.eta + rb.x * m.xi);
    b.eta_y = h * (2.0 * ra.y * m.eta + rb.y * m.xi);
    b.g11 = w * m.g11;
    b.g22 = w * m.g22;
    b.corner = -h * m.g12;
    b.xi_shift = 0.5 * b.g22 * c.x;
    b.eta_shift = 0.5 * b.g11 * c.y;
    return b;
}
