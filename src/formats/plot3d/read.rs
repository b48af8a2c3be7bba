//! Plot3D files: text, Fortran records or plain binary, found out from their length.
//!
//! A header of one or no block count and two or three dimensions, then all of x, y (and z), perhaps
//! blanking; numbers of four or eight bytes, either byte order, record markers of four or eight
//! bytes. Every layout that fits the length exactly and gives finite coordinates is tried; if they
//! give different grids the file is ambiguous.

use crate::formats::block::{Block, ReadFault, bits, check_memory, real, times};
use crate::grid::Grid;

/// Most blocks that are counted, and words read from the head of the file: three dimensions of each.
const BLOCKS: usize = 1000;
const HEAD: usize = 1 + 3 * BLOCKS;
/// Numbers that any text may give by repeat counts, and numbers for each of its bytes beyond: only the
/// third coordinate of a plane and blanking repeat themselves.
const ANY_NUMBERS: usize = 1 << 20;
const NUMBERS_A_BYTE: usize = 16;
/// Coordinates beyond this are not those of a grid but bytes read in the wrong layout.
const LARGEST: f64 = 1e30;

/// A header and its contents.
struct Header {
    /// Words it takes.
    words: usize,
    counted: bool,
    /// Sizes of each block.
    blocks: Vec<Vec<usize>>,
    blanked: bool,
}

impl Header {
    /// All readings of the first words of a file.
    fn readings(words: &[i64]) -> Vec<Self> {
        let mut readings = Vec::new();
        for (counted, rank) in [(true, 3), (true, 2), (false, 3), (false, 2)] {
            let (count, skip) = if counted { (words.first(), 1) } else { (Some(&1), 0) };
            let count =
                count.and_then(|&n| usize::try_from(n).ok()).filter(|n| (1..=BLOCKS).contains(n));
            let Some(sizes) = count.and_then(|n| words.get(skip..skip + n * rank)) else {
                continue;
            };
            if !sizes.iter().all(|n| (1..1 << 31).contains(n)) {
                continue;
            }
            let block = |block: &[i64]| block.iter().map(|&n| n as usize).collect();
            let blocks: Vec<Vec<usize>> = sizes.chunks(rank).map(block).collect();
            for blanked in [false, true] {
                let blocks = blocks.clone();
                readings.push(Self { words: skip + sizes.len(), counted, blocks, blanked });
            }
        }
        readings
    }

    fn rank(&self) -> usize {
        self.blocks[0].len()
    }

    fn nodes(&self) -> Option<usize> {
        let nodes = |sizes: &Vec<usize>| sizes.iter().try_fold(1_usize, |p, &n| p.checked_mul(n));
        self.blocks.iter().try_fold(0_usize, |sum, sizes| sum.checked_add(nodes(sizes)?))
    }

    fn describe(&self) -> String {
        let count = if self.counted { "a" } else { "no" };
        let blanking = if self.blanked { "with" } else { "without" };
        format!("{} nodes, {count} block count, {blanking} blanking", times(&self.blocks[0]))
    }
}

/// A layout that fits, in words, and the result of reading with it.
type Fit = (String, Result<Block, ReadFault>);

/// Reads the one grid of a file.
pub(super) fn grid(bytes: &[u8], notes: &mut Vec<String>) -> Result<Grid, ReadFault> {
    let text = bytes.iter().take(4096).all(|b| matches!(b, b'\t' | b'\n' | b'\r' | b' '..=b'~'));
    let fits = if text { text_fits(bytes)? } else { binary_fits(bytes) };
    let (unit, length) = if text {
        ("numbers", bytes.split(u8::is_ascii_whitespace).filter(|w| !w.is_empty()).count())
    } else {
        ("bytes", bytes.len())
    };
    let mut found: Option<(String, Grid)> = None;
    let mut failure = ReadFault::NoLayout { length, unit };
    for (layout, block) in fits {
        match (block.and_then(Block::plane), &found) {
            (Ok(grid), None) => found = Some((layout, grid)),
            (Ok(grid), Some((first, other))) if grid != *other => {
                return Err(ReadFault::Ambiguous([first.clone(), layout]));
            }
            (Ok(_), Some(_)) => {}
            (Err(error), _) => failure = error,
        }
    }
    let (layout, grid) = found.ok_or(failure)?;
    notes.push(format!("Plot3D: {layout}."));
    Ok(grid)
}

