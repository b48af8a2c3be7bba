//! Meshes to be written, the choices within formats, and the span of a plane grid in the third dimension.

use serde::{Deserialize, Serialize};

use crate::grid::boundary::{Outside, Patch, SideKind};
use crate::grid::vector::{between, distance};
use crate::grid::{Grid, Symmetry, Topology};
use crate::overset::{Rim, SearchBox, Zone};

/// A mesh to be written.
#[derive(Debug, Clone)]
pub struct MeshData<'a> {
    /// Its plane zones, at least one. A section has one zone without a name, or those of its two blocks. An overset mesh
    /// has the zone of the background first, if there is one, then the others in order of priority.
    pub zones: Vec<Zone<'a>>,
    /// The third dimension; none where the zones are plane.
    pub span: Option<Span>,
    /// Whether all points that its grids repeat are in it: not those of a grid around a base alone.
    pub weldable: bool,
    /// Whether the grids may be used: names of files say so.
    pub good: bool,
    /// Choices within formats.
    pub settings: Settings,
    /// The box in which OpenFOAM cuts holes between several zones, in the unit of the mesh.
    pub search: SearchBox,
}

impl<'a> MeshData<'a> {
    /// The plane blocks of a grid that the program made, with the usual choices: the grid, and the block behind a base, if
    /// there is one.
    pub fn of_blocks(blocks: &[&'a Grid]) -> Self {
        let zones = block_names(blocks.len()).iter().zip(blocks);
        let zones = zones.map(|(name, grid)| Zone { name, grid, rim: Rim::FarField }).collect();
        let (settings, search) = (Settings::default(), SearchBox::default());
        // The points of a base are in the block behind it.
        let weldable = !matches!(blocks, [Grid { topology: Topology::Blunt { .. }, .. }]);
        Self { zones, span: None, weldable, good: true, settings, search }
    }

    /// The grid of a section, or of the first zone.
    ///
    /// # Panics
    /// If there is no zone.
    pub fn grid(&self) -> &'a Grid {
        self.zones[0].grid
    }

    pub(super) fn parts(&self) -> Parts {
        Parts::of_zones(&self.zones)
    }

    /// Its zones, each as a mesh, with their names.
    pub(super) fn each(&self) -> Vec<(&'a str, Self)> {
        let zones = self.zones.iter();
        zones.map(|zone| (zone.name, Self { zones: vec![*zone], ..self.clone() })).collect()
    }

    /// Names of the patches of its walls.
    pub(super) fn walls(&self) -> Vec<&'a str> {
        let given = given(&self.zones);
        if !given.is_empty() {
            let walls = given.into_iter().filter(|patch| patch.kind().is_none());
            return walls.map(Patch::name).collect();
        }
        match self.parts() {
            Parts::Whole => vec![Patch::Wall.name()],
            Parts::Blocks => [Patch::Wall, Patch::Base].map(Patch::name).to_vec(),
            Parts::Overset => {
                self.zones.iter().filter(|zone| zone.has_wall()).map(|zone| zone.name).collect()
            }
        }
    }

    /// The patches of the outer line that are no walls, each once by its name, and the condition on each; none where there
    /// are no others than those of the topology.
    pub(super) fn sides(&self) -> Option<Vec<(&'static str, SideKind)>> {
        match &given(&self.zones)[..] {
            [] => self.grid().outside.as_ref().map(Outside::kinds),
            all => {
                Some(all.iter().filter_map(|patch| Some((patch.name(), patch.kind()?))).collect())
            }
        }
    }

    pub(super) fn reference(&self) -> ForceReference {
        self.settings.reference.unwrap_or_else(|| ForceReference::of(self.grid()))
    }

    /// The grids of its zones.
    pub fn blocks(&self) -> Vec<&'a Grid> {
        self.zones.iter().map(|zone| zone.grid).collect()
    }
}

