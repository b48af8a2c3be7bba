//! Statistics of a matrix (symmetry, bandwidth), and its reordering and scaling for a solve.

use std::borrow::Cow;
use std::path::Path;

use rayon::prelude::*;

use super::options::{Reordering, RightHandSide, SystemOptions};
use super::report::MatrixReport;
use crate::backend::Algebraic;
use crate::error::{Error, SystemError};
use crate::formats::matrix_market::Matrix;
use crate::sparse::{Csr, reverse_cuthill_mckee};

/// Relative difference that a symmetric matrix may have between mirrored entries: they may have been summed
/// in different orders.
const ROUNDING: f64 = 1e-10;

/// Least number of rows for one task.
const TOGETHER: usize = 1 << 10;

/// The statistics of the matrix for the report; the caller has determined its symmetry.
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

/// The first entry (row, column, value) whose mirrored entry, the last number, has another value.
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

/// The exponent e of the largest |value| ≈ 2^e; 0 if |e| ≤ 200, where a product of four such values neither
/// overflows nor underflows.
fn exponent(values: &[f64]) -> i32 {
    let largest = values.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
    let exponent = if largest > 0.0 { largest.log2() as i32 } else { 0 };
    if exponent.abs() > 200 { exponent } else { 0 }
}

/// Multiplies values by 2^power, in two steps because 2^power itself may overflow.
fn scale(values: &mut [f64], power: i32) {
    let [first, second] = [power / 2, power - power / 2].map(|power| 2_f64.powi(power));
    for value in values {
        *value = *value * first * second;
    }
}

/// The matrix as the solver gets it: in its order, with an entry on the diagonal of every row if it is
/// factorised, and scaled by a power of two if squares of its entries would overflow or underflow.
pub(super) struct Ordered {
    pub(super) a: Csr,
    /// Row k is row `order[k]` of the file, if the rows are renumbered.
    pub(super) order: Option<Vec<u32>>,
    /// The matrix of the file is A times 2^power.
    power: i32,
}

/// A right-hand side as the solver gets it, numbered as [`Ordered`] and scaled likewise.
pub(super) struct OrderedSide<'a> {
    pub(super) b: Cow<'a, [f64]>,
    /// The x to start from.
    pub(super) start: Cow<'a, [f64]>,
    /// The solution of the file's system is x times 2^power.
    power: i32,
}

impl Ordered {
    pub(super) fn new(mut a: Csr, reordering: Reordering, fill: bool) -> Self {
        if fill {
            let zero = |row| find(&a, row, row).is_none().then_some((row, 0.0));
            let rows = (0..a.rows()).map(|row| a.row(row).chain(zero(row)));
            a = Csr::from_rows(rows);
        }
        let order = (reordering == Reordering::Rcm).then(|| reverse_cuthill_mckee(&a));
        if let Some(order) = &order {
            a = a.permuted(order);
        }
        let power = exponent(&a.values);
        if power != 0 {
            scale(&mut a.values, -power);
        }
        Self { a, order, power }
    }

    /// A right-hand side of the file, and the x to start from.
    pub(super) fn side<'b>(&self, (b, start): RightHandSide<'b>) -> OrderedSide<'b> {
        let ordered = |numbers: &'b [f64]| match &self.order {
            Some(order) => order.iter().map(|&row| numbers[row as usize]).collect(),
            None => Cow::Borrowed(numbers),
        };
        let mut b = ordered(b);
        let scaled = exponent(&b);
        if scaled != 0 {
            scale(b.to_mut(), -scaled);
        }
        let power = scaled - self.power;
        let mut start = start.map_or_else(|| vec![0.0; b.len()].into(), ordered);
        if power != 0 {
            scale(start.to_mut(), -power);
        }
        OrderedSide { b, start, power }
    }

    /// The row of the file that became row k.
    fn row(&self, k: usize) -> usize {
        self.order.as_ref().map_or(k, |order| order[k] as usize)
    }

    /// ‖b − A x‖ / ‖b‖ of a solution, which is scaled back to the system of the file, except for the
    /// numbering.
    pub(super) fn residual(&self, side: &OrderedSide<'_>, x: &mut [f64]) -> f64 {
        scale(x, side.power);
        let mut again = x.to_vec();
        scale(&mut again, -side.power);
        relative_residual(&self.a, &again, &side.b)
    }

    /// A solution in the numbering of the file.
    pub(super) fn unordered(&self, x: Vec<f64>) -> Vec<f64> {
        let Some(order) = &self.order else { return x };
        let mut as_in_file = vec![0.0; x.len()];
        for (&row, x) in order.iter().zip(x) {
            as_in_file[row as usize] = x;
        }
        as_in_file
    }
}

/// The error of an unusable pivot, with the row of the file and the facts about it that a user needs.
pub(super) fn located(error: Error, system: &Ordered, options: &SystemOptions) -> Error {
    use crate::solver::PreconditionerFailure::{Factor, Pivot};
    let Error::Preconditioner(failure) = error else { return error };
    let (preconditioner, row, pivot) = match failure {
        Factor { preconditioner, row, value } => (preconditioner, row, Some(value)),
        Pivot { preconditioner, row } => (preconditioner, row, None),
        _ => return error,
    };
    let stored = find(&system.a, row, row).unwrap_or(0.0);
    let factors = options.preconditioner;
    let shift = if let Algebraic::Factors { shift, .. } = factors { shift } else { 0.0 };
    let pivot = SystemError::Pivot {
        preconditioner,
        row: system.row(row) + 1,
        value: pivot.unwrap_or(stored),
        diagonal: stored != 0.0,
        shift,
    };
    pivot.into()
}

/// ‖b − A x‖ / ‖b‖, 0 for b = 0 and x = 0.
fn relative_residual(a: &Csr, x: &[f64], b: &[f64]) -> f64 {
    let squares: Vec<[f64; 2]> = (0..a.rows())
        .into_par_iter()
        .with_min_len(1 << 12)
        .map(|row| {
            let product: f64 = a.row(row).map(|(column, value)| value * x[column]).sum();
            [(b[row] - product).powi(2), b[row] * b[row]]
        })
        .collect();
    let [residual, scale] =
        squares.iter().fold([0.0; 2], |sum, square| [sum[0] + square[0], sum[1] + square[1]]);
    if residual == 0.0 { 0.0 } else { (residual / scale).sqrt() }
}
