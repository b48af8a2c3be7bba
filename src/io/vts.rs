//! VTK XML structured grids, `.vts`.
//!
//! Layout: an XML head, then `_` and the arrays as raw little-endian bytes, each preceded by its
//! length as an unsigned 64-bit integer. Source: "VTK XML Formats",
//! <https://docs.vtk.org/en/latest/design_documents/VTKFileFormats.html>.

use std::io::{self, Write};
use std::path::Path;

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

/// Writes the grid in the plane z = 0 with cell arrays `area`, `skewness` and `aspect_ratio`.
///
/// Points and cell measures are encoded by rows in parallel as they are written: besides two
/// batches of rows nothing is copied.
///
/// # Errors
///
/// [`IoError`] when the file cannot be written.
pub fn write(path: &Path, grid: &Grid) -> Result<(), IoError> {
    atomic::write(path, |out| write_to(out, grid))
}

/// Writes the same bytes to any writer.
pub fn write_to(out: &mut (impl Write + Send), grid: &Grid) -> io::Result<()> {
    write_head(out, grid)?;
    write_points(out, grid)?;
    for (_, measure) in CELL_ARRAYS {
        write_cells(out, grid, measure)?;
    }
    out.write_all(b"\n  </AppendedData>\n</VTKFile>\n")
}

fn write_head(out: &mut impl Write, grid: &Grid) -> io::Result<()> {
    let extent = format!("0 {} 0 {} 0 0", grid.ni - 1, grid.nj - 1);
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
    let mut offset = LENGTH_BYTES + points_bytes(grid);
    for (name, _) in CELL_ARRAYS {
        writeln!(
            out,
            r#"        <DataArray type="Float64" Name="{name}" format="appended" offset="{offset}"/>"#
        )?;
        offset += LENGTH_BYTES + cells_bytes(grid);
    }
    writeln!(out, "      </CellData>")?;
    writeln!(out, "    </Piece>")?;
    writeln!(out, "  </StructuredGrid>")?;
    write!(out, "  <AppendedData encoding=\"raw\">\n   _")
}

fn points_bytes(grid: &Grid) -> usize {
    grid.ni * grid.nj * 3 * F64_BYTES
}

fn cells_bytes(grid: &Grid) -> usize {
    grid.cells() * F64_BYTES
}

fn write_points(out: &mut (impl Write + Send), grid: &Grid) -> io::Result<()> {
    out.write_all(&(points_bytes(grid) as u64).to_le_bytes())?;
    rows::write_points(out, grid, f64::to_le_bytes)
}

fn write_cells(out: &mut (impl Write + Send), grid: &Grid, measure: CellMeasure) -> io::Result<()> {
    out.write_all(&(cells_bytes(grid) as u64).to_le_bytes())?;
    rows::write_cells(out, grid, measure, f64::to_le_bytes)
}
