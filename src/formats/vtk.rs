//! Legacy VTK structured grids, `.vtk`: for programs that do not read `.vts`.
//!
//! Layout: a text head, then arrays as raw big-endian bytes. Source: "VTK legacy file formats",
//! <https://docs.vtk.org/en/latest/design_documents/VTKFileFormats.html>.

use std::io;

use memchr::memchr;

use super::arrays::{CELL_ARRAYS, write_cells, write_points};
use super::block::{Block, ReadFault, reals};
use super::data::{Span, count, layers};
use super::format::{FileContents, Format, Holds, MeshFile};
use super::rim::{ReadZone, Reader};
use crate::files::ByteSink;
use crate::grid::Grid;

pub(super) const FORMAT: Format = Format {
    name: "vtk",
    title: "legacy VTK",
    extensions: &["vtk"],
    welded: false,
    files: &[MeshFile {
        names: ["mesh.vtk", "mesh.failed.vtk"],
        holds: Holds::One,
        dimensions: None,
        // Three numbers of 64 bits for each node.
        least_bytes: 24,
        contents: FileContents::File(|out, m| write_to(out, m.grid(), m.span)),
    }],
    refuses_zones: None,
    convert: None,
    reader: Some(Reader {
        begins: Some(|head| head.starts_with(MAGIC)),
        hint: "save the mesh as a legacy structured grid, ascii or binary",
        zones: |bytes, _| Ok(vec![ReadZone::of_block("", parse(bytes)?)?]),
    }),
};

/// Writes the grid, in the plane z = 0 or extruded, with the cell arrays of [`crate::formats::vts`].
pub fn write_to(out: &mut ByteSink<'_>, grid: &Grid, span: Option<Span>) -> io::Result<()> {
    let (ni, nj, nk) = (grid.ni, grid.nj, count(span));
    let (points, cells) = (ni * nj * nk, grid.cells() * layers(span));
    writeln!(out, "# vtk DataFile Version 3.0\ngrid of gridgen\nBINARY")?;
    writeln!(out, "DATASET STRUCTURED_GRID\nDIMENSIONS {ni} {nj} {nk}\nPOINTS {points} double")?;
    write_points(out, grid, span, f64::to_be_bytes)?;
    writeln!(out, "\nCELL_DATA {cells}")?;
    for (name, measure) in CELL_ARRAYS {
        writeln!(out, "SCALARS {name} double 1\nLOOKUP_TABLE default")?;
        write_cells(out, grid, span, measure, f64::to_be_bytes)?;
        writeln!(out)?;
    }
    Ok(())
}

/// First bytes of every legacy file.
const MAGIC: &[u8] = b"# vtk DataFile";

/// Takes lines and arrays from the front of a file.
struct VtkLines<'a> {
    whole: &'a [u8],
    rest: &'a [u8],
    binary: bool,
}

