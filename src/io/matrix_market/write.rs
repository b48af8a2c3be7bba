//! Matrices and vectors as Matrix Market text.

use std::io::Write;
use std::path::Path;

use super::super::{IoError, atomic, pieces};
use crate::sparse::Csr;

/// Writes a square matrix in coordinate format, indices from 1, with as many digits as it takes to
/// read back the same bits.
///
/// # Errors
///
/// [`IoError`] when the file cannot be written.
pub fn write_matrix(path: &Path, a: &Csr) -> Result<(), IoError> {
    atomic::write(path, |out| {
        writeln!(out, "%%MatrixMarket matrix coordinate real general")?;
        writeln!(out, "{} {} {}", a.rows(), a.rows(), a.values.len())?;
        pieces::write_lines(out, a.rows(), |text, row| {
            a.row(row).try_for_each(|(column, value)| {
                writeln!(text, "{} {} {value:e}", row + 1, column + 1)
            })
        })
    })
}

/// Writes a vector in array format, with as many digits as it takes to read back the same bits.
///
/// # Errors
///
/// [`IoError`] when the file cannot be written.
pub fn write_vector(path: &Path, b: &[f64]) -> Result<(), IoError> {
    atomic::write(path, |out| {
        writeln!(out, "%%MatrixMarket matrix array real general")?;
        writeln!(out, "{} 1", b.len())?;
        pieces::write_lines(out, b.len(), |text, row| writeln!(text, "{:e}", b[row]))
    })
}
