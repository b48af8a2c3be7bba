//! Legacy VTK structured grids, `.vtk`: for programs that do not read `.vts`.
//!
//! Layout: a text head, then arrays as raw big-endian bytes. Source: "VTK legacy file formats",
//! <https://docs.vtk.org/en/latest/design_documents/VTKFileFormats.html>.

use std::io;

use super::arrays::{CELL_ARRAYS, write_cells, write_points};
use super::block::{Block, ReadFault, Reader, real};
use super::mesh::{Limits, Span, count, layers};
use super::zones::Zones;
use super::{Contents, Format, MeshFile};
use crate::files::sink::Sink;
use crate::grid::Slab;

pub(super) const FORMAT: Format = Format {
    name: "vtk",
    title: "legacy VTK",
    extensions: &["vtk"],
    welded: false,
    files: &[MeshFile {
        names: ["mesh.vtk", "mesh.failed.vtk"],
        description: "the same as a legacy VTK file, binary, big-endian",
        dimensions: None,
        // Three numbers of 64 bits for each node.
        limits: Limits::of(24),
        contents: Contents::File(|out, m| write_to(out, m.grid, m.span)),
    }],
    zones: Zones::Files { together: &[], each: true },
    convert: None,
    reader: Some(Reader {
        begins: Some(|head| head.starts_with(MAGIC)),
        grid: |bytes, _| {
            parse(bytes).map_err(|reason| ReadFault::Layout { reason, hint: HINT })?.plane()
        },
    }),
};

/// Writes the grid, in the plane z = 0 or extruded, with the cell arrays of [`crate::formats::vts`].
pub fn write_to<'g>(
    out: &mut impl Sink,
    grid: impl Into<Slab<'g>>,
    span: Option<Span>,
) -> io::Result<()> {
    let slab = &grid.into();
    let (ni, nj, nk) = (slab.ni(), slab.nj(), count(span));
    let (points, cells) = (ni * nj * nk, slab.cells() * layers(span));
    writeln!(out, "# vtk DataFile Version 3.0\ngrid of gridgen\nBINARY")?;
    writeln!(out, "DATASET STRUCTURED_GRID\nDIMENSIONS {ni} {nj} {nk}\nPOINTS {points} double")?;
    write_points(out, slab, span, f64::to_be_bytes)?;
    writeln!(out, "\nCELL_DATA {cells}")?;
    for (name, measure) in CELL_ARRAYS {
        writeln!(out, "SCALARS {name} double 1\nLOOKUP_TABLE default")?;
        write_cells(out, slab, span, measure, f64::to_be_bytes)?;
        writeln!(out)?;
    }
    Ok(())
}

/// First bytes of every legacy file.
const MAGIC: &[u8] = b"# vtk DataFile";

const HINT: &str = "save the mesh as a legacy structured grid, ascii or binary";

/// Takes lines and words from the front of a file.
struct Words<'a>(&'a [u8]);

impl<'a> Words<'a> {
    fn line(&mut self) -> &'a [u8] {
        let end = self.0.iter().position(|&b| b == b'\n').unwrap_or(self.0.len());
        let (line, rest) = self.0.split_at(end);
        self.0 = rest.get(1..).unwrap_or_default();
        line.trim_ascii()
    }

    fn word(&mut self) -> Option<&'a str> {
        let text = self.0.trim_ascii_start();
        let end = text.iter().position(u8::is_ascii_whitespace).unwrap_or(text.len());
        let (word, rest) = text.split_at(end);
        self.0 = rest;
        str::from_utf8(word).ok().filter(|word| !word.is_empty())
    }

    fn number<T: std::str::FromStr>(&mut self) -> Option<T> {
        self.word()?.parse().ok()
    }
}

/// Reads the points of the one data set, text or binary.
fn parse(bytes: &[u8]) -> Result<Block, &'static str> {
    let mut file = Words(bytes);
    if !file.line().starts_with(MAGIC) {
        return Err("not a legacy VTK file");
    }
    file.line();
    let binary = match file.line() {
        b"ASCII" => false,
        b"BINARY" => true,
        _ => return Err("neither ASCII nor BINARY is said on the third line"),
    };
    if (file.word(), file.word()) != (Some("DATASET"), Some("STRUCTURED_GRID")) {
        return Err("a data set of another kind, a structured grid was expected");
    }
    let dimensions = (file.word() == Some("DIMENSIONS"))
        .then(|| (0..3).map(|_| file.number()).collect::<Option<Vec<usize>>>())
        .flatten()
        .ok_or("no dimensions of three numbers")?;
    let points = (file.word() == Some("POINTS")).then(|| file.number::<usize>()).flatten();
    let kind = file.word().unwrap_or_default();
    let nodes = dimensions.iter().try_fold(1_usize, |product, &n| product.checked_mul(n));
    let numbers = match (points, nodes) {
        (Some(points), Some(nodes)) if points == nodes => points.checked_mul(3),
        _ => None,
    };
    let numbers = numbers.ok_or("the number of points does not fit the dimensions")?;
    let values = if binary {
        file.line();
        raw(file.0, kind, numbers)?
    } else {
        let values: Option<Vec<f64>> = (0..numbers).map(|_| file.number()).collect();
        values.ok_or("a coordinate is missing or not a number")?
    };
    Ok(Block::of_points(dimensions, &values))
}

/// Big-endian numbers.
fn raw(bytes: &[u8], kind: &str, numbers: usize) -> Result<Vec<f64>, &'static str> {
    let size = match kind {
        "double" => 8,
        "float" => 4,
        _ => return Err("the points are neither float nor double"),
    };
    let fields = numbers.checked_mul(size).and_then(|length| bytes.get(..length));
    let fields = fields.ok_or("the coordinates end early")?;
    Ok(fields.chunks_exact(size).map(|field| real(field, true)).collect())
}
