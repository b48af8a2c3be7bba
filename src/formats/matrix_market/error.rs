//! Errors of reading Matrix Market files.

use std::io;
use std::path::PathBuf;

use crate::diagnostics::errors;
use crate::files::contents;
use crate::memory::{self, NotEnoughMemory};

/// The hint where the line of sizes is wrong.
const SIZES: &str = "correct the line of sizes, or fetch or write the file again";
/// The hint where a file ends early.
const CUT_OFF: &str = "the file was cut off: fetch or write it again, or correct its line of sizes";

errors! {
    /// A matrix or a vector could not be read.
    #[error("{}{}: {problem}", path.display(), place(line.as_ref()))]
    pub struct MatrixMarketError { path: PathBuf, line: Option<SourceLine>, #[source] problem: MatrixMarketFault }
}

/// A line with a fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceLine {
    /// Counted from 1.
    pub number: usize,
    /// The line as it is in the file.
    pub text: String,
}

fn place(line: Option<&SourceLine>) -> String {
    line.map_or_else(String::new, |SourceLine { number, text }| format!(":{number}: `{text}`"))
}

errors! {
    /// Reasons for which a Matrix Market file, or a line of it, cannot be read.
    #[derive(Debug, thiserror::Error)]
    #[class(Input)]
    pub enum MatrixMarketFault {
        #[error("cannot be read: {0}")]
        #[hint = contents::hint]
        Unreadable(io::Error),
        /// The file begins as gzip does.
        #[error("cannot be unpacked: {0}")]
        #[hint("unpack it with gunzip, or fetch it again")]
        Packed(io::Error),
        #[error("ends before its line of sizes")]
        #[hint("{CUT_OFF}")]
        NoSizes,
        #[error("ends after {found} of {declared} entries")]
        #[hint("{CUT_OFF}")]
        Short { found: u64, declared: u64 },
        #[error("the entries of row {row}, column {column} have no finite sum")]
        #[hint("entries of the same place are summed: scale the matrix")]
        Overflow { row: usize, column: usize },
        #[error("{entries} entries leave nearly all of {rows} rows empty")]
        #[hint("{SIZES}")]
        TooManyRows { rows: u64, entries: u64 },
        #[error(transparent)]
        #[hint("{}", memory::HINT)]
        #[class(Input)]
        Memory(#[from] NotEnoughMemory),
        #[error("`%%MatrixMarket matrix …` was expected")]
        #[hint(
            "the first line of a matrix by entries is `%%MatrixMarket matrix coordinate real general`; \
             docs/formats.md describes the format"
        )]
        Banner,
        /// A word of the first line is none of those that are read, or does not go with the others.
        #[error("{0}")]
        #[hint(
            "`coordinate` and `array`, `real`, `integer` and `pattern`, `general`, `symmetric` and `skew-symmetric` \
             are read; a pattern needs `coordinate` and is not skew-symmetric"
        )]
        Word(&'static str),
        #[error("complex numbers are not solved for")]
        #[hint("split the system into real and imaginary parts")]
        Complex,
        /// The line of sizes has another number of numbers, or those of no matrix.
        #[error("{0}")]
        #[hint("{SIZES}")]
        Sizes(&'static str),
        #[error("at most {} rows and columns can be numbered", u32::MAX)]
        #[hint("split the system")]
        TooLarge,
        /// An entry has another number of words.
        #[error("{0} was expected")]
        #[hint("write one entry a line, words separated by spaces")]
        Entry(&'static str),
        #[error("the {what} must be 1 to {most}")]
        #[hint("indices count from 1: correct the entry or the line of sizes")]
        Index { what: &'static str, most: u64 },
        /// An entry above the diagonal of a symmetric matrix, or on that of a skew-symmetric one.
        #[error("the entry is not in the triangle that a symmetric matrix is given by")]
        #[hint(
            "leave out what symmetry gives: only entries below the diagonal, and on it if not skew-symmetric; or write \
             `general` and all entries"
        )]
        Triangle,
        /// A value that is no number, or not finite.
        #[error("the value is {0}")]
        #[hint("write finite numbers such as 1.5e-3 or 1.5D-03")]
        Value(&'static str),
        #[error("the value is no integer")]
        #[hint("write `real` in the first line")]
        Integer,
        #[error("an entry more than the {declared} of the line of sizes")]
        #[hint("correct the line of sizes, or remove what is too much")]
        Surplus { declared: u64 },
    }
}

/// A problem before the file is named, and the offset in its text of the line that has it.
pub(super) struct LineFault {
    pub(super) at: Option<usize>,
    pub(super) problem: MatrixMarketFault,
}

impl MatrixMarketFault {
    /// The refusal of the line that begins at an offset.
    pub(super) fn at(self, offset: usize) -> LineFault {
        LineFault { at: Some(offset), problem: self }
    }
}

impl<P: Into<MatrixMarketFault>> From<P> for LineFault {
    fn from(problem: P) -> Self {
        Self { at: None, problem: problem.into() }
    }
}
