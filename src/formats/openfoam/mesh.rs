//! The five files of a `polyMesh`.
//!
//! Faces are polygons whose normal, by the right-hand rule, points out of the cell that owns them;
//! the owner is the lower of the two cells. Inner faces come first, sorted by owner, then by
//! neighbour ("upper triangular order"), then the patches one after the other.

use std::io::{self, Write};

use crate::files::pieces;
use crate::formats::span::{Sides, Span};
use crate::formats::welded::{Side, Welded};
use crate::grid::Grid;

/// Files of the mesh.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Points,
    Faces,
    Owner,
    Neighbour,
    Boundary,
}

impl Part {
    pub(super) const ALL: [Self; 5] =
        [Self::Points, Self::Faces, Self::Owner, Self::Neighbour, Self::Boundary];

    pub(super) fn file_name(self) -> &'static str {
        match self {
            Self::Points => "points",
            Self::Faces => "faces",
            Self::Owner => "owner",
            Self::Neighbour => "neighbour",
            Self::Boundary => "boundary",
        }
    }

    fn class(self) -> &'static str {
        match self {
            Self::Points => "vectorField",
            Self::Faces => "faceList",
            Self::Owner | Self::Neighbour => "labelList",
            Self::Boundary => "polyBoundaryMesh",
        }
    }
}

/// Names of the patches.
pub(super) fn patches(grid: &Grid, span: Option<Span>) -> Vec<&'static str> {
    Mesh::new(grid, span).patches().into_iter().map(|patch| patch.name).collect()
}

/// Writes one file of the mesh.
pub(super) fn write_to(
    out: &mut (impl Write + Send),
    grid: &Grid,
    span: Option<Span>,
    part: Part,
) -> io::Result<()> {
    let mesh = Mesh::new(grid, span);
    writeln!(
        out,
        "FoamFile\n{{\n    version 2.0;\n    format ascii;\n    class {};",
        part.class()
    )?;
    if matches!(part, Part::Owner | Part::Neighbour) {
        writeln!(out, "    note \"{}\";", mesh.note())?;
    }
    writeln!(out, "    location \"constant/polyMesh\";")?;
    writeln!(out, "    object {};\n}}\n", part.file_name())?;
    match part {
        Part::Points => mesh.write_points(out),
        Part::Faces => mesh.write_faces(out),
        Part::Owner => {
            write_list(out, mesh.faces(), |text, face| writeln!(text, "{}", mesh.face(face).owner))
        }
        Part::Neighbour => write_list(out, mesh.inner_faces(), |text, face| {
            writeln!(text, "{}", mesh.face(face).neighbour.unwrap_or_default())
        }),
        Part::Boundary => mesh.write_boundary(out),
    }
}

/// Writes a list of `count` items with its length.
fn write_list<F>(out: &mut (impl Write + Send), count: usize, item: F) -> io::Result<()>
where
    F: Fn(&mut Vec<u8>, usize) -> io::Result<()> + Sync,
{
    writeln!(out, "{count}\n(")?;
    pieces::write_lines(out, count, item)?;
    writeln!(out, ")")
}

/// A polygon with the cells on both sides; outer faces have no neighbour.
struct Face {
    points: [usize; 4],
    owner: usize,
    neighbour: Option<usize>,
}

/// The grid in layers of cells over the span; points and cells of a layer follow those of the layer
/// before.
struct Mesh<'a> {
    plane: Welded<'a>,
    span: Span,
    /// What the ends of the span are; a plane grid has none.
    sides: Option<Sides>,
}

/// A patch.
struct Patch {
    name: &'static str,
    /// Its type, and what else it needs.
    kind: &'static str,
    faces: usize,
}

impl<'a> Mesh<'a> {
    fn new(grid: &'a Grid, span: Option<Span>) -> Self {
        Self {
            plane: Welded::new(grid),
            span: span.unwrap_or(Span::ONE),
            sides: span.map(|span| span.sides),
        }
    }
}

