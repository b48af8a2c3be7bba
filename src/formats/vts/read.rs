//! The points of a VTK XML structured grid: ascii, or appended raw, also compressed by zlib.

use std::path::Path;

use super::zlib;
use crate::files::contents;
use crate::formats::ReadError;
use crate::formats::block::{Block, NUMBER_BYTES};
use crate::grid::Grid;
use crate::memory::{self, NotEnoughMemory};

/// Reads the points of the one piece.
pub(super) fn grid(path: &Path, bytes: &[u8]) -> Result<Grid, ReadError> {
    let block = parse(bytes).map_err(|fault| match fault {
        Fault::Layout(reason) => ReadError::Layout { path: path.into(), reason, hint: HINT },
        Fault::Memory(source) => ReadError::Memory { path: path.into(), source },
    });
    block?.plane(path)
}

/// Whether a file begins like one of VTK's in XML.
pub(super) fn is_xml(head: &[u8]) -> bool {
    position(head, b"<VTKFile").is_some()
}

const HINT: &str =
    "save the mesh as one structured grid, ascii or appended raw, plain or compressed by zlib";

/// Why the points of a file cannot be had.
enum Fault {
    /// The file is laid out otherwise.
    Layout(&'static str),
    /// They are too many.
    Memory(NotEnoughMemory),
}

impl From<&'static str> for Fault {
    fn from(reason: &'static str) -> Self {
        Self::Layout(reason)
    }
}

impl From<NotEnoughMemory> for Fault {
    fn from(error: NotEnoughMemory) -> Self {
        Self::Memory(error)
    }
}

/// VTK's name of the compression that is read.
const ZLIB: &str = "vtkZLibDataCompressor";

fn parse(bytes: &[u8]) -> Result<Block, Fault> {
    // Raw bytes may follow the appended mark; the head is text up to there.
    let data = position(bytes, b"<AppendedData");
    let head = String::from_utf8_lossy(&bytes[..data.unwrap_or(bytes.len())]);
    let file = tag(&head, "<VTKFile").ok_or("not a VTK XML file")?;
    if attribute(file, "type") != Some("StructuredGrid") {
        return Err("a VTK file of another type, a structured grid was expected".into());
    }
    if attribute(file, "compressor").is_some_and(|name| name != ZLIB) {
        return Err("the arrays are compressed by another method than zlib".into());
    }
    if head.matches("<Piece").count() != 1 {
        return Err("one piece was expected".into());
    }
    let extent = tag(&head, "<Piece").and_then(|t| attribute(t, "Extent")).and_then(dimensions);
    let dimensions = extent.ok_or("the piece has no extent of six numbers")?;
    let points = head.find("<Points").ok_or("the piece has no points")?;
    let array = tag(&head[points..], "<DataArray").ok_or("the piece has no points")?;
    let nodes = dimensions.iter().try_fold(3_usize, |p, &n| p.checked_mul(n));
    let numbers = nodes.ok_or("the extent is too large")?;
    let values = match attribute(array, "format") {
        Some("ascii") => ascii(&head[points..]).map_err(Fault::from),
        Some("appended") => {
            let data = data.ok_or("the appended data are missing")?;
            appended(&bytes[data..], file, array, numbers)
        }
        _ => Err("the points are neither ascii nor appended".into()),
    }?;
    if values.len() != numbers {
        return Err("the number of points does not fit the extent".into());
    }
    let coordinate = |c: usize| values.iter().skip(c).step_by(3).copied().collect();
    Ok(Block { dimensions, coordinates: (0..3).map(coordinate).collect() })
}

/// Numbers between the end of the array's tag and the next tag.
fn ascii(points: &str) -> Result<Vec<f64>, &'static str> {
    let array = points.find("<DataArray").unwrap_or(0);
    let text = points[array..].split_once('>').map_or("", |(_, rest)| rest);
    let words = text.split('<').next().unwrap_or("").split_whitespace();
    words.map(|w| w.parse().map_err(|_| "a coordinate is not a number")).collect()
}

/// The numbers of an appended raw array.
fn appended(data: &[u8], file: &str, array: &str, numbers: usize) -> Result<Vec<f64>, Fault> {
    let short = "the appended data end early";
    let text = String::from_utf8_lossy(&data[..data.len().min(200)]).into_owned();
    let encoding = tag(&text, "<AppendedData").and_then(|t| attribute(t, "encoding"));
    if encoding != Some("raw") {
        return Err("the appended data are not raw".into());
    }
    let little = attribute(file, "byte_order") != Some("BigEndian");
    let marker = if attribute(file, "header_type") == Some("UInt64") { 8 } else { 4 };
    let size = match attribute(array, "type") {
        Some("Float64") => 8,
        Some("Float32") => 4,
        _ => return Err("the points are neither Float32 nor Float64".into()),
    };
    let offset: usize = attribute(array, "offset")
        .and_then(|t| t.trim().parse().ok())
        .ok_or("the points have no offset")?;
    let start = position(data, b"_").and_then(|at| (at + 1).checked_add(offset)).ok_or(short)?;
    let expected = numbers.checked_mul(size).ok_or(short)?;
    let real = |field| real(field, little);
    if attribute(file, "compressor").is_some() {
        let data = data.get(start..).ok_or(short)?;
        if expected as u64 > contents::unpacked_limit(data.len()) {
            return Err("the extent asks for far more than the compressed points hold".into());
        }
        memory::check((numbers as u64).saturating_mul(NUMBER_BYTES))?;
        let bytes = zlib::inflated(data, expected, marker, |field| bits(field, little));
        let bytes = bytes.ok_or("the compressed points cannot be unpacked")?;
        return Ok(bytes.chunks_exact(size).map(real).collect());
    }
    let begin = start.checked_add(marker).ok_or(short)?;
    let end = begin.checked_add(expected).ok_or(short)?;
    Ok(data.get(begin..end).ok_or(short)?.chunks_exact(size).map(real).collect())
}

fn bits(field: &[u8], little: bool) -> u64 {
    let fill = |bits: u64, byte: &u8| bits << 8 | u64::from(*byte);
    if little { field.iter().rev().fold(0, fill) } else { field.iter().fold(0, fill) }
}

fn real(field: &[u8], little: bool) -> f64 {
    let bits = bits(field, little);
    if field.len() == 4 { f64::from(f32::from_bits(bits as u32)) } else { f64::from_bits(bits) }
}

/// Nodes in each direction from `i0 i1 j0 j1 k0 k1`.
fn dimensions(extent: &str) -> Option<Vec<usize>> {
    let ends: Vec<i64> = extent.split_whitespace().map_while(|w| w.parse().ok()).collect();
    let nodes = |pair: &[i64]| usize::try_from(pair[1].checked_sub(pair[0])?.checked_add(1)?).ok();
    (ends.len() == 6).then(|| ends.chunks(2).map(nodes).collect())?
}

/// The first tag that starts like this, to its end.
fn tag<'a>(text: &'a str, start: &str) -> Option<&'a str> {
    let tag = &text[text.find(start)?..];
    Some(&tag[..tag.find('>').unwrap_or(tag.len())])
}

/// The value of an attribute in double or single quotes.
fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    ['"', '\''].iter().find_map(|&quote| {
        let start = [" ", name, "="].concat() + &quote.to_string();
        let value = &tag[tag.find(&start)? + start.len()..];
        value.split(quote).next()
    })
}

fn position(bytes: &[u8], part: &[u8]) -> Option<usize> {
    bytes.windows(part.len()).position(|w| w == part)
}
