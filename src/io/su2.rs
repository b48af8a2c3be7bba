//! Meshes for SU2, `.su2`: quadrilaterals or hexahedra with welded seam or cut, markers `airfoil`
//! and `farfield`, and on the sides of an extruded grid `symmetry`, or `front` and `back`; the
//! outflow of a C-grid belongs to the far field.
//!
//! Source: "Mesh File", <https://su2code.github.io/docs_v7/Mesh-File/>.

use std::io::{self, Write};
use std::path::Path;

use super::span::{Sides, Span};
use super::welded::{Side, Welded};
use super::{IoError, atomic, pieces};
use crate::grid::Grid;

/// Numbers by which VTK and SU2 call an edge, a quadrilateral and a hexahedron.
const LINE: u8 = 3;
const QUADRILATERAL: u8 = 9;
const HEXAHEDRON: u8 = 12;

/// Writes the grid as an SU2 mesh, two-dimensional or extruded: cells counter-clockwise, the edges of both
/// markers with the flow on their left, numbers in the shortest form that reads back to the same
/// bits.
///
/// # Errors
///
/// [`IoError`] when the file cannot be written.
pub fn write(path: &Path, grid: &Grid, span: Option<Span>) -> Result<(), IoError> {
    atomic::write(path, |out| write_to(out, grid, span))
}

/// Writes the same bytes to any writer.
pub fn write_to(out: &mut (impl Write + Send), grid: &Grid, span: Option<Span>) -> io::Result<()> {
    let mesh = Welded::new(grid);
    match span {
        None => write_plane(out, mesh),
        Some(span) => write_volume(out, mesh, span),
    }
}

fn write_plane(out: &mut (impl Write + Send), mesh: Welded<'_>) -> io::Result<()> {
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

/// Hexahedra in layers, the nodes of each plane after those of the plane before; the faces of all
/// markers with the flow on the side their normal points away from.
fn write_volume(out: &mut (impl Write + Send), mesh: Welded<'_>, span: Span) -> io::Result<()> {
    let (nodes, cells, layers) = (mesh.nodes(), mesh.cells(), span.cells);
    writeln!(out, "NDIME= 3\nNELEM= {}", cells * layers)?;
    pieces::write_lines(out, cells * layers, |text, cell| {
        let below = mesh.corners(cell % cells).map(|node| node + cell / cells * nodes);
        write!(text, "{HEXAHEDRON}")?;
        below.iter().try_for_each(|node| write!(text, " {node}"))?;
        below.iter().try_for_each(|node| write!(text, " {}", node + nodes))?;
        writeln!(text, " {cell}")
    })?;
    writeln!(out, "NPOIN= {}", nodes * span.planes())?;
    pieces::write_lines(out, nodes * span.planes(), |text, node| {
        let [x, y] = mesh.point(node % nodes);
        writeln!(text, "{x:e} {y:e} {:e} {node}", span.z(node / nodes))
    })?;
    let markers = if span.sides == Sides::Symmetry { 3 } else { 4 };
    writeln!(out, "NMARK= {markers}")?;
    let wall = |k| mesh.wall(k);
    let far = |k| mesh.far_side(k);
    let rims: [(_, usize, &(dyn Fn(usize) -> Side + Sync)); 2] =
        [("airfoil", mesh.body().len(), &wall), ("farfield", mesh.far_sides(), &far)];
    for (tag, sides, side) in rims {
        writeln!(out, "MARKER_TAG= {tag}\nMARKER_ELEMS= {}", sides * layers)?;
        pieces::write_lines(out, sides * layers, |text, face| {
            let [a, b] = mesh.ends(side(face % sides)).map(|node| node + face / sides * nodes);
            writeln!(text, "{QUADRILATERAL} {a} {b} {} {}", b + nodes, a + nodes)
        })?;
    }
    let back = |text: &mut Vec<u8>, cell| {
        let [a, b, c, d] = mesh.corners(cell);
        writeln!(text, "{QUADRILATERAL} {d} {c} {b} {a}")
    };
    let front = |text: &mut Vec<u8>, cell| {
        let [a, b, c, d] = mesh.corners(cell).map(|node| node + nodes * layers);
        writeln!(text, "{QUADRILATERAL} {a} {b} {c} {d}")
    };
    match span.sides {
        Sides::Symmetry => {
            writeln!(out, "MARKER_TAG= symmetry\nMARKER_ELEMS= {}", 2 * cells)?;
            pieces::write_lines(out, cells, back)?;
            pieces::write_lines(out, cells, front)
        }
        Sides::Periodic => {
            writeln!(out, "MARKER_TAG= back\nMARKER_ELEMS= {cells}")?;
            pieces::write_lines(out, cells, back)?;
            writeln!(out, "MARKER_TAG= front\nMARKER_ELEMS= {cells}")?;
            pieces::write_lines(out, cells, front)
        }
    }
}
