//! Legacy VTK structured grids, `.vtk`: for programs that do not read `.vts`.
//!
//! Layout: a text head, then arrays as raw big-endian bytes. Source: "VTK legacy file formats",
//! <https://docs.vtk.org/en/latest/design_documents/VTKFileFormats.html>.

use std::io::{self, Write};
use std::path::Path;

use super::span::{Span, planes};
use super::vts::CELL_ARRAYS;
use super::{IoError, atomic, pieces};
use crate::grid::Grid;
use crate::grid::quality::cell_corners;

/// Writes the grid, in the plane z = 0 or extruded, with the cell arrays of [`super::vts`].
///
/// # Errors
///
/// [`IoError`] when the file cannot be written.
pub fn write(path: &Path, grid: &Grid, span: Option<Span>) -> Result<(), IoError> {
    atomic::write(path, |out| write_to(out, grid, span))
}

/// Writes the same bytes to any writer.
pub fn write_to(out: &mut (impl Write + Send), grid: &Grid, span: Option<Span>) -> io::Result<()> {
    let Grid { ni, nj, .. } = *grid;
    let (plane, layer) = (ni * nj, grid.cells());
    let planes = planes(span);
    let nk = planes.len();
    let (points, cells) = (plane * nk, layer * span.map_or(1, |span| span.cells));
    writeln!(out, "# vtk DataFile Version 3.0\ngrid of gridgen\nBINARY")?;
    writeln!(out, "DATASET STRUCTURED_GRID\nDIMENSIONS {ni} {nj} {nk}\nPOINTS {points} double")?;
    pieces::write(out, points, |piece| {
        let point = |k: usize| [grid.x[k % plane], grid.y[k % plane], planes[k / plane]];
        piece.flat_map(point).flat_map(f64::to_be_bytes).collect()
    })?;
    writeln!(out, "\nCELL_DATA {cells}")?;
    for (name, measure) in CELL_ARRAYS {
        writeln!(out, "SCALARS {name} double 1\nLOOKUP_TABLE default")?;
        pieces::write(out, cells, |piece| {
            piece
                .map(|cell| cell % layer)
                .map(|cell| cell_corners(grid, cell % (ni - 1), cell / (ni - 1)))
                .flat_map(|corners| measure(&corners).to_be_bytes())
                .collect()
        })?;
        writeln!(out)?;
    }
    Ok(())
}
