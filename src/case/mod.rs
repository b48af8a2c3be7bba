//! Case files: what to grid, how finely, and how to solve for it.
//!
//! A case is read once, checked completely and then immutable; every default is resolved, so that
//! nothing downstream asks what a missing key means. `docs/case-format.md` lists the keys.

mod assembly;
mod defaults;
mod documents;
mod entries;
mod error;
mod keys;
mod open;
mod overrides;
mod parse;
mod resolve;
mod rig;
/// The table of keys, which the tests of gridgen read too.
#[doc(hidden)]
pub mod schema;
mod sections;
mod settle;
mod solving;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::formats::plot3d::Flavour;
use crate::formats::{Compression, Format, Sides};
use crate::geometry::{Ellipse, FileFrame, Flap, Joukowski, PIVOT, TrailingEdge, Wake, WingBody};
use crate::grid::{Seam, initial};
use crate::overset::Placement;
use crate::pde::control::ControlSettings;
use crate::solver::linear::{LinearSettings, Precision};
use crate::solver::newton::NewtonSettings;
use crate::solver::precond::{self, MultigridSettings};
use crate::sparse::Schedule;

pub use assembly::{Assembly, BackgroundOptions, CaseFile, Element, OversetOptions, Stand};
pub use defaults::Retry;
pub(crate) use defaults::{LEAST_FIRST_CELL, NEWTON_STEPS};
#[doc(hidden)] // For the test that compares the stored page.
pub use documents::case_format;
pub use documents::{OPENFOAM, json_schema, template};
pub use error::{CaseError, Found, Place, Places};
#[doc(hidden)] // For the test of its values.
pub use resolve::first_cell_from_y_plus;
pub(crate) use resolve::is_fit_name;
pub use rig::{AssemblyError, PlacedAssembly, PlacedBackground, PlacedElement};
pub use settle::{Body, Problem, SectionError};
pub use solving::SolverOptions;
pub use toml_edit::{InlineTable, Value};

/// A checked case with every default resolved. Lengths are in chords.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Case {
    /// Name, fit for a file.
    pub name: String,
    /// The section.
    pub geometry: GeometryOptions,
    /// Size and spacing of the grid.
    pub grid: GridOptions,
    /// The initial grid.
    pub initial: InitialOptions,
    /// Control functions.
    pub control: ControlSettings,
    /// Limits of the grid, and retries.
    pub quality: QualityOptions,
    /// The Newton iteration.
    pub newton: NewtonSettings,
    /// The linear solver.
    pub linear: LinearOptions,
    /// The multigrid preconditioner.
    pub multigrid: MultigridSettings,
    /// What is written.
    pub output: OutputOptions,
    /// Where the given keys stand.
    #[serde(skip)]
    pub places: Places,
}

/// Where the section's contour comes from.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Contour {
    /// A NACA designation, not yet interpreted.
    Naca(String),
    /// A file of coordinates, as an absolute path.
    File(PathBuf),
    /// Points in the order of a file, at any scale.
    Points(Vec<[f64; 2]>),
    /// A file with a smooth closed contour.
    Section(SectionOptions),
    /// A fuselage with a wing.
    WingBody(WingBody),
    /// An ellipse.
    Ellipse(Ellipse),
    /// A Joukowski section.
    Joukowski(Joukowski),
}

impl Contour {
    /// The key or section that names it.
    pub(crate) fn key(&self) -> &'static str {
        match self {
            Self::Naca(_) => "geometry.naca",
            Self::File(_) => "geometry.file",
            Self::Points(_) => "geometry.points",
            Self::Section(_) => "geometry.section",
            Self::WingBody(_) => "geometry.wing_body",
            Self::Ellipse(_) => "geometry.ellipse",
            Self::Joukowski(_) => "geometry.joukowski",
        }
    }

    /// The file that it is read from.
    pub(crate) fn file(&self) -> Option<&Path> {
        match self {
            Self::File(path) => Some(path),
            Self::Section(section) => Some(&section.file),
            Self::Naca(_)
            | Self::Points(_)
            | Self::WingBody(_)
            | Self::Ellipse(_)
            | Self::Joukowski(_) => None,
        }
    }

    /// Leaves the file that it is read from unnamed: its contents count, and not where it stands.
    pub(crate) fn forget_file(&mut self) {
        match self {
            Self::File(path) | Self::Section(SectionOptions { file: path, .. }) => path.clear(),
            _ => {}
        }
    }

    /// Notes with the name of the file that they are about.
    fn named(&self, notes: Vec<String>) -> Vec<String> {
        let Some(file) = self.file() else { return notes };
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        notes.into_iter().map(|note| format!("{name}: {note}")).collect()
    }

    /// Whether it is smooth all around, without leading and trailing edge.
    pub(crate) fn is_smooth(&self) -> bool {
        matches!(self, Self::Section(_) | Self::WingBody(_) | Self::Ellipse(_))
    }
}

