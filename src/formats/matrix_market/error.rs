//! What can go wrong while a Matrix Market file is read.

use std::io;
use std::path::PathBuf;

use crate::files::contents;
use crate::memory::NotEnoughMemory;

/// A matrix or a vector could not be read. [`MatrixMarketError::hint`] says how to mend it.
#[derive(Debug, thiserror::Error)]
#[error("{}{problem}", path.display())]
pub struct MatrixMarketError {
    /// As given.
    pub path: PathBuf,
    /// What is wrong with it.
    #[source]
    pub problem: Problem,
}

/// What is wrong with a file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The operating system would not let the file be read.
    #[error(": cannot be read: {0}")]
    Unreadable(io::Error),
    /// The file begins as gzip does and cannot be unpacked.
    #[error(": cannot be unpacked: {0}")]
    Packed(io::Error),
    /// A line says what it must not.
    #[error(":{line}: `{text}`: {fault}")]
    Line {
        /// Counted from 1.
        line: usize,
        /// The line as it stands.
        text: String,
        /// What is wrong with it.
        fault: Fault,
    },
    /// The file has no line of sizes.
    #[error(": ends before its line of sizes")]
    NoSizes,
    /// The file ends before the last entry.
    #[error(": ends after {found} of {declared} entries")]
    Short {
        /// Entries there are.
        found: u64,
        /// Entries there must be.
        declared: u64,
    },
    /// Entries of the same place have no finite sum.
    #[error(": the entries of row {row}, column {column} have no finite sum")]
    Overflow {
        /// Counted from 1.
        row: usize,
        /// Counted from 1.
        column: usize,
    },
    /// Rows of which the entries of the file fill but a few.
    #[error(": {entries} entries leave nearly all of {rows} rows empty")]
    TooManyRows {
        /// Rows there are to be.
        rows: u64,
        /// Entries there are.
        entries: u64,
    },
    /// The matrix does not fit the memory.
    #[error(": {0}")]
    Memory(#[from] NotEnoughMemory),
    /// A vector was wanted, and the file holds a matrix.
    #[error(": {rows} rows and {columns} columns, one column was expected")]
    NoVector {
        /// Rows there are.
        rows: usize,
        /// Columns there are.
        columns: usize,
    },
}

/// What is wrong with a line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// The first line is none of Matrix Market.
    #[error("`%%MatrixMarket matrix …` was expected")]
    Banner,
    /// A word of the first line is none of those that are read, or does not go with the others.
    #[error("{0}")]
    Word(&'static str),
    /// Complex numbers.
    #[error("complex numbers are not solved for")]
    Complex,
    /// The line of sizes has another number of numbers, or those of no matrix.
    #[error("{0}")]
    Sizes(&'static str),
    /// More rows or columns than can be numbered.
    #[error("at most {} rows and columns can be numbered", u32::MAX)]
    TooLarge,
    /// An entry has another number of words.
    #[error("{0} was expected")]
    Entry(&'static str),
    /// An index beyond the size.
    #[error("the {what} must be 1 to {most}")]
    Index {
        /// `row` or `column`.
        what: &'static str,
        /// The size.
        most: u64,
    },
    /// An entry above the diagonal of a symmetric matrix, or on that of a skew-symmetric one.
    #[error("the entry is not in the triangle that a symmetric matrix is given by")]
    Triangle,
    /// A value that is no number, or not finite.
    #[error("the value is {0}")]
    Value(&'static str),
    /// A value that is no integer.
    #[error("the value is no integer")]
    Integer,
    /// An entry more than declared.
    #[error("an entry more than the {declared} of the line of sizes")]
    Surplus {
        /// Entries there must be.
        declared: u64,
    },
}

impl MatrixMarketError {
    /// What the user can do about it.
    pub fn hint(&self) -> &'static str {
        match &self.problem {
            Problem::Unreadable(source) => contents::hint(source),
            Problem::Memory(source) => source.hint(),
            Problem::TooManyRows { .. } => {
                "correct the line of sizes, or fetch or write the file again"
            }
            Problem::Packed(_) => "unpack it with gunzip, or fetch it again",
            Problem::Line { fault, .. } => fault.hint(),
            Problem::NoSizes | Problem::Short { .. } => {
                "the file was cut off: fetch or write it again, or correct its line of sizes"
            }
            Problem::Overflow { .. } => "entries of the same place are summed: scale the matrix",
            Problem::NoVector { .. } => "give a right side of one column",
        }
    }
}

impl Fault {
    fn hint(&self) -> &'static str {
        match self {
            Self::Banner => {
                "the first line of a matrix by entries is `%%MatrixMarket matrix coordinate real \
                 general`; docs/formats.md describes the format"
            }
            Self::Word(_) => {
                "`coordinate` and `array`, `real`, `integer` and `pattern`, `general`, `symmetric` and \
                 `skew-symmetric` are read; a pattern needs `coordinate` and is not skew-symmetric"
            }
            Self::Complex => "split the system into real and imaginary parts",
            Self::Sizes(_) => "correct the line of sizes, or fetch or write the file again",
            Self::TooLarge => "split the system",
            Self::Entry(_) => "write one entry a line, words parted by spaces",
            Self::Index { .. } => "indices count from 1: correct the entry or the line of sizes",
            Self::Triangle => {
                "leave out what symmetry gives: only entries below the diagonal, and on it if not \
                 skew-symmetric; or write `general` and all entries"
            }
            Self::Value(_) => "write finite numbers such as 1.5e-3 or 1.5D-03",
            Self::Integer => "write `real` in the first line",
            Self::Surplus { .. } => "correct the line of sizes, or remove what is too much",
        }
    }
}
