//! CGNS files, `.cgns`: one structured zone, or those of several elements, with named boundaries and one-to-one
//! connectivity.
//!
//! Source: "CGNS Standard Interface Data Structures", <https://cgns.org/standard/SIDS>.

mod hdf5;
mod read;

use std::io;

use self::hdf5::{Array, Fill, Node, Number};
use super::data::{Parts, given};
use super::data::{Sides, Span, count, ends};
use super::format::{FileContents, Format, Holds, MeshFile};
use super::rim::Reader;
use crate::files::{ByteSink, pieces};
use crate::grid::Grid;
use crate::grid::boundary::{Meets, Outside, Patch, Range, Segment, Side, SideKind, period};
use crate::grid::vector::difference;
use crate::overset::{Rim, Zone};

pub(super) const FORMAT: Format = Format {
    name: "cgns",
    title: "CGNS",
    extensions: &["cgns"],
    welded: true,
    files: &[MeshFile {
        names: ["mesh.cgns", "mesh.failed.cgns"],
        holds: Holds::All,
        dimensions: None,
        // Two numbers of 64 bits for each node.
        least_bytes: 16,
        contents: FileContents::File(|out, m| write_to(out, &m.zones, m.span)),
    }],
    refuses_zones: None,
    convert: None,
    reader: Some(Reader {
        begins: Some(|head| head.starts_with(b"\x89HDF\r\n\x1a\n")),
        hint: "save the mesh as CGNS in HDF5, structured zones with CoordinateX and CoordinateY",
        zones: read::parse,
    }),
};

/// Version of the standard that the nodes follow.
const VERSION: f32 = 3.4;
const ZONE: &str = "grid";

/// Names of the boundaries, as in the other formats, with the condition of each.
const AIRFOIL: (&str, &str) = ("airfoil", "BCWallViscous");
const FAR_FIELD: (&str, &str) = ("farfield", "BCFarfield");
const SYMMETRY: (&str, &str) = ("symmetry", "BCSymmetryPlane");
/// The outer boundary of a zone that takes its values from others.
const OVERSET: (&str, &str) = ("overset", "UserDefined");

/// Writes structured zones, two-dimensional or extruded. Coordinates are streamed.
///
/// The one zone of a section, which has no name, has families `airfoil`, `farfield` and, on the sides of an extruded grid,
/// `symmetry`; the seam, the two sides of the cut and periodic sides are one-to-one connectivity. The outflow of a
/// C-grid belongs to the far field. On half a grid `symmetry` is its plane, and the sides of an extruded one are
/// `back` and `front`.
///
/// The zones of an overset mesh are for flow solvers that cut the holes: three-dimensional, a plane one as one cell over
/// the span between planes of symmetry. Every face of a zone has a boundary condition or a connection.
///
/// Zones are named `flap.00001`, as keys of ADflow's `oversetPriority`. A wall has the condition `BCWallViscous`
/// itself, beside the family of its element, which separates the forces. An outer boundary that takes its
/// values from other zones is `UserDefined` with the one `UserDefinedData_t` child `BCOverset`. Source:
/// `readCGNSGrid.F90` of ADflow, <https://github.com/mdolab/adflow>.
pub fn write_to(out: &mut ByteSink<'_>, zones: &[Zone<'_>], span: Option<Span>) -> io::Result<()> {
    let several = Parts::of_zones(zones) == Parts::Overset;
    let span = span.or(several.then_some(Span::ONE));
    let grids: Vec<&Grid> = zones.iter().map(|zone| zone.grid).collect();
    let ends = ends(span.filter(|span| span.sides == Sides::Symmetry), &grids);
    let blocks: Vec<Block<'_>> =
        zones.iter().map(|zone| Block::new(*zone, span, several, ends)).collect();
    let mut below: Vec<Node<'_>> = blocks.iter().map(|block| block.node(&blocks)).collect();
    let mut given = given(zones);
    // Ends of a period are connections.
    given.retain(|patch| period(&grids).is_none_or(|(ends, _)| !ends.contains(patch)));
    if given.is_empty() {
        let walls = blocks.iter().filter(|block| block.zone.has_wall());
        below.extend(walls.map(|block| family(block.wall())));
        if zones.len() > 1 && !several {
            below.push(family(of_patch(&Patch::Base)));
        }
        if several {
            below.push(family(OVERSET).above([overset_mark()]));
        }
        let sides = zones.iter().find_map(|zone| zone.grid.outside.as_ref()).map(Outside::kinds);
        let sides = sides.unwrap_or_else(|| vec![(FAR_FIELD.0, SideKind::FarField)]);
        below.extend(sides.into_iter().map(|(name, kind)| family((name, condition(Some(kind))))));
    }
    below.extend(given.iter().map(|patch| family(of_patch(patch))));
    if given.is_empty() && zones.iter().any(|zone| zone.grid.topology.half().is_some()) {
        below.push(family(SYMMETRY));
    }
    below.extend(ends.iter().map(|end| family((end, SYMMETRY.1))));
    let dimensions = if span.is_some() { 3 } else { 2 };
    let class = Node::new("DataClass", "DataClass_t").text("NormalizedByUnknownDimensional");
    let base = Node::new("Base", "CGNSBase_t").integers(vec![2], &[dimensions; 2]);
    let base = base.above([class]).above(below);
    let version = Node::new("CGNSLibraryVersion", "CGNSLibraryVersion_t").singles(&[VERSION]);
    hdf5::write(out, vec![version, base])
}

