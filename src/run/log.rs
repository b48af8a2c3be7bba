//! The log of a run: its progress, and the notes and times for its report.

use std::time::Instant;

use crate::error::Error;
use crate::report::Timing;
use crate::solver::history::NewtonStep;

/// Receiver of the events of a run. Events that it does not implement are ignored.
pub trait Progress: Send {
    /// A phase begins.
    fn phase(&mut self, _name: &str) {}
    /// A Newton step is done.
    fn newton(&mut self, _step: &NewtonStep) {}
    /// A linear iteration is done.
    fn linear(&mut self, _iteration: f64, _relative_residual: f64) {}
    /// Whether to end the run: asked before each phase and each Newton step. A solve under way
    /// leaves a restart file.
    fn cancelled(&self) -> bool {
        false
    }
}

/// Shows nothing.
impl Progress for () {}

/// Progress for the caller; the time of each phase and the notices for the report.
pub(crate) struct RunLog<'a> {
    pub(crate) progress: &'a mut dyn Progress,
    pub(crate) timing: Timing,
    pub(crate) notices: Vec<String>,
    started: Instant,
}

impl<'a> RunLog<'a> {
    /// Starts a log that times the phases of `timing`.
    pub(crate) fn new(progress: &'a mut dyn Progress, timing: Timing) -> Self {
        Self { progress, timing, notices: Vec::new(), started: Instant::now() }
    }

    pub(crate) fn timed<R>(&mut self, phase: &str, work: impl FnOnce(&mut Self) -> R) -> R {
        self.progress.phase(phase);
        let started = Instant::now();
        let result = work(self);
        self.timing.add(phase, started.elapsed().as_secs_f64());
        result
    }

    /// The times of the phases, and of the whole since the start.
    pub(crate) fn total(&mut self) -> Timing {
        self.timing.add("total", self.started.elapsed().as_secs_f64());
        self.timing.clone()
    }

    /// An error where the run is cancelled before its solve.
    pub(crate) fn check_cancelled(&self) -> Result<(), Error> {
        if self.progress.cancelled() {
            return Err(Error::Interrupted { steps: None, restart: None });
        }
        Ok(())
    }
}
