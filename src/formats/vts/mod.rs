//! VTK XML structured grids, `.vts`.
//!
//! Layout: an XML head, then `_` and the arrays as raw little-endian bytes, each preceded by its
//! length as an unsigned 64-bit integer, or compressed in blocks, preceded by the number and the
//! lengths of the blocks. Source: "VTK XML Formats",
//! <https://docs.vtk.org/en/latest/design_documents/VTKFileFormats.html>.

mod read;
mod zlib;

use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;

use crate::files::{IoError, atomic};
use crate::formats::block::Reader;
use crate::formats::limits::Limits;
use crate::formats::rows;
use crate::formats::span::{Span, count, planes};
use crate::grid::Grid;
use crate::grid::quality::CellMeasure;

/// Cell arrays in the order of the file: name and measure. Names are those of the report.
pub(in crate::formats) const CELL_ARRAYS: [(&str, CellMeasure); 3] = [
    ("area", CellMeasure::Area),
    ("skewness", CellMeasure::Skewness),
    ("aspect_ratio", CellMeasure::AspectRatio),
];

const F64_BYTES: usize = size_of::<f64>();
const LENGTH_BYTES: usize = size_of::<u64>();

/// Compressed arrays are shorter than their numbers.
pub(in crate::formats) const LIMITS: Limits = Limits::of(1);

/// How such files are recognised and read.
pub(in crate::formats) const READER: Reader =
    Reader { begins: Some(read::is_xml), grid: |path, bytes, _| read::grid(path, bytes) };

/// Whether the arrays are compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Compression {
    /// They stand as they are.
    #[default]
    None,
    /// In blocks, each a zlib stream.
    Zlib,
}

/// Writes the grid, in the plane z = 0 or extruded, with cell arrays `area`, `skewness` and
/// `aspect_ratio` of its plane.
///
/// Points and cell measures are encoded by rows in parallel as they are written: besides two
/// batches of rows, and as many compressed blocks, nothing is copied.
///
/// # Errors
///
/// [`IoError`] when the file cannot be written.
pub fn write(
    path: &Path,
    grid: &Grid,
    span: Option<Span>,
    compression: Compression,
) -> Result<(), IoError> {
    LIMITS.check(path, [grid.ni, grid.nj], span)?;
    atomic::write(path, |out| match compression {
        Compression::None => write_to(out, grid, span),
        Compression::Zlib => write_compressed_to(out, grid, span),
    })
}

/// Writes the bytes of an uncompressed file to any writer.
pub fn write_to(out: &mut (impl Write + Send), grid: &Grid, span: Option<Span>) -> io::Result<()> {
    let file = File::new(grid, span);
    let mut offsets = [0; ARRAYS];
    for array in 1..ARRAYS {
        offsets[array] = offsets[array - 1] + (LENGTH_BYTES + file.bytes(array - 1)) as u64;
    }
    out.write_all(file.head(&offsets.map(|offset| offset.to_string()), "").as_bytes())?;
    for array in 0..ARRAYS {
        out.write_all(&(file.bytes(array) as u64).to_le_bytes())?;
        file.write_array(out, array)?;
    }
    out.write_all(TAIL)
}

/// Writes the bytes of a compressed file. The lengths of the blocks and with them the places of the
/// arrays, which stand before them, are written last.
pub fn write_compressed_to(
    out: &mut (impl Write + Seek + Send),
    grid: &Grid,
    span: Option<Span>,
) -> io::Result<()> {
    let file = File::new(grid, span);
    // Places as wide as the largest number, so that the head keeps its length.
    let head = |offsets: &[u64; ARRAYS]| {
        file.head(&offsets.map(|offset| format!("{offset:<20}")), COMPRESSOR)
    };
    let mut offsets = [0; ARRAYS];
    out.write_all(head(&offsets).as_bytes())?;
    let data = out.stream_position()?;
    for array in 0..ARRAYS {
        let begin = out.stream_position()?;
        offsets[array] = begin - data;
        let lengths = zlib::head_of_blocks(file.bytes(array), &[]);
        out.write_all(&lengths)?;
        let mut blocks = zlib::Blocks::new(out);
        file.write_array(&mut blocks, array)?;
        let compressed = blocks.finish()?;
        let end = out.stream_position()?;
        out.seek(SeekFrom::Start(begin))?;
        out.write_all(&zlib::head_of_blocks(file.bytes(array), &compressed))?;
        out.seek(SeekFrom::Start(end))?;
    }
    out.write_all(TAIL)?;
    out.seek(SeekFrom::Start(0))?;
    out.write_all(head(&offsets).as_bytes())
}

/// Arrays of a file: the points, then those over the cells.
const ARRAYS: usize = 1 + CELL_ARRAYS.len();

/// What follows the arrays.
const TAIL: &[u8] = b"\n  </AppendedData>\n</VTKFile>\n";

/// What says of a file that its arrays are compressed.
const COMPRESSOR: &str = r#" compressor="vtkZLibDataCompressor""#;

/// What is written.
struct File<'a> {
    grid: &'a Grid,
    span: Option<Span>,
    /// Layers of cells.
    layers: usize,
}

impl<'a> File<'a> {
    fn new(grid: &'a Grid, span: Option<Span>) -> Self {
        Self { grid, span, layers: span.map_or(1, |span| span.cells) }
    }

    /// Bytes of an array.
    fn bytes(&self, array: usize) -> usize {
        match array {
            0 => count(self.span) * points_bytes(self.grid),
            _ => self.layers * cells_bytes(self.grid),
        }
    }

    fn write_array(&self, out: &mut (impl Write + Send), array: usize) -> io::Result<()> {
        let grid = self.grid;
        let Some(cells) = array.checked_sub(1) else {
            return planes(self.span)
                .try_for_each(|z| rows::write_points(out, grid, z, f64::to_le_bytes));
        };
        let (_, measure) = CELL_ARRAYS[cells];
        (0..self.layers).try_for_each(|_| rows::write_cells(out, grid, measure, f64::to_le_bytes))
    }

    /// The text before the arrays, with the place of each and what the file says of compression.
    fn head(&self, offsets: &[String; ARRAYS], compressor: &str) -> String {
        let (ni, nj, nk) = (self.grid.ni, self.grid.nj, count(self.span));
        let extent = format!("0 {} 0 {} 0 {}", ni - 1, nj - 1, nk - 1);
        let points = &offsets[0];
        let array = |((name, _), offset): (&(&str, CellMeasure), &String)| {
            [
                r#"        <DataArray type="Float64" Name=""#,
                name,
                r#"" format="appended" offset=""#,
                offset,
                "\"/>\n",
            ]
            .concat()
        };
        let cells: String = CELL_ARRAYS.iter().zip(&offsets[1..]).map(array).collect();
        format!(
            r#"<?xml version="1.0"?>
<VTKFile type="StructuredGrid" version="1.0" byte_order="LittleEndian" header_type="UInt64"{compressor}>
  <StructuredGrid WholeExtent="{extent}">
    <Piece Extent="{extent}">
      <Points>
        <DataArray type="Float64" Name="Points" NumberOfComponents="3" format="appended" offset="{points}"/>
      </Points>
      <CellData Scalars="skewness">
{cells}      </CellData>
    </Piece>
  </StructuredGrid>
  <AppendedData encoding="raw">
   _"#
        )
    }
}

/// Bytes of the points of one plane.
fn points_bytes(grid: &Grid) -> usize {
    grid.ni * grid.nj * 3 * F64_BYTES
}

/// Bytes of an array over the cells of one layer.
fn cells_bytes(grid: &Grid) -> usize {
    grid.cells() * F64_BYTES
}