/// The patches of zones as a file has them, each name once; none where they follow from topology and box.
pub(super) fn given(zones: &[Zone<'_>]) -> Vec<Patch> {
    let outside = zones.iter().filter_map(|zone| zone.grid.outside.as_ref());
    let all = outside.filter(|outside| !outside.given.is_empty()).flat_map(Outside::patches);
    let mut patches: Vec<Patch> = Vec::new();
    for patch in all {
        if patches.iter().all(|other| other.name() != patch.name()) {
            patches.push(patch);
        }
    }
    patches
}

/// Names of the zones of a section whose grid has `count` blocks: one, a C-grid around a base and the block behind that, or
/// those of a cascade.
pub fn block_names(count: usize) -> &'static [&'static str] {
    match count {
        0 | 1 => &[""],
        2 => &["around", "behind"],
        _ => &["blade", "passage", "ahead", "behind"],
    }
}

/// The parts that zones are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Parts {
    /// The grid of a section, which has an empty name.
    Whole,
    /// Its blocks, which are linked.
    Blocks,
    /// The zones of an overset mesh.
    Overset,
}

impl Parts {
    /// The parts that these zones are: blocks if none takes values from others.
    pub(super) fn of_zones(zones: &[Zone<'_>]) -> Self {
        match zones {
            [_, _, ..] if !given(zones).is_empty() => Self::Blocks,
            _ => Self::of(zones.iter().map(|zone| zone.name)),
        }
    }

    pub(super) fn of<'n>(names: impl IntoIterator<Item = &'n str>) -> Self {
        match names.into_iter().next() {
            None | Some("") => Self::Whole,
            Some(name) if [2, 4].iter().any(|&count| name == block_names(count)[0]) => Self::Blocks,
            Some(_) => Self::Overset,
        }
    }
}

/// Choices within formats.
#[derive(Debug, Clone, Copy, serde::Serialize, serde::Deserialize)]
pub struct Settings {
    /// Compression of `.vts`.
    pub compression: Compression,
    /// Layout of `Plot3D`.
    pub plot3d: Flavour,
    /// Order of the cells of formats that have curved ones.
    pub curved_order: usize,
    /// The reference of the force coefficients of an OpenFOAM case; none for the grid's chord.
    pub reference: Option<ForceReference>,
    /// Reynolds number of the reference length, for set-ups of flow solvers; none for inviscid flow.
    pub reynolds: Option<f64>,
}

impl Default for Settings {
    fn default() -> Self {
        let (compression, plot3d) = (Compression::default(), Flavour::default());
        Self { compression, plot3d, curved_order: 1, reference: None, reynolds: None }
    }
}

impl<'a> From<&'a Grid> for MeshData<'a> {
    /// A plane grid that the program made, with the usual choices.
    fn from(grid: &'a Grid) -> Self {
        Self::of_blocks(&[grid])
    }
}

/// Whether the arrays are compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Compression {
    /// They stand as they are.
    #[default]
    None,
    /// In blocks, each a zlib stream.
    Zlib,
}

/// Length and place that force coefficients refer to, in the unit of the mesh.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ForceReference {
    /// The chord.
    pub length: f64,
    /// Point that moments are taken about.
    pub centre: [f64; 2],
}

impl ForceReference {
    /// The reference of a grid whose case is not known: the chord from the trailing edge to the point of the
    /// wall that is farthest from it, and its quarter.
    pub fn of(grid: &Grid) -> Self {
        let wall = grid.topology.wall(grid.ni);
        // A block without a wall at j = 0 gives the length of that line.
        let wall = if wall.is_empty() { 0..=grid.ni - 1 } else { wall };
        let up_down = grid.topology.half() == Some(Symmetry::UpDown);
        let edge = grid.point(if up_down { *wall.end() } else { *wall.start() }, 0);
        let farther = |nose: [f64; 2], point: [f64; 2]| {
            if distance(edge, point) > distance(edge, nose) { point } else { nose }
        };
        let nose = wall.map(|i| grid.point(i, 0)).fold(edge, farther);
        Self { length: distance(edge, nose), centre: between(nose, edge, 0.25) }
    }
}

/// Layout of a `Plot3D` file, as in section `[output]` of a case. The default is what most programs read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flavour {
    /// Coordinates a point: 2, x and y, or 3, with z in at least two planes.
    #[serde(rename = "plot3d_dimensions")]
    pub dimensions: u8,
    /// Text or binary.
    #[serde(rename = "plot3d_encoding")]
    pub encoding: Encoding,
    /// Digits or bytes of a number.
    #[serde(rename = "plot3d_precision")]
    pub precision: NumberPrecision,
    /// Order of the bytes of a binary number.
    #[serde(rename = "plot3d_byte_order")]
    pub byte_order: ByteOrder,
    /// Whether the number of blocks, 1, stands before their sizes ("multi-block").
    #[serde(rename = "plot3d_block_count")]
    pub block_count: bool,
    /// Whether an IBLANK number for each point follows the coordinates.
    #[serde(rename = "plot3d_blanking")]
    pub blanking: bool,
    /// Directions of the second and the third index, with three dimensions.
    #[serde(rename = "plot3d_axes")]
    pub axes: Axes,
}

