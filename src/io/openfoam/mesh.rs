//! The five files of a `polyMesh`.
//!
//! Faces are polygons whose normal, by the right-hand rule, points out of the cell that owns them;
//! the owner is the lower of the two cells. Inner faces come first, sorted by owner, then by
//! neighbour ("upper triangular order"), then the patches one after the other.

use std::io::{self, Write};

use crate::grid::Grid;
use crate::io::pieces;
use crate::io::welded::{Side, Welded};

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

    /// Each cell has a face to the next one, each but those of the last layer one to the cell above,
    /// and the welded ones one more.
    fn inner_faces(&self) -> usize {
        let layers = self.0.layers;
        (0..layers.min(2)).map(|layer| self.inner_of(layer)).sum::<usize>()
            + layers.saturating_sub(2) * self.inner_of(1)
            - self.0.columns
    }

    /// Inner faces owned by the cells of a layer that is not the last.
    fn inner_of(&self, layer: usize) -> usize {
        2 * self.0.columns - 1 + self.0.welds(layer)
    }

    /// Patches in the order of their faces: name, type and number of faces.
    fn patches(&self) -> [(&'static str, &'static str, usize); 3] {
        [
            ("airfoil", "wall", self.0.body().len()),
            ("farfield", "patch", self.0.far_sides()),
            ("frontAndBack", "empty", 2 * self.0.cells()),
        ]
    }

    fn faces(&self) -> usize {
        self.inner_faces() + self.patches().iter().map(|(_, _, count)| count).sum::<usize>()
    }

    fn face(&self, number: usize) -> Face {
        let cells = self.0.cells();
        let Some(outer) = number.checked_sub(self.inner_faces()) else {
            return self.inner_face(number);
        };
        let (body, far) = (self.0.body().len(), self.0.far_sides());
        let (owner, points) = if outer < body {
            self.outer(self.0.wall(outer))
        } else if outer < body + far {
            self.outer(self.0.far_side(outer - body))
        } else if outer < body + far + cells {
            let cell = outer - body - far;
            let mut corners = self.0.corners(cell);
            corners.reverse();
            (cell, corners)
        } else {
            let cell = outer - body - far - cells;
            (cell, self.0.corners(cell).map(|node| node + self.0.nodes()))
        };
        Face { points, owner, neighbour: None }
    }

    /// Inner faces of a layer, by owner. A welded cell has three: to the next cell, to the one
    /// across the weld, and up; the others two, the last one only the one up. In the outermost
    /// layer there is none up.
    fn inner_face(&self, number: usize) -> Face {
        let Welded { columns, layers, .. } = self.0;
        let first = self.inner_of(0);
        let layer = match number.checked_sub(first) {
            Some(rest) if layers > 1 => (1 + rest / self.inner_of(1)).min(layers - 1),
            _ => 0,
        };
        let before = if layer == 0 { 0 } else { first + (layer - 1) * self.inner_of(1) };
        let within = number - before;
        let up = usize::from(layer + 1 < layers);
        let welded = self.0.welds(layer);
        let (i, kind) = match within.checked_sub(welded * (2 + up)) {
            None => match (within / (2 + up), within % (2 + up)) {
                (i, 0) => (i, Kind::Next),
                (i, 1) => (i, Kind::Weld),
                (i, _) => (i, Kind::Up),
            },
            Some(rest) => {
                let i = welded + rest / (1 + up);
                let last = i == columns - 1;
                (i, if rest % (1 + up) == 0 && !last { Kind::Next } else { Kind::Up })
            }
        };
        let cell = layer * columns + i;
        let [next, above] = Welded::next_and_up(cell);
        let (side, neighbour) = match kind {
            Kind::Next => (next, cell + 1),
            Kind::Weld => self.0.weld(cell),
            Kind::Up => (above, cell + columns),
        };
        Face { points: self.side(side), owner: cell, neighbour: Some(neighbour) }
    }

    /// Owner and points of an outer face over a side of a cell.
    fn outer(&self, side: Side) -> (usize, [usize; 4]) {
        (side.cell, self.side(side))
    }

    /// Face over a side of a cell, seen from outside.
    fn side(&self, side: Side) -> [usize; 4] {
        let [a, b] = self.0.ends(side);
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
    /// To the next cell along the line.
    Next,
    /// Across the seam or the cut.
    Weld,
    /// To the layer above.
    Up,
}
