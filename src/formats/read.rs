//! Meshes read back: files of this and other programs.
//!
//! A file becomes one plane grid, oriented as the program's own: i around the body, j from the wall
//! outward, cells counter-clockwise ([`Mesh`]). Notes report what was turned.

use std::iter;
use std::path::Path;

use super::block::{ReadError, ReadFault};
use super::data::MeshData;
use super::rim::{Edge, ReadZone, Reindex, bounded, join, turn};
use crate::files::restart;
use crate::grid::boundary::{Meets, Name, Patch, Range, Side};
use crate::grid::quality::{self, Interface, WallLine, signed_area};
use crate::grid::vector::distance;
use crate::grid::{Grid, Outside, Seam, Symmetry, Topology};
use crate::overset::{Rim, Zone};

/// A mesh from a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Mesh {
    /// Its nodes.
    pub grid: Grid,
    /// The part of the line j = 0 that is the wall.
    pub wall: WallLine,
    /// Notes on the layout of the file and on what was turned, one sentence each.
    pub notes: Vec<String>,
}

/// The contents of a file: one grid, which has an empty name, or several zones.
#[derive(Debug, Clone, PartialEq)]
pub struct Contents {
    /// Names of its zones, each once.
    pub names: Vec<String>,
    /// Their grids, with the ranges of their sides where there are several; cells are counter-clockwise.
    pub grids: Vec<Grid>,
    /// Notes on the layout of the file and on what was turned, one sentence each.
    pub notes: Vec<String>,
}

impl Contents {
    /// The mesh that is its only zone; `path` is for the message.
    ///
    /// # Errors
    /// [`ReadFault::Zones`].
    pub fn mesh(self, path: &Path) -> Result<Mesh, ReadError> {
        let [grid] = self.grids.try_into().map_err(|grids: Vec<Grid>| {
            let sizes = grids.iter().map(|grid| [grid.ni, grid.nj]).collect();
            ReadError::at(path, ReadFault::Zones(sizes))
        })?;
        Ok(Mesh { wall: WallLine::of_grid(&grid), grid, notes: self.notes })
    }

    /// The linked blocks of which the first runs around a body: those of a cascade, or a C-grid and the block behind a base.
    pub fn linked(&self) -> Option<Vec<Grid>> {
        self.cascade().or_else(|| self.with_base())
    }

    /// A C-grid around a section with a base, from the wall outward, and the block behind that.
    fn with_base(&self) -> Option<Vec<Grid>> {
        let [mut around, mut behind]: [Grid; 2] = self.grids.clone().try_into().ok()?;
        around.topology = Topology::Blunt { wake: behind.ni - 1 };
        behind.topology = Topology::Behind { around: around.ni };
        let blocks = vec![around, behind];
        let is_linked = |grid: &Grid| {
            let (found, own) = (grid.boundary(), grid.topology.boundary([grid.ni, grid.nj]));
            let mut links = own.iter().filter(|range| range.link().is_some());
            links.all(|link| found.contains(link))
        };
        blocks.iter().all(is_linked).then_some(blocks)
    }

    /// The blocks of a cascade: an O-grid around a blade, from the wall outward, and three blocks that meet its outer line.
    fn cascade(&self) -> Option<Vec<Grid>> {
        let mut blocks: [Grid; 4] = self.grids.clone().try_into().ok()?;
        let is_seam = |range: &Range| {
            range.on.side == Side::Before
                && range.link().is_some_and(|to| (to.block, to.side) == (0, Side::Behind))
        };
        let ranges = blocks[0].boundary();
        let of = |side: Side| ranges.iter().filter(move |range| range.on.side == side);
        let is_ring = of(Side::Before).all(is_seam)
            && of(Side::Below).all(Range::is_wall)
            && !of(Side::Above).any(Range::is_wall);
        blocks[0].topology = Topology::O(Seam::Held);
        is_ring.then_some(blocks.into())
    }

    /// The mesh to be written, with the usual choices.
    pub fn data(&self) -> MeshData<'_> {
        let zones = self.names.iter().zip(&self.grids);
        let zones = zones.map(|(name, grid)| Zone { name, grid, rim: Rim::FarField }).collect();
        // Points that an interface joins become one.
        let close = |found: Interface| found.gap <= WELDED * found.length;
        let mut data = MeshData { zones, ..MeshData::from(&self.grids[0]) };
        if self.grids.len() > 1 {
            data.weldable = quality::interfaces(&self.grids).into_iter().all(close);
        }
        data
    }
}

