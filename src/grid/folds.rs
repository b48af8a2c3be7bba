//! Folded cells.

use super::Grid;
use super::quality::{cell_corners, corner_determinants, is_folded};
use rayon::prelude::*;

/// Cells with a corner determinant e_i × e_j that is not positive (or not a number).
#[must_use]
pub fn folds(grid: &Grid) -> usize {
    count(grid, 0..grid.ni - 1)
}

/// The same without the cells on both sides of the seam of an O-grid.
pub(crate) fn folds_off_seam(grid: &Grid) -> usize {
    if grid.topology.closed() { count(grid, 1..grid.ni - 2) } else { folds(grid) }
}

fn count(grid: &Grid, columns: std::ops::Range<usize>) -> usize {
    let folded = |i: usize, j: usize| is_folded(&corner_determinants(&cell_corners(grid, i, j)));
    let row = |j: usize| columns.clone().filter(|&i| folded(i, j)).count();
    (0..grid.nj - 1).into_par_iter().map(row).sum()
}
