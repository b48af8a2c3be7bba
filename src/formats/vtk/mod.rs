//! Legacy VTK structured grids, `.vtk`: for programs that do not read `.vts`.
//!
//! Layout: a text head, then arrays as raw big-endian bytes. Source: "VTK legacy file formats",
//! <https://docs.vtk.org/en/latest/design_documents/VTKFileFormats.html>.

mod read;

use std::io::{self, Write};
use std::path::Path;

use crate::files::{IoError, atomic};
use crate::formats::block::Reader;
use crate::formats::limits::Limits;
use crate::formats::rows;
use crate::formats::span::{Span, count, planes};
use crate::formats::vts::CELL_ARRAYS;
use crate::grid::Grid;

/// Three numbers of 64 bits for each node.
pub(in crate::formats) const LIMITS: Limits = Limits::of(24);

/// How such files are recognised and read.
pub(in crate::formats) const READER: Reader = Reader {
    begins: Some(|head| head.starts_with(read::MAGIC)),
    grid: |path, bytes, _| read::grid(path, bytes),
};

/// Writes the grid, in the plane z = 0 or extruded, with the cell arrays of [`crate::formats::vts`].
///
/// # Errors
///
/// [`IoError`] when the file cannot be written.
pub fn write(path: &Path, grid: &Grid, span: Option<Span>) -> Result<(), IoError> {
    LIMITS.check(path, [grid.ni, grid.nj], span)?;
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
