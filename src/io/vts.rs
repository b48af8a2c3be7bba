//! VTK XML structured grids, `.vts`.
//!
//! Layout: an XML head, then `_` and the arrays as raw little-endian bytes, each preceded by its
//! length as an unsigned 64-bit integer. Source: "VTK XML Formats",
//! <https://docs.vtk.org/en/latest/design_documents/VTKFileFormats.html>.

use std::io::{self, Write};
use std::path::Path;

use rayon::prelude::*;

use super::pieces::{self, BATCH_BYTES};
use super::span::{Span, planes};
use super::{IoError, atomic};
use crate::grid::Grid;
use crate::grid::quality::{Corners, cell_area, cell_aspect_ratio, cell_corners, cell_skewness};

/// A cell array: its name and the measure of one cell.
pub(super) type CellArray = (&'static str, fn(&Corners) -> f64);

/// Cell arrays in the order of the file. Names are those of the report.
pub(super) const CELL_ARRAYS: [CellArray; 3] =
    [("area", cell_area), ("skewness", cell_skewness), ("aspect_ratio", cell_aspect_ratio)];

const F64_BYTES: usize = size_of::<f64>();
const LENGTH_BYTES: usize = size_of::<u64>();

/// Writes the grid, in the plane z = 0 or extruded, with cell arrays `area`, `skewness` and
/// `aspect_ratio` of its plane.
///
/// Points and cell measures are encoded by rows in parallel as they are written: besides two
/// batches of rows nothing is copied.
///
/// # Errors
///
/// [`IoError`] when the file cannot be written.
pub fn write(path: &Path, grid: &Grid, span: Option<Span>) -> Result<(), IoError> {
    atomic::write(path, |out| write_to(out, grid, span))
}

/// Writes the same bytes to any writer.
pub fn write_to(out: &mut (impl Write + Send), grid: &Grid, span: Option<Span>) -> io::Result<()> {
    let planes = planes(span);
    let layers = span.map_or(1, |span| span.cells);
    write_head(out, grid, planes.len(), layers)?;
    out.write_all(&((planes.len() * points_bytes(grid)) as u64).to_le_bytes())?;
    planes.into_iter().try_for_each(|z| write_points(out, grid, z))?;
    for (_, measure) in CELL_ARRAYS {
        out.write_all(&((layers * cells_bytes(grid)) as u64).to_le_bytes())?;
        (0..layers).try_for_each(|_| write_cells(out, grid, measure))?;
    }
    out.write_all(b"\n  </AppendedData>\n</VTKFile>\n")
}

fn write_head(out: &mut impl Write, grid: &Grid, planes: usize, layers: usize) -> io::Result<()> {
    let extent = format!("0 {} 0 {} 0 {}", grid.ni - 1, grid.nj - 1, planes - 1);
    writeln!(out, r#"<?xml version="1.0"?>"#)?;
    writeln!(
        out,
        r#"<VTKFile type="StructuredGrid" version="1.0" byte_order="LittleEndian" header_type="UInt64">"#
    )?;
    writeln!(out, r#"  <StructuredGrid WholeExtent="{extent}">"#)?;
    writeln!(out, r#"    <Piece Extent="{extent}">"#)?;
    writeln!(out, "      <Points>")?;
    writeln!(
        out,
        r#"        <DataArray type="Float64" Name="Points" NumberOfComponents="3" format="appended" offset="0"/>"#
    )?;
    writeln!(out, "      </Points>")?;
    writeln!(out, r#"      <CellData Scalars="skewness">"#)?;
    let mut offset = LENGTH_BYTES + planes * points_bytes(grid);
    for (name, _) in CELL_ARRAYS {
        writeln!(
            out,
            r#"        <DataArray type="Float64" Name="{name}" format="appended" offset="{offset}"/>"#
        )?;
        offset += LENGTH_BYTES + layers * cells_bytes(grid);
    }
    writeln!(out, "      </CellData>")?;
    writeln!(out, "    </Piece>")?;
    writeln!(out, "  </StructuredGrid>")?;
    write!(out, "  <AppendedData encoding=\"raw\">\n   _")
}

/// Bytes of the points of one plane.
fn points_bytes(grid: &Grid) -> usize {
    grid.ni * grid.nj * 3 * F64_BYTES
}

/// Bytes of an array over the cells of one layer.
fn cells_bytes(grid: &Grid) -> usize {
    grid.cells() * F64_BYTES
}

/// Writes the points of one plane.
fn write_points(out: &mut (impl Write + Send), grid: &Grid, z: f64) -> io::Result<()> {
    write_rows(out, grid.nj, grid.ni * 3, |j, row| {
        for (i, point) in row.as_chunks_mut::<3>().0.iter_mut().enumerate() {
            let [x, y] = grid.point(i, j);
            *point = [x, y, z].map(f64::to_le_bytes);
        }
    })
}

/// Writes the measures of the cells of one layer.
fn write_cells(
    out: &mut (impl Write + Send),
    grid: &Grid,
    measure: fn(&Corners) -> f64,
) -> io::Result<()> {
    write_rows(out, grid.nj - 1, grid.ni - 1, |j, row| {
        for (i, value) in row.iter_mut().enumerate() {
            *value = measure(&cell_corners(grid, i, j)).to_le_bytes();
        }
    })
}

/// Writes rows of `length` values; `encode(j, row)` fills row j.
fn write_rows(
    out: &mut (impl Write + Send),
    rows: usize,
    length: usize,
    encode: impl Fn(usize, &mut [[u8; F64_BYTES]]) + Sync,
) -> io::Result<()> {
    let row_bytes = length * F64_BYTES;
    let together = (BATCH_BYTES / row_bytes).max(1);
    pieces::write_batches(out, rows.div_ceil(together), |batch, bytes| {
        let first = batch * together;
        bytes.resize(together.min(rows - first) * row_bytes, 0);
        bytes.par_chunks_mut(row_bytes).enumerate().for_each(|(k, row)| {
            encode(first + k, row.as_chunks_mut().0);
        });
    })
}