impl From<Grid> for Mesh {
    /// A grid of any orientation and topology, of at least 2 × 2 nodes, turned as that of a file is. One around a base
    /// stays as it is: its interfaces are no longer parallel when it has moved.
    fn from(grid: Grid) -> Self {
        let mut notes = Vec::new();
        let around_base = matches!(grid.topology, Topology::Blunt { .. });
        let zone = ReadZone::new("", grid, 2);
        let grid = if around_base { zone.grid } else { orient(zone, &mut notes) };
        Self { wall: WallLine::of_grid(&grid), grid, notes }
    }
}

/// The contents of a file that has these zones.
pub(super) fn finished(mut zones: Vec<ReadZone>, mut notes: Vec<String>) -> Contents {
    if zones.len() == 1 {
        let grid = orient(zones.swap_remove(0), &mut notes);
        return Contents { names: vec![String::new()], grids: vec![grid], notes };
    }
    join(&mut zones);
    for block in 0..zones.len() {
        if signed_area(&zones[block].grid) < 0.0 {
            turn(&mut zones, block, Reindex::Reverse(0));
            let name = &zones[block].name;
            notes.push(format!("{name}: i was reversed, so that cells are counter-clockwise."));
        }
    }
    let mut names: Vec<String> = Vec::new();
    for (number, zone) in (1..).zip(&zones) {
        let name: &str = Name::of(&zone.name).into();
        let name = if zone.name.is_empty() { format!("zone-{number}") } else { name.to_owned() };
        // Names have at most 32 characters, as in CGNS.
        let others = (number..).map(|number| format!("{name:.27}.{number}"));
        let free = iter::once(name.clone()).chain(others).find(|name| !names.contains(name));
        names.extend(free);
    }
    let grids = bounded(zones);
    let links = quality::interfaces(&grids).len();
    notes.push(format!("{} zones, interfaces between them: {links}.", grids.len()));
    Contents { names, grids, notes }
}

/// Points of an interface that are closer than this part of its length may be joined.
const WELDED: f64 = 1e-6;
/// Nodes closer than this part of the chord or extent of the wall are one.
const SAME: f64 = 1e-9;
/// Distances of the interfaces to a block behind a base that differ by less than this part are one.
const PARALLEL: f64 = 1e-7;

/// The grid turned so that i runs around the body, j outward, and cells are counter-clockwise.
fn orient(zone: ReadZone, notes: &mut Vec<String>) -> Grid {
    let mut zones = [zone];
    let walls = zones[0].wall_below();
    let grid = &zones[0].grid;
    if shape(grid).is_none() {
        let other = Reindex::Exchange.of(grid);
        let exchange = shape(&other).is_some() || shape(&Reindex::Reverse(1).of(&other)).is_some();
        let outside_in = shape(&Reindex::Reverse(1).of(grid)).is_some();
        if exchange {
            notes.push(turned(&mut zones, &[Reindex::Exchange], "i runs around the body"));
        } else if !outside_in && !walls.is_empty() {
            notes.push(turned(&mut zones, walls, "the wall is at j = 0"));
        }
    }
    let grid = &zones[0].grid;
    let inside_out = Reindex::Reverse(1).of(grid);
    let flipped = match (shape(grid), shape(&inside_out)) {
        (Some(Topology::C { .. }), _) => false,
        (_, Some(Topology::C { .. })) => true,
        (found, _) => found.is_some() && length(&inside_out) < length(grid),
    };
    if flipped {
        let why = "it runs from the wall outward";
        notes.push(turned(&mut zones, &[Reindex::Reverse(1)], why));
    }
    if signed_area(&zones[0].grid) < 0.0 {
        notes.push(turned(&mut zones, &[Reindex::Reverse(0)], "cells are counter-clockwise"));
    }
    // Interfaces to a block behind a base are no patches of a file.
    let is_patch = |edge: &Edge| matches!(edge, Some(Meets::Patch(_) | Meets::Partner(..)));
    let bounded_below = zones[0].sides[Side::Below as usize].iter().all(is_patch);
    let is_other = |found: &Topology| !(bounded_below && matches!(found, Topology::Blunt { .. }));
    let shape = shape(&zones[0].grid).filter(is_other);
    let untold = shape.is_none()
        && zones[0].grid.outside.is_none()
        && zones[0].sides.iter().flatten().all(Option::is_none);
    if untold {
        zones[0].sides[Side::Below as usize].fill(Some(Meets::Patch(Patch::named("wall", None))));
    }
    let (mut grid, given) = named(zones, shape);
    grid.topology = shape.unwrap_or(Topology::Rectangle);
    if !given.is_empty() {
        let outside = Outside::of_ranges(given);
        if !untold {
            notes.push(format!("Patches: {}.", joined(&outside)));
        }
        grid.outside = Some(outside);
    }
    let WallLine { from, to, .. } = WallLine::of_grid(&grid);
    notes.push(match shape {
        Some(Topology::O(_)) => "An O-grid: its ends in i coincide.".to_owned(),
        Some(Topology::C { .. }) => {
            format!("A C-grid: the wall runs from i = {from} to {to}, the rest is its wake.")
        }
        Some(Topology::Half(_)) => {
            "Half a grid: its ends in i lie on one plane of symmetry.".to_owned()
        }
        Some(Topology::Blunt { .. }) => format!(
            "A C-grid around a base: the wall runs from i = {from} to {to}; the block behind the base is in another file."
        ),
        _ if untold => {
            let sides = grid.outside.as_ref().map(joined).unwrap_or_default();
            format!("Neither ends nor wake coincide: j = 0 was taken as the wall. Patches: {sides}.")
        }
        // No shape of a grid around a body.
        _ => format!("A block: its wall on the line j = 0 runs from i = {from} to {to}."),
    });
    grid
}

