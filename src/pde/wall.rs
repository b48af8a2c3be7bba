//! Decay of the wall terms.

use crate::grid::{Grid, Topology};
use rayon::prelude::*;

/// Passes of ¼ ½ ¼ along i over the decay length.
const PASSES: usize = 3;
/// Longest decay length on a C-grid, before the heights are looked at, in chords.
const LONGEST: f64 = 0.1;
/// ψ decays this many times more slowly than φ.
pub(crate) const PSI_REACH: f64 = 10.0;

/// φ = exp(−s/ℓ_i) and ψ = exp(−s/(10 ℓ_i)) at every node but the repeated column of an O-grid,
/// `[nj][ni − 1]` or `[nj][ni]`, with s the distance `arc` from the wall along the line (`[nj][ni]`)
/// and ℓ_i = max(factor |r_xi|, 3 h_i) at the wall, smoothed along i (theory eq. 6). On a C-grid
/// factor |r_xi| is at most 0.1 chord: in the wake it would grow to chords. `heights` are those of
/// the first cells, `[ni]`.
///
/// The decay is in physical distance. With decay in j the amplitude that a given height needs
/// would grow like 1/h.
#[must_use]
pub fn decay(grid: &Grid, arc: &[f64], heights: &[f64], factor: f64) -> (Vec<f64>, Vec<f64>) {
    let n = grid.topology.columns(grid.ni);
    let line = (&grid.x[..grid.ni], &grid.y[..grid.ni]);
    let length = decay_lengths(grid.topology, line, heights, factor);
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

/// The decay lengths ℓ_i of [`decay`], one a line but the repeated one, from the points (x, y) of the
/// line j = 0.
pub(crate) fn decay_lengths(
    topology: Topology,
    (x, y): (&[f64], &[f64]),
    heights: &[f64],
    factor: f64,
) -> Vec<f64> {
    let closed = topology.closed();
    let n = topology.columns(x.len());
    let longest = if closed { f64::INFINITY } else { LONGEST };
    let interval = |i: usize| (x[i + 1] - x[i]).hypot(y[i + 1] - y[i]);
    let mut spacing: Vec<f64> = (0..x.len() - 1).map(interval).collect();
    // An open line goes on at its ends as it is there.
    spacing.extend(spacing.last().copied().filter(|_| !closed));
    let west = |i: usize| match i {
        0 if closed => n - 1,
        _ => i.saturating_sub(1),
    };
    let east = |i: usize| match i + 1 {
        next if next < n => next,
        _ if closed => 0,
        _ => i,
    };
    let mut length: Vec<f64> = (0..n)
        .map(|i| factor * 0.5 * (spacing[west(i)] + spacing[i]))
        .zip(heights)
        .map(|(length, height)| length.min(longest).max(3.0 * height))
        .collect();
    for _ in 0..PASSES {
        length =
            (0..n).map(|i| 0.5 * length[i] + 0.25 * (length[west(i)] + length[east(i)])).collect();
    }
    length
}
