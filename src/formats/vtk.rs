//! Legacy VTK structured grids, `.vtk`: for programs that do not read `.vts`.
//!
//! Layout: a text head, then arrays as raw big-endian bytes. Source: "VTK legacy file formats",
//! <https://docs.vtk.org/en/latest/design_documents/VTKFileFormats.html>.

use std::io::{self, Write};
use std::path::Path;

use super::span::{Span, count, planes};
use super::vts::CELL_ARRAYS;
use super::{FileKind, limits, rows};
use crate::files::{IoError, atomic};
use crate::grid::Grid;

/// Writes the grid, in the plane z = 0 or extruded, with the cell arrays of [`super::vts`].
///
/// # Errors
///
/// [`IoError`] when the file cannot be written.
pub fn write(path: &Path, grid: &Grid, span: Option<Span>) -> Result<(), IoError> {
    limits::check(path, FileKind::Vtk, [grid.ni, grid.nj], span)?;
    atomic::write(path, |out| write_to(out, grid, span))
}

/// Writes the same bytes to any writer.
pub fn write_to(out: &mut (impl Write + Send), grid: &Grid, span: Option<Span>) -> io::Result<()> {
    let Grid { ni, nj, .. } = *grid;
    let (plane, layer) = (ni * nj, grid.cells());
    let nk = count(span);
    let layers = span.map_or(1, |span| span.cells);
    let (points, cells) = (plane * nk, layer * layers);
    writeln!(out, "# vtk DataFile Version 3.0\ngrid of gridgen\nBINARY")?;
    writeln!(out, "DATASET STRUCTURED_GRID\nDIMENSIONS {ni} {nj} {nk}\nPOINTS {points} double")?;
    planes(span).try_for_each(|z| rows::write_points(out, grid, z, f64::to_be_bytes))?;
    writeln!(out, "\nCELL_DATA {cells}")?;
    for (name, measure) in CELL_ARRAYS {
        writeln!(out, "SCALARS {name} double 1\nLOOKUP_TABLE default")?;
        for _ in 0..layers {
            rows::write_cells(out, grid, measure, f64::to_be_bytes)?;
        }
        writeln!(out)?;
    }
    Ok(())
}
