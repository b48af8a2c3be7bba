//! Folded cells.

use super::Grid;
use super::quality::{cell_corners, corner_determinants, is_folded};

/// Cells with a corner determinant e_i × e_j that is not positive (or not a number).
#[must_use]
pub fn folds(grid: &Grid) -> usize {
    count(grid, 0..grid.ni - 1)
}

/// The same without the cells on both sides of the seam.
pub(crate) fn folds_off_seam(grid: &Grid) -> usize {
    count(grid, 1..grid.ni - 2)
}

fn count(grid: &Grid, columns: std::ops::Range<usize>) -> usize {
    let cells = (0..grid.nj - 1).flat_map(|j| columns.clone().map(move |i| (i, j)));
    cells.filter(|&(i, j)| is_folded(&corner_determinants(&cell_corners(grid, i, j)))).count()
}
