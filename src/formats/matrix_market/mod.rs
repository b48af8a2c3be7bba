//! Matrices and vectors in Matrix Market text (Boisvert, Pozo and Remington 1996, NISTIR 5935), plain
//! or packed by gzip.
//!
//! Read are `coordinate` and `array`; `real`, `integer` and `pattern`; `general`, `symmetric` and
//! `skew-symmetric`. No size that a file states is believed before its bytes are there. The dialect is
//! described in docs/formats.md.

mod assembly;
mod bytes;
mod cursor;
mod entries;
mod error;
mod header;
mod write;

use std::path::Path;

pub use error::{Fault, MatrixMarketError};
pub use header::Symmetry;
pub use write::{write_matrix, write_vector};

use self::cursor::At;
use self::header::{Header, Layout};
use crate::memory;
use crate::sparse::Csr;

/// A matrix from a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Matrix {
    /// All its entries, those that symmetry gives among them; columns rise in each row.
    pub csr: Csr,
    /// Number of columns.
    pub columns: usize,
    /// What the file says of its symmetry.
    pub symmetry: Symmetry,
    /// Entries that were added to another of the same place.
    pub duplicates: usize,
}

/// Reads a matrix. Entries of the same place are summed in the order in which they stand; zeros of an
/// array are left out, those of a list of entries kept.
///
/// # Errors
///
/// [`MatrixMarketError`] with the path, the line and what stands there.
pub fn read_matrix(path: &Path) -> Result<Matrix, MatrixMarketError> {
    matrix(path, &bytes::contents(path)?)
}

/// Reads a matrix from the bytes of a file, packed or not; `path` is for messages.
///
/// # Errors
///
/// As [`read_matrix`].
pub fn matrix(path: &Path, bytes: &[u8]) -> Result<Matrix, MatrixMarketError> {
    let text = &*bytes::text(path, bytes)?;
    let header = header(path, text)?;
    let pieces = match header.layout {
        Layout::Coordinate => {
            let entries = entries::coordinate(text, &header).map_err(|at| line(path, text, at))?;
            complete(path, &header, entries.listed)?;
            entries.pieces
        }
        Layout::Array => array(path, text, &header)?,
    };
    let total: usize = pieces.iter().map(Vec::len).sum();
    believe_rows(path, &header, total as u64)?;
    let csr = assembly::assemble(header.rows as usize, pieces).map_err(|(row, column)| {
        MatrixMarketError::Overflow { path: path.to_path_buf(), row: row + 1, column: column + 1 }
    })?;
    Ok(Matrix {
        duplicates: total - csr.values.len(),
        csr,
        columns: header.columns as usize,
        symmetry: header.symmetry,
    })
}

/// Reads a vector: a matrix of one column.
///
/// # Errors
///
/// As [`read_matrix`], and [`MatrixMarketError::NoVector`] for more columns.
pub fn read_vector(path: &Path) -> Result<Vec<f64>, MatrixMarketError> {
    let bytes = bytes::contents(path)?;
    let text = &*bytes::text(path, &bytes)?;
    let header = header(path, text)?;
    let (rows, columns) = (header.rows as usize, header.columns as usize);
    if columns != 1 {
        return Err(MatrixMarketError::NoVector { path: path.to_path_buf(), rows, columns });
    }
    let Matrix { csr, .. } = matrix(path, text)?;
    Ok((0..rows).map(|row| csr.row(row).map(|(_, value)| value).sum()).collect())
}

/// Rows that any file may have, and rows for each of its entries beyond: a file that claims more is
/// not believed, since nearly all of them would be empty.
const ANY_ROWS: u64 = 1 << 24;
const ROWS_AN_ENTRY: u64 = 4;
/// Memory for a row, and for an entry: see [`Csr`], and as much again while it is assembled.
const ROW_BYTES: u64 = 16;
const ENTRY_BYTES: u64 = 28;

/// Refuses more rows than the entries that the file has, all of which were found, can fill, and what
/// does not fit the memory: `total` entries with those that symmetry gives.
fn believe_rows(path: &Path, header: &Header, total: u64) -> Result<(), MatrixMarketError> {
    let path = || path.to_path_buf();
    let &Header { rows, entries, .. } = header;
    if rows > ANY_ROWS + ROWS_AN_ENTRY * entries {
        return Err(MatrixMarketError::TooManyRows { path: path(), rows, entries });
    }
    memory::check(rows * ROW_BYTES + total * ENTRY_BYTES)
        .map_err(|source| MatrixMarketError::Memory { path: path(), source })
}

fn header(path: &Path, text: &[u8]) -> Result<Header, MatrixMarketError> {
    match Header::read(text) {
        Ok(Some(header)) => Ok(header),
        Ok(None) => Err(MatrixMarketError::NoSizes { path: path.to_path_buf() }),
        Err(at) => Err(line(path, text, at)),
    }
}

/// The entries of an array that are not zero.
fn array(
    path: &Path,
    text: &[u8],
    header: &Header,
) -> Result<Vec<Vec<assembly::Entry>>, MatrixMarketError> {
    let values = entries::array(text, header).map_err(|at| line(path, text, at))?;
    complete(path, header, values.len() as u64)?;
    let (rows, columns) = (header.rows as usize, header.columns as usize);
    let mut found = Vec::new();
    let mut values = values.into_iter();
    for column in 0..columns {
        let first = match header.symmetry {
            Symmetry::General => 0,
            Symmetry::Symmetric => column,
            Symmetry::SkewSymmetric => column + 1,
        };
        for (row, value) in (first..rows).zip(values.by_ref()) {
            if value == 0.0 {
                continue;
            }
            found.push((row as u32, column as u32, value));
            if header.symmetry != Symmetry::General && row != column {
                let skew = header.symmetry == Symmetry::SkewSymmetric;
                found.push((column as u32, row as u32, if skew { -value } else { value }));
            }
        }
    }
    Ok(vec![found])
}

/// Refuses a file with fewer entries than its sizes say.
fn complete(path: &Path, header: &Header, found: u64) -> Result<(), MatrixMarketError> {
    if found == header.entries {
        return Ok(());
    }
    Err(MatrixMarketError::Short { path: path.to_path_buf(), found, declared: header.entries })
}

/// Letters of a line that are shown.
const SHOWN: usize = 60;

/// The error of the line that begins at an offset.
fn line(path: &Path, text: &[u8], At { offset, fault }: At) -> MatrixMarketError {
    let line = text[..offset].split(|&byte| byte == b'\n').count();
    let rest = &text[offset..];
    let end = rest.iter().take(4 * SHOWN).position(|byte| matches!(byte, b'\n' | b'\r'));
    let shown = String::from_utf8_lossy(&rest[..end.unwrap_or(rest.len().min(4 * SHOWN))]);
    let mut text: String = shown.trim_end().chars().take(SHOWN).collect();
    if text.chars().count() < shown.trim_end().chars().count() {
        text.push('…');
    }
    MatrixMarketError::Line { path: path.to_path_buf(), line, text, fault }
}