fn family<'a>((name, condition): (&str, &str)) -> Node<'a> {
    let condition = Node::new("FamilyBC", "FamilyBC_t").text(condition);
    Node::new(name.to_owned(), "Family_t").above([condition])
}

/// Name and condition of a patch.
fn of_patch(patch: &Patch) -> (&'static str, &'static str) {
    (patch.name(), condition(patch.kind()))
}

/// The condition on a patch, by its kind; none for the body.
fn condition(kind: Option<SideKind>) -> &'static str {
    match kind {
        None | Some(SideKind::Wall) => AIRFOIL.1,
        Some(SideKind::FarField | SideKind::Periodic) => FAR_FIELD.1,
        Some(SideKind::Inlet) => "BCInflow",
        Some(SideKind::Outlet) => "BCOutflow",
        Some(SideKind::Slip) => "BCWallInviscid",
        Some(SideKind::Symmetry) => SYMMETRY.1,
    }
}

/// The mark of a boundary that takes its values from other zones.
fn overset_mark() -> Node<'static> {
    Node::new("BCOverset", "UserDefinedData_t")
}

/// A count as the file has it. Grids of more points in a direction fit no memory.
fn index(count: usize) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

/// Exponents of mass, length, time, temperature and angle in the units of a quantity.
type Exponents = [f32; 5];

const LENGTH: Exponents = [0.0, 1.0, 0.0, 0.0, 0.0];
const ANGLE: Exponents = [0.0, 0.0, 0.0, 0.0, 1.0];

fn exponents(values: Exponents) -> Node<'static> {
    Node::new("DimensionalExponents", "DimensionalExponents_t").singles(&values)
}

/// First and last index in i, j and k, from 1.
type Part = [[i32; 2]; 3];

/// A zone of the file. That of one grid has no name, and its conditions stand with the families alone, where all
/// readers look for them.
struct Block<'a> {
    zone: Zone<'a>,
    span: Option<Span>,
    /// Whether it is one of an overset mesh.
    overset: bool,
    /// Names of the planes of symmetry at the ends of the span.
    ends: &'static [&'static str],
    /// Points in i, j and k.
    size: [i32; 3],
}

