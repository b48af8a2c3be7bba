//! VTK XML structured grids, `.vts`.
//!
//! Layout: an XML head, then `_` and the arrays as raw little-endian bytes, each preceded by its
//! length as an unsigned 64-bit integer. Source: "VTK XML Formats",
//! <https://docs.vtk.org/en/latest/design_documents/VTKFileFormats.html>.

use std::io::{self, Write};
use std::path::Path;

use super::span::{Span, planes};
use super::{IoError, atomic, rows};
use crate::grid::Grid;
use crate::grid::quality::CellMeasure;

/// Cell arrays in the order of the file: name and measure. Names are those of the report.
pub(super) const CELL_ARRAYS: [(&str, CellMeasure); 3] = [
    ("area", CellMeasure::Area),
    ("skewness", CellMeasure::Skewness),
    ("aspect_ratio", CellMeasure::AspectRatio),
];

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
    planes.into_iter().try_for_each(|z| rows::write_points(out, grid, z, f64::to_le_bytes))?;
    for (_, measure) in CELL_ARRAYS {
        out.write_all(&((layers * cells_bytes(grid)) as u64).to_le_bytes())?;
        (0..layers).try_for_each(|_| rows::write_cells(out, grid, measure, f64::to_le_bytes))?;
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
