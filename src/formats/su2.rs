//! Meshes for SU2, `.su2`: quadrilaterals or hexahedra with welded seam or cut, markers `airfoil`
//! and `farfield`, and on the sides of an extruded grid `symmetry`, or `front` and `back`; the
//! outflow of a C-grid belongs to the far field. On half a grid `symmetry` is its plane, and the
//! sides of an extruded one are `front` and `back` in any case.
//!
//! Source: "Mesh File", <https://su2code.github.io/docs_v7/Mesh-File/>.

use std::collections::HashMap;
use std::io::{self, Write};

use super::block::{Block, ReadFault, Reader};
use super::mesh::{Limits, Sides, Span};
use super::welded::{Side, Welded};
use crate::files::pieces;
use crate::grid::Grid;

/// Numbers by which VTK and SU2 call an edge, a quadrilateral and a hexahedron.
const LINE: u8 = 3;
const QUADRILATERAL: u8 = 9;
const HEXAHEDRON: u8 = 12;

/// `0 0 N` and a cell of numbers parted by blanks.
pub(super) const LIMITS: Limits = Limits::of(16);

/// How such files are recognised and read.
pub(super) const READER: Reader = Reader { begins: Some(is_su2), grid: |bytes, _| read(bytes) };

/// Writes the grid as an SU2 mesh, two-dimensional or extruded: cells counter-clockwise, the edges of both
/// markers with the flow on their left, numbers in the shortest form that reads back to the same
/// bits.
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

const HINT: &str =
    "read are plane quadrilaterals in rows, as gridgen and other structured programs write them";

/// Reads the grid of a mesh that is structured by the order of its cells: quadrilaterals in rows, i
/// fastest, each from its corner (i, j) counter-clockwise. A point that several nodes of the grid share,
/// at a seam or a cut, is each of them.
fn read(bytes: &[u8]) -> Result<Grid, ReadFault> {
    parse(bytes).map_err(|reason| ReadFault::Layout { reason, hint: HINT })?.plane()
}

/// Whether a file begins like one of SU2.
fn is_su2(head: &[u8]) -> bool {
    String::from_utf8_lossy(head).lines().any(|line| line.trim_start().starts_with("NDIME"))
}

fn parse(bytes: &[u8]) -> Result<Block, &'static str> {
    let text = str::from_utf8(bytes).map_err(|_| "not a text")?;
    let mut lines =
        text.lines().map(|l| l.split('%').next().unwrap_or(l).trim()).filter(|l| !l.is_empty());
    let (mut plane, mut cells, mut points) = (false, Vec::new(), Vec::new());
    while let Some(line) = lines.next() {
        let Some((key, value)) = line.split_once('=') else { continue };
        let count = value.split_whitespace().next().and_then(|word| word.parse::<usize>().ok());
        match key.trim() {
            "NZONE" if count != Some(1) => return Err("several zones, one was expected"),
            "NDIME" => plane = count == Some(2),
            "NELEM" => {
                let lines = lines.by_ref().take(count.ok_or("NELEM is no number")?);
                cells = lines.map(cell).collect::<Result<_, _>>()?;
            }
            "NPOIN" => {
                let lines = lines.by_ref().take(count.ok_or("NPOIN is no number")?);
                points = lines.map(point).collect::<Result<Vec<[f64; 2]>, _>>()?;
            }
            _ => {}
        }
    }
    if !plane {
        return Err("NDIME= 2 was expected");
    }
    let [ni, nj] = size(&cells).ok_or(UNSTRUCTURED)?;
    let nodes = nodes(&cells, [ni, nj]).ok_or(UNSTRUCTURED)?;
    let at = |c: usize| {
        let coordinate = |node: &usize| points.get(*node).map(|point| point[c]);
        nodes.iter().map(coordinate).collect::<Option<Vec<f64>>>().ok_or("a cell has no such point")
    };
    Ok(Block { dimensions: vec![ni, nj], coordinates: vec![at(0)?, at(1)?] })
}

const UNSTRUCTURED: &str = "the cells are not in the order of a structured grid";

fn cell(line: &str) -> Result<[usize; 4], &'static str> {
    let numbers: Option<Vec<usize>> = line.split_whitespace().map(|w| w.parse().ok()).collect();
    match numbers.as_deref() {
        Some([kind, corners @ ..]) if *kind == usize::from(QUADRILATERAL) => {
            corners.first_chunk().copied().ok_or("a quadrilateral has too few corners")
        }
        Some([_, ..]) => Err("a cell is no quadrilateral"),
        _ => Err("a cell is missing or has words in it"),
    }
}

fn point(line: &str) -> Result<[f64; 2], &'static str> {
    let mut numbers = line.split_whitespace().map(str::parse);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(x)), Some(Ok(y))) => Ok([x, y]),
        _ => Err("a point has no two coordinates"),
    }
}

/// Nodes in i and j: the second row begins with the cell above the first.
fn size(cells: &[[usize; 4]]) -> Option<[usize; 2]> {
    let above = cells.first()?[3];
    let columns = cells.iter().skip(1).position(|corners| corners[0] == above);
    let columns = columns.map_or(cells.len(), |k| k + 1);
    cells.len().is_multiple_of(columns).then_some([columns + 1, cells.len() / columns + 1])
}

/// The point of each node, `[nj][ni]`; none where cells contradict each other.
fn nodes(cells: &[[usize; 4]], [ni, nj]: [usize; 2]) -> Option<Vec<usize>> {
    let mut nodes: HashMap<usize, usize> = HashMap::with_capacity(ni * nj);
    for (k, corners) in cells.iter().enumerate() {
        let first = k / (ni - 1) * ni + k % (ni - 1);
        for (node, point) in [first, first + 1, first + 1 + ni, first + ni].into_iter().zip(corners)
        {
            if *nodes.entry(node).or_insert(*point) != *point {
                return None;
            }
        }
    }
    (0..ni * nj).map(|node| nodes.get(&node).copied()).collect()
}
