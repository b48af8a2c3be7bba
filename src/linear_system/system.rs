//! What is worth knowing of a matrix before it is solved with, and the order in which it is solved.

use std::borrow::Cow;
use std::path::Path;

use rayon::prelude::*;

use super::options::{Reordering, SystemOptions};
use super::report::MatrixReport;
use crate::error::{Error, SystemError};
use crate::formats::matrix_market::Matrix;
use crate::sparse::{Csr, reverse_cuthill_mckee};

/// Entries of a symmetric matrix may differ from their mirror images by this part of them: they may
/// have been summed in another order.
const ROUNDING: f64 = 1e-10;

/// Rows that one task looks at, at least.
const TOGETHER: usize = 1 << 10;

/// The matrix in the report; whether it is symmetric is known already.
pub(super) fn matrix_report(file: &Path, matrix: &Matrix, symmetric: bool) -> MatrixReport {
    let a = &matrix.csr;
    let each = |row: usize| {
        let length = a.row_start[row + 1] - a.row_start[row];
        (length, usize::from(length == 0), usize::from(find(a, row, row).is_none()))
    };
    let (longest_row, empty_rows, missing_diagonals) = (0..a.rows())
        .into_par_iter()
        .with_min_len(TOGETHER)
        .map(each)
        .reduce(|| (0, 0, 0), |a, b| (a.0.max(b.0), a.1 + b.1, a.2 + b.2));
    MatrixReport {
        file: file.to_owned(),
        rows: a.rows(),
        entries: a.values.len(),
        longest_row,
        empty_rows,
        missing_diagonals,
        duplicates: matrix.duplicates,
        symmetric,
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

fn find(a: &Csr, row: usize, column: usize) -> Option<f64> {
    let range = a.row_start[row]..a.row_start[row + 1];
    let found = a.columns[range.clone()].binary_search(&(column as u32));
    found.ok().map(|k| a.values[range.start + k])
}

/// A system in the order in which it is solved.
pub(super) struct Ordered<'a> {
    pub(super) a: Cow<'a, Csr>,
    pub(super) b: Cow<'a, [f64]>,
    /// Row k is this one of the file, if they are renumbered.
    pub(super) order: Option<Vec<u32>>,
}

impl<'a> Ordered<'a> {
    pub(super) fn new(a: &'a Csr, b: &'a [f64], reordering: Reordering) -> Self {
        match reordering {
            Reordering::None => Self { a: Cow::Borrowed(a), b: Cow::Borrowed(b), order: None },
            Reordering::Rcm => {
                let order = reverse_cuthill_mckee(a);
                let b = order.iter().map(|&row| b[row as usize]).collect();
                Self { a: Cow::Owned(a.permuted(&order)), b: Cow::Owned(b), order: Some(order) }
            }
        }
    }

    /// The row of the file that is row k.
    fn row(&self, k: usize) -> usize {
        self.order.as_ref().map_or(k, |order| order[k] as usize)
    }

    /// A solution as the file numbers it.
    pub(super) fn unordered(&self, x: Vec<f64>) -> Vec<f64> {
        let Some(order) = &self.order else { return x };
        let mut as_in_file = vec![0.0; x.len()];
        for (&row, x) in order.iter().zip(x) {
            as_in_file[row as usize] = x;
        }
        as_in_file
    }
}

/// A pivot that cannot be used, with what the user needs to know of its row.
pub(super) fn located(error: Error, system: &Ordered<'_>, options: &SystemOptions) -> Error {
    use crate::solver::PreconditionerFailure::{Factor, Pivot};
    let Error::Preconditioner(failure) = error else { return error };
    let (preconditioner, row, pivot) = match failure {
        Factor { preconditioner, row, value } => (preconditioner, row, Some(value)),
        Pivot { preconditioner, row } => (preconditioner, row, None),
        _ => return error,
    };
    let stored =
        system.a.row(row).find(|&(column, _)| column == row).map_or(0.0, |(_, value)| value);
    let pivot = SystemError::Pivot {
        preconditioner,
        row: system.row(row) + 1,
        value: pivot.unwrap_or(stored),
        diagonal: stored != 0.0,
        shift: options.shift(),
    };
    pivot.into()
}
