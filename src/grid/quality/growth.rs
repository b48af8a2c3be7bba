//! The distribution of the growth of neighbouring cells.

use std::cmp::Reverse;

use rayon::prelude::*;

use super::cell::edge_length_squared;
use super::{PERCENTILE, larger, percentile, ratio};
use crate::grid::Grid;
use crate::simd::{self, Kernel};

/// Growth of consecutive edges along i or along j.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Growth {
    /// Largest ratio of two consecutive edges, the longer over the shorter.
    pub largest: f64,
    /// Node i, j between these two.
    pub node: [usize; 2],
    /// Its place, in the unit of the grid.
    pub at: [f64; 2],
    /// 99th percentile of the ratios.
    pub p99: f64,
}

/// Growth along i, without the pair across a seam, and along j. None for a grid without inner nodes.
pub fn growth(grid: &Grid) -> Option<[Growth; 2]> {
    (grid.ni > 2 && grid.nj > 2).then(|| [0, 1].map(|direction| along(grid, direction)))
}

/// Largest ratio, at least 1, of consecutive edges of the line j, without the pair across the seam (`direction` 0), or of the
/// edges from there along j (1).
pub(super) fn largest(grid: &Grid, direction: usize, j: usize) -> f64 {
    let mut ratios = vec![0.0; [grid.ni - 2, grid.ni][direction]];
    GrowthRow::fill(grid, direction, j, &mut ratios);
    ratios.into_iter().fold(1.0, larger)
}

/// Growth along i (`direction` 0) or j (1).
fn along(grid: &Grid, direction: usize) -> Growth {
    let mut size = [grid.ni, grid.nj];
    size[direction] -= 2;
    let columns = size[0];
    let mut ratios = vec![0.0; columns * size[1]];
    let rows = ratios.par_chunks_mut(columns).enumerate();
    let of_rows = rows.map(|(j, ratios)| (GrowthRow::fill(grid, direction, j, ratios), Reverse(j)));
    let (most, Reverse(j)) = of_rows.max().unwrap_or_default();
    // The first of the largest.
    let row = &ratios[j * columns..][..columns];
    let i = row.iter().position(|&ratio| key(ratio) == most).unwrap_or_default();
    let mut node = [i, j];
    node[direction] += 1;
    let at = grid.point(node[0], node[1]);
    Growth { largest: row[i], node, at, p99: percentile(&ratios, PERCENTILE) }
}

/// A number in the order of [`f64::total_cmp`], of which the largest of a row is found by vector instructions.
#[inline(always)]
fn key(ratio: f64) -> i64 {
    let bits = ratio.to_bits().cast_signed();
    bits ^ (((bits >> 63) as u64) >> 1).cast_signed()
}

/// ratios ← those of the edges from the nodes `first`, `first` + 1, … by `step` and of the next ones, most ← the largest
/// [`key`].
struct GrowthRow<'a> {
    grid: &'a Grid,
    first: usize,
    step: usize,
    ratios: &'a mut [f64],
    most: &'a mut i64,
}

impl<'a> GrowthRow<'a> {
    /// ratios ← those at the nodes of line j along i (`direction` 0) or j (1); returns the largest [`key`].
    fn fill(grid: &'a Grid, direction: usize, j: usize, ratios: &'a mut [f64]) -> i64 {
        let (first, step, mut most) = (j * grid.ni, [1, grid.ni][direction], i64::MIN);
        simd::run(GrowthRow { grid, first, step, ratios, most: &mut most });
        most
    }
}

impl Kernel for GrowthRow<'_> {
    #[inline(always)]
    fn run(self) {
        let Self { grid: Grid { x, y, .. }, first, step, ratios, most } = self;
        let n = ratios.len();
        // The slices have exactly the nodes that the loop reads, so it needs no bounds checks.
        let [x0, x1, x2] = [0, 1, 2].map(|k| &x[first + k * step..][..n]);
        let [y0, y1, y2] = [0, 1, 2].map(|k| &y[first + k * step..][..n]);
        for k in 0..n {
            let node = [x1[k], y1[k]];
            let before = edge_length_squared([x0[k], y0[k]], node);
            ratios[k] = ratio(before, edge_length_squared(node, [x2[k], y2[k]])).sqrt();
        }
        // A number behind a reference would be stored in each turn.
        let mut largest = i64::MIN;
        for k in 0..n {
            let key = key(ratios[k]);
            largest = if key > largest { key } else { largest };
        }
        *most = largest;
    }
}
