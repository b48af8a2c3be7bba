//! Manufactured solutions: the discrete equations are of second order.

use std::f64::consts::TAU;

use gridgen::backend::cpu::CpuBackend;
use gridgen::backend::{EllipticData, WallTerms};
use gridgen::solver::krylov::Method;
use gridgen::solver::newton::NewtonSettings;
use gridgen::solver::precond::Kind;
use support::linear::apart;
use support::problems::{NEWTON, loaded, newton};

/// A function of (X, Y) with its first and second derivatives.
#[derive(Clone, Copy)]
struct Jet {
    value: f64,
    x: f64,
    y: f64,
    xx: f64,
    xy: f64,
    yy: f64,
}

/// Distance from the origin, a = e^{1.2 Y} (1 + 0.1 cos 2πX).
fn radius(x: f64, y: f64) -> Jet {
    let (sin, cos) = (TAU * x).sin_cos();
    let (growth, wave) = ((1.2 * y).exp(), 1.0 + 0.1 * cos);
    let (slope, bend) = (-0.1 * TAU * sin, -0.1 * TAU * TAU * cos);
    Jet {
        value: growth * wave,
        x: growth * slope,
        y: 1.2 * growth * wave,
        xx: growth * bend,
        xy: 1.2 * growth * slope,
        yy: 1.44 * growth * wave,
    }
}

/// Polar angle, θ = −2πX + 0.05 (1 + 2Y) sin 2πX + 0.3 Y².
fn angle(x: f64, y: f64) -> Jet {
    let (sin, cos) = (TAU * x).sin_cos();
    let size = 0.05 * (1.0 + 2.0 * y);
    Jet {
        value: -TAU * x + size * sin + 0.3 * y * y,
        x: -TAU + size * TAU * cos,
        y: 0.1 * sin + 0.6 * y,
        xx: -size * TAU * TAU * sin,
        xy: 0.1 * TAU * cos,
        yy: 0.6,
    }
}

/// The mapping r = a (cos θ, sin θ) of the unit square to a ring, periodic in X, neither orthogonal nor
/// uniform, with its derivatives with respect to `xi = X/h_x` and `eta = Y/h_y`.
struct Mapping {
    r: [f64; 2],
    xi: [f64; 2],
    eta: [f64; 2],
    xixi: [f64; 2],
    xieta: [f64; 2],
    etaeta: [f64; 2],
}

impl Mapping {
    fn at(x: f64, y: f64, (hx, hy): (f64, f64)) -> Self {
        let (a, t) = (radius(x, y), angle(x, y));
        let (sin, cos) = t.value.sin_cos();
        // A vector from its components along (cos θ, sin θ) and across it.
        let vector = |along: f64, across: f64, scale: f64| {
            [scale * (along * cos - across * sin), scale * (along * sin + across * cos)]
        };
        let second = |a1: f64, a2: f64, a12: f64, t1: f64, t2: f64, t12: f64, scale: f64| {
            vector(a12 - a.value * t1 * t2, a1 * t2 + a2 * t1 + a.value * t12, scale)
        };
        Self {
            r: vector(a.value, 0.0, 1.0),
            xi: vector(a.x, a.value * t.x, hx),
            eta: vector(a.y, a.value * t.y, hy),
            xixi: second(a.x, a.x, a.xx, t.x, t.x, t.xx, hx * hx),
            xieta: second(a.x, a.y, a.xy, t.x, t.y, t.xy, hx * hy),
            etaeta: second(a.y, a.y, a.yy, t.y, t.y, t.yy, hy * hy),
        }
    }

    /// P and Q for which the mapping solves both equations, with R for P = Q = 0: `g22 P r_xi + g11 Q r_eta =
    /// −R`.
    fn controls(&self) -> (f64, f64) {
        let dot = |a: [f64; 2], b: [f64; 2]| a[0] * b[0] + a[1] * b[1];
        let (g11, g12, g22) =
            (dot(self.xi, self.xi), dot(self.xi, self.eta), dot(self.eta, self.eta));
        let r =
            [0, 1].map(|k| g22 * self.xixi[k] - 2.0 * g12 * self.xieta[k] + g11 * self.etaeta[k]);
        let determinant = self.xi[0] * self.eta[1] - self.xi[1] * self.eta[0];
        let p = -(r[0] * self.eta[1] - r[1] * self.eta[0]) / (determinant * g22);
        let q = -(self.xi[0] * r[1] - self.xi[1] * r[0]) / (determinant * g11);
        (p, q)
    }
}

