//! The five files of a `polyMesh`.
//!
//! Faces are polygons whose normal, by the right-hand rule, points out of the cell that owns them;
//! the owner is the lower of the two cells. Inner faces come first, sorted by owner, then by
//! neighbour ("upper triangular order"), then the patches one after the other.

use std::io::{self, Write};

use crate::files::joint::JointFile;
use crate::files::pieces;
use crate::files::sink::Sink;
use crate::formats::mesh::{Sides, Span};
use crate::formats::welded::{Side, Welded};
use crate::grid::Slab;

/// A file of the mesh: its path in the case, its class, and what writes its contents.
pub(super) type Part =
    (&'static str, &'static str, fn(&Mesh<'_>, &mut JointFile<'_>) -> io::Result<()>);

pub(super) const PARTS: [Part; 5] = [
    ("constant/polyMesh/points", "vectorField", |mesh, out| mesh.write_points(out)),
    ("constant/polyMesh/faces", "faceList", |mesh, out| {
        mesh.write_faces(out, |text, Face { points: [a, b, c, d], .. }| {
            writeln!(text, "4({a} {b} {c} {d})")
        })
    }),
    ("constant/polyMesh/owner", "labelList", |mesh, out| {
        mesh.write_faces(out, |text, face| writeln!(text, "{}", face.owner))
    }),
    ("constant/polyMesh/neighbour", "labelList", |mesh, out| {
        writeln!(out, "{}\n(", mesh.inner_faces)?;
        mesh.write_inner(out, |text, face| writeln!(text, "{}", face.neighbour))?;
        writeln!(out, ")")
    }),
    ("constant/polyMesh/boundary", "polyBoundaryMesh", |mesh, out| mesh.write_boundary(out)),
];

/// A polygon with the cells on both sides; that of an outer face has no neighbour and repeats its owner.
struct Face {
    points: [usize; 4],
    owner: usize,
    neighbour: usize,
}

/// The grid in layers of cells over the span; points and cells of a layer follow those of the layer
/// before.
pub(super) struct Mesh<'a> {
    plane: Welded<'a>,
    span: Span,
    inner_faces: usize,
    /// In the order of their faces.
    patches: Vec<Patch>,
}

struct Patch {
    name: &'static str,
    /// Its type, and what else it needs.
    kind: &'static str,
    count: usize,
    faces: Faces,
}

enum Faces {
    /// Those over sides of the plane, layer by layer.
    Sides(Vec<Side>),
    /// Those at the ends of the span from this one on: the cells at its back, then those in front.
    Ends(usize),
}

impl<'a> Mesh<'a> {
    /// The mesh of a grid; that of a plane grid has one layer and empty ends.
    pub(super) fn new(slab: Slab<'a>, span: Option<Span>) -> Self {
        let (plane, sides) = (Welded::new(slab), span.map(|span| span.sides));
        let span = span.unwrap_or(Span::ONE);
        let cells = plane.cells();
        let end = |name, kind, first, count| Patch { name, kind, count, faces: Faces::Ends(first) };
        let ends = match sides {
            None => vec![end("frontAndBack", "empty;", 0, 2 * cells)],
            Some(sides) => {
                let [back, front] = match sides {
                    Sides::Symmetry => ["symmetryPlane;"; 2],
                    Sides::Periodic => [BACK_CYCLIC, FRONT_CYCLIC],
                };
                vec![end("back", back, 0, cells), end("front", front, cells, cells)]
            }
        };
        let rims = plane.rims();
        // Of four sides of each cell those inside are shared by two.
        let outside: usize = rims.iter().map(|(_, sides)| sides.len()).sum();
        let inner_faces = span.cells * ((4 * cells - outside) / 2) + (span.cells - 1) * cells;
        let kinds = ["wall;", "patch;", "symmetryPlane;"];
        let rims = rims.into_iter().zip(kinds).map(|((name, sides), kind)| Patch {
            name,
            kind,
            count: sides.len() * span.cells,
            faces: Faces::Sides(sides),
        });
        let patches = rims.chain(ends).collect();
        Self { plane, span, inner_faces, patches }
    }

