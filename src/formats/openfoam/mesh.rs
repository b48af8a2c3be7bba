//! The five files of a `polyMesh`.
//!
//! Faces are polygons whose normal, by the right-hand rule, points out of the cell that owns them;
//! the owner is the lower of the two cells. Inner faces come first, sorted by owner, then by
//! neighbour ("upper triangular order"), then the patches one after the other.

use std::io::{self, Write};

use crate::files::atomic::Writer;
use crate::files::pieces;
use crate::formats::data::{MeshData, Parts};
use crate::formats::data::{Sides, Span};
use crate::formats::welded::{CellSide, Welded};
use crate::grid::{Grid, boundary};
use crate::overset::{Rim, Zone};

/// A file of the mesh: its path in the case, its class, and what writes its contents.
pub(super) type Part =
    (&'static str, &'static str, fn(&Mesh<'_>, &mut Writer<'_>) -> io::Result<()>);

pub(super) const PARTS: [Part; 5] = [
    ("constant/polyMesh/points", "vectorField", |mesh, out| mesh.write_points(out)),
    ("constant/polyMesh/faces", "faceList", |mesh, out| {
        mesh.write_faces(out, &|text, Face { points: [a, b, c, d], .. }| {
            writeln!(text, "4({a} {b} {c} {d})")
        })
    }),
    ("constant/polyMesh/owner", "labelList", |mesh, out| {
        mesh.write_faces(out, &|text, face| writeln!(text, "{}", face.owner))
    }),
    ("constant/polyMesh/neighbour", "labelList", |mesh, out| {
        writeln!(out, "{}\n(", mesh.inner_faces)?;
        mesh.write_inner(out, &|text, face| writeln!(text, "{}", face.neighbour))?;
        writeln!(out, ")")
    }),
    ("constant/polyMesh/boundary", "polyBoundaryMesh", |mesh, out| mesh.write_boundary(out)),
];

/// The cells of each zone, in addition.
pub(super) const CELL_ZONES: Part =
    ("constant/polyMesh/cellZones", "regIOobject", |mesh, out| mesh.write_zones(out));

/// The name of the patch whose cells take their values from other zones.
pub(super) const OVERSET: &str = "overset";

/// Writes the head of a file of a case, with `more` lines between its class and its name.
pub(super) fn write_head(
    out: &mut Writer<'_>,
    name: &str,
    class: &str,
    more: &str,
) -> io::Result<()> {
    let (_, object) = name.rsplit_once('/').unwrap_or_default();
    writeln!(out, "FoamFile\n{{\n    version 2.0;\n    format ascii;\n    class {class};")?;
    writeln!(out, "{more}    object {object};\n}}\n")
}

/// A polygon with the cells on both sides; that of an outer face has no neighbour and repeats its owner.
struct Face {
    points: [usize; 4],
    owner: usize,
    neighbour: usize,
}

/// Writes the line of a face.
type FaceLine<'l> = &'l (dyn Fn(&mut Vec<u8>, Face) -> io::Result<()> + Sync);

/// Zones in layers of cells over the span; points and cells of a layer follow those of the layer before, those of
/// a zone those of the zone before.
pub(super) struct Mesh<'a> {
    zones: Vec<ZonePart<'a>>,
    span: Span,
    /// Points and cells of all zones.
    points: usize,
    pub(super) cells: usize,
    inner_faces: usize,
    /// In the order of their faces.
    patches: Vec<FacePatch>,
}

/// A zone, and the numbers of its first point and its first cell.
struct ZonePart<'a> {
    name: &'a str,
    plane: Welded<'a>,
    first_point: usize,
    first_cell: usize,
}

struct FacePatch {
    name: String,
    /// Its type, and what else it needs.
    kind: String,
    /// By zone.
    faces: Vec<(usize, Faces)>,
}

enum Faces {
    /// Faces over sides of the plane, layer by layer. The points of each begin at the corner of this number: the first
    /// points of cyclic faces are partners.
    Sides { sides: Vec<CellSide>, first_corner: usize },
    /// A range of the faces at the ends of the span: the cells at its back, then the cells in front.
    Ends { first: usize, count: usize },
}

