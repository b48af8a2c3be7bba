//! The five files of a `polyMesh`.
//!
//! Faces are polygons whose normal, by the right-hand rule, points out of the cell that owns them;
//! the owner is the lower of the two cells. Inner faces come first, sorted by owner, then by
//! neighbour ("upper triangular order"), then the patches one after the other.

use std::io::{self, Write};

use crate::grid::Grid;
use crate::io::pieces;
use crate::io::span::{Sides, Span};
use crate::io::welded::Welded;

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

/// Writes one file of the mesh.
pub(super) fn write_to(
    out: &mut (impl Write + Send),
    grid: &Grid,
    span: Option<Span>,
    part: Part,
) -> io::Result<()> {
    let mesh = Mesh {
        plane: Welded::new(grid),
        span: span.unwrap_or(Span::ONE),
        sides: span.map(|span| span.sides),
    };
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

    /// Inner faces of one layer: each cell has one to the next around the body, and one to the cell
    /// above it.
    fn inner_of_layer(&self) -> usize {
        2 * self.plane.cells() - self.plane.columns
    }

    /// Those of all layers, and those between two layers.
    fn inner_faces(&self) -> usize {
        let layers = self.span.cells;
        layers * self.inner_of_layer() + (layers - 1) * self.plane.cells()
    }

    /// Patches in the order of their faces.
    fn patches(&self) -> Vec<Patch> {
        let Welded { columns, .. } = self.plane;
        let (around, cells) = (columns * self.span.cells, self.plane.cells());
        let patch = |name, kind, faces| Patch { name, kind, faces };
        let mut patches =
            vec![patch("airfoil", "wall;", around), patch("farfield", "patch;", around)];
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
        let Welded { columns, layers, .. } = self.plane;
        let (cells, nodes) = (self.plane.cells(), self.plane.nodes());
        let around = columns * self.span.cells;
        let Some(outer) = number.checked_sub(self.inner_faces()) else {
            return self.inner_face(number);
        };
        let (owner, points) = if outer < around {
            let (layer, i) = (outer / columns, outer % columns);
            (layer * cells + i, self.side(i, 0, layer))
        } else if outer < 2 * around {
            let (layer, i) = ((outer - around) / columns, outer % columns);
            let cell = (layers - 1) * columns + i;
            (layer * cells + cell, self.side(cell, 2, layer))
        } else if outer < 2 * around + cells {
            let cell = outer - 2 * around;
            // From the same corner as in front: cyclic patches are matched by it.
            let [a, b, c, d] = self.plane.corners(cell);
            (cell, [a, d, c, b])
        } else {
            let cell = outer - 2 * around - cells;
            let front = self.plane.corners(cell).map(|node| node + self.span.cells * nodes);
            ((self.span.cells - 1) * cells + cell, front)
        };
        Face { points, owner, neighbour: None }
    }

    /// Inner faces of a layer, by owner: a cell has one to the next cell, the first of each line one
    /// across the seam to the last, then one up and one to the layer behind, where there are such.
    fn inner_face(&self, number: usize) -> Face {
        let Welded { columns, layers, .. } = self.plane;
        let (cells, nodes) = (self.plane.cells(), self.plane.nodes());
        let layer = (number / (self.inner_of_layer() + cells)).min(self.span.cells - 1);
        let number = number - layer * (self.inner_of_layer() + cells);
        let behind = usize::from(layer + 1 < self.span.cells);
        let line = (number / ((2 + behind) * columns)).min(layers - 1);
        let within = number - line * (2 + behind) * columns;
        let up = usize::from(line + 1 < layers);
        let of_the_first = 2 + up + behind;
        let (i, slot) = match within.checked_sub(of_the_first) {
            None => (0, within),
            Some(rest) => (1 + rest / (of_the_first - 1), rest % (of_the_first - 1)),
        };
        let kinds = [
            (Kind::Next, i + 1 < columns),
            (Kind::Seam, i == 0),
            (Kind::Up, up == 1),
            (Kind::Behind, behind == 1),
        ];
        let kind = kinds.into_iter().filter(|(_, there)| *there).nth(slot);
        let (first, cell) = (line * columns, line * columns + i);
        let (points, neighbour) = match kind.map_or(Kind::Behind, |(kind, _)| kind) {
            Kind::Next => (self.side(cell, 1, layer), cell + 1),
            Kind::Seam => (self.side(cell, 3, layer), first + columns - 1),
            Kind::Up => (self.side(cell, 2, layer), cell + columns),
            Kind::Behind => {
                let plane = (layer + 1) * nodes;
                (self.plane.corners(cell).map(|node| node + plane), cell + cells)
            }
        };
        let layer = layer * cells;
        Face { points, owner: layer + cell, neighbour: Some(layer + neighbour) }
    }

    /// Face over side k of a cell in a layer, from its corner k to the next, seen from outside.
    fn side(&self, cell: usize, k: usize, layer: usize) -> [usize; 4] {
        let nodes = self.plane.nodes();
        let corners = self.plane.corners(cell).map(|node| node + layer * nodes);
        let (a, b) = (corners[k], corners[(k + 1) % 4]);
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
    /// To the next cell around the body.
    Next,
    /// From the first cell of a layer to the last, across the seam.
    Seam,
    /// To the line above.
    Up,
    /// To the next layer over the span.
    Behind,
}

/// Types of cyclic patches with what OpenFOAM's blockMesh writes beside them.
const BACK_CYCLIC: &str = "cyclic;\n        matchTolerance 0.0001;\n        transform unknown;\n        neighbourPatch front;";
const FRONT_CYCLIC: &str = "cyclic;\n        matchTolerance 0.0001;\n        transform unknown;\n        neighbourPatch back;";
