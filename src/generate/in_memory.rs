//! Grids in memory: nothing is written.

use super::attempt::{Attempt, Goal};
use super::machine::Opening;
use super::{Error, Job, Progress, RunOptions, thread_pool};
use crate::case::Case;
use crate::geometry::Airfoil;
use crate::grid::quality::Quality;
use crate::grid::{Grid, Verdict};
use crate::report::Timing;
use crate::solver::history::History;

/// A grid and how good it is.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct Made {
    /// The grid.
    pub grid: Grid,
    /// Its quality.
    pub quality: Quality,
    /// Whether it may be used.
    pub verdict: Verdict,
    /// Whether the residual reached the tolerance.
    pub converged: bool,
    /// Why the solve stopped.
    pub reason: String,
    /// The Newton steps.
    pub history: History,
    /// What the user should know, one sentence each.
    pub notices: Vec<String>,
}

impl Made {
    /// Whether the grid may be used: [`Made::verdict`] says why not.
    #[must_use]
    pub fn is_good(&self) -> bool {
        self.verdict.is_good()
    }

    /// Scaled rms residual reached.
    #[must_use]
    pub fn residual(&self) -> f64 {
        self.history.steps.last().map_or(f64::NAN, |step| step.residual)
    }
}

/// Makes the grid of a case in memory.
///
/// # Errors
///
/// See [`Error`]. A grid that is not good is no error: ask [`Made::is_good`].
pub fn make_grid(
    case: &Case,
    options: &RunOptions,
    progress: &mut dyn Progress,
) -> Result<Made, Error> {
    make(None, case, options, progress)
}

/// Makes a grid around a section in memory. All but the contour is that of the case, its trailing
/// edge too.
///
/// # Errors
///
/// As [`make_grid`].
pub fn make_grid_around(
    airfoil: &Airfoil,
    case: &Case,
    options: &RunOptions,
    progress: &mut dyn Progress,
) -> Result<Made, Error> {
    make(Some(airfoil), case, options, progress)
}

fn make(
    airfoil: Option<&Airfoil>,
    case: &Case,
    options: &RunOptions,
    progress: &mut dyn Progress,
) -> Result<Made, Error> {
    let options = &RunOptions { export_jacobian: None, ..options.clone() };
    let pool = thread_pool(options.threads)?;
    let opening = Opening::begin(case, options);
    let job = Job { airfoil, ..Job::new(case, options, options.output.clone(), progress) };
    pool.install(|| job.make(opening))
}

impl Job<'_> {
    fn make(mut self, opening: Opening) -> Result<Made, Error> {
        let mut timing = Timing::default();
        let layout = self.measured_layout(&mut timing);
        let opened = self.timed("device", &mut timing.device_seconds, |_| opening.end());
        let layout = layout?;
        let (machine, _) = self.ready(opened?)?;
        let goal = Goal { tolerance: self.tolerance(), keeper: None, output: None };
        let Attempt { mut grid, solved, quality, verdict, .. } =
            self.best_attempt(&machine, &layout, goal, &mut timing)?;
        grid.place(layout.shift, self.case.geometry.chord);
        self.notices.extend(solved.events);
        Ok(Made {
            grid,
            quality,
            verdict,
            converged: solved.stop.converged(),
            reason: solved.stop.to_string(),
            history: solved.history,
            notices: self.notices,
        })
    }
}
