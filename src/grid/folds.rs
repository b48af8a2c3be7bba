//! Folded cells.

use super::Grid;

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
    cells.filter(|&(i, j)| is_folded(grid, i, j)).count()
}

/// Whether a corner determinant of cell (i, j) is not positive.
fn is_folded(grid: &Grid, i: usize, j: usize) -> bool {
    let corners = [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)].map(|(i, j)| grid.point(i, j));
    (0..4).any(|k| {
        let (at, next, previous) = (corners[k], corners[(k + 1) % 4], corners[(k + 3) % 4]);
        let determinant =
            (next[0] - at[0]) * (previous[1] - at[1]) - (next[1] - at[1]) * (previous[0] - at[0]);
        determinant.is_nan() || determinant <= 0.0
    })
}
