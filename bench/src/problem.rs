//! A problem of any size with a known solution, made without a march.

use gridgen::backend::{EllipticData, WallTerms};
use gridgen::pde::{Stencil, residual};
use rayon::prelude::*;
use std::f64::consts::TAU;

/// Thickness of the body, an ellipse of unit chord.
const THICKNESS: f64 = 0.12;
/// Distance to the far field in chords.
const FAR_FIELD: f64 = 50.0;
/// Height of the first cell at the ends of the ellipse's minor axis, in chords.
const FIRST_CELL: f64 = 1e-5;
/// Distance of the first guess from the solution, in cells.
const PERTURBATION: f64 = 0.1;
/// Decay length of the wall terms in chords.
const DECAY: f64 = 0.05;

/// The grid equations of a grid of confocal ellipses with `ni` × `nj` points. The control functions make that
/// grid the discrete solution. The first guess is that grid with a smooth displacement of a tenth of a cell.
/// The wall terms are unknowns and vanish in the solution.
#[must_use]
pub fn ellipses(ni: usize, nj: usize) -> EllipticData {
    let grid = Ellipses::new(ni, nj);
    let (mi, mj, stride) = (ni - 2, nj - 2, ni);
    let mut nodes = vec![[0.0; 2]; ni * nj];
    nodes.par_chunks_mut(ni).enumerate().for_each(|(j, row)| {
        row.iter_mut().enumerate().for_each(|(i, node)| *node = grid.node(i, grid.m(j)));
    });
    let at = |k: usize| [nodes[k - 1], nodes[k], nodes[k + 1]];
    let controls: Vec<[f64; 2]> = (0..mi * mj)
        .into_par_iter()
        .map(|point| {
            let k = (point / mi + 1) * stride + point % mi + 1;
            controls(&Stencil { south: at(k - stride), middle: at(k), north: at(k + stride) })
        })
        .collect();
    let mut guess = nodes.clone();
    guess.par_chunks_mut(ni).enumerate().skip(2).take(nj - 3).for_each(|(j, row)| {
        for (i, node) in row.iter_mut().enumerate().skip(1).take(mi) {
            let k = j * stride + i;
            let (u, v) = (i as f64 / (ni - 1) as f64, j as f64 / (nj - 1) as f64);
            let along = PERTURBATION * (3.0 * TAU * u).sin() * (0.5 * TAU * v).sin();
            let across = PERTURBATION * (2.0 * TAU * u).cos() * (0.5 * TAU * v).sin();
            for c in 0..2 {
                node[c] += along * 0.5 * (nodes[k + 1][c] - nodes[k - 1][c])
                    + across * 0.5 * (nodes[k + stride][c] - nodes[k - stride][c]);
            }
        }
    });
    let phi: Vec<f64> = (0..mi * mj)
        .into_par_iter()
        .map(|point| {
            let (i, k) = (point % mi + 1, (point / mi + 1) * stride + point % mi + 1);
            let height = (nodes[k][0] - nodes[i][0]).hypot(nodes[k][1] - nodes[i][1]);
            (-height / DECAY).exp()
        })
        .collect();
    EllipticData {
        mi,
        mj,
        periodic: false,
        shift: 0.0,
        x: guess.par_iter().map(|node| node[0]).collect(),
        y: guess.par_iter().map(|node| node[1]).collect(),
        control_p: controls.par_iter().map(|c| c[0]).collect(),
        control_q: controls.par_iter().map(|c| c[1]).collect(),
        walls: [
            Some(WallTerms { psi: phi.par_iter().map(|phi| phi.sqrt()).collect(), phi }),
            None,
            None,
            None,
        ],
    }
}

/// P and Q for which the residual vanishes: g22 P r_xi + g11 Q r_eta = −R(P = Q = 0).
fn controls(stencil: &Stencil) -> [f64; 2] {
    let m = stencil.metrics();
    let r = residual(&m, 0.0, 0.0);
    let det = m.xi[0] * m.eta[1] - m.xi[1] * m.eta[0];
    let p = -(r[0] * m.eta[1] - r[1] * m.eta[0]) / det;
    let q = -(m.xi[0] * r[1] - m.xi[1] * r[0]) / det;
    [p / m.g22, q / m.g11]
}

/// Confocal ellipses x = ½ + c cosh m cos θ, y = −c sinh m sin θ, a conformal map.
struct Ellipses {
    /// Half the distance between the foci.
    focus: f64,
    /// m at the body.
    start: f64,
    /// First step of m and its growth from one ellipse to the next.
    step: f64,
    growth: f64,
    intervals: usize,
}

impl Ellipses {
    fn new(ni: usize, nj: usize) -> Self {
        let focus = 0.5 * (1.0 - THICKNESS * THICKNESS).sqrt();
        let start = THICKNESS.atanh();
        let end = (FAR_FIELD / focus).asinh();
        // At θ = 90°, |dr/dm| = c cosh m.
        let step = FIRST_CELL / (focus * start.cosh());
        let layers = nj - 1;
        let sum = |growth: f64| (0..layers).map(|k| step * growth.powf(k as f64)).sum::<f64>();
        // The growth is found by bisection, since the sum rises with it.
        let (mut low, mut high) = (1.0, 3.0);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if sum(middle) < end - start { low = middle } else { high = middle }
        }
        Self { focus, start, step, growth: 0.5 * (low + high), intervals: ni - 1 }
    }

    /// m of ellipse j.
    fn m(&self, j: usize) -> f64 {
        let grown = self.growth.powf(j as f64) - 1.0;
        let exact = self.growth - 1.0;
        self.start + self.step * if exact > 1e-12 { grown / exact } else { j as f64 }
    }

    fn node(&self, i: usize, m: f64) -> [f64; 2] {
        let (sin, cos) = (TAU * (i % self.intervals) as f64 / self.intervals as f64).sin_cos();
        [0.5 + self.focus * m.cosh() * cos, -self.focus * m.sinh() * sin]
    }
}
