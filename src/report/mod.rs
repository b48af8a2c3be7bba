//! Results of a run in addition to its meshes: history, pictures, page and `report.json`. Files are
//! written by runs; their tables are hidden from the documentation.

pub(crate) mod figures;
mod json;
pub(crate) mod page;
// For the program and measurements.
pub mod plot;

pub use self::figures::{Figures, ReportFile, report_files};
pub use self::json::{
    AssemblyReport, BackgroundReport, BlockReport, ElementReport, GridReport, LinearTotals,
    NewtonTotals, Report, RunReport, Timing, write_json,
};
pub use self::page::Comparison;
pub use self::plot::Artifacts;
