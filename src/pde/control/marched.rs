//! Control functions that make the initial grid a discrete solution.

use super::{ControlFunctions, ControlSettings, Ring, arc_length};
use crate::grid::Grid;
use crate::pde::residual;

/// At each node (g22 r_xi) P + (g11 r_eta) Q = −R(P = Q = 0), clipped, then `smoothing` passes of
/// F ← F + (1 − exp(−s/d)) (S F − F), S = ¼ ½ ¼ along xi, then along eta (theory eq. 8).
pub(super) fn control_functions(grid: &Grid, settings: &ControlSettings) -> ControlFunctions {
    let ring = Ring::new(grid);
    let (n, nj) = (ring.columns, grid.nj);
    let mut p = vec![0.0; n * nj];
    let mut q = vec![0.0; n * nj];
    for j in 1..nj - 1 {
        for i in usize::from(!ring.solves_seam())..n {
            let m = ring.metrics(i, j);
            let r = residual(&m, 0.0, 0.0);
            // Cramer's rule for [r_xi r_eta] (g22 P, g11 Q)ᵀ = −R.
            let det = m.xi[0] * m.eta[1] - m.xi[1] * m.eta[0];
            let along_xi = -(r[0] * m.eta[1] - r[1] * m.eta[0]) / det;
            let along_eta = -(m.xi[0] * r[1] - m.xi[1] * r[0]) / det;
            p[j * n + i] = clip(along_xi / m.g22, settings.clip);
            q[j * n + i] = clip(along_eta / m.g11, settings.clip);
        }
    }
    let weights: Vec<f64> = arc_length(grid)
        .chunks(grid.ni)
        .flat_map(|row| &row[..n])
        .map(|s| -(-s / settings.smoothing_distance).exp_m1())
        .collect();
    for f in [&mut p, &mut q] {
        extend_to_rim(f, ring, nj);
        smooth(f, ring, &weights, settings.smoothing);
    }
    ControlFunctions { p, q }
}

/// Clips to ±limit; a value that is not a number (a degenerate node) becomes 0.
fn clip(value: f64, limit: f64) -> f64 {
    if value.is_nan() { 0.0 } else { value.clamp(-limit, limit) }
}

/// Gives a held seam the mean of its neighbours, and the two boundary lines the values beside
/// them, so that smoothing has something to average.
fn extend_to_rim(f: &mut [f64], ring: Ring, nj: usize) {
    let n = ring.columns;
    if !ring.solves_seam() {
        for row in f.chunks_mut(n) {
            row[0] = 0.5 * (row[1] + row[n - 1]);
        }
    }
    f.copy_within(n..2 * n, 0);
    f.copy_within((nj - 2) * n..(nj - 1) * n, (nj - 1) * n);
}

fn smooth(f: &mut [f64], ring: Ring, weights: &[f64], passes: usize) {
    let n = ring.columns;
    let nj = f.len() / n;
    let mut g = vec![0.0; f.len()];
    for _ in 0..passes {
        for (row, out) in f.chunks(n).zip(g.chunks_mut(n)) {
            ring.smooth_xi(row, out);
        }
        for k in 0..f.len() {
            let j = k / n;
            let target = if j == 0 || j == nj - 1 {
                g[k]
            } else {
                0.5 * g[k] + 0.25 * (g[k - n] + g[k + n])
            };
            f[k] += weights[k] * (target - f[k]);
        }
    }
}