impl<'a> VtkLines<'a> {
    fn line(&mut self) -> &'a [u8] {
        let end = memchr(b'\n', self.rest).unwrap_or(self.rest.len());
        let (line, rest) = self.rest.split_at(end);
        self.rest = rest.get(1..).unwrap_or_default();
        line.trim_ascii()
    }

    fn values(&mut self, name: &str, kind: &str, count: usize) -> Result<&'a [u8], ReadFault> {
        let bytes = match kind.trim_start_matches("unsigned_") {
            "bit" => count.div_ceil(8),
            "char" | "signed_char" => count,
            "short" => count.saturating_mul(2),
            "int" | "float" | "vtkIdType" => count.saturating_mul(4),
            "long" | "double" | "vtktypeint64" | "vtktypeuint64" => count.saturating_mul(8),
            // Texts say their length nowhere: nothing behind them is looked at.
            _ => self.rest.len(),
        };
        // The end of a word, from a place before it.
        let word = |at: usize| {
            let begin = at + self.rest[at..].iter().position(|b| !b.is_ascii_whitespace())?;
            let length = self.rest[begin..].iter().position(u8::is_ascii_whitespace);
            Some(length.map_or(self.rest.len(), |length| begin + length))
        };
        let end = if self.binary { Some(bytes) } else { (0..count).try_fold(0, |at, _| word(at)) };
        let parts = end.and_then(|end| self.rest.split_at_checked(end));
        let cut = || ReadFault::cut(self.whole, format!("more of the values of `{name}`"));
        let (values, rest) = parts.ok_or_else(cut)?;
        self.rest = rest;
        Ok(values)
    }

    /// Passes over field data, information and the values of points and cells, to the line that begins with
    /// this word, or to the end of the file; the words of the line.
    fn pass_to(&mut self, end: &str) -> Result<Vec<&'a str>, ReadFault> {
        let (mut tuples, mut fields) = (0_usize, 0);
        loop {
            let at = self.whole.len() - self.rest.trim_ascii_start().len();
            let broken = |expected| ReadFault::broken(self.whole, at, expected);
            if at == self.whole.len() {
                return if end.is_empty() { Ok(Vec::new()) } else { Err(broken(end)) };
            }
            let line = str::from_utf8(self.line()).unwrap_or("?");
            let words: Vec<&str> = line.split_ascii_whitespace().collect();
            let number = |word: &str| {
                word.parse::<usize>().map_err(|_| format!("`{line:.40}`, a number was expected"))
            };
            let (name, kind, count) = match words[..] {
                [] => continue,
                [key, ..] if key == end => return Ok(words),
                ["METADATA", ..] => {
                    while !self.line().is_empty() {}
                    continue;
                }
                [name, components, count, kind] if fields > 0 => {
                    fields -= 1;
                    (name, kind, number(components)?.saturating_mul(number(count)?))
                }
                ["POINT_DATA" | "CELL_DATA", count] => {
                    tuples = number(count)?;
                    continue;
                }
                ["FIELD", _, count] => {
                    fields = number(count)?;
                    continue;
                }
                ["SCALARS", name, kind, ref components @ ..] => {
                    self.line();
                    let components = components.first().map_or(Ok(1), |word| number(word))?;
                    (name, kind, tuples.saturating_mul(components))
                }
                ["LOOKUP_TABLE", name, count] => (name, "char", number(count)?.saturating_mul(4)),
                ["COLOR_SCALARS", name, n] => (name, "char", tuples.saturating_mul(number(n)?)),
                ["TEXTURE_COORDINATES", name, n, kind] => {
                    (name, kind, tuples.saturating_mul(number(n)?))
                }
                ["VECTORS" | "NORMALS", name, kind] => (name, kind, tuples.saturating_mul(3)),
                ["TENSORS", name, kind] => (name, kind, tuples.saturating_mul(9)),
                ["GLOBAL_IDS" | "PEDIGREE_IDS", name, kind] => (name, kind, tuples),
                _ => return Err(broken("a section or the end of the file")),
            };
            self.values(name, kind, count)?;
        }
    }
}

/// Reads the points of the one data set, text or binary.
fn parse(bytes: &[u8]) -> Result<Block, ReadFault> {
    let mut file = VtkLines { whole: bytes, rest: bytes, binary: false };
    if !file.line().starts_with(MAGIC) {
        return Err("not a legacy VTK file".into());
    }
    file.line();
    file.binary = match file.line() {
        b"ASCII" => false,
        b"BINARY" => true,
        _ => return Err("neither ASCII nor BINARY is said on the third line".into()),
    };
    if file.pass_to("DATASET")?.get(1) != Some(&"STRUCTURED_GRID") {
        return Err("a data set of another kind, a structured grid was expected".into());
    }
    let sizes = file.pass_to("DIMENSIONS")?;
    let dimensions: Option<Vec<usize>> = sizes[1..].iter().map(|word| word.parse().ok()).collect();
    let dimensions =
        dimensions.filter(|sizes| sizes.len() == 3).ok_or("no dimensions of three numbers")?;
    let nodes = dimensions.iter().try_fold(1_usize, |product, &n| product.checked_mul(n));
    let (points, kind) = match file.pass_to("POINTS")?[..] {
        [_, points, kind @ ("double" | "float")] => (points.parse().ok(), kind),
        _ => return Err("the points are neither float nor double".into()),
    };
    let numbers = nodes.filter(|_| nodes == points).and_then(|nodes| nodes.checked_mul(3));
    let numbers = numbers.ok_or("the number of points does not fit the dimensions")?;
    let values = file.values("POINTS", kind, numbers)?;
    let values: Vec<f64> = if file.binary {
        reals(values, if kind == "double" { 8 } else { 4 }, true)
    } else {
        let words = values.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        let values: Result<_, _> = words.map(fast_float2::parse).collect();
        values.map_err(|_| "a coordinate is not a number")?
    };
    file.pass_to("")?;
    Ok(Block::of_points(dimensions, &values))
}
