//! The worst cells and how skewness is spread over all.

use rayon::prelude::*;

use super::cell::{cell_corners, cell_skewness, corner_determinants, is_folded};
use crate::grid::Grid;

/// A cell with its place.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct BadCell {
    /// Cell (i, j).
    pub cell: [usize; 2],
    /// Mean of its corners, chords.
    pub centre: [f64; 2],
    /// Equiangle skewness.
    pub skewness: f64,
    /// Whether a corner determinant is not positive.
    pub folded: bool,
}

impl BadCell {
    fn of(grid: &Grid, i: usize, j: usize) -> Self {
        let corners = cell_corners(grid, i, j);
        Self {
            cell: [i, j],
            centre: [0, 1].map(|c| 0.25 * corners.iter().map(|corner| corner[c]).sum::<f64>()),
            skewness: cell_skewness(&corners),
            folded: is_folded(&corner_determinants(&corners)),
        }
    }

    /// Folded before unfolded, then by falling skewness (NaN first), then by place.
    fn order(&self, other: &Self) -> std::cmp::Ordering {
        let place = |cell: [usize; 2]| [cell[1], cell[0]];
        other
            .folded
            .cmp(&self.folded)
            .then(other.skewness.total_cmp(&self.skewness))
            .then(place(self.cell).cmp(&place(other.cell)))
    }
}

/// The `count` worst cells, the worst first: folded ones, then the most skewed.
#[must_use]
pub fn worst_cells(grid: &Grid, count: usize) -> Vec<BadCell> {
    let rows = (0..grid.nj - 1).into_par_iter().map(|j| {
        let mut row: Vec<BadCell> = (0..grid.ni - 1).map(|i| BadCell::of(grid, i, j)).collect();
        row.sort_by(BadCell::order);
        row.truncate(count);
        row
    });
    let mut worst: Vec<BadCell> = rows.flatten_iter().collect();
    worst.sort_by(BadCell::order);
    worst.truncate(count);
    worst
}

/// Number of cells in each of `bins` equal intervals of equiangle skewness from 0 to 1, and last
/// of those at 1 and above or NaN.
#[must_use]
pub fn skewness_histogram(grid: &Grid, bins: usize) -> Vec<usize> {
    let mut counts = vec![0; bins + 1];
    for j in 0..grid.nj - 1 {
        for i in 0..grid.ni - 1 {
            let skewness = BadCell::of(grid, i, j).skewness;
            let bin = if skewness < 1.0 { (skewness * bins as f64) as usize } else { bins };
            counts[bin.min(bins)] += 1;
        }
    }
    counts
}
