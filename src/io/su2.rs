//! Meshes for SU2, `.su2`: quadrilaterals with welded seam or cut, markers `airfoil` and
//! `farfield`; the outflow of a C-grid belongs to the far field.
//!
//! Source: "Mesh File", <https://su2code.github.io/docs_v7/Mesh-File/>.

use std::io::{self, Write};
use std::path::Path;

use super::welded::Welded;
use super::{IoError, atomic, pieces};
use crate::grid::Grid;

/// Numbers by which VTK and SU2 call an edge and a quadrilateral.
const LINE: u8 = 3;
const QUADRILATERAL: u8 = 9;

/// Writes the grid as a two-dimensional SU2 mesh: cells counter-clockwise, the edges of both
/// markers with the flow on their left, numbers in the shortest form that reads back to the same
/// bits.
///
/// # Errors
///
/// [`IoError`] when the file cannot be written.
pub fn write(path: &Path, grid: &Grid) -> Result<(), IoError> {
    atomic::write(path, |out| write_to(out, grid))
}

/// Writes the same bytes to any writer.
pub fn write_to(out: &mut (impl Write + Send), grid: &Grid) -> io::Result<()> {
    let mesh = Welded::new(grid);
    writeln!(out, "NDIME= 2\nNELEM= {}", mesh.cells())?;
    pieces::write_lines(out, mesh.cells(), |text, cell| {
        let [a, b, c, d] = mesh.corners(cell);
        writeln!(text, "{QUADRILATERAL} {a} {b} {c} {d} {cell}")
    })?;
    writeln!(out, "NPOIN= {}", mesh.nodes())?;
    pieces::write_lines(out, mesh.nodes(), |text, node| {
        let [x, y] = mesh.point(node);
        writeln!(text, "{x:e} {y:e} {node}")
    })?;
    writeln!(out, "NMARK= 2")?;
    let body = mesh.body().len();
    writeln!(out, "MARKER_TAG= airfoil\nMARKER_ELEMS= {body}")?;
    pieces::write_lines(out, body, |text, k| {
        let [a, b] = mesh.ends(mesh.wall(k));
        writeln!(text, "{LINE} {a} {b}")
    })?;
    writeln!(out, "MARKER_TAG= farfield\nMARKER_ELEMS= {}", mesh.far_sides())?;
    pieces::write_lines(out, mesh.far_sides(), |text, k| {
        let [a, b] = mesh.ends(mesh.far_side(k));
        writeln!(text, "{LINE} {a} {b}")
    })
}
