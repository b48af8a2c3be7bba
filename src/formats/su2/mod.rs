//! Meshes for SU2, `.su2`: quadrilaterals or hexahedra with welded seam or cut, markers `airfoil`
//! and `farfield`, and on the sides of an extruded grid `symmetry`, or `front` and `back`; the
//! outflow of a C-grid belongs to the far field. On half a grid `symmetry` is its plane, and the
//! sides of an extruded one are `front` and `back` in any case.
//!
//! Source: "Mesh File", <https://su2code.github.io/docs_v7/Mesh-File/>.

mod read;

use std::io::{self, Write};
use std::path::Path;

use crate::files::{IoError, atomic, pieces};
use crate::formats::block::Reader;
use crate::formats::limits::Limits;
use crate::formats::span::{Sides, Span};
use crate::formats::welded::{Side, Welded};
use crate::grid::Grid;

/// Numbers by which VTK and SU2 call an edge, a quadrilateral and a hexahedron.
const LINE: u8 = 3;
const QUADRILATERAL: u8 = 9;
const HEXAHEDRON: u8 = 12;

/// `0 0 N` and a cell of numbers parted by blanks.
pub(in crate::formats) const LIMITS: Limits = Limits::of(16);

/// How such files are recognised and read.
pub(in crate::formats) const READER: Reader =
    Reader { begins: Some(read::is_su2), grid: |path, bytes, _| read::grid(path, bytes) };

/// Writes the grid as an SU2 mesh, two-dimensional or extruded: cells counter-clockwise, the edges of both
/// markers with the flow on their left, numbers in the shortest form that reads back to the same
/// bits.
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
    let rims = rims(&mesh);
    writeln!(out, "NMARK= {}", rims.len())?;
    for Rim { tag, sides, side } in rims {
        writeln!(out, "MARKER_TAG= {tag}\nMARKER_ELEMS= {sides}")?;
        pieces::write_lines(out, sides, |text, k| {
            let [a, b] = mesh.ends(side(&mesh, k));
            writeln!(text, "{LINE} {a} {b}")
        })?;
    }
    Ok(())
}

/// A marker of a plane grid.
struct Rim<'a> {
    tag: &'static str,
    sides: usize,
    /// The k-th of its sides.
    side: fn(&Welded<'a>, usize) -> Side,
}

fn rims<'a>(mesh: &Welded<'a>) -> Vec<Rim<'a>> {
    let all: [Rim<'a>; 3] = [
        Rim { tag: "airfoil", sides: mesh.body().len(), side: Welded::wall },
        Rim { tag: "farfield", sides: mesh.far_sides(), side: Welded::far_side },
        Rim { tag: "symmetry", sides: mesh.plane_sides(), side: Welded::end_side },
    ];
    all.into_iter().filter(|rim| rim.sides > 0).collect()
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
    let rims = rims(&mesh);
    // The plane of half a grid has the name already.
    let one_marker = span.sides == Sides::Symmetry && mesh.plane_sides() == 0;
    writeln!(out, "NMARK= {}", rims.len() + if one_marker { 1 } else { 2 })?;
    for Rim { tag, sides, side } in rims {
        writeln!(out, "MARKER_TAG= {tag}\nMARKER_ELEMS= {}", sides * layers)?;
        pieces::write_lines(out, sides * layers, |text, face| {
            let ends = mesh.ends(side(&mesh, face % sides));
            let [a, b] = ends.map(|node| node + face / sides * nodes);
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
    if one_marker {
        writeln!(out, "MARKER_TAG= symmetry\nMARKER_ELEMS= {}", 2 * cells)?;
    } else {
        writeln!(out, "MARKER_TAG= back\nMARKER_ELEMS= {cells}")?;
    }
    pieces::write_lines(out, cells, back)?;
    if !one_marker {
        writeln!(out, "MARKER_TAG= front\nMARKER_ELEMS= {cells}")?;
    }
    pieces::write_lines(out, cells, front)
}
