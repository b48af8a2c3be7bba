//! From a case to its outcome.

use std::path::PathBuf;

use crate::backend::DeviceError;
use crate::case::Case;
use crate::error::Error;
use crate::grid::quality::Quality;
use crate::solver::history::NewtonStep;

/// Choice of backend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BackendChoice {
    /// A GPU if there is one that can be used, else the CPU.
    Auto,
    /// The CPU.
    Cpu,
    /// NVIDIA GPUs.
    Cuda,
}

/// What a run takes beside the case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunOptions {
    /// Folder the files are written to.
    pub output: PathBuf,
    /// Backend.
    pub backend: BackendChoice,
    /// GPUs to use; none leaves the choice to the backend.
    pub devices: Option<Vec<usize>>,
    /// Threads to use on the CPU; none means all.
    pub threads: Option<usize>,
}

/// Receiver of what happens during a run.
pub trait Progress {
    /// A phase begins.
    fn phase(&mut self, name: &str);
    /// A Newton step is done.
    fn newton(&mut self, step: &NewtonStep);
    /// A linear iteration is done.
    fn linear(&mut self, iteration: f64, relative_residual: f64);
}

/// What came of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// Whether the residual reached the tolerance.
    pub converged: bool,
    /// Folded cells of the grid.
    pub folded_cells: usize,
    /// Why the solve stopped.
    pub reason: String,
    /// Files written.
    pub files: Vec<PathBuf>,
    /// Quality of the grid.
    pub quality: Quality,
    /// Newton steps taken.
    pub newton_iterations: usize,
    /// Linear iterations of all steps.
    pub linear_iterations: f64,
    /// Scaled rms residual reached.
    pub residual: f64,
    /// What the user should know, one sentence each.
    pub notices: Vec<String>,
    /// Phases and their seconds.
    pub timings: Vec<(String, f64)>,
}

/// Runs a case.
///
/// # Errors
///
/// See [`Error`]. A grid that is not converged or is folded is an outcome.
pub fn run(
    _case: &Case,
    options: &RunOptions,
    progress: &mut dyn Progress,
) -> Result<Outcome, Error> {
    if options.backend == BackendChoice::Cuda {
        return Err(DeviceError::NotBuilt { backend: "cuda" }.into());
    }
    progress.phase("solve");
    Ok(Outcome {
        converged: false,
        folded_cells: 0,
        reason: "no solver is wired in".into(),
        files: Vec::new(),
        quality: Quality {
            folded_cells: 0,
            min_jacobian: 0.0,
            max_skewness: 0.0,
            p99_skewness: 0.0,
            mean_skewness: 0.0,
            wall_angle_error_max_deg: 0.0,
            wall_angle_error_mean_deg: 0.0,
            first_cell_min: 0.0,
            first_cell_max: 0.0,
            max_aspect_ratio: 0.0,
            max_growth: 0.0,
            max_growth_i: 0.0,
            max_growth_j: 0.0,
            far_field_min: 0.0,
            far_field_max: 0.0,
        },
        newton_iterations: 0,
        linear_iterations: 0.0,
        residual: 0.0,
        notices: Vec::new(),
        timings: Vec::new(),
    })
}