/// Section `[geometry.section]`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SectionOptions {
    /// File with the points of the contour, as an absolute path.
    pub file: PathBuf,
    /// Reference length by which coordinates are divided.
    pub length: f64,
}

/// Section `[geometry]`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct GeometryOptions {
    /// Where the contour comes from.
    #[serde(flatten)]
    pub contour: Contour,
    /// How the trailing edge is closed.
    pub trailing_edge: TrailingEdge,
    /// Thickness of the trailing edge; none leaves it as it is.
    pub edge_thickness: Option<f64>,
    /// Tolerance within which the contour is smoothed; none leaves it as it is.
    pub smooth: Option<f64>,
    /// Where the section stands in the files written.
    pub frame: Frame,
    /// Where its file has it, once that is read.
    #[serde(skip)]
    pub(crate) in_file: FileFrame,
    /// Turn from which a point of the contour is a corner, in degrees; none takes the contour for smooth.
    pub corners: Option<f64>,
    /// Angle of attack in degrees.
    pub angle: f64,
    /// Length of the chord in the files written.
    pub chord: f64,
    /// A deflected flap.
    pub flap: Option<Flap>,
}

/// Where a section stands in the files written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Frame {
    /// Its nose is at the origin.
    Chord,
    /// Where its coordinates are.
    File,
}

impl GeometryOptions {
    /// Length of the chord in the files written.
    pub(crate) fn length(&self) -> f64 {
        if self.frame == Frame::File { self.chord * self.in_file.chord } else { self.chord }
    }

    /// Quarter point of a section whose grid was moved by `shift`.
    pub(crate) fn pivot(&self, shift: [f64; 2]) -> [f64; 2] {
        let FileFrame { nose_up, .. } = self.in_file;
        let turned = Placement { chord: 1.0, angle: nose_up, at: shift };
        turned.point(PIVOT)
    }
}

/// Shapes of grid that a case can ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Topology {
    /// Lines closed around the body.
    O,
    /// Lines around the body from outflow to outflow, with a cut behind the edge.
    C,
    /// `C` for a trailing edge that is one point, `O` for one with a base.
    #[serde(rename = "auto")]
    Auto,
    /// Half of `O` around a symmetric section.
    #[serde(rename = "half")]
    Half,
}

impl Case {
    /// The files that it was read from: its own and that of the coordinates.
    pub(crate) fn inputs(&self) -> Vec<&Path> {
        let own = Some(self.places.path.as_path());
        own.into_iter().chain(self.geometry.contour.file()).collect()
    }
}

impl Topology {
    /// Points around of the grid that is solved for, for `ni` points of the case: of half a
    /// grid those of the whole.
    pub(crate) const fn around(self, ni: usize) -> usize {
        match self {
            Self::Half => 2 * ni - 1,
            Self::O | Self::C | Self::Auto => ni,
        }
    }
}

