//! CGNS files, `.cgns`: one structured zone with named boundaries and one-to-one connectivity.
//!
//! Source: "CGNS Standard Interface Data Structures", <https://cgns.org/standard/SIDS>.

mod hdf5;

use std::io::{self, Write};

use self::hdf5::{Array, Fill, Node, Number, Out};
use super::mesh::{Limits, Sides, Span};
use crate::files::pieces;
use crate::grid::{Grid, Topology};

/// Two numbers of 64 bits for each node.
pub(in crate::formats) const LIMITS: Limits = Limits::of(16);

/// Version of the standard that the nodes follow.
const VERSION: f32 = 3.4;
/// Name of the zone.
const ZONE: &str = "grid";

/// Names of the boundaries, as in the other formats, with the condition of each.
const AIRFOIL: (&str, &str) = ("airfoil", "BCWallViscous");
const FAR_FIELD: (&str, &str) = ("farfield", "BCFarfield");
const SYMMETRY: (&str, &str) = ("symmetry", "BCSymmetryPlane");
/// The sides of half an extruded grid, whose plane has that name already.
const BACK: (&str, &str) = ("back", "BCSymmetryPlane");
const FRONT: (&str, &str) = ("front", "BCSymmetryPlane");

/// Writes the grid as one structured zone, two-dimensional or extruded: families `airfoil`,
/// `farfield` and, on the sides of an extruded grid, `symmetry`; the seam, the two sides of the cut
/// and periodic sides are one-to-one connectivity. The outflow of a C-grid belongs to the far
/// field. On half a grid `symmetry` is its plane, and the sides of an extruded one are `back` and
/// `front`. Coordinates are streamed.
pub fn write_to(out: &mut (impl Write + Send), grid: &Grid, span: Option<Span>) -> io::Result<()> {
    let dimensions = if span.is_some() { 3 } else { 2 };
    let family = |(name, condition): (&str, &str)| {
        Node::new(name, "Family_t").above([Node::new("FamilyBC", "FamilyBC_t").text(condition)])
    };
    let mut below = vec![
        Node::new("DataClass", "DataClass_t").text("NormalizedByUnknownDimensional"),
        zone(grid, span),
        family(AIRFOIL),
        family(FAR_FIELD),
    ];
    let half = matches!(grid.topology, Topology::Half(_));
    let symmetric = span.is_some_and(|span| span.sides == Sides::Symmetry);
    if half || symmetric {
        below.push(family(SYMMETRY));
    }
    if half && symmetric {
        below.extend([BACK, FRONT].map(family));
    }
    let base = Node::new("Base", "CGNSBase_t").integers(vec![2], &[dimensions; 2]).above(below);
    hdf5::write(
        out,
        vec![Node::new("CGNSLibraryVersion", "CGNSLibraryVersion_t").singles(&[VERSION]), base],
    )
}

fn zone(grid: &Grid, span: Option<Span>) -> Node<'_> {
    let size = size(grid, span);
    let cells: Vec<i32> = size.iter().map(|n| n - 1).collect();
    let none = vec![0; size.len()];
    let block = Block { grid, span, size };
    Node::new(ZONE, "Zone_t")
        .integers(vec![3, block.size.len()], &[&block.size[..], &cells, &none].concat())
        .above([
            Node::new("ZoneType", "ZoneType_t").text("Structured"),
            Node::new("GridCoordinates", "GridCoordinates_t").above(block.coordinates()),
            Node::new("ZoneBC", "ZoneBC_t").above(block.boundaries()),
            Node::new("ZoneGridConnectivity", "ZoneGridConnectivity_t").above(block.connections()),
        ])
}

/// A count as the file has it. Grids of more points in a direction fit no memory.
fn index(count: usize) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

/// Points in i, j and, where the grid is extruded, k.
fn size(grid: &Grid, span: Option<Span>) -> Vec<i32> {
    let planes = span.map(|span| index(span.planes()));
    [index(grid.ni), index(grid.nj)].into_iter().chain(planes).collect()
}

/// Exponents of mass, length, time, temperature and angle in the units of a quantity.
type Exponents = [f32; 5];

const LENGTH: Exponents = [0.0, 1.0, 0.0, 0.0, 0.0];
const ANGLE: Exponents = [0.0, 0.0, 0.0, 0.0, 1.0];

fn exponents(values: Exponents) -> Node<'static> {
    Node::new("DimensionalExponents", "DimensionalExponents_t").singles(&values)
}

/// First and last index, from 1.
type Range = [i32; 2];

/// What is written of the grid.
struct Block<'a> {
    grid: &'a Grid,
    span: Option<Span>,
    /// Points in each direction.
    size: Vec<i32>,
}

