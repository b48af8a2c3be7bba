//! Case files: what to grid, how finely, and how to solve for it.
//!
//! A case is read once, checked completely and then immutable; every default is resolved, so that
//! nothing downstream asks what a missing key means. `docs/case-format.md` lists the keys.

mod around;
mod assembly;
mod defaults;
mod documents;
mod entries;
mod error;
mod keys;
mod open;
mod parse;
mod piece;
mod pieces;
mod points;
mod problem;
mod resolve;
mod rig;
pub(crate) mod schema;
mod sections;
mod settle;
mod solving;
pub(crate) mod table;
mod topology;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::geometry::{Cluster, Ellipse, Joukowski, PIVOT, Placement, Wake, WingBody};
use crate::pde::control::ControlSettings;
use crate::solver::newton::NewtonSettings;
use crate::solver::precond::MultigridSettings;

pub use assembly::{CaseFile, Element, PlacedBy};
pub(crate) use defaults::{LEAST_FIRST_CELL, NEWTON_STEPS};
pub use defaults::{Retry, first_cell_from_y_plus};
pub use documents::{VISCOUS, json_schema, template};
#[cfg(feature = "cli")]
pub(crate) use entries::alternatives;
pub use error::{CaseError, GivenValue, Place, Places};
pub use keys::{
    CascadeOptions, DomainOptions, GeometryOptions, GridOptions, InitialOptions, LayersOptions,
    LinearOptions, OutputOptions, QualityOptions, SectionOptions,
};
pub use piece::{PieceCurve, PieceOptions};
pub use problem::Problem;
pub(crate) use resolve::is_fit_name;
pub use rig::{AssemblyError, PlacedBackground, PlacedCase, PlacedElement};
#[cfg(feature = "cli")]
pub(crate) use sections::nearest_file;
pub use settle::{BodyContour, SectionError};
pub use solving::SolverOptions;
pub use table::{BackgroundOptions, OversetOptions};
pub use toml::{Table, Value};

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
    /// The box around the section, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub domain: Option<DomainOptions>,
    /// The row of blades that the section is one of, if it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cascade: Option<CascadeOptions>,
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
    /// The files to write.
    pub output: OutputOptions,
    /// Places of the given keys.
    #[serde(skip)]
    pub places: Places,
}

/// Source of the section's contour.
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
    /// The file that it is read from.
    pub(crate) fn file(&self) -> Option<&Path> {
        match self {
            Self::File(path) => Some(path),
            Self::Section(section) => Some(&section.file),
            _ => None,
        }
    }

    /// Leaves the file that it is read from unnamed: its contents count, and not its path.
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
    pub fn is_smooth(&self) -> bool {
        matches!(self, Self::Section(_) | Self::WingBody(_) | Self::Ellipse(_))
    }
}

/// Coordinates of a section in the files written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Frame {
    /// Its nose is at the origin.
    Chord,
    /// The coordinates of its file are kept.
    File,
}

impl GeometryOptions {
    /// Length of the chord in the files written.
    pub fn length(&self) -> f64 {
        if self.frame == Frame::File { self.chord * self.in_file.chord } else { self.chord }
    }

    /// Quarter point of a section whose grid was moved by `shift`.
    pub(crate) fn pivot(&self, shift: [f64; 2]) -> [f64; 2] {
        Placement { chord: 1.0, at: shift, ..self.in_file }.point(PIVOT)
    }
}

/// Origin of the points of the wall.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum WallPoints {
    /// They are spaced along the section.
    Spaced,
    /// They are the points of the section.
    AsGiven,
}

/// Shapes of grid that a case can ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum TopologyChoice {
    /// Lines closed around the body.
    O,
    /// Lines around the body from outflow to outflow, with a cut behind the edge.
    C,
    /// `C` for a sharp trailing edge, `O` otherwise; the default.
    #[serde(rename = "auto")]
    Auto,
    /// Half of `O` around a symmetric section.
    #[serde(rename = "half")]
    Half,
}

impl Case {
    /// The files that it was read from: its own, that of the coordinates, and those of the outer line.
    pub(crate) fn inputs(&self) -> Vec<&Path> {
        let own = Some(self.places.path.as_path());
        let pieces = self.domain.iter().filter_map(|domain| domain.piece.as_ref()).flatten();
        let pieces = pieces.filter_map(|piece| piece.file.as_deref());
        own.into_iter().chain(self.geometry.contour.file()).chain(pieces).collect()
    }
}

impl TopologyChoice {
    /// Points around of the grid that is solved for, of half a grid those of the whole, for `ni` of the case.
    pub(crate) const fn around(self, ni: usize) -> usize {
        match self {
            Self::Half => 2 * ni - 1,
            Self::O | Self::C | Self::Auto => ni,
        }
    }
}

impl GridOptions {
    /// The grid with `times` as many cells in both directions, and first cells of this height.
    pub(crate) fn scaled(&self, times: f64, first_cell: f64) -> Self {
        let cells = |cells: usize| (cells as f64 * times) as usize;
        let spacing = |given: Option<f64>| given.map(|spacing| spacing / times);
        let points = |given: Option<usize>| given.map(|points| cells(points - 1) + 1);
        let cluster = |one: &Cluster| Cluster { spacing: one.spacing / times, ..*one };
        let wake = |wake: Wake| Wake {
            cells: cells(wake.cells),
            end_spacing: spacing(wake.end_spacing),
            ..wake
        };
        Self {
            ni: cells(self.ni - 1) + 1,
            nj: cells(self.nj - 1) + 1,
            first_cell,
            heights: self.heights.as_ref().map(|h| h.scaled(first_cell / self.first_cell, times)),
            wake_first_cell: self.wake_first_cell.map(|h| h * first_cell / self.first_cell),
            wake: self.wake.map(wake),
            leading_edge_spacing: spacing(self.leading_edge_spacing),
            trailing_edge_spacing: spacing(self.trailing_edge_spacing),
            max_turn: spacing(self.max_turn).map(|degrees| degrees.min(180.0)),
            base_cells: self.base_cells.map(cells),
            layers: self.layers.map(|near| LayersOptions {
                count: cells(near.count),
                growth: near.growth.powf(1.0 / times),
            }),
            points_upper: points(self.points_upper),
            points_lower: points(self.points_lower),
            clusters: self.clusters.as_ref().map(|all| all.iter().map(cluster).collect()),
            max_spacing: spacing(self.max_spacing),
            wall_growth: self.wall_growth.map(|ratio| ratio.powf(1.0 / times)),
            ..self.clone()
        }
    }

    /// Distance that the layers cover: to the outer line or, about, to the far field.
    pub(crate) fn extent(&self) -> f64 {
        self.reach.unwrap_or(self.far_field)
    }

    /// Points around of the grid that is solved for: of half a grid those of the whole.
    pub const fn around(&self) -> usize {
        self.topology.around(self.ni)
    }
}
