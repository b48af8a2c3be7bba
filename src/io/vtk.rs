//! Legacy VTK structured grids, `.vtk`: for programs that do not read `.vts`.
//!
//! Layout: a text head, then arrays as raw big-endian bytes. Source: "VTK legacy file formats",
//! <https://docs.vtk.org/en/latest/design_documents/VTKFileFormats.html>.

use std::io::{self, Write};
use std::path::Path;

use super::vts::CELL_ARRAYS;
use super::{IoError, atomic, rows};
use crate::grid::Grid;

/// Writes the grid in the plane z = 0 with the cell arrays of [`super::vts`].
///
/// # Errors
///
/// [`IoError`] when the file cannot be written.
pub fn write(path: &Path, grid: &Grid) -> Result<(), IoError> {
    atomic::write(path, |out| write_to(out, grid))
}

/// Writes the same bytes to any writer.
pub fn write_to(out: &mut (impl Write + Send), grid: &Grid) -> io::Result<()> {
    let Grid { ni, nj, .. } = *grid;
    let (points, cells) = (ni * nj, grid.cells());
    writeln!(out, "# vtk DataFile Version 3.0\ngrid of gridgen\nBINARY")?;
    writeln!(out, "DATASET STRUCTURED_GRID\nDIMENSIONS {ni} {nj} 1\nPOINTS {points} double")?;
    rows::write_points(out, grid, f64::to_be_bytes)?;
    writeln!(out, "\nCELL_DATA {cells}")?;
    for (name, measure) in CELL_ARRAYS {
        writeln!(out, "SCALARS {name} double 1\nLOOKUP_TABLE default")?;
        rows::write_cells(out, grid, measure, f64::to_be_bytes)?;
        writeln!(out)?;
    }
    Ok(())
}
