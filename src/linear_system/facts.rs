//! What is worth knowing of a matrix before it is solved with.

use rayon::prelude::*;

use crate::sparse::Csr;

/// Facts of a square matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MatrixFacts {
    pub(super) longest_row: usize,
    pub(super) empty_rows: usize,
    pub(super) missing_diagonals: usize,
    pub(super) symmetric: bool,
}

/// Entries of a symmetric matrix may differ from their mirror images by this part of them: they may
/// have been summed in another order.
const ROUNDING: f64 = 1e-10;

/// Rows that one task looks at, at least.
const TOGETHER: usize = 1 << 10;

impl MatrixFacts {
    /// All but the symmetry.
    pub(super) fn new(a: &Csr) -> Self {
        let each = |row: usize| {
            let length = a.row_start[row + 1] - a.row_start[row];
            (length, usize::from(length == 0), usize::from(find(a, row, row).is_none()))
        };
        let (longest_row, empty_rows, missing_diagonals) = (0..a.rows())
            .into_par_iter()
            .with_min_len(TOGETHER)
            .map(each)
            .reduce(|| (0, 0, 0), |a, b| (a.0.max(b.0), a.1 + b.1, a.2 + b.2));
        Self { longest_row, empty_rows, missing_diagonals, symmetric: false }
    }
}

/// The first entry (row, column, value) whose mirror image is another value, the last number.
pub(super) fn asymmetry(a: &Csr) -> Option<(usize, usize, f64, f64)> {
    let odd = |row: usize| {
        a.row(row).find_map(|(column, value)| {
            let other = find(a, column, row).unwrap_or(0.0);
            let differ = (value - other).abs() > ROUNDING * value.abs().max(other.abs());
            (column != row && differ).then_some((row, column, value, other))
        })
    };
    (0..a.rows()).into_par_iter().with_min_len(TOGETHER).find_map_first(odd)
}

/// max |i − j| of the entries.
pub(super) fn bandwidth(a: &Csr) -> usize {
    let of_row = |row: usize| a.row(row).map(|(column, _)| row.abs_diff(column)).max();
    (0..a.rows()).into_par_iter().with_min_len(TOGETHER).filter_map(of_row).max().unwrap_or(0)
}

/// The value of an entry, if it is there.
fn find(a: &Csr, row: usize, column: usize) -> Option<f64> {
    let range = a.row_start[row]..a.row_start[row + 1];
    let found = a.columns[range.clone()].binary_search(&(column as u32));
    found.ok().map(|k| a.values[range.start + k])
}
