//! The head of a file: the first line, comments, and the line of sizes; lines and words.

use memchr::memchr;

use super::error::{LineFault, MatrixMarketFault};

/// The mark that some editors put before a text.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// Lines behind a place in a text that are neither blank nor comments, each from its first word on, and
/// where that begins.
pub(super) fn lines(text: &[u8], from: usize) -> impl Iterator<Item = (usize, &[u8])> {
    let mut at = from;
    let line = move || {
        let rest = text.get(at..).filter(|rest| !rest.is_empty())?;
        let line = &rest[..memchr(b'\n', rest).map_or(rest.len(), |end| end + 1)];
        let blanks = line.iter().take_while(|byte| is_blank(**byte)).count();
        let start = at + blanks;
        at += line.len();
        Some((start, &line[blanks..]))
    };
    std::iter::from_fn(line).filter(|(_, line)| line.first().is_some_and(|&byte| byte != b'%'))
}

pub(super) fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|&byte| is_blank(byte)).filter(|word| !word.is_empty())
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

/// A word of digits as a number; none for one beyond all sizes.
pub(super) fn number(word: &[u8]) -> Option<u64> {
    let join = |number: u64, &byte: &u8| {
        let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
        number.checked_mul(10)?.checked_add(digit)
    };
    word.iter().try_fold(0, join)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EntryLayout {
    /// Row, column, value.
    Coordinate,
    /// All values, column by column.
    Array,
}

/// Type of the values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    Real,
    Integer,
    /// There are no values: each is one.
    Pattern,
}

/// Symmetry of a matrix, as its file declares it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum MatrixSymmetry {
    /// All entries are listed.
    General,
    /// Entries on and below the diagonal are listed.
    Symmetric,
    /// Entries below the diagonal are listed, and have the other sign above.
    SkewSymmetric,
}

impl MatrixSymmetry {
    /// The first row of a column of a matrix that is listed.
    pub(super) fn first_row(self, column: u32) -> u32 {
        match self {
            Self::General => 0,
            Self::Symmetric => column,
            Self::SkewSymmetric => column + 1,
        }
    }
}

/// All that stands before the entries.
#[derive(Debug, Clone, Copy)]
pub(super) struct Header {
    pub(super) layout: EntryLayout,
    pub(super) field: Field,
    pub(super) symmetry: MatrixSymmetry,
    pub(super) rows: u64,
    pub(super) columns: u64,
    /// Entries that must follow.
    pub(super) entries: u64,
    /// Offset of the line after the sizes.
    pub(super) body: usize,
}

impl Header {
    pub(super) fn read(text: &[u8]) -> Result<Self, LineFault> {
        let start = if text.starts_with(MARK) { MARK.len() } else { 0 };
        let banner =
            text[start..].split_inclusive(|&byte| byte == b'\n').next().unwrap_or_default();
        let (layout, field, symmetry) = words_of(banner).map_err(|problem| problem.at(start))?;
        let sized = lines(text, start + banner.len()).next();
        let (offset, line) = sized.ok_or(MatrixMarketFault::NoSizes)?;
        let (rows, columns, entries) =
            sizes(line, layout, symmetry).map_err(|problem| problem.at(offset))?;
        let body = offset + line.len();
        Ok(Self { layout, field, symmetry, rows, columns, entries, body })
    }
}

/// Rows, columns, and entries that must follow.
fn sizes(
    line: &[u8],
    layout: EntryLayout,
    symmetry: MatrixSymmetry,
) -> Result<(u64, u64, u64), MatrixMarketFault> {
    let sizes: Option<Vec<u64>> = words(line).map(number).collect();
    let expected = match layout {
        EntryLayout::Coordinate => "the numbers of rows, columns and entries were expected",
        EntryLayout::Array => "the numbers of rows and columns were expected",
    };
    let (rows, columns, listed) = match (layout, sizes.as_deref()) {
        (EntryLayout::Coordinate, Some(&[rows, columns, listed])) => (rows, columns, listed),
        (EntryLayout::Array, Some(&[rows, columns])) => (rows, columns, 0),
        _ => return Err(MatrixMarketFault::Sizes(expected)),
    };
    if rows == 0 || columns == 0 {
        return Err(MatrixMarketFault::Sizes("a matrix has at least one row and one column"));
    }
    if rows.max(columns) > u64::from(u32::MAX) {
        return Err(MatrixMarketFault::TooLarge);
    }
    if symmetry != MatrixSymmetry::General && rows != columns {
        return Err(MatrixMarketFault::Sizes("a symmetric matrix has as many columns as rows"));
    }
    let entries = match (layout, symmetry) {
        (EntryLayout::Coordinate, _) => listed,
        // Below 2⁶⁴, as rows and columns are below 2³².
        (EntryLayout::Array, MatrixSymmetry::General) => rows * columns,
        (EntryLayout::Array, MatrixSymmetry::Symmetric) => rows * (rows + 1) / 2,
        (EntryLayout::Array, MatrixSymmetry::SkewSymmetric) => rows * (rows - 1) / 2,
    };
    Ok((rows, columns, entries))
}

/// The words of the first line.
fn words_of(banner: &[u8]) -> Result<(EntryLayout, Field, MatrixSymmetry), MatrixMarketFault> {
    use MatrixMarketFault::{Banner, Complex, Word};
    let words: Vec<Vec<u8>> = words(banner).map(<[u8]>::to_ascii_lowercase).collect();
    let word = |k: usize| words.get(k).map_or(&b""[..], Vec::as_slice);
    if word(0) != b"%%matrixmarket" || word(1) != b"matrix" {
        return Err(Banner);
    }
    let layout = match word(2) {
        b"coordinate" => EntryLayout::Coordinate,
        b"array" => EntryLayout::Array,
        _ => return Err(Word("the format must be `coordinate` or `array`")),
    };
    let field = match word(3) {
        b"real" | b"double" => Field::Real,
        b"integer" => Field::Integer,
        b"pattern" => Field::Pattern,
        b"complex" => return Err(Complex),
        _ => return Err(Word("the kind of values must be `real`, `integer` or `pattern`")),
    };
    let symmetry = match word(4) {
        b"general" => MatrixSymmetry::General,
        b"symmetric" => MatrixSymmetry::Symmetric,
        b"skew-symmetric" => MatrixSymmetry::SkewSymmetric,
        b"hermitian" => return Err(Complex),
        _ => return Err(Word("the symmetry must be `general`, `symmetric` or `skew-symmetric`")),
    };
    let odd = layout == EntryLayout::Array || symmetry == MatrixSymmetry::SkewSymmetric;
    if field == Field::Pattern && odd || words.len() > 5 {
        return Err(Word("these words do not go together"));
    }
    Ok((layout, field, symmetry))
}
