//! Plot3D files: text, Fortran records or plain binary, found out from their length.
//!
//! A header of one or no block count and two or three dimensions, then all of x, y (and z), perhaps
//! blanking; numbers of four or eight bytes, either byte order, record markers of four or eight
//! bytes. Every layout that fits the length exactly and gives finite coordinates is tried; if they
//! give different grids the file is ambiguous.

use crate::formats::block::{Block, ReadFault, bits, check_memory, real, reals, times};
use crate::formats::rim::ReadZone;

/// Most blocks that are counted, and words read from the head of the file: three dimensions of each.
const BLOCKS: usize = 1000;
const HEAD: usize = 1 + 3 * BLOCKS;
/// Numbers that any text may give by repeat counts, and numbers for each of its bytes beyond: only the
/// third coordinate of a plane and blanking repeat themselves.
pub(in crate::formats) const ANY_NUMBERS: usize = 1 << 20;
pub(in crate::formats) const NUMBERS_A_BYTE: usize = 16;
/// Coordinates beyond this are not those of a grid but bytes read in the wrong layout.
const LARGEST: f64 = 1e30;

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
            let sizes = count.and_then(|n| words.get(skip..skip + n * rank));
            let sizes = sizes.filter(|sizes| sizes.iter().all(|n| (1..1 << 31).contains(n)));
            let Some(sizes) = sizes else { continue };
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

    /// Nodes of each block; none if they are more than can be counted.
    fn nodes(&self) -> Option<Vec<usize>> {
        let nodes = |sizes: &Vec<usize>| sizes.iter().try_fold(1_usize, |p, &n| p.checked_mul(n));
        self.blocks.iter().map(nodes).collect()
    }

    /// Size of all numbers, where coordinates have one size and blanking another.
    fn length(&self, [size, blank]: [usize; 2]) -> Option<usize> {
        let a_node = self.rank() * size + if self.blanked { blank } else { 0 };
        let mut nodes = self.nodes()?.into_iter();
        nodes.try_fold(0_usize, |all, nodes| all.checked_add(nodes.checked_mul(a_node)?))
    }

    fn describe(&self) -> String {
        let count = if self.counted { "a" } else { "no" };
        let blanking = if self.blanked { "with" } else { "without" };
        let more = match self.blocks.len() {
            1 => String::new(),
            blocks => format!(" in the first of {blocks} blocks"),
        };
        format!("{} nodes{more}, {count} block count, {blanking} blanking", times(&self.blocks[0]))
    }
}

/// A layout that fits, in words, and the result of reading with it.
type Fit = (String, Vec<Block>);

pub(super) fn zones(bytes: &[u8], notes: &mut Vec<String>) -> Result<Vec<ReadZone>, ReadFault> {
    let text = bytes.iter().take(4096).all(|b| matches!(b, b'\t' | b'\n' | b'\r' | b' '..=b'~'));
    let fits = if text { text_fits(bytes)? } else { binary_fits(bytes) };
    let (unit, length) = if text {
        ("numbers", bytes.split(u8::is_ascii_whitespace).filter(|w| !w.is_empty()).count())
    } else {
        ("bytes", bytes.len())
    };
    let mut found: Option<(String, Vec<ReadZone>)> = None;
    let mut failure = format!("not a Plot3D file: no layout fits its {length} {unit}").into();
    for (layout, blocks) in fits {
        let blocks = (1..).zip(blocks);
        let zones = blocks.map(|(k, block)| ReadZone::of_block(&format!("block-{k}"), block));
        match (zones.collect::<Result<Vec<_>, _>>(), &found) {
            (Ok(zones), None) => found = Some((layout, zones)),
            (Ok(zones), Some((first, other))) if zones != *other => {
                return Err(ReadFault::Ambiguous([first.clone(), layout]));
            }
            (Ok(_), Some(_)) => {}
            (Err(error), _) => failure = error,
        }
    }
    let (layout, zones) = found.ok_or(failure)?;
    notes.push(format!("Plot3D: {layout}."));
    Ok(zones)
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
        let (Ok(count), Some(value)) = (count.parse(), real(number.as_bytes())) else {
            return Err(format!("word {place}, `{}`, is not a number", shown()).into());
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

/// The blocks if the values are as many as the header asks for, and plausible.
fn fit(header: &Header, values: &[f64], form: &str) -> Option<Fit> {
    if header.length([1, 1])? != values.len() {
        return None;
    }
    let (mut rest, mut blocks) = (values, Vec::new());
    for (sizes, nodes) in header.blocks.iter().zip(header.nodes()?) {
        let (coordinates, others) = rest.split_at(nodes * header.rank());
        let (blanking, others) = others.split_at(if header.blanked { nodes } else { 0 });
        let plausible = coordinates.iter().all(|v| v.abs() < LARGEST)
            && blanking.iter().all(|v| v.fract() == 0.0 && v.abs() < 1e6);
        if !plausible {
            return None;
        }
        let coordinates = coordinates.chunks(nodes).map(<[f64]>::to_vec).collect();
        blocks.push(Block { dimensions: sizes.clone(), coordinates });
        rest = others;
    }
    Some((format!("{form}, {}", header.describe()), blocks))
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
    let fits = Header::readings(&words)
        .into_iter()
        .flat_map(|header| [4, 8].map(|size| binary_fit(payload, big, &header, size, form)));
    fits.flatten().collect()
}

fn binary_fit(payload: &[u8], big: bool, header: &Header, size: usize, form: &str) -> Option<Fit> {
    let mut rest = payload.get(4 * header.words..)?;
    if header.length([size, 4])? != rest.len() {
        return None;
    }
    let mut values = Vec::with_capacity(header.length([1, 1])?);
    for nodes in header.nodes()? {
        let (coordinates, others) = rest.split_at(nodes * header.rank() * size);
        let (blanks, others) = others.split_at(if header.blanked { 4 * nodes } else { 0 });
        values.extend(reals(coordinates, size, big));
        values.extend(blanks.chunks_exact(4).map(|field| integer(field, big) as f64));
        rest = others;
    }
    fit(header, &values, &format!("{form}, {size}-byte reals"))
}

/// A signed integer of four or eight bytes.
fn integer(field: &[u8], big: bool) -> i64 {
    let bits = bits(field, big);
    if field.len() == 4 { i64::from((bits as u32).cast_signed()) } else { bits.cast_signed() }
}
