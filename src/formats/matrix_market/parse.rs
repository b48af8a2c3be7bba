//! The text of a file: its head, which is the first line, comments and the line of sizes; its entries, read by all
//! threads; and the matrix of entries in any order.

use std::ops::Range;

use memchr::memchr;
use rayon::prelude::*;

use super::error::{LineFault, MatrixMarketFault};
use crate::formats::block::real;
use crate::sparse::{Csr, Sorted};

/// The mark that some editors put before a text.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// Lines behind a place in a text that are neither blank nor comments, each from its first word on, and
/// where that begins.
fn lines(text: &[u8], from: usize) -> impl Iterator<Item = (usize, &[u8])> {
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

fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|&byte| is_blank(byte)).filter(|word| !word.is_empty())
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

/// A word of digits as a number; none for one beyond all sizes.
fn number(word: &[u8]) -> Option<u64> {
    let join = |number: u64, &byte: &u8| {
        let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
        number.checked_mul(10)?.checked_add(digit)
    };
    word.iter().try_fold(0, join)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EntryLayout {
    /// Row, column, value.
    Coordinate,
    /// All values, column by column.
    Array,
}

/// Type of the values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Field {
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
    fn first_row(self, column: u32) -> u32 {
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
    layout: EntryLayout,
    field: Field,
    pub(super) symmetry: MatrixSymmetry,
    pub(super) rows: u64,
    pub(super) columns: u64,
    /// Entries that must follow.
    pub(super) entries: u64,
    /// Offset of the line after the sizes.
    body: usize,
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

/// Bytes that one task reads, about.
const PIECE: usize = 1 << 20;

/// Row, column and value, counted from 0.
pub(super) type Entry = (u32, u32, f64);

/// Reads the entries behind the header, piece by piece, those that symmetry gives among them.
pub(super) fn read(text: &[u8], header: &Header) -> Result<Vec<Vec<Entry>>, LineFault> {
    let ranges = pieces(text, header.body);
    let read = |range: &Range<usize>, most| listed(text, range, header, most);
    let parsed: Vec<_> = ranges.par_iter().map(|range| read(range, header.entries)).collect();
    let (mut pieces, mut left) = (Vec::with_capacity(parsed.len()), header.entries);
    for (mut piece, range) in parsed.into_iter().zip(&ranges) {
        if piece.as_ref().is_ok_and(|found| found.len() as u64 > left) {
            // Once more, up to the first entry that is too much.
            piece = read(range, left);
        }
        let found = piece?;
        left -= found.len() as u64;
        pieces.push(found);
    }
    if left > 0 {
        let (found, declared) = (header.entries - left, header.entries);
        return Err(MatrixMarketFault::Short { found, declared }.into());
    }
    if header.layout == EntryLayout::Array {
        pieces = vec![placed(pieces.into_iter().flatten(), header)];
    }
    let sign = match header.symmetry {
        MatrixSymmetry::General => return Ok(pieces),
        MatrixSymmetry::Symmetric => 1.0,
        MatrixSymmetry::SkewSymmetric => -1.0,
    };
    let both = |(row, column, value): Entry| {
        let mirrored = (row != column).then_some((column, row, sign * value));
        [(row, column, value)].into_iter().chain(mirrored)
    };
    Ok(pieces.into_par_iter().map(|piece| piece.into_iter().flat_map(both).collect()).collect())
}

/// Ranges of whole lines.
fn pieces(text: &[u8], body: usize) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut start = body;
    while start < text.len() {
        let about = text.len().min(start + PIECE);
        let end = text[about..].iter().position(|&byte| byte == b'\n');
        let end = end.map_or(text.len(), |more| about + more + 1);
        ranges.push(start..end);
        start = end;
    }
    ranges
}

/// Entries of a piece, of which there must be no more than `most`.
fn listed(
    text: &[u8],
    range: &Range<usize>,
    header: &Header,
    most: u64,
) -> Result<Vec<Entry>, LineFault> {
    let mut found = Vec::with_capacity(range.len() / 16);
    for (offset, line) in lines(&text[..range.end], range.start) {
        let entry = entry(line, header).map_err(|problem| problem.at(offset))?;
        if found.len() as u64 == most {
            return Err(MatrixMarketFault::Surplus { declared: header.entries }.at(offset));
        }
        found.push(entry);
    }
    Ok(found)
}

/// The entry of a line. In an array it has no place yet.
fn entry(line: &[u8], header: &Header) -> Result<Entry, MatrixMarketFault> {
    let coordinate = header.layout == EntryLayout::Coordinate;
    let names = match header.field {
        _ if !coordinate => "one value a line",
        Field::Pattern => "`row column`",
        Field::Real | Field::Integer => "`row column value`",
    };
    let mut words = words(line);
    let mut word = || words.next().ok_or(MatrixMarketFault::Entry(names));
    let place = if coordinate { [word()?, word()?] } else { [&b"1"[..]; 2] };
    let mut indices = [0; 2];
    for (index, word) in indices.iter_mut().zip(place) {
        // Any other whole number is beyond the size, as 0 is.
        let whole = || integer(word).map(|_| 0).map_err(|_| MatrixMarketFault::Entry(names));
        *index = number(word).map_or_else(whole, Ok)?;
    }
    let value = match header.field {
        Field::Pattern => Ok(1.0),
        Field::Real => finite(word()?),
        Field::Integer => integer(word()?),
    };
    if words.next().is_some() {
        return Err(MatrixMarketFault::Entry(names));
    }
    let value = value?;
    let sizes = [("row", header.rows), ("column", header.columns)];
    for ((what, most), index) in sizes.into_iter().zip(indices) {
        if index == 0 || index > most {
            return Err(MatrixMarketFault::Index { what, most });
        }
    }
    let [row, column] = indices.map(|index| (index - 1) as u32);
    let listed = row >= header.symmetry.first_row(column);
    if coordinate && !listed { Err(MatrixMarketFault::Triangle) } else { Ok((row, column, value)) }
}

/// The finite value of a word.
fn finite(word: &[u8]) -> Result<f64, MatrixMarketFault> {
    match real(word) {
        Some(value) if value.is_finite() => Ok(value),
        Some(_) => Err(MatrixMarketFault::Value("not finite")),
        None => Err(MatrixMarketFault::Value("no number")),
    }
}

/// The value of a word of digits.
fn integer(word: &[u8]) -> Result<f64, MatrixMarketFault> {
    let digits = word.strip_prefix(b"-").or(word.strip_prefix(b"+")).unwrap_or(word);
    if !digits.is_empty() && digits.iter().all(u8::is_ascii_digit) {
        return finite(word);
    }
    Err(if finite(word).is_ok() {
        MatrixMarketFault::Integer
    } else {
        MatrixMarketFault::Value("no number")
    })
}

/// The values of an array in their places, column by column; zeros are left out.
fn placed(mut values: impl Iterator<Item = Entry>, header: &Header) -> Vec<Entry> {
    let (rows, columns) = (header.rows as u32, header.columns as u32);
    let mut found = Vec::new();
    for column in 0..columns {
        let first = header.symmetry.first_row(column);
        let of_column = (first..rows).zip(values.by_ref()).map(|(row, entry)| (row, entry.2));
        let not_zero = of_column.filter(|(_, value)| *value != 0.0);
        found.extend(not_zero.map(|(row, value)| (row, column, value)));
    }
    found
}

/// Entries of a block of rows, about: they are sorted in a cache.
const BLOCK: usize = 1 << 15;
/// Most blocks, whatever the number of entries.
const BLOCKS: usize = 1 << 10;

/// A matrix of `rows` rows with the entries of all pieces; those of the same place are summed in the
/// order in which they stand. A place whose sum is not finite is an error.
///
/// Every piece is sorted by blocks of rows, then every block by rows and columns: the result does not
/// depend on the number of threads.
pub(super) fn assemble(rows: usize, pieces: Vec<Vec<Entry>>) -> Result<Csr, MatrixMarketFault> {
    let total: usize = pieces.iter().map(Vec::len).sum();
    let about = rows.div_ceil((total / BLOCK).clamp(1, BLOCKS));
    let shift = about.next_power_of_two().trailing_zeros();
    let blocks = ((rows - 1) >> shift) + 1;
    let by_blocks = |piece: Vec<Entry>| {
        Sorted::new(blocks, || piece.iter().map(|entry| (entry.0 as usize >> shift, *entry)))
    };
    let sorted: Vec<Sorted<Entry>> = pieces.into_par_iter().map(by_blocks).collect();
    let of_block = |block: usize| {
        let first = block << shift;
        let entries = || sorted.iter().flat_map(|piece| piece.of(block));
        assemble_rows(first..rows.min(first + (1 << shift)), entries)
    };
    let parts: Vec<_> = (0..blocks).into_par_iter().map(of_block).collect();
    drop(sorted);
    let mut csr = empty(rows, total);
    for part in parts {
        let (part, start) = (part?, csr.columns.len());
        csr.row_start.extend(part.row_start[1..].iter().map(|end| start + end));
        csr.columns.extend(part.columns);
        csr.values.extend(part.values);
    }
    Ok(csr)
}

/// The matrix of some of the rows, of entries in any order.
fn assemble_rows<'e, I: Iterator<Item = &'e Entry>>(
    rows: Range<usize>,
    entries: impl Fn() -> I,
) -> Result<Csr, MatrixMarketFault> {
    let by_row = || entries().map(|&(row, column, v)| (row as usize - rows.start, (column, v)));
    let Sorted { start, mut entries } = Sorted::new(rows.len(), by_row);
    let mut csr = empty(rows.len(), entries.len());
    for row in 0..rows.len() {
        let entries = &mut entries[start[row]..start[row + 1]];
        entries.sort_by_key(|(column, _)| *column);
        for same in entries.chunk_by(|a, b| a.0 == b.0) {
            let column = same[0].0;
            let sum: f64 = same.iter().map(|(_, value)| value).sum();
            if !sum.is_finite() {
                let (row, column) = (rows.start + row + 1, column as usize + 1);
                return Err(MatrixMarketFault::Overflow { row, column });
            }
            csr.columns.push(column);
            csr.values.push(sum);
        }
        csr.row_start.push(csr.columns.len());
    }
    Ok(csr)
}

/// A matrix without rows, with room for this number of entries.
fn empty(rows: usize, entries: usize) -> Csr {
    let mut row_start = Vec::with_capacity(rows + 1);
    row_start.push(0);
    Csr { row_start, columns: Vec::with_capacity(entries), values: Vec::with_capacity(entries) }
}
