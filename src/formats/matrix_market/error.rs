//! What can go wrong while a Matrix Market file is read.

use std::fmt;
use std::io;
use std::path::PathBuf;

use crate::files::contents;
use crate::memory::NotEnoughMemory;

/// A matrix or a vector could not be read. [`MatrixMarketError::hint`] says how to mend it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MatrixMarketError {
    /// The operating system would not let the file be read.
    #[error("{}: cannot be read: {source}", path.display())]
    Unreadable {
        /// As given.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// The file begins as gzip does and cannot be unpacked.
    #[error("{}: cannot be unpacked: {source}", path.display())]
    Packed {
        /// As given.
        path: PathBuf,
        /// What is wrong with it.
        source: io::Error,
    },
    /// A line says what it must not.
    #[error("{}:{line}: `{text}`: {fault}", path.display())]
    Line {
        /// As given.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
        /// The line as it stands.
        text: String,
        /// What is wrong with it.
        fault: Fault,
    },
    /// The file has no line of sizes.
    #[error("{}: ends before its line of sizes", path.display())]
    NoSizes {
        /// As given.
        path: PathBuf,
    },
    /// The file ends before the last entry.
    #[error("{}: ends after {found} of {declared} entries", path.display())]
    Short {
        /// As given.
        path: PathBuf,
        /// Entries there are.
        found: u64,
        /// Entries there must be.
        declared: u64,
    },
    /// Entries of the same place have no finite sum.
    #[error("{}: the entries of row {row}, column {column} have no finite sum", path.display())]
    Overflow {
        /// As given.
        path: PathBuf,
        /// Counted from 1.
        row: usize,
        /// Counted from 1.
        column: usize,
    },
    /// Rows of which the entries of the file fill but a few.
    #[error("{}: {entries} entries leave nearly all of {rows} rows empty", path.display())]
    TooManyRows {
        /// As given.
        path: PathBuf,
        /// Rows there are to be.
        rows: u64,
        /// Entries there are.
        entries: u64,
    },
    /// The matrix does not fit the memory.
    #[error("{}: {source}", path.display())]
    Memory {
        /// As given.
        path: PathBuf,
        /// What is needed and what there is.
        source: NotEnoughMemory,
    },
    /// A vector was wanted, and the file holds a matrix.
    #[error("{}: {rows} rows and {columns} columns, one column was expected", path.display())]
    NoVector {
        /// As given.
        path: PathBuf,
        /// Rows there are.
        rows: usize,
        /// Columns there are.
        columns: usize,
    },
}

/// What is wrong with a line.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// The first line is none of Matrix Market.
    Banner,
    /// A word of the first line is none of those that are read.
    Word {
        /// What the word chooses.
        what: &'static str,
        /// Those that are read.
        known: &'static str,
    },
    /// Complex numbers.
    Complex,
    /// Words of the first line that do not go together.
    Combination,
    /// The line of sizes has other than so many numbers.
    Sizes {
        /// Their names.
        names: &'static str,
    },
    /// No rows or no columns.
    Nothing,
    /// More rows or columns than can be numbered.
    TooLarge,
    /// A symmetric matrix that is not square.
    Unsquare,
    /// An entry has other than so many words.
    Entry {
        /// Their names.
        names: &'static str,
    },
    /// An index beyond the size.
    Index {
        /// `row` or `column`.
        what: &'static str,
        /// The size.
        most: u64,
    },
    /// An entry above the diagonal of a symmetric matrix, or on that of a skew-symmetric one.
    Triangle,
    /// A value that is no number.
    Value,
    /// A value that is no integer.
    Integer,
    /// A value that is not finite.
    NotFinite,
    /// An entry more than declared.
    Surplus {
        /// Entries there must be.
        declared: u64,
    },
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Banner => write!(f, "`%%MatrixMarket matrix …` was expected"),
            Self::Word { what, known } => write!(f, "the {what} must be {known}"),
            Self::Complex => write!(f, "complex numbers are not solved for"),
            Self::Combination => write!(f, "these words do not go together"),
            Self::Sizes { names } => write!(f, "{names} were expected"),
            Self::Nothing => write!(f, "a matrix has at least one row and one column"),
            Self::TooLarge => write!(f, "at most {} rows and columns can be numbered", u32::MAX),
            Self::Unsquare => write!(f, "a symmetric matrix has as many columns as rows"),
            Self::Entry { names } => write!(f, "{names} was expected"),
            Self::Index { what, most } => write!(f, "the {what} must be 1 to {most}"),
            Self::Triangle => {
                write!(f, "the entry is not in the triangle that a symmetric matrix is given by")
            }
            Self::Value => write!(f, "the value is no number"),
            Self::Integer => write!(f, "the value is no integer"),
            Self::NotFinite => write!(f, "the value is not finite"),
            Self::Surplus { declared } => {
                write!(f, "an entry more than the {declared} of the line of sizes")
            }
        }
    }
}

impl MatrixMarketError {
    /// What the user can do about it.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Unreadable { source, .. } => contents::hint(source),
            Self::Memory { source, .. } => source.hint(),
            Self::TooManyRows { .. } => {
                "correct the line of sizes, or fetch or write the file again"
            }
            Self::Packed { .. } => "unpack it with gunzip, or fetch it again",
            Self::Line { fault, .. } => fault.hint(),
            Self::NoSizes { .. } | Self::Short { .. } => {
                "the file was cut off: fetch or write it again, or correct its line of sizes"
            }
            Self::Overflow { .. } => "entries of the same place are summed: scale the matrix",
            Self::NoVector { .. } => "give a right side of one column",
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
            Self::Word { .. } | Self::Combination => {
                "`coordinate` and `array`, `real`, `integer` and `pattern`, `general`, `symmetric` and \
                 `skew-symmetric` are read; a pattern needs `coordinate` and is not skew-symmetric"
            }
            Self::Complex => "split the system into real and imaginary parts",
            Self::Sizes { .. } | Self::Nothing | Self::Unsquare => {
                "correct the line of sizes, or fetch or write the file again"
            }
            Self::TooLarge => "split the system",
            Self::Entry { .. } => "write one entry a line, words parted by spaces",
            Self::Index { .. } => "indices count from 1: correct the entry or the line of sizes",
            Self::Triangle => {
                "leave out what symmetry gives: only entries below the diagonal, and on it if not \
                 skew-symmetric; or write `general` and all entries"
            }
            Self::Value | Self::NotFinite => "write finite numbers such as 1.5e-3 or 1.5D-03",
            Self::Integer => "write `real` in the first line",
            Self::Surplus { .. } => "correct the line of sizes, or remove what is too much",
        }
    }
}
