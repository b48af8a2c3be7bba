//! The entries of a file, read by all threads.

use std::ops::Range;

use rayon::prelude::*;

use super::assembly::Entry;
use super::cursor::{At, Cursor, integer, real};
use super::error::Fault;
use super::header::{Field, Header, Symmetry};

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
