//! Matrices and vectors in Matrix Market text (Boisvert, Pozo and Remington 1996, NISTIR 5935), plain
//! or packed by gzip.
//!
//! Read are `coordinate` and `array`; `real`, `integer` and `pattern`; `general`, `symmetric` and
//! `skew-symmetric`. No size that a file states is believed before its bytes are there. The dialect is
//! described in docs/formats.md.

mod error;
mod parse;

use std::borrow::Cow;
use std::io::Write;
use std::path::Path;

use flate2::read::MultiGzDecoder;

use error::LineFault;
pub use error::{MatrixMarketError, MatrixMarketFault, SourceLine};
pub use parse::MatrixSymmetry;

use self::parse::Header;
use crate::diagnostics::excerpt;
use crate::files::{IoError, atomic, contents, pieces};
use crate::memory;
use crate::sparse::Csr;

const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Memory for a byte of text: an entry of four bytes, `1 1` and the end of its line, becomes two of
/// sixteen where it is mirrored, which are sorted into a copy.
const MEMORY_A_BYTE: u64 = 16;

/// A matrix from a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Matrix {
    /// All its entries, those that symmetry gives among them; columns rise in each row.
    pub csr: Csr,
    /// Number of columns.
    pub columns: usize,
    /// Its symmetry, as the file declares it.
    pub symmetry: MatrixSymmetry,
    /// Entries that were added to another of the same place.
    pub duplicates: usize,
}

/// Reads a matrix. Entries of the same place are summed in the order in which they stand; zeros of an
/// array are left out, those of a list of entries kept.
///
/// # Errors
/// [`MatrixMarketError`] with the path, the line and its text.
pub fn read_matrix(path: &Path) -> Result<Matrix, MatrixMarketError> {
    matrix(path, &bytes(path)?)
}

/// Reads a matrix from the bytes of a file, packed or not; `path` is for messages.
///
/// # Errors
/// The errors of [`read_matrix`].
pub fn matrix(path: &Path, bytes: &[u8]) -> Result<Matrix, MatrixMarketError> {
    parsed(path, bytes, matrix_of)
}

/// Reads the columns of a matrix; returns the number of their rows, too.
///
/// # Errors
/// The errors of [`read_matrix`], and columns that do not fit the memory.
pub fn read_columns(path: &Path) -> Result<(usize, Vec<Vec<f64>>), MatrixMarketError> {
    parsed(path, &bytes(path)?, |text| {
        let Matrix { csr, columns, .. } = matrix_of(text)?;
        let numbers = csr.rows().saturating_mul(columns).saturating_mul(size_of::<f64>());
        memory::check(numbers as u64).map_err(MatrixMarketFault::from)?;
        let mut read = vec![vec![0.0; csr.rows()]; columns];
        for row in 0..csr.rows() {
            csr.row(row).for_each(|(column, value)| read[column][row] = value);
        }
        Ok((csr.rows(), read))
    })
}

fn bytes(path: &Path) -> Result<Vec<u8>, MatrixMarketError> {
    contents::read(path, MEMORY_A_BYTE).map_err(|source| MatrixMarketError {
        path: path.to_path_buf(),
        line: None,
        problem: MatrixMarketFault::Unreadable(source),
    })
}

/// The result of `parse` for the text that some bytes are, unpacked if gzip made them.
fn parsed<T>(
    path: &Path,
    bytes: &[u8],
    parse: fn(&[u8]) -> Result<T, LineFault>,
) -> Result<T, MatrixMarketError> {
    let error = |line, problem| MatrixMarketError { path: path.to_path_buf(), line, problem };
    let text = if bytes.starts_with(&GZIP) {
        let unpacked = contents::unpacked(MultiGzDecoder::new(bytes), bytes.len());
        Cow::Owned(unpacked.map_err(|source| error(None, MatrixMarketFault::Packed(source)))?)
    } else {
        Cow::Borrowed(bytes)
    };
    parse(&text).map_err(|LineFault { at, problem }| error(at.map(|at| line(&text, at)), problem))
}

fn matrix_of(text: &[u8]) -> Result<Matrix, LineFault> {
    let header = Header::read(text)?;
    let pieces = parse::read(text, &header)?;
    let total: usize = pieces.iter().map(Vec::len).sum();
    believe_rows(&header, total as u64)?;
    let csr = parse::assemble(header.rows as usize, pieces)?;
    Ok(Matrix {
        duplicates: total - csr.values.len(),
        csr,
        columns: header.columns as usize,
        symmetry: header.symmetry,
    })
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
fn believe_rows(header: &Header, total: u64) -> Result<(), MatrixMarketFault> {
    let &Header { rows, entries, .. } = header;
    if rows > ANY_ROWS + ROWS_AN_ENTRY * entries {
        return Err(MatrixMarketFault::TooManyRows { rows, entries });
    }
    Ok(memory::check(rows * ROW_BYTES + total * ENTRY_BYTES)?)
}

/// Bytes of a line that are looked at for a message.
const SHOWN: usize = 240;

fn line(text: &[u8], offset: usize) -> SourceLine {
    let number = text[..offset].split(|&byte| byte == b'\n').count();
    let rest = &text[offset..text.len().min(offset + SHOWN)];
    let end = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')).unwrap_or(rest.len());
    SourceLine { number, text: excerpt(&String::from_utf8_lossy(&rest[..end])) }
}

/// Writes a square matrix in coordinate format, indices from 1, with as many digits as it takes to
/// read back the same bits.
///
/// # Errors
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

/// Writes columns of equal length in array format, one after the other, with as many digits as it takes to read back
/// the same bits.
///
/// # Errors
/// [`IoError`] when the file cannot be written.
pub fn write_columns(path: &Path, columns: &[&[f64]]) -> Result<(), IoError> {
    let rows = columns.first().map_or(0, |column| column.len());
    atomic::write(path, |out| {
        writeln!(out, "%%MatrixMarket matrix array real general")?;
        writeln!(out, "{rows} {}", columns.len())?;
        columns.iter().try_for_each(|column| {
            pieces::write_lines(out, rows, |text, row| {
                text.extend_from_slice(zmij::Buffer::new().format(column[row]).as_bytes());
                text.push(b'\n');
                Ok(())
            })
        })
    })
}
