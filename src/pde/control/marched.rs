//! Control functions that make the initial grid a discrete solution.

use super::{ControlFunctions, ControlSettings, Ring, arc_length};
use crate::grid::Grid;
use crate::pde::residual;
use rayon::prelude::*;

/// Distance behind the edge of a C-grid, in chords, over which smoothing ceases.
const WAKE_DISTANCE: f64 = 0.5;

/// At each node (g22 r_xi) P + (g11 r_eta) Q = −R(P = Q = 0), clipped, then `smoothing` passes of
/// F ← F + (1 − exp(−s/d)) (S F − F), S = ¼ ½ ¼ along xi, then along eta (theory eq. 8).
pub(super) fn control_functions(grid: &Grid, settings: &ControlSettings) -> ControlFunctions {
    let ring = Ring::new(grid);
    let (n, nj) = (ring.columns, grid.nj);
    let mut p = vec![0.0; n * nj];
    let mut q = vec![0.0; n * nj];
    let rows = p.par_chunks_mut(n).zip(q.par_chunks_mut(n)).enumerate();
    rows.skip(1).take(nj - 2).for_each(|(j, (p, q))| {
        for i in ring.solved() {
            let m = ring.metrics(i, j);
            let r = residual(&m, 0.0, 0.0);
            // Cramer's rule for [r_xi r_eta] (g22 P, g11 Q)ᵀ = −R.
            let det = m.xi[0] * m.eta[1] - m.xi[1] * m.eta[0];
            let along_xi = -(r[0] * m.eta[1] - r[1] * m.eta[0]) / det;
            let along_eta = -(m.xi[0] * r[1] - m.xi[1] * r[0]) / det;
            p[i] = clip(along_xi / m.g22, settings.clip);
            q[i] = clip(along_eta / m.g11, settings.clip);
        }
    });
    let mut weights = arc_length(grid);
    let shares = shares(grid);
    weights.par_chunks_mut(grid.ni).for_each(|row| {
        for (s, share) in row.iter_mut().zip(&shares) {
            *s = -(-*s / settings.smoothing_distance).exp_m1() * share;
        }
    });
    for f in [&mut p, &mut q] {
        extend_to_rim(f, ring, nj);
        smooth(f, ring, &weights, settings.smoothing);
    }
    ControlFunctions { p, q }
}

/// Part of the smoothing for each line: all of it but in the wake of a C-grid, where it fades with the
/// distance from the edge.
///
/// Smoothing changes the layers of a line at their far end, and the wall terms, which keep its height,
/// make up for it all along. Where neighbouring lines do so differently, heights grow along the wake at
/// rates that differ from layer to layer, and the centres of long cells no longer stand above each other.
fn shares(grid: &Grid) -> Vec<f64> {
    let wall = grid.topology.wall(grid.ni);
    let [x, y] = grid.point(*wall.start(), 0);
    let share = |i: usize| {
        if wall.contains(&i) {
            return 1.0;
        }
        let point = grid.point(i, 0);
        (-(point[0] - x).hypot(point[1] - y) / WAKE_DISTANCE).exp()
    };
    (0..grid.ni).map(share).collect()
}

/// Clips to ±limit; a value that is not a number (a degenerate node) becomes 0.
fn clip(value: f64, limit: f64) -> f64 {
    if value.is_nan() { 0.0 } else { value.clamp(-limit, limit) }
}

/// Gives the boundaries the values beside them, so that smoothing has something to average.
fn extend_to_rim(f: &mut [f64], ring: Ring, nj: usize) {
    let n = ring.columns;
    f.chunks_mut(n).for_each(|row| ring.fill_held(row));
    f.copy_within(n..2 * n, 0);
    f.copy_within((nj - 2) * n..(nj - 1) * n, (nj - 1) * n);
}

/// `weights` has the repeated column of an O-grid, `f` has not.
fn smooth(f: &mut [f64], ring: Ring, weights: &[f64], passes: usize) {
    let n = ring.columns;
    let nj = f.len() / n;
    let mut g = vec![0.0; f.len()];
    for _ in 0..passes {
        f.par_chunks(n).zip(g.par_chunks_mut(n)).for_each(|(row, out)| ring.smooth_xi(row, out));
        let rows = f.par_chunks_mut(n).zip(weights.par_chunks(ring.grid.ni)).enumerate();
        rows.for_each(|(j, (f, weights))| {
            let row = |j: usize| &g[j * n..(j + 1) * n];
            let here = row(j);
            if j == 0 || j == nj - 1 {
                for i in 0..n {
                    f[i] += weights[i] * (here[i] - f[i]);
                }
            } else {
                let (south, north) = (row(j - 1), row(j + 1));
                for i in 0..n {
                    let target = 0.5 * here[i] + 0.25 * (south[i] + north[i]);
                    f[i] += weights[i] * (target - f[i]);
                }
            }
        });
    }
}
