//! A solve watched: progress, interruption, restart files.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::Progress;
use crate::backend::{Backend, DeviceError};
use crate::files::restart::{self, Identity};
use crate::files::{IoError, RESTART_FILE};
use crate::solver::history::{History, NewtonStep};
use crate::solver::newton::Observer;

/// Where the state of a solve is kept, and of which case.
#[derive(Debug)]
pub(super) struct Keeper {
    /// The restart file.
    pub(super) path: PathBuf,
    pub(super) identity: Identity,
}

impl Keeper {
    /// Writes the restart file.
    pub(super) fn keep(&self, history: &History, state: &[f64]) -> Result<(), IoError> {
        restart::write(&self.path, &self.identity, history, state)
    }

    /// Writes it into another folder; returns its path.
    pub(super) fn keep_in(
        &self,
        folder: &Path,
        history: &History,
        state: &[f64],
    ) -> Result<PathBuf, IoError> {
        let path = folder.join(RESTART_FILE);
        restart::write(&path, &self.identity, history, state)?;
        Ok(path)
    }
}

/// Passes what Newton reports on to the run's progress, keeps its state from time to time, and ends
/// the solve where the run is cancelled.
pub(super) struct Follow<'a> {
    progress: &'a mut dyn Progress,
    /// None where nothing is written.
    keeper: Option<&'a Keeper>,
    every: Duration,
    last: Instant,
    /// Length of the state.
    pub(super) unknowns: usize,
    /// Why the state could not be kept.
    pub(super) trouble: Option<IoError>,
}

impl<'a> Follow<'a> {
    pub(super) fn new(
        progress: &'a mut dyn Progress,
        keeper: Option<&'a Keeper>,
        every: Duration,
    ) -> Self {
        Self { progress, keeper, every, last: Instant::now(), unknowns: 0, trouble: None }
    }
}

/// What becomes of a solve between two Newton steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Decision {
    /// It goes on.
    GoOn,
    /// Its state is kept, and it goes on.
    Keep,
    /// It ends.
    Stop,
}

impl Follow<'_> {
    /// What becomes of the solve after the steps of `history`.
    pub(super) fn decision(&self, history: &History) -> Decision {
        let due = history.newton_iterations() > 0 && self.last.elapsed() >= self.every;
        if self.progress.cancelled() {
            Decision::Stop
        } else if due && self.keeper.is_some() {
            Decision::Keep
        } else {
            Decision::GoOn
        }
    }

    /// Writes the restart file. A solve that goes well need not end because its state cannot be kept.
    pub(super) fn keep(&mut self, history: &History, state: &[f64]) {
        self.trouble = self.keeper.and_then(|keeper| keeper.keep(history, state).err());
        self.last = Instant::now();
    }
}

impl<B: Backend> Observer<B> for Follow<'_> {
    fn newton(&mut self, step: &NewtonStep) {
        self.progress.newton(step);
    }

    fn linear(&mut self, iteration: f64, relative_residual: f64) {
        self.progress.linear(iteration, relative_residual);
    }

    fn accepted(
        &mut self,
        backend: &B,
        u: &B::Vector<f64>,
        history: &History,
    ) -> Result<ControlFlow<()>, DeviceError> {
        match self.decision(history) {
            Decision::Stop => return Ok(ControlFlow::Break(())),
            Decision::Keep => self.keep(history, &download(backend, u, self.unknowns)?),
            Decision::GoOn => {}
        }
        Ok(ControlFlow::Continue(()))
    }
}

/// A vector on the host.
pub(super) fn download<B: Backend>(
    backend: &B,
    u: &B::Vector<f64>,
    n: usize,
) -> Result<Vec<f64>, DeviceError> {
    let mut state = vec![0.0; n];
    backend.download(u, &mut state)?;
    Ok(state)
}