impl Mesh<'_> {
    fn points(&self) -> usize {
        self.plane.nodes() * self.span.planes()
    }

    /// Counts for `decomposePar` and the like, in the words of OpenFOAM.
    fn note(&self) -> String {
        format!(
            "nPoints:{}  nCells:{}  nFaces:{}  nInternalFaces:{}",
            self.points(),
            self.plane.cells() * self.span.cells,
            self.faces(),
            self.inner_faces()
        )
    }

    /// Inner faces between the cells of one layer over the span: each cell has one to the next, each
    /// but those of the last line one to the cell above, and the welded ones one more.
    fn inner_of_layer(&self) -> usize {
        let lines = self.plane.layers;
        (0..lines.min(2)).map(|line| self.inner_of(line)).sum::<usize>()
            + lines.saturating_sub(2) * self.inner_of(1)
            - self.plane.columns
    }

    /// Those owned by the cells of a line that is not the last.
    fn inner_of(&self, line: usize) -> usize {
        2 * self.plane.columns - 1 + self.plane.welds(line)
    }

    /// Those of all layers, and those between two layers.
    fn inner_faces(&self) -> usize {
        let layers = self.span.cells;
        layers * self.inner_of_layer() + (layers - 1) * self.plane.cells()
    }

    /// Patches in the order of their faces.
    fn patches(&self) -> Vec<Patch> {
        let (layers, cells) = (self.span.cells, self.plane.cells());
        let (walls, outer) = (self.plane.body().len() * layers, self.plane.far_sides() * layers);
        let patch = |name, kind, faces| Patch { name, kind, faces };
        let mut patches =
            vec![patch("airfoil", "wall;", walls), patch("farfield", "patch;", outer)];
        match self.plane.plane_sides() * layers {
            0 => {}
            sides => patches.push(patch("symmetry", "symmetryPlane;", sides)),
        }
        match self.sides {
            None => patches.push(patch("frontAndBack", "empty;", 2 * cells)),
            Some(Sides::Symmetry) => {
                patches.push(patch("back", "symmetryPlane;", cells));
                patches.push(patch("front", "symmetryPlane;", cells));
            }
            Some(Sides::Periodic) => {
                patches.push(patch("back", BACK_CYCLIC, cells));
                patches.push(patch("front", FRONT_CYCLIC, cells));
            }
        }
        patches
    }

    fn faces(&self) -> usize {
        self.inner_faces() + self.patches().iter().map(|patch| patch.faces).sum::<usize>()
    }

    fn face(&self, number: usize) -> Face {
        let Some(outer) = number.checked_sub(self.inner_faces()) else {
            return self.inner_face(number);
        };
        let (cells, nodes) = (self.plane.cells(), self.plane.nodes());
        let (body, far) = (self.plane.body().len(), self.plane.far_sides());
        let walls = body * self.span.cells;
        let around = walls + far * self.span.cells;
        let plane = self.plane.plane_sides();
        let rim = around + plane * self.span.cells;
        let (owner, points) = if outer < walls {
            self.outer(self.plane.wall(outer % body), outer / body)
        } else if outer < around {
            let side = outer - walls;
            self.outer(self.plane.far_side(side % far), side / far)
        } else if outer < rim {
            let side = outer - around;
            self.outer(self.plane.end_side(side % plane), side / plane)
        } else if outer < rim + cells {
            let cell = outer - rim;
            // From the same corner as in front: cyclic patches are matched by it.
            let [a, b, c, d] = self.plane.corners(cell);
            (cell, [a, d, c, b])
        } else {
            let cell = outer - rim - cells;
            let front = self.plane.corners(cell).map(|node| node + self.span.cells * nodes);
            ((self.span.cells - 1) * cells + cell, front)
        };
        Face { points, owner, neighbour: None }
    }

    /// Inner faces of a layer, by owner. A cell has one to the next cell, if it is welded one across
    /// the seam or the cut, then one up and one to the layer behind, where there are such.
    fn inner_face(&self, number: usize) -> Face {
        let Welded { columns, layers: lines, .. } = self.plane;
        let (cells, nodes) = (self.plane.cells(), self.plane.nodes());
        let of_layer = self.inner_of_layer() + cells;
        let layer = (number / of_layer).min(self.span.cells - 1);
        let number = number - layer * of_layer;
        let behind = usize::from(layer + 1 < self.span.cells);
        let of_line = |line: usize| self.inner_of(line) + behind * columns;
        let line = match number.checked_sub(of_line(0)) {
            Some(rest) if lines > 1 => (1 + rest / of_line(1)).min(lines - 1),
            _ => 0,
        };
        let before = if line == 0 { 0 } else { of_line(0) + (line - 1) * of_line(1) };
        let within = number - before;
        let up = usize::from(line + 1 < lines);
        let welded = self.plane.welds(line);
        let each = 1 + up + behind;
        let (i, slot) = match within.checked_sub(welded * (each + 1)) {
            None => (within / (each + 1), within % (each + 1)),
            Some(rest) => (welded + rest / each, rest % each),
        };
        let kinds = [
            (Kind::Next, i + 1 < columns),
            (Kind::Weld, i < welded),
            (Kind::Up, up == 1),
            (Kind::Behind, behind == 1),
        ];
        let kind = kinds.into_iter().filter(|(_, there)| *there).nth(slot);
        let cell = line * columns + i;
        let [next, above] = Welded::next_and_up(cell);
        let (points, neighbour) = match kind.map_or(Kind::Behind, |(kind, _)| kind) {
            Kind::Next => (self.side(next, layer), cell + 1),
            Kind::Weld => {
                let (side, across) = self.plane.weld(cell);
                (self.side(side, layer), across)
            }
            Kind::Up => (self.side(above, layer), cell + columns),
            Kind::Behind => {
                let plane = (layer + 1) * nodes;
                (self.plane.corners(cell).map(|node| node + plane), cell + cells)
            }
        };
        let layer = layer * cells;
        Face { points, owner: layer + cell, neighbour: Some(layer + neighbour) }
    }

    /// Owner and points of an outer face over a side of a cell in a layer.
    fn outer(&self, side: Side, layer: usize) -> (usize, [usize; 4]) {
        (layer * self.plane.cells() + side.cell, self.side(side, layer))
    }

    /// Face over a side of a cell in a layer, seen from outside.
    fn side(&self, side: Side, layer: usize) -> [usize; 4] {
        let nodes = self.plane.nodes();
        let [a, b] = self.plane.ends(side).map(|node| node + layer * nodes);
        [a, b, b + nodes, a + nodes]
    }

    fn write_points(&self, out: &mut (impl Write + Send)) -> io::Result<()> {
        let nodes = self.plane.nodes();
        write_list(out, self.points(), |text, point| {
            let [x, y] = self.plane.point(point % nodes);
            writeln!(text, "({x:e} {y:e} {})", self.span.z(point / nodes))
        })
    }

    fn write_faces(&self, out: &mut (impl Write + Send)) -> io::Result<()> {
        write_list(out, self.faces(), |text, face| {
            let [a, b, c, d] = self.face(face).points;
            writeln!(text, "4({a} {b} {c} {d})")
        })
    }

    fn write_boundary(&self, out: &mut (impl Write + Send)) -> io::Result<()> {
        let patches = self.patches();
        writeln!(out, "{}\n(", patches.len())?;
        let mut start = self.inner_faces();
        for Patch { name, kind, faces } in patches {
            writeln!(out, "    {name}\n    {{\n        type {kind}")?;
            writeln!(out, "        nFaces {faces};\n        startFace {start};\n    }}")?;
            start += faces;
        }
        writeln!(out, ")")
    }
}

/// Kinds of inner faces by the neighbour of their owner.
#[derive(Debug, Clone, Copy)]
enum Kind {
    /// To the next cell along the line.
    Next,
    /// Across the seam or the cut.
    Weld,
    /// To the line above.
    Up,
    /// To the next layer over the span.
    Behind,
}

/// Types of cyclic patches with what OpenFOAM's blockMesh writes beside them.
const BACK_CYCLIC: &str = "cyclic;\n        matchTolerance 0.0001;\n        transform unknown;\n        neighbourPatch front;";
const FRONT_CYCLIC: &str = "cyclic;\n        matchTolerance 0.0001;\n        transform unknown;\n        neighbourPatch back;";
