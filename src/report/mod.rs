//! Results of a run in addition to its meshes: history, pictures, page and `report.json`. Files are
//! written by runs; their tables are hidden from the documentation.

pub(crate) mod history;
mod json;
mod overset;
pub(crate) mod page;
// For the program and measurements.
#[doc(hidden)]
pub mod plot;

use std::path::Path;

pub use self::json::{GridReport, LinearReport, NewtonReport, Report, Timing, write_json};
pub use self::overset::{AssemblyReport, BackgroundReport, ElementReport};
pub use self::plot::Figures;
use crate::files::IoError;
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

/// A picture or a table of a run.
#[derive(Debug)]
pub struct ReportFile {
    /// Its name, for a good grid and for one that is not: those that show the grid say so.
    pub names: [&'static str; 2],
    /// Writes it.
    pub write: fn(&Path, &Artifacts<'_>, &Figures) -> Result<(), IoError>,
}

/// `convergence.csv`: one line per Newton step.
pub static HISTORY: ReportFile = ReportFile {
    names: ["convergence.csv"; 2],
    write: |path, a, _| history::write_csv(path, a.history),
};

/// The residual against steps and iterations, and four views of the grid.
pub static PICTURES: [ReportFile; 3] = [
    ReportFile {
        names: ["convergence.svg"; 2],
        write: |path, a, _| {
            history::convergence(a.name, a.history, a.tolerance).picture().write(path)
        },
    },
    ReportFile {
        names: ["grid.svg", "grid.failed.svg"],
        write: |path, _, figures| figures.write_grid(path),
    },
    ReportFile {
        names: ["grid.png", "grid.failed.png"],
        write: |path, _, figures| figures.write_grid(path),
    },
];

/// Maps of four measures of quality.
pub static QUALITY_MAPS: [ReportFile; 2] = [
    ReportFile {
        names: ["quality.svg", "quality.failed.svg"],
        write: |path, _, figures| figures.write_quality(path),
    },
    ReportFile {
        names: ["quality.png", "quality.failed.png"],
        write: |path, _, figures| figures.write_quality(path),
    },
];