/// Section `[grid]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct GridOptions {
    /// Shape of the grid.
    pub topology: Topology,
    /// Points of the line along the wall, the seam's or the cut's counted twice; of half a grid those
    /// from one end to the other.
    pub ni: usize,
    /// Points from wall to far field.
    pub nj: usize,
    /// Radius of the far field around (0.5, 0).
    pub far_field: f64,
    /// Distance of the outer line from the wall; none for the circle of the far field.
    pub reach: Option<f64>,
    /// Height of the first cell.
    pub first_cell: f64,
    /// The wake, where the topology may be C.
    #[serde(flatten)]
    pub wake: Option<Wake>,
    /// Spacing of wall points at the leading edge; none leaves it to the topology.
    pub leading_edge_spacing: Option<f64>,
    /// Spacing of wall points at the trailing edge; none leaves it to the topology.
    pub trailing_edge_spacing: Option<f64>,
    /// Largest turn of the wall from one cell to the next, in degrees; none leaves it to `ni`.
    pub max_turn: Option<f64>,
    /// Cells on a base; none leaves it to the trailing-edge spacing.
    pub base_cells: Option<usize>,
    /// Treatment of the seam; none leaves it to the trailing edge.
    #[serde(skip_deserializing)]
    pub seam: Option<Seam>,
}

impl GridOptions {
    /// The grid with `times` as many cells in both directions, and first cells of this height.
    pub(crate) fn scaled(&self, times: f64, first_cell: f64) -> Self {
        let cells = |cells: usize| (cells as f64 * times) as usize;
        let spacing = |given: Option<f64>| given.map(|spacing| spacing / times);
        Self {
            ni: cells(self.ni - 1) + 1,
            nj: cells(self.nj - 1) + 1,
            first_cell,
            wake: self.wake.map(|wake| Wake { cells: cells(wake.cells), ..wake }),
            leading_edge_spacing: spacing(self.leading_edge_spacing),
            trailing_edge_spacing: spacing(self.trailing_edge_spacing),
            max_turn: spacing(self.max_turn).map(|degrees| degrees.min(180.0)),
            base_cells: self.base_cells.map(cells),
            ..self.clone()
        }
    }

    /// How far the layers go: to the outer line or, about, to the far field.
    pub(crate) fn extent(&self) -> f64 {
        self.reach.unwrap_or(self.far_field)
    }

    /// Points around of the grid that is solved for: of half a grid those of the whole.
    pub const fn around(&self) -> usize {
        self.topology.around(self.ni)
    }
}

/// Section `[initial]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct InitialOptions {
    /// Construction of the initial grid.
    pub method: initial::Method,
    /// Dissipation ε of the hyperbolic march; none leaves it to the topology, as below.
    pub dissipation: Option<f64>,
    /// Smoothing `c_v` of the cell volumes in the hyperbolic march.
    pub volume_smoothing: Option<f64>,
    /// Growth m of the dissipation away from the wall.
    pub spread: Option<f64>,
}

/// Section `[quality]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct QualityOptions {
    /// Largest skewness of a cell.
    pub max_skewness: Option<f64>,
    /// Largest wall angle error in degrees.
    pub max_wall_angle: Option<f64>,
    /// Whether to try other settings.
    pub retry: bool,
    /// The retry plan: what is tried, in order.
    pub ladder: Vec<Retry>,
}

/// Section `[linear]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LinearOptions {
    /// Krylov method and its limits.
    #[serde(flatten)]
    pub krylov: LinearSettings,
    /// Preconditioner.
    pub preconditioner: precond::Kind,
    /// Order of elimination of DILU and ILU(0) on a GPU.
    pub schedule: Schedule,
    /// Precision of the linear solve.
    pub precision: Precision,
}

/// Section `[output]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct OutputOptions {
    /// Grid files to write, in order, each once.
    pub formats: Vec<&'static Format>,
    /// Compression of the `.vts` file.
    pub compression: Compression,
    /// Cells over the span, none of a plane grid.
    pub span_cells: usize,
    /// Span of an extruded grid.
    pub span: f64,
    /// What the ends of the span are.
    pub sides: Sides,
    /// Order of the curved cells of formats that have such.
    pub curved_order: usize,
    /// Layout of the `Plot3D` file.
    #[serde(flatten)]
    pub plot3d: Flavour,
    /// Whether to draw grid and convergence.
    pub pictures: bool,
    /// Whether to draw maps of the quality.
    pub quality_maps: bool,
    /// Whether to write the page `report.html`.
    pub report: bool,
    /// Whether to write the reference of movements, `reference.grd`.
    pub reference: bool,
}
