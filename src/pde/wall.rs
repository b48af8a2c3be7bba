//! Decay of the wall terms.

use crate::grid::Grid;
use rayon::prelude::*;

/// Passes of ¼ ½ ¼ along i over the decay length.
const PASSES: usize = 3;
/// ψ decays this many times more slowly than φ.
pub const PSI_REACH: f64 = 10.0;

/// φ = exp(−s/ℓ_i) and ψ = exp(−s/(10 ℓ_i)) at every node but the repeated seam column,
/// `[nj][ni − 1]`, with s the distance `arc` from the wall along the line (`[nj][ni]`) and
/// ℓ_i = max(factor |r_xi|, 3 h) at the wall, smoothed along i (theory eq. 6).
///
/// The decay is in physical distance. With decay in j the amplitude that a given height needs
/// would grow like 1/h.
#[must_use]
pub fn decay(grid: &Grid, arc: &[f64], first_cell: f64, factor: f64) -> (Vec<f64>, Vec<f64>) {
    let n = grid.ni - 1;
    let length = decay_lengths(&grid.x[..grid.ni], &grid.y[..grid.ni], first_cell, factor);
    let term = |reach: f64| {
        let mut term = vec![0.0; n * grid.nj];
        term.par_chunks_mut(n).zip(arc.par_chunks(grid.ni)).for_each(|(row, arc)| {
            for (value, (s, l)) in row.iter_mut().zip(arc.iter().zip(&length)) {
                *value = (-s / (reach * l)).exp();
            }
        });
        term
    };
    (term(1.0), term(PSI_REACH))
}

/// The decay lengths ℓ_i of [`decay`], one a line but the repeated one, from the wall's points.
#[must_use]
pub fn decay_lengths(x: &[f64], y: &[f64], first_cell: f64, factor: f64) -> Vec<f64> {
    let n = x.len() - 1;
    let spacing: Vec<f64> = (0..n).map(|i| (x[i + 1] - x[i]).hypot(y[i + 1] - y[i])).collect();
    let west = |i: usize| if i == 0 { n - 1 } else { i - 1 };
    let east = |i: usize| if i + 1 == n { 0 } else { i + 1 };
    let mut length: Vec<f64> = (0..n)
        .map(|i| (factor * 0.5 * (spacing[west(i)] + spacing[i])).max(3.0 * first_cell))
        .collect();
    for _ in 0..PASSES {
        length =
            (0..n).map(|i| 0.5 * length[i] + 0.25 * (length[west(i)] + length[east(i)])).collect();
    }
    length
}