/// Turns the one zone in these ways; returns the note on that.
fn turned(zones: &mut [ReadZone; 1], turns: &[Reindex], why: &str) -> String {
    for by in turns {
        turn(zones, 0, *by);
    }
    let said: Vec<&str> = turns.iter().map(|by| by.said()).collect();
    format!("{}, so that {why}.", said.join(", "))
}

/// The names of patches in a sentence.
fn joined(outside: &Outside) -> String {
    outside.patches().into_iter().map(Patch::name).collect::<Vec<_>>().join(", ")
}

/// The grid of a zone, and the ranges of its sides; none where they are those that a grid of this shape has of itself, by
/// these names, or where the file tells nothing.
fn named(mut zones: [ReadZone; 1], shape: Option<Topology>) -> (Grid, Vec<Range>) {
    let open = zones[0].sides.iter().flatten().all(Option::is_none);
    let own = shape.map(|shape| shape.boundary(zones[0].size()));
    if shape.is_none() && !open {
        join(&mut zones);
    }
    let [mut zone] = zones;
    let mut other = !open;
    if let Some(own) = own {
        other =
            own.iter().filter_map(|range| Some((range.on, range.patch()?))).any(|(on, patch)| {
                let edges = &zone.sides[on.side as usize];
                edges[on.nodes[0]..on.nodes[1]].iter().any(|edge| match edge {
                    Some(Meets::Patch(found) | Meets::Partner(found, _)) => {
                        let outflow =
                            patch == Patch::Outflow && found.name() == Patch::FarField.name();
                        !(outflow || found.name() == patch.name()) || found.kind() != patch.kind()
                    }
                    _ => false,
                })
            });
        // A block behind a base is not among the zones.
        other &= !matches!(shape, Some(Topology::Blunt { .. }));
        zone.complete(&own);
    }
    let ranges = if other { zone.ranges(0) } else { Vec::new() };
    (zone.grid, ranges)
}

/// The shape of a grid whose line j = 0 runs around a body, as far as its points tell.
fn shape(grid: &Grid) -> Option<Topology> {
    let (tolerance, last) = (SAME * length(grid), grid.ni - 1);
    if let Some(found) = Topology::of_coincident(grid, tolerance) {
        return Some(found);
    }
    let wake = interfaces(grid);
    if wake > 0 {
        return Some(Topology::Blunt { wake });
    }
    // Both ends in i lie on one line, x or y = const.
    let ends = || (0..grid.nj).flat_map(|j| [grid.point(0, j), grid.point(last, j)]);
    let level = |c: usize| ends().all(|p| (p[c] - grid.point(0, 0)[c]).abs() <= tolerance);
    let symmetries = [(1, Symmetry::UpDown), (0, Symmetry::LeftRight)];
    symmetries.into_iter().find(|(c, _)| level(*c)).map(|(_, symmetry)| Topology::Half(symmetry))
}