impl<'a> Block<'a> {
    fn coordinates(&self) -> Vec<Node<'a>> {
        let (grid, span) = (self.grid, self.span);
        let planes = span.map_or(1, |span| span.planes());
        let shape: Vec<usize> = self.size.iter().rev().map(|&n| n as usize).collect();
        let array = |name: &str, fill: Fill<'a>| {
            Node::new(name, "DataArray_t")
                .with(Array::new(Number::R8, shape.clone(), fill))
                .above([exponents(LENGTH)])
        };
        let plane = |of: &'a [f64]| -> Fill<'a> {
            Box::new(move |out| (0..planes).try_for_each(|_| write_numbers(out, of)))
        };
        let mut arrays =
            vec![array("CoordinateX", plane(&grid.x)), array("CoordinateY", plane(&grid.y))];
        if let Some(span) = span {
            let points = grid.ni * grid.nj;
            let fill = move |mut out: &mut Out<'_>| {
                (0..planes).try_for_each(|k| {
                    let z = span.z(k).to_le_bytes();
                    pieces::write(&mut out, points, |piece| z.repeat(piece.len()))
                })
            };
            arrays.push(array("CoordinateZ", Box::new(fill)));
        }
        arrays
    }

    /// All points in a direction.
    fn all(&self, direction: usize) -> Range {
        [1, self.size[direction]]
    }

    /// A node with the first and last point of a part of the zone, whose range in k, where there
    /// is one, is all of it unless given.
    fn range(&self, name: &str, [i, j]: [Range; 2], k: Option<Range>) -> Node<'a> {
        let k = (self.size.len() == 3).then(|| k.unwrap_or_else(|| self.all(2)));
        let ranges: Vec<Range> = [i, j].into_iter().chain(k).collect();
        let ends: Vec<i32> =
            [0, 1].into_iter().flat_map(|end| ranges.iter().map(move |r| r[end])).collect();
        Node::new(name, "IndexRange_t").integers(vec![2, ranges.len()], &ends)
    }

    fn boundaries(&self) -> Vec<Node<'a>> {
        let (ni, nj) = (self.size[0], self.size[1]);
        // The condition stands with the family, where all readers look for it.
        let boundary = |name: &str, (family, _): (&str, &str), sides, k| {
            Node::new(name, "BC_t").text("FamilySpecified").above([
                self.range("PointRange", sides, k),
                Node::new("FamilyName", "FamilyName_t").text(family),
            ])
        };
        let wall = self.grid.topology.wall(self.grid.ni);
        let body = [index(*wall.start()) + 1, index(*wall.end()) + 1];
        let mut boundaries = vec![
            boundary("airfoil", AIRFOIL, [body, [1, 1]], None),
            boundary("farfield", FAR_FIELD, [self.all(0), [nj, nj]], None),
        ];
        let ends = match self.grid.topology {
            Topology::O(_) => None,
            Topology::C { .. } => Some((["outflow_first", "outflow_last"], FAR_FIELD)),
            Topology::Half(_) => Some((["symmetry_first", "symmetry_last"], SYMMETRY)),
        };
        if let Some((names, family)) = ends {
            for (name, i) in names.into_iter().zip([1, ni]) {
                boundaries.push(boundary(name, family, [[i, i], self.all(1)], None));
            }
        }
        if self.span.is_some_and(|span| span.sides == Sides::Symmetry) {
            let sides = match self.grid.topology {
                Topology::Half(_) => [("back", BACK), ("front", FRONT)],
                _ => [("symmetry_first", SYMMETRY), ("symmetry_last", SYMMETRY)],
            };
            for ((name, family), k) in sides.into_iter().zip([1, self.size[2]]) {
                let plane = [self.all(0), self.all(1)];
                boundaries.push(boundary(name, family, plane, Some([k, k])));
            }
        }
        boundaries
    }

    /// Both directions of each connection.
    fn connections(&self) -> Vec<Node<'a>> {
        let (ni, directions) = (self.size[0], self.size.len());
        let all = [self.all(0), self.all(1)];
        let connection = |name: &str, from: Node<'a>, to: Node<'a>, transform: [i32; 3]| {
            Node::new(name, "GridConnectivity1to1_t").text(ZONE).above([
                from,
                to,
                Node::new("Transform", "\"int[IndexDimension]\"")
                    .integers(vec![directions], &transform[..directions]),
            ])
        };
        let point_range = |sides, k| self.range("PointRange", sides, k);
        let donor = |sides, k| self.range("PointRangeDonor", sides, k);
        // Two ranges that meet, the second of which may run backwards.
        let welded = match self.grid.topology {
            Topology::O(_) => {
                let sides = [[[1, 1], all[1]], [[ni, ni], all[1]]];
                Some((["seam_first", "seam_last"], sides, false, [1, 2, 3]))
            }
            // Across the cut both i and j run the other way.
            Topology::C { wake } => {
                let wake = index(wake);
                let sides = [[[1, wake + 1], [1, 1]], [[ni - wake, ni], [1, 1]]];
                Some((["cut_first", "cut_last"], sides, true, [-1, -2, 3]))
            }
            Topology::Half(_) => None,
        };
        let mut connections = Vec::new();
        if let Some((names, [first, last], backwards, transform)) = welded {
            let met = |[[from, to], j]: [Range; 2]| {
                donor([if backwards { [to, from] } else { [from, to] }, j], None)
            };
            for (name, side, other) in [(names[0], first, last), (names[1], last, first)] {
                let range = point_range(side, None);
                connections.push(connection(name, range, met(other), transform));
            }
        }
        if let Some(span) = self.span.filter(|span| span.sides == Sides::Periodic) {
            let ends = [[1, 1], [self.size[2]; 2]];
            let width = span.z(span.cells) as f32;
            for (name, from, to, shift) in
                [("side_first", ends[0], ends[1], width), ("side_last", ends[1], ends[0], -width)]
            {
                let (from, to) = (point_range(all, Some(from)), donor(all, Some(to)));
                let mut side = connection(name, from, to, [1, 2, 3]);
                side.add(periodic([0.0, 0.0, shift]));
                connections.push(side);
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
    Node::new("GridConnectivityProperty", "GridConnectivityProperty_t").above([Node::new(
        "Periodic",
        "Periodic_t",
    )
    .above([
        vector("RotationCenter", [0.0; 3], LENGTH),
        vector("RotationAngle", [0.0; 3], ANGLE),
        vector("Translation", translation, LENGTH),
    ])])
}

/// Writes numbers little-endian.
fn write_numbers(mut out: &mut Out<'_>, numbers: &[f64]) -> io::Result<()> {
    pieces::write(&mut out, numbers.len(), |piece| {
        numbers[piece].iter().flat_map(|number| number.to_le_bytes()).collect()
    })
}
