//! Matrices that are hard to distribute.

use gridgen::sparse::Csr;
use support::linear::{apart, largest};

/// Five-point differences on an m × n grid with a wind along i; symmetric without wind.
pub fn convection(m: usize, n: usize, wind: f64) -> Csr {
    Csr::from_rows((0..m * n).map(|row| {
        let (i, j) = (row % m, row / m);
        let beside = [
            (i > 0).then(|| (row - 1, -1.0 - wind)),
            (i + 1 < m).then(|| (row + 1, -1.0 + wind)),
            (j > 0).then(|| (row - m, -1.0)),
            (j + 1 < n).then(|| (row + m, -1.0)),
        ];
        // The diagonals differ, so that Jacobi is not the identity.
        let diagonal = 4.0 + (row % 5) as f64;
        beside.into_iter().flatten().chain([(row, diagonal)]).collect::<Vec<_>>()
    }))
}

/// A diagonal with a full first row and column.
pub fn arrow(n: usize) -> Csr {
    Csr::from_rows((0..n).map(|row| {
        let tip = (0..n).filter(move |&column| row == 0 || column == 0 || column == row);
        tip.map(move |column| (column, if row == column { 2.0 + n as f64 } else { -0.5 }))
    }))
}

/// Every row has only the entry `offset` columns after it, modulo n. Blocks shorter than that have no entries
/// in their own columns.
pub fn shifted(n: usize, offset: usize) -> Csr {
    Csr::from_rows((0..n).map(|row| [((row + offset) % n, 1.0 + row as f64)]))
}

/// Full rows in the second half, empty rows in the first.
pub fn half_full(n: usize) -> Csr {
    Csr::from_rows((0..n).map(|row| {
        let length = if row < n / 2 { 0 } else { n };
        (0..length).map(move |column| (column, ((row * n + column) as f64).sin()))
    }))
}

/// A x entry by entry.
pub fn times(a: &Csr, x: &[f64]) -> Vec<f64> {
    (0..a.rows()).map(|row| a.row(row).map(|(column, value)| value * x[column]).sum()).collect()
}

/// Largest difference, relative to the largest value of `b`.
pub fn difference(a: &[f64], b: &[f64]) -> f64 {
    apart(a, b) / largest(b).max(f64::MIN_POSITIVE)
}
