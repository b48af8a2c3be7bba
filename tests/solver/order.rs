//! Manufactured solutions: the discrete equations are of second order.

use std::f64::consts::TAU;

use gridgen::backend::cpu::CpuBackend;
use gridgen::backend::{EllipticData, WallTerms};
use gridgen::solver::krylov::Method;
use gridgen::solver::newton::NewtonSettings;
use gridgen::solver::precond::Kind;
use num_complex::Complex;
use support::linear::apart;
use support::problems::{NEWTON, loaded, newton};

/// The mapping z = e^w of the unit square to a ring, a point as a complex number, with
/// w = 1.2 Y + 0.1 cos 2πX + i (−2πX + 0.05 (1 + 2Y) sin 2πX + 0.3 Y²): periodic in X, neither orthogonal nor uniform.
/// Derivatives are with respect to `xi = X/h_x` and `eta = Y/h_y`.
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
        let (sin, cos) = (TAU * x).sin_cos();
        let size = 0.05 * (1.0 + 2.0 * y);
        let w = Complex::new(1.2 * y + 0.1 * cos, -TAU * x + size * sin + 0.3 * y * y);
        let w_x = TAU * Complex::new(-0.1 * sin, size * cos - 1.0);
        let w_y = Complex::new(1.2, 0.1 * sin + 0.6 * y);
        let w_xx = -TAU * TAU * Complex::new(0.1 * cos, size * sin);
        let (w_xy, w_yy) = (Complex::new(0.0, 0.1 * TAU * cos), Complex::new(0.0, 0.6));
        let z = w.exp();
        let scaled = |factor: Complex<f64>, step: f64| {
            let vector = step * factor * z;
            [vector.re, vector.im]
        };
        Self {
            r: [z.re, z.im],
            xi: scaled(w_x, hx),
            eta: scaled(w_y, hy),
            xixi: scaled(w_xx + w_x * w_x, hx * hx),
            xieta: scaled(w_xy + w_x * w_y, hx * hy),
            etaeta: scaled(w_yy + w_y * w_y, hy * hy),
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

/// The largest error of the coordinates on `intervals` × `intervals`/2 intervals, solved for from a perturbed mapping.
fn error(intervals: usize, periodic: bool, coupled: bool) -> f64 {
    let (ni, nj) = (intervals, intervals / 2);
    let steps = (1.0 / ni as f64, 1.0 / nj as f64);
    // A held seam has the nodes X = 0 and X = 1 on its boundary; a periodic one starts one interval before X = 0.
    let (mi, mj, start) = if periodic { (ni, nj - 1, -1.0) } else { (ni - 1, nj - 1, 0.0) };
    let node = |i: usize, j: usize| ((i as f64 + start) * steps.0, j as f64 * steps.1);
    let nodes = (0..mj + 2).flat_map(|j| (0..mi + 2).map(move |i| node(i, j)));
    let (x, y) = nodes.map(|(x, y)| <(f64, f64)>::from(Mapping::at(x, y, steps).r)).unzip();
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
    let (mut problem, mut u) = loaded(&CpuBackend, &data);
    let first = if coupled { 2 * mi } else { 0 };
    for (k, u) in u.iter_mut().enumerate().skip(first) {
        *u += 0.1 / mi as f64 * (0.7 * k as f64).sin();
    }
    let way = (Method::Bicgstab, Kind::Ilu0);
    let settings = NewtonSettings { tolerance: 1e-11, ..NEWTON };

    let report = newton(&CpuBackend, &mut problem, &mut u, way, &settings).unwrap();

    assert!(report.stop.converged(), "{}", report.stop);
    apart(&u[first..], &exact[first..])
}

#[test]
fn solutions_with_either_seam_and_wall_are_of_second_order() {
    // The terms of a coupled wall vary quickly beside it: 16 intervals give an order of 1.85.
    for (periodic, coupled, coarsest) in
        [(false, false, 16), (true, false, 16), (false, true, 32), (true, true, 32)]
    {
        let errors = [1, 2, 4].map(|k| error(k * coarsest, periodic, coupled));

        let orders: Vec<f64> = errors.windows(2).map(|pair| (pair[0] / pair[1]).log2()).collect();
        assert!(
            orders.iter().all(|order| (1.9..=2.1).contains(order)),
            "{periodic} {coupled}: errors {errors:?}, orders {orders:?}"
        );
    }
}
