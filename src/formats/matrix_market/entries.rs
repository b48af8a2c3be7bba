//! The entries of a file, read by all threads, and the matrix by rows of entries in any order.

use std::ops::Range;

use rayon::prelude::*;

use super::cursor::{At, Cursor, Field, Header, Symmetry, integer, real};
use super::error::Fault;
use crate::sparse::Csr;

/// Bytes that one task reads, about.
const PIECE: usize = 1 << 20;

/// Entries read piece by piece, mirrored ones among them, and how many the file has.
pub(super) struct Entries {
    pub(super) pieces: Vec<Vec<Entry>>,
    pub(super) listed: u64,
}

/// Reads `row column value` lines behind the header.
pub(super) fn coordinate(text: &[u8], header: &Header) -> Result<Entries, At> {
    let ranges = pieces(text, header.body);
    let read = |range: &Range<usize>, most| listed(text, range, header, most);
    let parsed: Vec<_> = ranges.par_iter().map(|range| read(range, header.entries)).collect();
    let mut entries = Entries { pieces: Vec::with_capacity(parsed.len()), listed: 0 };
    for (piece, range) in parsed.into_iter().zip(&ranges) {
        let (found, count) = piece?;
        let left = header.entries - entries.listed;
        if count > left {
            // Once more, up to the first entry that is too much.
            read(range, left)?;
        }
        entries.listed += count;
        entries.pieces.push(found);
    }
    Ok(entries)
}

