//! Matrices and vectors as Matrix Market text.

use std::io::Write;
use std::path::Path;

use crate::files::{IoError, atomic, pieces};
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
            let (mut first, mut second) = (itoa::Buffer::new(), itoa::Buffer::new());
            let mut number = zmij::Buffer::new();
            let row_word = first.format(row + 1);
            for (column, value) in a.row(row) {
                for word in
                    [row_word, " ", second.format(column + 1), " ", number.format(value), "\n"]
                {
                    text.extend_from_slice(word.as_bytes());
                }
            }
            Ok(())
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
        pieces::write_lines(out, b.len(), |text, row| {
            text.extend_from_slice(zmij::Buffer::new().format(b[row]).as_bytes());
            text.push(b'\n');
            Ok(())
        })
    })
}
