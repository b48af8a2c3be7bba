//! Results of a run in addition to its meshes: history, pictures, page and `report.json`. Files are
//! written by runs; their tables are hidden from the documentation.

mod figures;
pub(crate) mod history;
mod json;
mod overset;
pub(crate) mod page;
// For the program and measurements.
#[doc(hidden)]
pub mod plot;

pub use self::figures::{Figures, ReportFile, report_files};
pub use self::json::{GridReport, LinearReport, NewtonReport, Report, Timing, write_json};
pub use self::overset::{AssemblyReport, BackgroundReport, ElementReport};
use crate::grid::Grid;
use crate::grid::quality::Quality;
use crate::solver::history::History;

/// The data of a run's report on its grid.
#[derive(Debug, Clone, Copy)]
pub struct Artifacts<'a> {
    /// Name of the case, the title of the pictures.
    pub name: &'a str,
    /// The grid.
    pub grid: &'a Grid,
    /// Its quality.
    pub quality: &'a Quality,
    /// The Newton steps.
    pub history: &'a History,
    /// Newton residual below which the solve has converged.
    pub tolerance: f64,
    /// Whether the grid converged and passed the quality gate.
    pub good: bool,
}
