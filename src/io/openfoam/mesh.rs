//! The five files of a `polyMesh`.
//!
//! Faces are polygons whose normal, by the right-hand rule, points out of the cell that owns them;
//! the owner is the lower of the two cells. Inner faces come first, sorted by owner, then by
//! neighbour ("upper triangular order"), then the patches one after the other.

use std::io::{self, Write};

use crate::grid::Grid;
use crate::io::pieces;
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
pub(super) fn write_to(out: &mut (impl Write + Send), grid: &Grid, part: Part) -> io::Result<()> {
    let mesh = Mesh(Welded::new(grid));
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

/// The grid between the planes z = 0 and z = 1; the points of the second follow those of the first.
struct Mesh<'a>(Welded<'a>);

impl Mesh<'_> {
    /// Counts for `decomposePar` and the like, in the words of OpenFOAM.
    fn note(&self) -> String {
        format!(
            "nPoints:{}  nCells:{}  nFaces:{}  nInternalFaces:{}",
            2 * self.0.nodes(),
            self.0.cells(),
            self.faces(),
            self.inner_faces()
        )
    }

    /// Each cell has a face to the next one around the body, and one to the layer above it.
    fn inner_faces(&self) -> usize {
        2 * self.0.cells() - self.0.columns
    }

    /// Patches in the order of their faces: name, type and number of faces.
    fn patches(&self) -> [(&'static str, &'static str, usize); 3] {
        let Welded { columns, .. } = self.0;
        [
            ("airfoil", "wall", columns),
            ("farfield", "patch", columns),
            ("frontAndBack", "empty", 2 * self.0.cells()),
        ]
    }

    fn faces(&self) -> usize {
        self.inner_faces() + self.patches().iter().map(|(_, _, count)| count).sum::<usize>()
    }

    fn face(&self, number: usize) -> Face {
        let Welded { columns, layers, .. } = self.0;
        let cells = self.0.cells();
        let Some(outer) = number.checked_sub(self.inner_faces()) else {
            return self.inner_face(number);
        };
        let (owner, points) = if outer < columns {
            (outer, self.side(outer, 0))
        } else if outer < 2 * columns {
            let cell = (layers - 1) * columns + outer - columns;
            (cell, self.side(cell, 2))
        } else if outer < 2 * columns + cells {
            let cell = outer - 2 * columns;
            let mut corners = self.0.corners(cell);
            corners.reverse();
            (cell, corners)
        } else {
            let cell = outer - 2 * columns - cells;
            (cell, self.0.corners(cell).map(|node| node + self.0.nodes()))
        };
        Face { points, owner, neighbour: None }
    }

    /// Inner faces of a layer, by owner: the first cell has three, to the next cell, across the
    /// seam to the last, and up; those in between two, the last one only the one up. In the
    /// outermost layer there is none up.
    fn inner_face(&self, number: usize) -> Face {
        let Welded { columns, layers, .. } = self.0;
        let layer = (number / (2 * columns)).min(layers - 1);
        let within = number - layer * 2 * columns;
        let first = layer * columns;
        let up = usize::from(layer + 1 < layers);
        // Faces of the first cell: next, seam, up.
        let (i, kind) = match within {
            0 => (0, Kind::Next),
            1 => (0, Kind::Seam),
            k if k < 2 + up => (0, Kind::Up),
            k => {
                let rest = k - 2 - up;
                let i = 1 + rest / (1 + up);
                let last = i == columns - 1;
                let kind = if rest % (1 + up) == 0 && !last { Kind::Next } else { Kind::Up };
                (i, kind)
            }
        };
        let cell = first + i;
        let (points, neighbour) = match kind {
            Kind::Next => (self.side(cell, 1), cell + 1),
            Kind::Seam => (self.side(cell, 3), first + columns - 1),
            Kind::Up => (self.side(cell, 2), cell + columns),
        };
        Face { points, owner: cell, neighbour: Some(neighbour) }
    }

    /// Face over side k of a cell, from its corner k to the next, seen from outside.
    fn side(&self, cell: usize, k: usize) -> [usize; 4] {
        let corners = self.0.corners(cell);
        let (a, b) = (corners[k], corners[(k + 1) % 4]);
        [a, b, b + self.0.nodes(), a + self.0.nodes()]
    }

    fn write_points(&self, out: &mut (impl Write + Send)) -> io::Result<()> {
        let nodes = self.0.nodes();
        write_list(out, 2 * nodes, |text, point| {
            let [x, y] = self.0.point(point % nodes);
            writeln!(text, "({x:e} {y:e} {})", point / nodes)
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
        for (name, kind, count) in patches {
            writeln!(out, "    {name}\n    {{\n        type {kind};")?;
            writeln!(out, "        nFaces {count};\n        startFace {start};\n    }}")?;
            start += count;
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
    /// To the layer above.
    Up,
}
