//! Results of a run in addition to its meshes: history, pictures, page and `report.json`. Files are
//! written by runs; their tables are hidden from the documentation.

mod artifacts;
mod figures;
pub(crate) mod history;
mod json;
mod overset;
pub(crate) mod page;
// For the program and measurements.
pub mod plot;

pub use self::artifacts::Artifacts;
pub use self::figures::{Figures, ReportFile, report_files};
pub use self::json::{GridReport, LinearTotals, NewtonTotals, Report, Timing, write_json};
pub use self::overset::{AssemblyReport, BackgroundReport, ElementReport};