/// The values behind the header of an array.
pub(super) fn array(text: &[u8], header: &Header) -> Result<Vec<f64>, At> {
    let ranges = pieces(text, header.body);
    let read = |range: &Range<usize>, most| values(text, range, header, most);
    let parsed: Vec<_> = ranges.par_iter().map(|range| read(range, header.entries)).collect();
    let mut all = Vec::new();
    for (piece, range) in parsed.into_iter().zip(&ranges) {
        let found = piece?;
        let left = header.entries - all.len() as u64;
        if found.len() as u64 > left {
            read(range, left)?;
        }
        all.extend(found);
    }
    Ok(all)
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

/// Entries of a piece, of which there must be no more than `most`, and how many there are.
fn listed(
    text: &[u8],
    range: &Range<usize>,
    header: &Header,
    most: u64,
) -> Result<(Vec<Entry>, u64), At> {
    let names = match header.field {
        Field::Pattern => "`row column`",
        Field::Real | Field::Integer => "`row column value`",
    };
    let mirrored = header.symmetry != Symmetry::General;
    let mut cursor = Cursor::new(&text[..range.end]);
    cursor.go_to(range.start);
    let mut found: Vec<Entry> = Vec::with_capacity(range.len() / 16);
    let mut count = 0;
    while cursor.next_line() {
        let offset = cursor.at();
        let fault = |fault| At { offset, fault };
        let (Some(row), Some(column)) = (cursor.number(), cursor.number()) else {
            return Err(fault(no_indices(&text[offset..range.end], header, names)));
        };
        let value = match header.field {
            Field::Pattern => Ok(1.0),
            Field::Real | Field::Integer => {
                let word = cursor.word();
                if word.is_empty() {
                    return Err(fault(Fault::Entry { names }));
                }
                if header.field == Field::Real { real(word) } else { integer(word) }
            }
        };
        if !cursor.ends() {
            return Err(fault(Fault::Entry { names }));
        }
        let value = value.map_err(fault)?;
        for (what, index, most) in [("row", row, header.rows), ("column", column, header.columns)] {
            if index == 0 || index > most {
                return Err(fault(Fault::Index { what, most }));
            }
        }
        if count == most {
            return Err(fault(Fault::Surplus { declared: header.entries }));
        }
        count += 1;
        let (row, column) = ((row - 1) as u32, (column - 1) as u32);
        found.push((row, column, value));
        if mirrored {
            let skew = header.symmetry == Symmetry::SkewSymmetric;
            if column > row || skew && column == row {
                return Err(fault(Fault::Triangle));
            }
            if column != row {
                found.push((column, row, if skew { -value } else { value }));
            }
        }
    }
    Ok((found, count))
}

/// What is wrong with a line that does not begin with two numbers of rows and columns.
fn no_indices(line: &[u8], header: &Header, names: &'static str) -> Fault {
    let mut cursor = Cursor::new(line);
    let words = [("row", header.rows), ("column", header.columns)].map(|(what, most)| {
        let word = cursor.word();
        let usable = Cursor::new(word).number().is_some();
        (usable, integer(word).is_ok(), Fault::Index { what, most })
    });
    let beyond = words.into_iter().find(|(usable, ..)| !usable).filter(|(_, whole, _)| *whole);
    beyond.map_or(Fault::Entry { names }, |(.., fault)| fault)
}

/// Values of a piece of an array, of which there must be no more than `most`.
fn values(text: &[u8], range: &Range<usize>, header: &Header, most: u64) -> Result<Vec<f64>, At> {
    let mut cursor = Cursor::new(&text[..range.end]);
    cursor.go_to(range.start);
    let mut found = Vec::with_capacity(range.len() / 16);
    while cursor.next_line() {
        let offset = cursor.at();
        let fault = |fault| At { offset, fault };
        let word = cursor.word();
        let value = if header.field == Field::Real { real(word) } else { integer(word) };
        if !cursor.ends() {
            return Err(fault(Fault::Entry { names: "one value a line" }));
        }
        if found.len() as u64 == most {
            return Err(fault(Fault::Surplus { declared: header.entries }));
        }
        found.push(value.map_err(fault)?);
    }
    Ok(found)
}

/// Row, column and value, counted from 0.
pub(super) type Entry = (u32, u32, f64);

/// Entries of a block of rows, about: they are sorted in a cache.
const BLOCK: usize = 1 << 15;
/// Most blocks, whatever the number of entries.
const BLOCKS: usize = 1 << 10;

/// A matrix of `rows` rows with the entries of all pieces; those of the same place are summed in the
/// order in which they stand. A place whose sum is not finite is an error.
///
/// Every piece is sorted by blocks of rows, then every block by rows, each in one count and one
/// pass, and each row by columns: the result does not depend on the number of threads.
pub(super) fn assemble(rows: usize, pieces: Vec<Vec<Entry>>) -> Result<Csr, (usize, usize)> {
    let total: usize = pieces.iter().map(Vec::len).sum();
    let about = rows.div_ceil((total / BLOCK).clamp(1, BLOCKS));
    let shift = about.next_power_of_two().trailing_zeros();
    let blocks = ((rows - 1) >> shift) + 1;
    let sorted: Vec<Sorted> =
        pieces.into_par_iter().map(|piece| Sorted::new(&piece, shift, blocks)).collect();
    let mut csr =
        Csr { row_start: vec![0; rows + 1], columns: vec![0; total], values: vec![0.0; total] };
    let mut parts = Vec::with_capacity(blocks);
    let (mut columns, mut values) = (csr.columns.as_mut_slice(), csr.values.as_mut_slice());
    for (block, lengths) in csr.row_start[1..].chunks_mut(1 << shift).enumerate() {
        let size = sorted.iter().map(|piece| piece.block(block).len()).sum();
        let (columns_here, values_here);
        (columns_here, columns) = columns.split_at_mut(size);
        (values_here, values) = values.split_at_mut(size);
        parts.push(Block {
            first: block << shift,
            lengths,
            columns: columns_here,
            values: values_here,
        });
    }
    let filled: Vec<Result<usize, (usize, usize)>> = parts
        .into_par_iter()
        .enumerate()
        .map(|(k, mut block)| {
            block.fill(&sorted, k);
            block.sort_rows()
        })
        .collect();
    close_up(&mut csr, &sorted, filled)?;
    Ok(csr)
}

/// Entries of a piece, those of the first block of rows first.
struct Sorted {
    entries: Vec<Entry>,
    /// Where each block starts; one more than blocks.
    starts: Vec<usize>,
}

impl Sorted {
    fn new(piece: &[Entry], shift: u32, blocks: usize) -> Self {
        let mut starts = vec![0; blocks + 1];
        for (row, ..) in piece {
            starts[(row >> shift) as usize + 1] += 1;
        }
        for k in 0..blocks {
            starts[k + 1] += starts[k];
        }
        let mut next = starts.clone();
        let mut entries = vec![(0, 0, 0.0); piece.len()];
        for &entry in piece {
            let place = &mut next[(entry.0 >> shift) as usize];
            entries[*place] = entry;
            *place += 1;
        }
        Self { entries, starts }
    }

    fn block(&self, block: usize) -> &[Entry] {
        &self.entries[self.starts[block]..self.starts[block + 1]]
    }
}

/// Rows from `first` on, and room for as many entries as they have.
struct Block<'a> {
    first: usize,
    /// Entries of each row.
    lengths: &'a mut [usize],
    columns: &'a mut [u32],
    values: &'a mut [f64],
}

