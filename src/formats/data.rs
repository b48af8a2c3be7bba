//! Meshes to be written, and the choices within formats.

use super::mesh::Span;
use super::plot3d::layout::Flavour;
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
