//! The entries of a file, read by all threads, and the matrix of entries in any order.

use std::ops::Range;

use rayon::prelude::*;

use super::error::{LineFault, MatrixMarketFault};
use super::header::{EntryLayout, Field, Header, MatrixSymmetry, lines, number, words};
use crate::sparse::{Csr, Sorted};

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
        Field::Real => real(word()?),
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

/// The finite value of a word. Fortran's D is an E, and it leaves out either before three digits.
fn real(word: &[u8]) -> Result<f64, MatrixMarketFault> {
    let value = fast_float2::parse::<f64, _>(word).or_else(|_| {
        let mut text = word.to_ascii_lowercase();
        if let Some(at) = text.iter().position(|&byte| byte == b'd') {
            text[at] = b'e';
        } else if let Some(at) = text.iter().rposition(|byte| matches!(byte, b'+' | b'-')) {
            text.insert(at, b'e');
        }
        fast_float2::parse::<f64, _>(&text)
    });
    match value {
        Ok(value) if value.is_finite() => Ok(value),
        Ok(_) => Err(MatrixMarketFault::Value("not finite")),
        Err(_) => Err(MatrixMarketFault::Value("no number")),
    }
}

/// The value of a word of digits.
fn integer(word: &[u8]) -> Result<f64, MatrixMarketFault> {
    let digits = word.strip_prefix(b"-").or(word.strip_prefix(b"+")).unwrap_or(word);
    if !digits.is_empty() && digits.iter().all(u8::is_ascii_digit) {
        return real(word);
    }
    Err(if real(word).is_ok() {
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
