// Metric tensor and control functions of the grid equations at an unknown point (theory eq. 2 and 6).
//
// The unknown points form mi x mj points, i fastest; unknown (i, j) is node (i + 1, j + 1) of a frame of
// (mi + 2) x (mj + 2) nodes.
#pragma once
#include "common.cuh"

// Coordinates and derivatives are double, whatever `real` is.
typedef Two<double> Vec;

__device__ inline Vec vec(double x, double y) { return {x, y}; }
__device__ inline double dot(Vec a, Vec b) { return a.x * b.x + a.y * b.y; }

// Central differences and metric tensor at a point (theory eq. 2).
struct Metrics {
    Vec xi, eta, xixi, etaeta, xieta;
    double g11, g12, g22;
};

__device__ inline Metrics metrics(const EllipticState& s, uint32 mi, uint32 i, uint32 j) {
    const uint64 stride = uint64(mi) + 2;
    const uint64 south = j * stride + i, middle = south + stride, north = middle + stride;
    auto at = [&](uint64 k) { return vec(s.x[k], s.y[k]); };
    const Vec sw = at(south), so = at(south + 1), se = at(south + 2);
    const Vec we = at(middle), c = at(middle + 1), ea = at(middle + 2);
    const Vec nw = at(north), no = at(north + 1), ne = at(north + 2);
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

// Control functions P, Q at an unknown point (theory eq. 6).
__device__ inline Vec control(const EllipticState& s, uint32 mi, uint32 i, uint64 k) {
    Vec c = vec(s.control_p[k], s.control_q[k]);
    if (s.phi) {
        c.x += s.amplitudes[2 * i] * s.phi[k];
        c.y += s.amplitudes[2 * i + 1] * s.psi[k];
    }
    return c;
}

// What the 2x2 blocks w dR/dr of a point are made of (theory eq. 3): a neighbour across a face of xi has
// g22 I +- (xi_shift I + xi), one across a face of eta g11 I +- (eta_shift I + eta), with xi and eta by rows;
// corners +-corner I, the centre -2 (g11 + g22) I.
struct Slopes {
    Vec xi_x, xi_y, eta_x, eta_y;
    double g11, g22, corner, xi_shift, eta_shift;
};

// Of the metrics, the control functions c and the row weight w.
__device__ inline Slopes slopes(const Metrics& m, Vec c, double w) {
    const Vec ra = m.xixi + c.x * m.xi, rc = m.etaeta + c.y * m.eta, rb = -2.0 * m.xieta;
    // Rows of the slopes: 1/2 (Rb (x) r_eta + 2 Rc (x) r_xi) and 1/2 (2 Ra (x) r_eta + Rb (x) r_xi).
    const double h = 0.5 * w;
    Slopes s;
    s.xi_x = h * (rb.x * m.eta + 2.0 * rc.x * m.xi);
    s.xi_y = h * (rb.y * m.eta + 2.0 * rc.y * m.xi);
    s.eta_x = h * (2.0 * ra.x * m.eta + rb.x * m.xi);
    s.eta_y = h * (2.0 * ra.y * m.eta + rb.y * m.xi);
    s.g11 = w * m.g11;
    s.g22 = w * m.g22;
    s.corner = -h * m.g12;
    s.xi_shift = 0.5 * s.g22 * c.x;
    s.eta_shift = 0.5 * s.g11 * c.y;
    return s;
}