struct Manufactured {
    data: EllipticData,
    /// Unknowns of the exact mapping.
    exact: Vec<f64>,
}

impl Manufactured {
    /// The problem on `intervals` × `intervals`/2 intervals.
    fn new(intervals: usize, periodic: bool, coupled: bool) -> Self {
        let (ni, nj) = (intervals, intervals / 2);
        let steps = (1.0 / ni as f64, 1.0 / nj as f64);
        // A held seam has the nodes X = 0 and X = 1 on its boundary; a periodic one starts one interval
        // before X = 0.
        let (mi, mj, start) = if periodic { (ni, nj - 1, -1.0) } else { (ni - 1, nj - 1, 0.0) };
        let node = |i: usize, j: usize| ((i as f64 + start) * steps.0, j as f64 * steps.1);
        let (mut x, mut y) = (Vec::new(), Vec::new());
        for (j, i) in (0..mj + 2).flat_map(|j| (0..mi + 2).map(move |i| (j, i))) {
            let (xi, eta) = node(i, j);
            let [rx, ry] = Mapping::at(xi, eta, steps).r;
            x.push(rx);
            y.push(ry);
        }
        let (mut control_p, mut control_q, mut exact) = (Vec::new(), Vec::new(), Vec::new());
        let mut wall = WallTerms { phi: Vec::new(), psi: Vec::new() };
        for (j, i) in (1..=mj).flat_map(|j| (1..=mi).map(move |i| (j, i))) {
            let (xi, eta) = node(i, j);
            let mapping = Mapping::at(xi, eta, steps);
            let (p, q) = mapping.controls();
            let (phi, psi) = ((-4.0 * eta).exp(), (-0.8 * eta).exp());
            // The exact wall terms; P and Q are of the order of the step.
            let terms = [steps.0 * (TAU * xi).sin(), steps.1 * (0.5 + (TAU * xi).cos())];
            let share = if coupled { terms } else { [0.0; 2] };
            control_p.push(p - share[0] * phi);
            control_q.push(q - share[1] * psi);
            wall.phi.push(phi);
            wall.psi.push(psi);
            exact.extend(if coupled && j == 1 { terms } else { mapping.r });
        }
        let walls = [coupled.then_some(wall), None, None, None];
        let data = EllipticData { mi, mj, periodic, shift: 0.0, x, y, control_p, control_q, walls };
        Self { data, exact }
    }

    /// Solves from a perturbed mapping; returns the largest error of the coordinates.
    fn error(&self) -> f64 {
        let (mut problem, mut u) = loaded(&CpuBackend, &self.data);
        let first = if self.data.walls[0].is_some() { 2 * self.data.mi } else { 0 };
        let size = 0.1 / self.data.mi as f64;
        for (k, u) in u.iter_mut().enumerate().skip(first) {
            *u += size * (0.7 * k as f64).sin();
        }
        let (way, settings) =
            ((Method::Bicgstab, Kind::Ilu0), NewtonSettings { tolerance: 1e-11, ..NEWTON });

        let report = newton(&CpuBackend, &mut problem, &mut u, way, &settings).unwrap();

        assert!(report.stop.converged(), "{}", report.stop);
        apart(&u[first..], &self.exact[first..])
    }
}

#[test]
fn solutions_with_either_seam_and_wall_are_of_second_order() {
    // The terms of a coupled wall vary quickly beside it: 16 intervals give an order of 1.85.
    for (periodic, coupled, coarsest) in
        [(false, false, 16), (true, false, 16), (false, true, 32), (true, true, 32)]
    {
        let errors = [1, 2, 4].map(|k| Manufactured::new(k * coarsest, periodic, coupled).error());

        let orders: Vec<f64> = errors.windows(2).map(|pair| (pair[0] / pair[1]).log2()).collect();
        assert!(
            orders.iter().all(|order| (1.9..=2.1).contains(order)),
            "{periodic} {coupled}: errors {errors:?}, orders {orders:?}"
        );
    }
}