impl<'a> Block<'a> {
    fn new(
        zone: Zone<'a>,
        span: Option<Span>,
        overset: bool,
        ends: &'static [&'static str],
    ) -> Self {
        let size = [zone.grid.ni, zone.grid.nj, count(span)].map(index);
        Self { zone, span, overset, ends, size }
    }

    fn name(&self) -> String {
        match self.zone.name {
            "" => ZONE.to_owned(),
            name if self.overset => [name, ".00001"].concat(),
            name => name.to_owned(),
        }
    }

    /// True where a file gave the ranges of its sides.
    fn is_given(&self) -> bool {
        self.zone.grid.outside.as_ref().is_some_and(|outside| !outside.given.is_empty())
    }

    /// Name, family and condition of the wall.
    fn wall(&self) -> (&'a str, &'a str) {
        if self.overset { (self.zone.name, AIRFOIL.1) } else { AIRFOIL }
    }

    fn node(&self, blocks: &[Block<'_>]) -> Node<'a> {
        let (size, none) = (self.size(), [0; 3]);
        let cells: Vec<i32> = size.iter().map(|n| n - 1).collect();
        Node::new(self.name(), "Zone_t")
            .integers(vec![3, size.len()], &[size, &cells, &none[..size.len()]].concat())
            .above([
                Node::new("ZoneType", "ZoneType_t").text("Structured"),
                Node::new("GridCoordinates", "GridCoordinates_t").above(self.coordinates()),
                Node::new("ZoneBC", "ZoneBC_t").above(self.boundaries()),
                Node::new("ZoneGridConnectivity", "ZoneGridConnectivity_t")
                    .above(self.connections(blocks)),
            ])
    }

    fn coordinates(&self) -> Vec<Node<'a>> {
        let (grid, span) = (self.zone.grid, self.span);
        let planes = count(span);
        let shape: Vec<usize> = self.size().iter().rev().map(|&n| n as usize).collect();
        let array = |name: &'static str, fill: Fill<'a>| {
            Node::new(name, "DataArray_t")
                .with(Array::new(Number::R8, shape.clone(), fill))
                .above([exponents(LENGTH)])
        };
        let plane = |of: &'a [f64]| -> Fill<'a> {
            Box::new(move |out| (0..planes).try_for_each(|_| pieces::write_numbers(out, of)))
        };
        let mut arrays =
            vec![array("CoordinateX", plane(&grid.x)), array("CoordinateY", plane(&grid.y))];
        if let Some(span) = span {
            let points = grid.x.len();
            let fill = move |out: &mut ByteSink<'_>| {
                (0..planes).try_for_each(|k| {
                    let z = span.z(k).to_le_bytes();
                    pieces::write(out, points, &|piece| z.repeat(piece.len()))
                })
            };
            arrays.push(array("CoordinateZ", Box::new(fill)));
        }
        arrays
    }

    /// Points in i, j and, where the grid is extruded, k.
    fn size(&self) -> &[i32] {
        &self.size[..if self.span.is_some() { 3 } else { 2 }]
    }

    /// The points of one index in a direction.
    fn points(&self, across: usize, index: i32) -> Part {
        let mut part = self.size.map(|last| [1, last]);
        part[across] = [index; 2];
        part
    }

    fn part(&self, on: Segment) -> Part {
        let across = on.side.across();
        let mut part = self.points(across, if on.side.is_last() { self.size[across] } else { 1 });
        part[1 - across] = on.nodes.map(|node| index(node) + 1);
        part
    }

    /// A node with the first and last point of a part of the zone.
    fn range(&self, name: &'static str, part: Part) -> Node<'a> {
        let part = &part[..self.size().len()];
        let ends: Vec<i32> =
            [0, 1].into_iter().flat_map(|end| part.iter().map(move |r| r[end])).collect();
        Node::new(name, "IndexRange_t").integers(vec![2, part.len()], &ends)
    }

    fn boundaries(&self) -> Vec<Node<'a>> {
        let boundary = |name: &str, (family, condition): (&str, &str), part| {
            let condition = if self.overset { condition } else { "FamilySpecified" };
            let boundary = Node::new(name.to_owned(), "BC_t").text(condition).above([
                self.range("PointRange", part),
                Node::new("FamilyName", "FamilyName_t").text(family),
            ]);
            if family == OVERSET.0 { boundary.above([overset_mark()]) } else { boundary }
        };
        let overset = self.zone.rim == Rim::Overset;
        // The body first, then the outer line.
        let mut ranges = self.zone.grid.boundary();
        ranges.sort_by_key(|range| (range.on.side.across() == 0, range.on.side.is_last()));
        let patch = |Range { on, meets }: &Range| {
            let Meets::Patch(patch) = meets else { return None };
            let family = match patch {
                Patch::Wall => self.wall(),
                Patch::FarField if on.side.across() == 1 && overset => OVERSET,
                Patch::Outflow => FAR_FIELD,
                _ => of_patch(patch),
            };
            // Several ranges of a zone may be of one family: an O-grid and a C-grid meet the outlet of a box twice.
            // Long names that differ in their last letters alone are numbered together, since those letters are cut off.
            let cut = |patch: Patch| format!("{:.27}", patch.name());
            let is_same = |other: &&Range| other.patch().is_some_and(|p| cut(p) == cut(*patch));
            let same: Vec<&Range> = ranges.iter().filter(is_same).collect();
            let place = same.iter().position(|other| other.on == *on).unwrap_or(0);
            let named = self.zone.grid.outside.is_some() || *patch == Patch::Base;
            let name = match (on.side, same.len()) {
                (_, 1) if named => patch.name().to_owned(),
                (_, 2) if named && !self.is_given() => {
                    [patch.name(), ["_first", "_last"][place]].concat()
                }
                _ if named => format!("{:.27}_{}", patch.name(), place + 1),
                (Side::Before, _) => format!("{}_first", patch.name()),
                (Side::Behind, _) => format!("{}_last", patch.name()),
                (Side::Below, _) if *patch == Patch::FarField => "farfield_below".to_owned(),
                _ => family.0.to_owned(),
            };
            Some(boundary(&name, family, self.part(*on)))
        };
        let mut boundaries: Vec<Node<'a>> = ranges.iter().filter_map(patch).collect();
        let ends = match *self.ends {
            [end] => {
                let name = if self.is_given() { "span" } else { end };
                ["_first", "_last"].map(|place| ([name, place].concat(), end)).to_vec()
            }
            _ => self.ends.iter().map(|end| ((*end).to_owned(), *end)).collect(),
        };
        for ((name, end), k) in ends.into_iter().zip([1, self.size[2]]) {
            boundaries.push(boundary(&name, (end, SYMMETRY.1), self.points(2, k)));
        }
        boundaries
    }

    /// Both directions of each connection.
    fn connections(&self, blocks: &[Block<'_>]) -> Vec<Node<'a>> {
        let directions = self.size().len();
        let connection = |name: String, donor: &str, from, to, transform: [i32; 3]| {
            Node::new(name, "GridConnectivity1to1_t").text(donor).above([
                self.range("PointRange", from),
                self.range("PointRangeDonor", to),
                Node::new("Transform", "\"int[IndexDimension]\"")
                    .integers(vec![directions], &transform[..directions]),
            ])
        };
        let boundary = self.zone.grid.boundary();
        let met =
            |range: &Range| Some((range.on, range.link().or(range.partner())?, range.patch()));
        let links = boundary.iter().filter_map(met);
        let links = links.filter(|(_, to, _)| to.block < blocks.len());
        let mut connections: Vec<Node<'a>> = links
            .enumerate()
            .map(|(number, (on, to, end))| {
                let kind = match (on.side.across(), on.block == to.block) {
                    (0, _) => "seam",
                    (_, true) => "cut",
                    (_, false) => "interface",
                };
                let last = on.side.is_last() || on.nodes[0] > 0;
                let name = if self.is_given() {
                    format!("interface_{}", number + 1)
                } else {
                    [kind, if last { "_last" } else { "_first" }].concat()
                };
                // Between two first or two last lines the direction across runs the other way.
                let sign = |same: bool| if same { 1 } else { -1 };
                let (along, across) = (1 - on.side.across(), on.side.across());
                let mut transform = [3; 3];
                transform[along] = sign(to.nodes[0] <= to.nodes[1]) * (2 - index(to.side.across()));
                transform[across] =
                    sign(on.side.is_last() != to.side.is_last()) * (1 + index(to.side.across()));
                let donor = if self.overset { self } else { &blocks[to.block] };
                let made =
                    connection(name, &donor.name(), self.part(on), donor.part(to), transform);
                if end.is_none() {
                    return made;
                }
                let [here, there] =
                    [(self, on), (donor, to)].map(|(b, s)| s.point(b.zone.grid, 0, 0));
                let [x, y] = difference(there, here);
                made.above([periodic([x as f32, y as f32, 0.0])])
            })
            .collect();
        if let Some(span) = self.span.filter(|span| span.sides == Sides::Periodic) {
            let [first, last] = [1, self.size[2]].map(|k| self.points(2, k));
            let width = span.z(span.cells) as f32;
            for (name, from, to, shift) in
                [("side_first", first, last, width), ("side_last", last, first, -width)]
            {
                let side = connection(name.into(), &self.name(), from, to, [1, 2, 3]);
                connections.push(side.above([periodic([0.0, 0.0, shift])]));
            }
        }
        connections
    }
}

/// A connection to the zone moved by `translation`.
fn periodic(translation: [f32; 3]) -> Node<'static> {
    let vector = |name, values: [f32; 3], of| {
        Node::new(name, "DataArray_t").singles(&values).above([exponents(of)])
    };
    let periodic = Node::new("Periodic", "Periodic_t").above([
        vector("RotationCenter", [0.0; 3], LENGTH),
        vector("RotationAngle", [0.0; 3], ANGLE),
        vector("Translation", translation, LENGTH),
    ]);
    Node::new("GridConnectivityProperty", "GridConnectivityProperty_t").above([periodic])
}
