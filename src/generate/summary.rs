//! The results of cases in a batch, in a few numbers each.

use serde::Serialize;

use super::result::GridResult;
use crate::error::Error;
use crate::grid::Verdict;
use crate::report::Timing;

/// The result of a case among others.
#[derive(Debug)]
pub enum BatchResult {
    /// It was run.
    Run(Summary),
    /// Its results were there already.
    UpToDate(Summary),
    /// It could not be run.
    Failed(Error),
    /// The batch was cancelled before its turn.
    NotRun,
}

/// The result of a run in a few numbers; those that are not finite become `null` in JSON.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// Whether the grid may be used, and if not why.
    #[serde(serialize_with = "Verdict::reported")]
    pub verdict: Verdict,
    /// The reason why the solve stopped.
    pub reason: String,
    /// Newton steps.
    pub newton_iterations: usize,
    /// Scaled rms residual reached.
    pub residual: f64,
    /// Folded cells.
    pub folded_cells: usize,
    /// Largest equiangle skewness.
    pub max_skewness: f64,
    /// Largest angle between first grid line and wall normal, in degrees.
    pub wall_angle_error_max_deg: f64,
    /// Seconds of the run.
    pub seconds: f64,
}

impl Summary {
    /// The worst of each number of several grids, and the sum of folded cells.
    pub(super) fn of(grids: &[GridResult], verdict: &Verdict, timing: &Timing) -> Self {
        let most =
            |number: fn(&GridResult) -> f64| grids.iter().map(number).fold(f64::NAN, f64::max);
        let slowest = grids.iter().max_by_key(|made| made.newton_iterations());
        Self {
            verdict: verdict.clone(),
            reason: slowest.map_or_else(String::new, |made| made.stop.to_string()),
            newton_iterations: slowest.map_or(0, GridResult::newton_iterations),
            residual: most(GridResult::residual),
            folded_cells: grids.iter().map(|made| made.folded_cells).sum(),
            max_skewness: most(|made| made.quality.max_skewness),
            wall_angle_error_max_deg: most(|made| made.quality.wall_angle_error_max_deg),
            seconds: timing.total(),
        }
    }
}
