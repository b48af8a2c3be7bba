//! The five files of a `polyMesh`.
//!
//! Faces are polygons whose normal, by the right-hand rule, points out of the cell that owns them;
//! the owner is the lower of the two cells. Inner faces come first, sorted by owner, then by
//! neighbour ("upper triangular order"), then the patches one after the other.

use std::io::{self, Write};

use crate::files::pieces;
use crate::formats::mesh::{Sides, Span};
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
        Part::Faces => mesh.write_faces(out, |text, face| {
            let [a, b, c, d] = face.points;
            writeln!(text, "4({a} {b} {c} {d})")
        }),
        Part::Owner => mesh.write_faces(out, |text, face| writeln!(text, "{}", face.owner)),
        Part::Neighbour => {
            writeln!(out, "{}\n(", mesh.inner_faces())?;
            mesh.write_inner(out, |text, face| writeln!(text, "{}", face.neighbour))?;
            writeln!(out, ")")
        }
        Part::Boundary => mesh.write_boundary(out),
    }
}

/// A polygon with the cells on both sides; that of an outer face has no neighbour and repeats its owner.
struct Face {
    points: [usize; 4],
    owner: usize,
    neighbour: usize,
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
    face: OuterFace,
}

/// Owner and points of the k-th face of a patch.
type OuterFace = fn(&Mesh<'_>, usize) -> (usize, [usize; 4]);

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

    /// Inner faces: each cell has one to the next, each but those of the last line one to the cell above,
    /// the welded ones one more, and between layers over the span each has one.
    fn inner_faces(&self) -> usize {
        let Welded { columns, layers: lines, .. } = self.plane;
        let welds: usize = (0..lines).map(|line| self.plane.welds(line)).sum();
        let of_layer = (columns - 1) * lines + columns * (lines - 1) + welds;
        self.span.cells * of_layer + (self.span.cells - 1) * self.plane.cells()
    }

    /// Patches in the order of their faces.
    fn patches(&self) -> Vec<Patch> {
        let (layers, cells) = (self.span.cells, self.plane.cells());
        let [body, far, plane] =
            [self.plane.body().len(), self.plane.far_sides(), self.plane.plane_sides()];
        let patch = |name, kind, faces, face: OuterFace| Patch { name, kind, faces, face };
        let mut patches = vec![
            patch("airfoil", "wall;", body * layers, |mesh, k| {
                mesh.outer(k, mesh.plane.body().len(), Welded::wall)
            }),
            patch("farfield", "patch;", far * layers, |mesh, k| {
                mesh.outer(k, mesh.plane.far_sides(), Welded::far_side)
            }),
        ];
        if plane > 0 {
            patches.push(patch("symmetry", "symmetryPlane;", plane * layers, |mesh, k| {
                mesh.outer(k, mesh.plane.plane_sides(), Welded::end_side)
            }));
        }
        let back: OuterFace = |mesh, k| mesh.back(k);
        let front: OuterFace = |mesh, k| mesh.front(k);
        match self.sides {
            None => patches.push(patch("frontAndBack", "empty;", 2 * cells, |mesh, k| {
                k.checked_sub(mesh.plane.cells()).map_or_else(|| mesh.back(k), |k| mesh.front(k))
            })),
            Some(Sides::Symmetry) => patches.extend([
                patch("back", "symmetryPlane;", cells, back),
                patch("front", "symmetryPlane;", cells, front),
            ]),
            Some(Sides::Periodic) => patches.extend([
                patch("back", BACK_CYCLIC, cells, back),
                patch("front", FRONT_CYCLIC, cells, front),
            ]),
        }
        patches
    }

    fn faces(&self) -> usize {
        self.inner_faces() + self.patches().iter().map(|patch| patch.faces).sum::<usize>()
    }

    /// The inner faces that a cell owns: to the next cell along the line, across the seam or the cut,
    /// to the line above, and to the next layer over the span, where there are such.
    fn owned(&self, owner: usize) -> impl Iterator<Item = Face> {
        let Welded { columns, layers: lines, .. } = self.plane;
        let (cells, nodes) = (self.plane.cells(), self.plane.nodes());
        let (layer, cell) = (owner / cells, owner % cells);
        let [i, line] = self.plane.place(cell);
        let [next, above] = Welded::next_and_up(cell);
        let weld = (i < self.plane.welds(line)).then(|| self.plane.weld(cell));
        let across = [
            (i + 1 < columns).then_some((next, cell + 1)),
            weld,
            (line + 1 < lines).then_some((above, cell + columns)),
        ];
        let in_layer = across.into_iter().flatten().map(move |(side, other)| Face {
            points: self.side(side, layer),
            owner,
            neighbour: layer * cells + other,
        });
        let behind = (layer + 1 < self.span.cells).then(|| Face {
            points: self.plane.corners(cell).map(|node| node + (layer + 1) * nodes),
            owner,
            neighbour: owner + cells,
        });
        in_layer.chain(behind)
    }

    /// Owner and points of a face at the back, from the same corner as in front: cyclic patches are
    /// matched by it.
    fn back(&self, cell: usize) -> (usize, [usize; 4]) {
        let [a, b, c, d] = self.plane.corners(cell);
        (cell, [a, d, c, b])
    }

    fn front(&self, cell: usize) -> (usize, [usize; 4]) {
        let nodes = self.span.cells * self.plane.nodes();
        let points = self.plane.corners(cell).map(|node| node + nodes);
        ((self.span.cells - 1) * self.plane.cells() + cell, points)
    }

    /// Owner and points of face `k` over `sides` sides of each layer.
    fn outer<'m>(
        &'m self,
        k: usize,
        sides: usize,
        side: fn(&Welded<'m>, usize) -> Side,
    ) -> (usize, [usize; 4]) {
        let (layer, side) = (k / sides, side(&self.plane, k % sides));
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
        writeln!(out, "{}\n(", self.points())?;
        pieces::write_lines(out, self.points(), |text, point| {
            let [x, y] = self.plane.point(point % nodes);
            writeln!(text, "({x:e} {y:e} {})", self.span.z(point / nodes))
        })?;
        writeln!(out, ")")
    }

    /// Writes the list of what `line` says of each face.
    fn write_faces<F>(&self, out: &mut (impl Write + Send), line: F) -> io::Result<()>
    where
        F: Fn(&mut Vec<u8>, Face) -> io::Result<()> + Sync,
    {
        writeln!(out, "{}\n(", self.faces())?;
        self.write_inner(out, &line)?;
        for patch in self.patches() {
            pieces::write_lines(out, patch.faces, |text, k| {
                let (owner, points) = (patch.face)(self, k);
                line(text, Face { points, owner, neighbour: owner })
            })?;
        }
        writeln!(out, ")")
    }

    fn write_inner<F>(&self, out: &mut (impl Write + Send), line: F) -> io::Result<()>
    where
        F: Fn(&mut Vec<u8>, Face) -> io::Result<()> + Sync,
    {
        pieces::write_lines(out, self.plane.cells() * self.span.cells, |text, cell| {
            self.owned(cell).try_for_each(|face| line(text, face))
        })
    }

    fn write_boundary(&self, out: &mut (impl Write + Send)) -> io::Result<()> {
        let patches = self.patches();
        writeln!(out, "{}\n(", patches.len())?;
        let mut start = self.inner_faces();
        for Patch { name, kind, faces, .. } in patches {
            writeln!(out, "    {name}\n    {{\n        type {kind}")?;
            writeln!(out, "        nFaces {faces};\n        startFace {start};\n    }}")?;
            start += faces;
        }
        writeln!(out, ")")
    }
}

/// Types of cyclic patches with what OpenFOAM's blockMesh writes beside them.
const BACK_CYCLIC: &str = "cyclic;\n        matchTolerance 0.0001;\n        transform unknown;\n        neighbourPatch front;";
const FRONT_CYCLIC: &str = "cyclic;\n        matchTolerance 0.0001;\n        transform unknown;\n        neighbourPatch back;";