impl Block<'_> {
    /// Puts the entries of all pieces into their rows, in the order of the file.
    fn fill(&mut self, pieces: &[Sorted], k: usize) {
        let entries = || pieces.iter().flat_map(|piece| piece.block(k));
        for (row, ..) in entries() {
            self.lengths[*row as usize - self.first] += 1;
        }
        let mut next = Vec::with_capacity(self.lengths.len());
        let mut start = 0;
        for length in self.lengths.iter() {
            next.push(start);
            start += length;
        }
        for &(row, column, value) in entries() {
            let place = &mut next[row as usize - self.first];
            (self.columns[*place], self.values[*place]) = (column, value);
            *place += 1;
        }
    }

    /// Sorts every row by columns, sums entries of the same place and closes the gaps; returns the
    /// number of entries left, or the place whose sum is not finite.
    fn sort_rows(&mut self) -> Result<usize, (usize, usize)> {
        let (mut from, mut to) = (0, 0);
        let mut row_entries: Vec<(u32, f64)> = Vec::new();
        for (k, length) in self.lengths.iter_mut().enumerate() {
            let row = from..from + *length;
            from = row.end;
            if self.columns[row.clone()].is_sorted_by(|a, b| a < b) {
                self.columns.copy_within(row.clone(), to);
                self.values.copy_within(row, to);
                to += *length;
                continue;
            }
            row_entries.clear();
            let values = self.values[row.clone()].iter().copied();
            row_entries.extend(self.columns[row].iter().copied().zip(values));
            row_entries.sort_by_key(|&(column, _)| column);
            let start = to;
            for same in row_entries.chunk_by(|a, b| a.0 == b.0) {
                let sum: f64 = same.iter().map(|&(_, value)| value).sum();
                if !sum.is_finite() {
                    return Err((self.first + k, same[0].0 as usize));
                }
                (self.columns[to], self.values[to]) = (same[0].0, sum);
                to += 1;
            }
            *length = to - start;
        }
        Ok(to)
    }
}

/// Moves the blocks together where they have gaps behind them, and adds up the lengths of the rows.
fn close_up(
    csr: &mut Csr,
    sorted: &[Sorted],
    filled: Vec<Result<usize, (usize, usize)>>,
) -> Result<(), (usize, usize)> {
    let (mut from, mut to) = (0, 0);
    for (k, used) in filled.into_iter().enumerate() {
        let used = used?;
        if from != to {
            csr.columns.copy_within(from..from + used, to);
            csr.values.copy_within(from..from + used, to);
        }
        from += sorted.iter().map(|piece| piece.block(k).len()).sum::<usize>();
        to += used;
    }
    csr.columns.truncate(to);
    csr.values.truncate(to);
    let mut start = 0;
    for length in &mut csr.row_start {
        start += *length;
        *length = start;
    }
    Ok(())
}