impl Default for Flavour {
    fn default() -> Self {
        Self {
            dimensions: 3,
            encoding: Encoding::Text,
            precision: NumberPrecision::Double,
            byte_order: ByteOrder::Little,
            block_count: true,
            blanking: false,
            axes: Axes::Ijk,
        }
    }
}

/// Text or binary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Encoding {
    /// Formatted text.
    Text,
    /// Unformatted Fortran records: each between its lengths in bytes as 32-bit integers.
    Fortran,
    /// The bytes alone, as C programs and Fortran streams write them.
    Stream,
}

/// Size of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NumberPrecision {
    /// 32 bits, or 9 digits.
    Single,
    /// 64 bits, or 17 digits.
    Double,
}

/// Order of the bytes of a binary number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ByteOrder {
    /// Least significant byte first.
    Little,
    /// Most significant byte first.
    Big,
}

impl ByteOrder {
    /// The bytes of a number in this order.
    pub(super) fn of<const N: usize>(self, mut little_endian: [u8; N]) -> [u8; N] {
        if self == Self::Big {
            little_endian.reverse();
        }
        little_endian
    }
}

/// Directions of the indices and coordinates of a block. Both are right-handed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Axes {
    /// i around the body, j outward, k along the span, which is +z.
    Ijk,
    /// i around the body, j along the span, which is +y, k outward; z upward: what FUN3D expects, and
    /// Construct2D writes for it.
    Fun3d,
}

/// The kind of the two planes at the ends of the span.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sides {
    /// Planes of symmetry.
    Symmetry,
    /// The last repeats the first.
    Periodic,
}

/// A plane grid repeated from z = 0 to z = `length`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Span {
    /// Length in the unit of the grid.
    pub length: f64,
    /// Cells over it, at least one.
    pub cells: usize,
    /// The kind of its ends.
    pub sides: Sides,
}

impl Span {
    /// One cell over one unit: what programs without two dimensions take for a plane.
    pub const ONE: Self = Self { length: 1.0, cells: 1, sides: Sides::Symmetry };

    /// Planes of nodes.
    pub fn planes(&self) -> usize {
        self.cells + 1
    }

    /// z of a plane.
    pub fn z(&self, plane: usize) -> f64 {
        // The last one bit for bit.
        if plane == self.cells {
            self.length
        } else {
            self.length * plane as f64 / self.cells as f64
        }
    }
}

/// Number of planes of a grid that is extruded or stays in the plane z = 0.
pub(super) fn count(span: Option<Span>) -> usize {
    span.map_or(1, |span| span.planes())
}

/// Layers of cells of a grid that is extruded; one of a grid that stays in the plane.
pub(super) fn layers(span: Option<Span>) -> usize {
    span.map_or(1, |span| span.cells)
}

/// z of these planes.
pub(super) fn planes(span: Option<Span>) -> impl Iterator<Item = f64> {
    (0..count(span)).map(move |k| span.map_or(0.0, |span| span.z(k)))
}

/// The name of the patch at the ends of the span, and those of two.
const SYMMETRY: &[&str] = &["symmetry"];
const BACK_AND_FRONT: &[&str] = &["back", "front"];

/// Names of the patches at the ends of the span of these blocks; they are one where no other patch has that name, as the
/// plane of half a grid does.
pub(super) fn ends(span: Option<Span>, grids: &[&Grid]) -> &'static [&'static str] {
    let patches = || grids.iter().flat_map(|grid| grid.boundary()).filter_map(|on| on.patch());
    let is_taken = || patches().any(|patch| SYMMETRY.contains(&patch.name()));
    match span {
        None => &[],
        Some(span) if span.sides == Sides::Symmetry && !is_taken() => SYMMETRY,
        Some(_) => BACK_AND_FRONT,
    }
}