    pub(super) fn patches(&self) -> impl Iterator<Item = &'static str> {
        self.patches.iter().map(|patch| patch.name)
    }

    pub(super) fn write(
        &self,
        out: &mut JointFile<'_>,
        (name, class, contents): Part,
    ) -> io::Result<()> {
        writeln!(out, "FoamFile\n{{\n    version 2.0;\n    format ascii;\n    class {class};")?;
        if class == "labelList" {
            // Counts for decomposePar and the like, in the words of OpenFOAM.
            let (points, cells) = (self.points(), self.plane.cells() * self.span.cells);
            let (faces, inner) = (self.faces(), self.inner_faces);
            write!(out, "    note \"nPoints:{points}  nCells:{cells}  nFaces:{faces}  ")?;
            writeln!(out, "nInternalFaces:{inner}\";")?;
        }
        let (location, object) = name.rsplit_once('/').unwrap_or_default();
        writeln!(out, "    location \"{location}\";\n    object {object};\n}}\n")?;
        contents(self, out)
    }

    fn points(&self) -> usize {
        self.plane.nodes() * self.span.planes()
    }

    fn faces(&self) -> usize {
        self.inner_faces + self.patches.iter().map(|patch| patch.count).sum::<usize>()
    }

    /// The inner faces that a cell owns: those to other cells of the layer, and to the next layer over
    /// the span, where there is one.
    fn owned(&self, owner: usize) -> impl Iterator<Item = Face> {
        let (cells, nodes) = (self.plane.cells(), self.plane.nodes());
        let (layer, cell) = (owner / cells, owner % cells);
        let in_layer = self.plane.shared(cell).map(move |(side, other)| Face {
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

    /// The k-th of the faces of a patch.
    fn outer(&self, faces: &Faces, k: usize) -> Face {
        let (cells, layers) = (self.plane.cells(), self.span.cells);
        let (points, owner) = match faces {
            Faces::Sides(sides) => {
                let (layer, side) = (k / sides.len(), sides[k % sides.len()]);
                (self.side(side, layer), layer * cells + side.cell)
            }
            Faces::Ends(first) => {
                let cell = (first + k) % cells;
                let corners = self.plane.corners(cell);
                if first + k == cell {
                    // From the same corner as in front: cyclic patches are matched by it.
                    let [a, b, c, d] = corners;
                    ([a, d, c, b], cell)
                } else {
                    let points = corners.map(|node| node + layers * self.plane.nodes());
                    (points, (layers - 1) * cells + cell)
                }
            }
        };
        Face { points, owner, neighbour: owner }
    }

    /// Face over a side of a cell in a layer, seen from outside.
    fn side(&self, side: Side, layer: usize) -> [usize; 4] {
        let nodes = self.plane.nodes();
        let [a, b] = self.plane.ends(side).map(|node| node + layer * nodes);
        [a, b, b + nodes, a + nodes]
    }

    fn write_points(&self, out: &mut JointFile<'_>) -> io::Result<()> {
        let own = self.plane.own_nodes();
        writeln!(out, "{}\n(", self.points())?;
        for z in (0..self.span.planes()).map(|plane| self.span.z(plane)) {
            out.share(None, &mut |mut out| {
                pieces::write_lines(&mut out, own.len(), |text, k| {
                    let [x, y] = self.plane.point(own.start + k);
                    writeln!(text, "({x:e} {y:e} {z})")
                })
            })?;
        }
        writeln!(out, ")")
    }

    /// Writes the list of what `line` says of each face.
    fn write_faces<F>(&self, out: &mut JointFile<'_>, line: F) -> io::Result<()>
    where
        F: Fn(&mut Vec<u8>, Face) -> io::Result<()> + Sync,
    {
        writeln!(out, "{}\n(", self.faces())?;
        self.write_inner(out, &line)?;
        for Patch { count, faces, .. } in &self.patches {
            out.once(&mut |mut out| {
                pieces::write_lines(&mut out, *count, |text, k| line(text, self.outer(faces, k)))
            })?;
        }
        writeln!(out, ")")
    }

    fn write_inner<F>(&self, out: &mut JointFile<'_>, line: F) -> io::Result<()>
    where
        F: Fn(&mut Vec<u8>, Face) -> io::Result<()> + Sync,
    {
        out.once(&mut |mut out| {
            pieces::write_lines(&mut out, self.plane.cells() * self.span.cells, |text, cell| {
                self.owned(cell).try_for_each(|face| line(text, face))
            })
        })
    }

    fn write_boundary(&self, out: &mut JointFile<'_>) -> io::Result<()> {
        writeln!(out, "{}\n(", self.patches.len())?;
        let mut start = self.inner_faces;
        for Patch { name, kind, count, .. } in &self.patches {
            writeln!(out, "    {name}\n    {{\n        type {kind}")?;
            writeln!(out, "        nFaces {count};\n        startFace {start};\n    }}")?;
            start += count;
        }
        writeln!(out, ")")
    }
}

/// Types of cyclic patches with what OpenFOAM's blockMesh writes beside them.
const BACK_CYCLIC: &str = "cyclic;\n        matchTolerance 0.0001;\n        transform unknown;\n        neighbourPatch front;";
const FRONT_CYCLIC: &str = "cyclic;\n        matchTolerance 0.0001;\n        transform unknown;\n        neighbourPatch back;";