fn text_fits(bytes: &[u8]) -> Result<Vec<Fit>, ReadFault> {
    let text = String::from_utf8_lossy(bytes);
    let words = text.split(|c: char| c.is_whitespace() || c == ',').filter(|w| !w.is_empty());
    let (most, mut total) = (ANY_NUMBERS + NUMBERS_A_BYTE * bytes.len(), 0_usize);
    let mut numbers = Vec::new();
    for (place, word) in (1..).zip(words) {
        let shown = || word.chars().take(30).collect::<String>();
        // Fortran's repeat count stands before a star.
        let (count, number) = word.split_once('*').unwrap_or(("1", word));
        let value = number.replace(['d', 'D'], "e").parse::<f64>();
        let (Ok(count), Ok(value)) = (count.parse(), value) else {
            return Err(ReadFault::NotANumber { place, word: shown() });
        };
        total = total.saturating_add(count);
        if total > most {
            let (word, bytes) = (shown(), bytes.len());
            return Err(ReadFault::Repeats { place, word, most, bytes });
        }
        numbers.push((count, value));
    }
    check_memory(total)?;
    let mut values = Vec::with_capacity(total);
    for (count, value) in numbers {
        values.extend(std::iter::repeat_n(value, count));
    }
    let whole = |v: &&f64| v.fract() == 0.0 && v.abs() < 1e9;
    let words: Vec<i64> = values.iter().take(HEAD).take_while(whole).map(|&v| v as i64).collect();
    let fits = Header::readings(&words).into_iter().filter_map(|header| {
        let values = values.get(header.words..)?;
        fit(&header, values, "text")
    });
    Ok(fits.collect())
}

/// The block if the values are as many as the header asks for, and plausible.
fn fit(header: &Header, values: &[f64], form: &str) -> Option<Fit> {
    let nodes = header.nodes()?;
    let rank = header.rank();
    if nodes.checked_mul(rank + usize::from(header.blanked))? != values.len() {
        return None;
    }
    let (coordinates, blanking) = values.split_at(nodes * rank);
    let plausible = coordinates.iter().all(|v| v.abs() < LARGEST)
        && blanking.iter().all(|v| v.fract() == 0.0 && v.abs() < 1e6);
    plausible.then(|| {
        let coordinates = coordinates.chunks(nodes).map(<[f64]>::to_vec).collect();
        let block = match &header.blocks[..] {
            [sizes] => Ok(Block { dimensions: sizes.clone(), coordinates }),
            blocks => Err(ReadFault::Blocks(blocks.to_vec())),
        };
        (format!("{form}, {}", header.describe()), block)
    })
}

fn binary_fits(bytes: &[u8]) -> Vec<Fit> {
    let mut fits = Vec::new();
    for big in [false, true] {
        let order = if big { "big-endian" } else { "little-endian" };
        for marker in [4, 8] {
            if let Some(payload) = records(bytes, big, marker) {
                fits.extend(payload_fits(&payload, big, &format!("Fortran records, {order}")));
            }
        }
        if fits.is_empty() {
            fits.extend(payload_fits(bytes, big, &format!("plain binary, {order}")));
        }
    }
    fits
}

/// The contents of Fortran records one after the other, if the markers are right to the end.
fn records(bytes: &[u8], big: bool, marker: usize) -> Option<Vec<u8>> {
    let length = |at: usize| {
        let field = bytes.get(at..at + marker)?;
        usize::try_from(integer(field, big)).ok()
    };
    let mut payload = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let size = length(at)?;
        let end = (at + marker).checked_add(size)?;
        payload.extend_from_slice(bytes.get(at + marker..end)?);
        if length(end)? != size {
            return None;
        }
        at = end + marker;
    }
    Some(payload)
}

fn payload_fits(payload: &[u8], big: bool, form: &str) -> Vec<Fit> {
    let words: Vec<i64> =
        payload.chunks_exact(4).take(HEAD).map(|field| integer(field, big)).collect();
    let mut fits = Vec::new();
    for header in Header::readings(&words) {
        for size in [4, 8] {
            fits.extend(binary_fit(payload, big, &header, size, form));
        }
    }
    fits
}

fn binary_fit(payload: &[u8], big: bool, header: &Header, size: usize, form: &str) -> Option<Fit> {
    let body = payload.get(4 * header.words..)?;
    let numbers = header.nodes()?.checked_mul(header.rank())?;
    let blanking = if header.blanked { header.nodes()?.checked_mul(4)? } else { 0 };
    if numbers.checked_mul(size)?.checked_add(blanking)? != body.len() {
        return None;
    }
    let (reals, blanks) = body.split_at(numbers * size);
    let values: Vec<f64> = reals
        .chunks_exact(size)
        .map(|field| real(field, big))
        .chain(blanks.chunks_exact(4).map(|field| integer(field, big) as f64))
        .collect();
    fit(header, &values, &format!("{form}, {size}-byte reals"))
}

/// A signed integer of four or eight bytes.
fn integer(field: &[u8], big: bool) -> i64 {
    let bits = bits(field, big);
    if field.len() == 4 { i64::from((bits as u32).cast_signed()) } else { bits.cast_signed() }
}