/// The number of cells that each interface to a block behind a base has at its end of the line j = 0 of a C-grid; the
/// interfaces are as far apart as the corners of the base. It is 0 for another grid.
fn interfaces(grid: &Grid) -> usize {
    let (last, outer) = (grid.ni - 1, grid.nj - 1);
    let apart = |i: usize| distance(grid.point(i, 0), grid.point(last - i, 0));
    let same = |i: &usize| (apart(*i) / apart(0) - 1.0).abs() <= PARALLEL;
    let wake = (0..grid.ni / 2).take_while(same).count().saturating_sub(1);
    // Flat sides of half a body are parallel, too, but neither widen ahead of there nor reach as far as the outer boundary.
    let length = distance(grid.point(0, 0), grid.point(grid.ni / 2, 0));
    let rise = [0, last].map(|i| distance(grid.point(i, 0), grid.point(i, outer)));
    let far = length > 0.35 * (rise[0] + rise[1]);
    if far || apart(wake + 1) > apart(wake) { wake } else { 0 }
}

/// Length of the line j = 0.
fn length(grid: &Grid) -> f64 {
    (1..grid.ni).map(|i| distance(grid.point(i - 1, 0), grid.point(i, 0))).sum()
}

const UNPACK: &str = "unpack it first, and give what was in it";
const FOLDER: &str = "give the folder of the case, or its polyMesh";
const EXPORT: &str = "save the structured grid as Plot3D, CGNS, .vts, .su2 or Tecplot text by the program that made it";

/// First bytes of files, in any case of the letters, their kind, and advice.
const FOREIGN: [(&[u8], &str, &str); 18] = [
    (b"#!TDV", "a binary Tecplot file", EXPORT),
    (b"@(#)ADF", "CGNS in ADF, its older container", "convert it to HDF5: adf2hdf FILE"),
    (b"\x1f\x8b", "packed by gzip", UNPACK),
    (b"BZh", "packed by bzip2", UNPACK),
    (b"\xfd7zXZ", "packed by xz", UNPACK),
    (b"\x28\xb5\x2f\xfd", "packed by Zstandard", UNPACK),
    (b"PK\x03\x04", "a zip archive", UNPACK),
    (b"CDF\x01", "a NetCDF file", EXPORT),
    (b"\x93NUMPY", "an array of numpy", "in Python give the arrays x and y to gridgen.Mesh"),
    (b"solid", "a surface of triangles (STL)", EXPORT),
    (b"(0 \"", "a Fluent mesh", EXPORT),
    (b"(1 \"", "a Fluent mesh", EXPORT),
    (b"/*---", "a file of OpenFOAM", FOLDER),
    (b"FoamFile", "a file of OpenFOAM", FOLDER),
    (b"<", "XML or HTML, no VTK file", EXPORT),
    (b"{", "JSON", EXPORT),
    (restart::MAGIC, "a restart file of gridgen", "give the mesh beside it, such as mesh.vts"),
    (b"GGREFRNC", "a reference of gridgen", "give it to gridgen move"),
];

/// Refuses a file that begins as one of these.
pub(super) fn check_foreign(bytes: &[u8]) -> Result<(), ReadFault> {
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start();
    let begins =
        |start: &[u8]| text.get(..start.len()).is_some_and(|s| s.eq_ignore_ascii_case(start));
    // Triangles follow a head of 80 bytes and their number.
    let triangles =
        bytes.get(80..84).and_then(|field| field.try_into().ok()).map(u32::from_le_bytes);
    let stl = triangles.is_some_and(|n| bytes.len() as u64 == 84 + 50 * u64::from(n));
    let is = |start: &[u8]| if stl { start == b"solid" } else { begins(start) };
    let found = FOREIGN.iter().find(|(start, ..)| is(start));
    found.map_or(Ok(()), |(_, kind, hint)| {
        Err(ReadFault::Layout { reason: format!("{kind}, which is not read").into(), hint })
    })
}