impl<'a> Mesh<'a> {
    /// The mesh of a section or of several zones; plane ones have one layer and empty ends.
    pub(super) fn new(mesh: &MeshData<'a>) -> Self {
        let sides = mesh.span.map(|span| span.sides);
        let span = mesh.span.unwrap_or(Span::ONE);
        let overset = mesh.parts() == Parts::Overset;
        let own = if overset { mesh.each() } else { vec![("", mesh.clone())] };
        let (mut zones, mut points, mut cells): (Vec<ZonePart<'_>>, _, _) = (Vec::new(), 0, 0);
        for (name, part) in own {
            let plane = Welded::of_order(&part.blocks(), 1);
            let (nodes, own) = (plane.nodes * span.planes(), plane.cells * span.cells);
            zones.push(ZonePart { name, plane, first_point: points, first_cell: cells });
            (points, cells) = (points + nodes, cells + own);
        }
        let mut patches = if overset {
            patches_of_zones(&mesh.zones, &zones)
        } else {
            patches(&mesh.blocks(), &zones[0].plane)
        };
        // Each cell has four sides, and those inside are shared by two cells.
        let outside: usize = patches.iter().map(|patch| patch.count(1)).sum();
        let plane_cells: usize = zones.iter().map(|zone| zone.plane.cells).sum();
        let inner_faces =
            span.cells * ((4 * plane_cells - outside) / 2) + (span.cells - 1) * plane_cells;
        // Faces at the back, then those in front: the first of a patch and their number, in cells of the plane.
        let ends = |name: &str, kind: &str, [first, count]: [usize; 2]| {
            let faces = zones.iter().enumerate().map(|(number, zone)| {
                let cells = zone.plane.cells;
                (number, Faces::Ends { first: first * cells, count: count * cells })
            });
            FacePatch::new(name, kind, faces.collect())
        };
        match sides {
            None => patches.push(ends("frontAndBack", "empty;", [0, 2])),
            Some(sides) => {
                let [back, front] = ["front", "back"].map(|other| match sides {
                    Sides::Symmetry => "symmetryPlane;".to_owned(),
                    Sides::Periodic => cyclic("unknown", other),
                });
                patches.push(ends("back", &back, [0, 1]));
                patches.push(ends("front", &front, [1, 1]));
            }
        }
        Self { zones, span, points, cells, inner_faces, patches }
    }

    pub(super) fn patches(&self) -> impl Iterator<Item = &str> {
        self.patches.iter().map(|patch| patch.name.as_str())
    }

    pub(super) fn write(
        &self,
        out: &mut Writer<'_>,
        (name, class, contents): Part,
    ) -> io::Result<()> {
        let Self { points, cells, inner_faces: inner, .. } = self;
        let faces = self.faces();
        // Counts for decomposePar and the like, in the words of OpenFOAM.
        let note = format!(
            "    note \"nPoints:{points}  nCells:{cells}  nFaces:{faces}  nInternalFaces:{inner}\";\n"
        );
        let note = if class == "labelList" { &*note } else { "" };
        let (folder, _) = name.rsplit_once('/').unwrap_or_default();
        write_head(out, name, class, &format!("{note}    location \"{folder}\";\n"))?;
        contents(self, out)
    }

    fn cells_of(&self, zone: &ZonePart<'_>) -> usize {
        zone.plane.cells * self.span.cells
    }

    /// Cells of each zone, in order.
    pub(super) fn zone_cells(&self) -> impl Iterator<Item = usize> {
        self.zones.iter().map(|zone| self.cells_of(zone))
    }

    fn faces(&self) -> usize {
        let outer = self.patches.iter().map(|patch| patch.count(self.span.cells));
        self.inner_faces + outer.sum::<usize>()
    }

    /// The inner faces that a cell of a zone owns: those to other cells of the layer, and to the next layer over
    /// the span, where there is one.
    fn owned(&self, zone: &ZonePart<'_>, cell: usize) -> impl Iterator<Item = Face> {
        let (cells, nodes) = (zone.plane.cells, zone.plane.nodes);
        let (layer, in_plane) = (cell / cells, cell % cells);
        let owner = zone.first_cell + cell;
        let in_layer = zone.plane.shared(in_plane).map(move |(side, other)| Face {
            points: side_of(zone, side, layer),
            owner,
            neighbour: zone.first_cell + layer * cells + other,
        });
        let next_plane = zone.first_point + (layer + 1) * nodes;
        let behind = (layer + 1 < self.span.cells).then(|| Face {
            points: zone.plane.corners(in_plane).map(|node| next_plane + node),
            owner,
            neighbour: owner + cells,
        });
        in_layer.chain(behind)
    }

    /// The k-th of the faces of a part of a patch.
    fn outer(&self, zone: &ZonePart<'_>, faces: &Faces, k: usize) -> Face {
        let (cells, layers) = (zone.plane.cells, self.span.cells);
        let (points, owner) = match faces {
            Faces::Sides { sides, first_corner } => {
                let (layer, side) = (k / sides.len(), sides[k % sides.len()]);
                let mut points = side_of(zone, side, layer);
                points.rotate_left(*first_corner);
                (points, layer * cells + side.cell)
            }
            Faces::Ends { first, .. } => {
                let cell = (first + k) % cells;
                let corners = zone.plane.corners(cell).map(|node| zone.first_point + node);
                if first + k == cell {
                    // From the same corner as in front: cyclic patches are matched by it.
                    let [a, b, c, d] = corners;
                    ([a, d, c, b], cell)
                } else {
                    let points = corners.map(|node| node + layers * zone.plane.nodes);
                    (points, (layers - 1) * cells + cell)
                }
            }
        };
        let owner = zone.first_cell + owner;
        Face { points, owner, neighbour: owner }
    }

    fn write_points(&self, out: &mut Writer<'_>) -> io::Result<()> {
        writeln!(out, "{}\n(", self.points)?;
        for ZonePart { plane, .. } in &self.zones {
            for z in (0..self.span.planes()).map(|plane| self.span.z(plane)) {
                pieces::write_lines(out, plane.nodes, |text, node| {
                    let [x, y] = plane.point(node);
                    writeln!(text, "({x:e} {y:e} {z})")
                })?;
            }
        }
        writeln!(out, ")")
    }

    /// Writes the list of what `line` says of each face.
    fn write_faces(&self, out: &mut Writer<'_>, line: FaceLine<'_>) -> io::Result<()> {
        writeln!(out, "{}\n(", self.faces())?;
        self.write_inner(out, line)?;
        for (zone, faces) in self.patches.iter().flat_map(|patch| &patch.faces) {
            let (zone, count) = (&self.zones[*zone], faces.count(self.span.cells));
            pieces::write_lines(out, count, |text, k| line(text, self.outer(zone, faces, k)))?;
        }
        writeln!(out, ")")
    }

    fn write_inner(&self, out: &mut Writer<'_>, line: FaceLine<'_>) -> io::Result<()> {
        self.zones.iter().try_for_each(|zone| {
            pieces::write_lines(out, self.cells_of(zone), |text, cell| {
                self.owned(zone, cell).try_for_each(|face| line(text, face))
            })
        })
    }

    fn write_boundary(&self, out: &mut Writer<'_>) -> io::Result<()> {
        writeln!(out, "{}\n(", self.patches.len())?;
        let mut start = self.inner_faces;
        for patch in &self.patches {
            let (FacePatch { name, kind, .. }, count) = (patch, patch.count(self.span.cells));
            writeln!(out, "    {name}\n    {{\n        type {kind}")?;
            writeln!(out, "        nFaces {count};\n        startFace {start};\n    }}")?;
            start += count;
        }
        writeln!(out, ")")
    }

    fn write_zones(&self, out: &mut Writer<'_>) -> io::Result<()> {
        writeln!(out, "{}\n(", self.zones.len())?;
        for zone in &self.zones {
            let cells = self.cells_of(zone);
            writeln!(out, "    {}\n    {{\n        type cellZone;", zone.name)?;
            writeln!(out, "        cellLabels List<label> {cells}\n(")?;
            pieces::write_lines(out, cells, |text, cell| {
                writeln!(text, "{}", zone.first_cell + cell)
            })?;
            writeln!(out, ");\n    }}")?;
        }
        writeln!(out, ")")
    }
}

/// The patches of a section's rim.
fn patches(grids: &[&Grid], plane: &Welded<'_>) -> Vec<FacePatch> {
    let period = boundary::period(grids);
    let is_end = |patch: &boundary::Patch| period.is_some_and(|(ends, _)| ends.contains(patch));
    let rims = plane.rims().into_iter().filter(|(patch, _)| !is_end(patch));
    let mut patches: Vec<FacePatch> = rims
        .map(|(patch, sides)| {
            let kind = match patch.kind() {
                None | Some(boundary::SideKind::Wall) => "wall;",
                Some(boundary::SideKind::Symmetry) => "symmetryPlane;",
                Some(_) => "patch;",
            };
            let faces = Faces::Sides { sides, first_corner: 0 };
            FacePatch::new(patch.name(), kind, vec![(0, faces)])
        })
        .collect();
    if let Some((ends, vector)) = period {
        for (end, sides) in plane.partners(ends[0]).into_iter().enumerate() {
            let [x, y] = vector.map(|c| if end == 0 { c } else { -c });
            let by = format!("translational;\n        separationVector ({x:e} {y:e} 0)");
            let faces = Faces::Sides { sides, first_corner: end };
            let kind = cyclic(&by, ends[1 - end].name());
            patches.push(FacePatch::new(ends[end].name(), &kind, vec![(0, faces)]));
        }
    }
    patches
}

/// The type of a cyclic patch with what OpenFOAM's blockMesh writes beside it.
fn cyclic(transform: &str, neighbour: &str) -> String {
    format!(
        "cyclic;\n        matchTolerance 0.0001;\n        transform {transform};\n        neighbourPatch {neighbour};"
    )
}

/// The patches of several zones: that of their rims, which OpenFOAM wants first, the wall of each element by its
/// name, and the far field.
fn patches_of_zones(zones: &[Zone<'_>], parts: &[ZonePart<'_>]) -> Vec<FacePatch> {
    let (mut rim, mut far, mut walls) = (Vec::new(), Vec::new(), Vec::new());
    for (number, (zone, part)) in zones.iter().zip(parts).enumerate() {
        for (patch, sides) in part.plane.rims() {
            let faces = (number, Faces::Sides { sides, first_corner: 0 });
            match (patch, zone.rim) {
                (boundary::Patch::Wall, _) if zone.has_wall() => {
                    walls.push(FacePatch::new(zone.name, "wall;", vec![faces]));
                }
                (boundary::Patch::Wall, _) => {}
                (_, Rim::Overset) => rim.push(faces),
                (_, Rim::FarField) => far.push(faces),
            }
        }
    }
    let mut patches = vec![FacePatch::new(OVERSET, "overset;", rim)];
    patches.append(&mut walls);
    patches.push(FacePatch::new("farfield", "patch;", far));
    patches
}

impl FacePatch {
    fn new(name: &str, kind: &str, faces: Vec<(usize, Faces)>) -> Self {
        Self { name: name.to_owned(), kind: kind.to_owned(), faces }
    }

    /// Its faces with this number of layers of cells over the span.
    fn count(&self, layers: usize) -> usize {
        self.faces.iter().map(|(_, faces)| faces.count(layers)).sum()
    }
}

impl Faces {
    fn count(&self, layers: usize) -> usize {
        match self {
            Self::Sides { sides, .. } => sides.len() * layers,
            Self::Ends { count, .. } => *count,
        }
    }
}

/// Face over a side of a cell in a layer, seen from outside.
fn side_of(zone: &ZonePart<'_>, side: CellSide, layer: usize) -> [usize; 4] {
    let nodes = zone.plane.nodes;
    let [a, b] = zone.plane.ends(side).map(|node| zone.first_point + node + layer * nodes);
    [a, b, b + nodes, a + nodes]
}
