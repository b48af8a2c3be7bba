//! Incomplete factors of matrices by rows, and the choice of how their rows wait for each other.

use super::super::{Buffer, CudaBackend, CudaVector};
use super::CsrPattern;
use super::columns::Columns;
use super::rows::{RowFactors, Sorting};
use super::source::Eliminated;
use crate::backend::{BadPivot, DeviceError, Incomplete, Real, RowSchedule};
use std::sync::Arc;
use std::time::Instant;

/// Levels up to which a launch a level may be faster than flags.
const FEW_LEVELS: usize = 256;
/// Applications in which a way of waiting is timed; the first also loads its kernels.
const TRIALS: usize = 2;

/// How rows wait for those that they need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waiting {
    /// Each for its own entries, which are flagged one by one.
    RowByRow,
    /// A level for the launch of the one before; runs of small levels are one block's.
    Launches,
    /// As row by row, within tiles that a warp takes each.
    WithinTiles,
}

/// Incomplete factors in a GPU's memory.
pub struct CudaCsrFactors<T> {
    rows: RowFactors<T>,
    /// Of the schedule that pushes along columns.
    columns: Option<Columns<T>>,
    choice: Choice,
}

/// How a solve waits.
enum Choice {
    Made(Waiting),
    /// The fastest of these, each timed so often; seconds of the fastest application.
    Trying(Vec<Trial>),
}

struct Trial {
    waiting: Waiting,
    done: usize,
    seconds: f64,
}

impl<T: Real> CudaCsrFactors<T> {
    pub(super) fn new(
        backend: &CudaBackend,
        a: &Arc<CsrPattern>,
        kind: Incomplete,
        schedule: RowSchedule,
    ) -> Result<Self, DeviceError> {
        let eliminated = Eliminated::new(backend, a, kind, schedule)?;
        let sorting = match schedule {
            RowSchedule::Auto | RowSchedule::Levels | RowSchedule::Multicolour => Sorting::ByLevel,
            RowSchedule::SyncFree | RowSchedule::Tile | RowSchedule::Correlation => {
                Sorting::Natural
            }
        };
        let mut rows = RowFactors::new(backend, eliminated, kind, sorting)?;
        let columns = match schedule {
            RowSchedule::Correlation => Some(Columns::new(backend, &rows.a)?),
            _ => None,
        };
        let few = rows.depths().is_some_and(|depths| depths[0].max(depths[1]) <= FEW_LEVELS);
        let choice = match schedule {
            RowSchedule::Levels => Choice::Made(Waiting::Launches),
            RowSchedule::Tile => Choice::Made(Waiting::WithinTiles),
            RowSchedule::Auto if few && backend.timed_schedules => {
                let trial = |waiting| Trial { waiting, done: 0, seconds: f64::INFINITY };
                Choice::Trying([Waiting::RowByRow, Waiting::Launches].map(trial).into())
            }
            _ => Choice::Made(Waiting::RowByRow),
        };
        if !matches!(choice, Choice::Made(Waiting::RowByRow | Waiting::WithinTiles)) {
            rows.prepare_launches()?;
        }
        Ok(Self { rows, columns, choice })
    }

    /// How solves wait, once that is decided.
    #[must_use]
    pub fn waiting(&self) -> Option<Waiting> {
        match self.choice {
            Choice::Made(waiting) => Some(waiting),
            Choice::Trying(_) => None,
        }
    }

    /// Levels of L and of U, if the rows are sorted by them.
    #[must_use]
    pub fn depths(&self) -> Option<[usize; 2]> {
        self.rows.depths()
    }

    pub(super) fn factor(
        &mut self,
        backend: &CudaBackend,
        values: &Buffer<T>,
        shift: f64,
    ) -> Result<Option<BadPivot>, DeviceError> {
        let waiting = self.waiting().unwrap_or(Waiting::RowByRow);
        let bad = self.rows.factor(backend, values, shift, waiting)?;
        if let Some(columns) = &self.columns {
            columns.take(backend, &self.rows.a, self.rows.eliminated(values))?;
        }
        Ok(bad)
    }

    pub(super) fn solve(
        &mut self,
        backend: &CudaBackend,
        r: &CudaVector<T>,
        z: &CudaVector<T>,
    ) -> Result<(), DeviceError> {
        if let Some(columns) = &self.columns {
            return columns.solve(backend, &self.rows.a, &self.rows.inverse, r, z);
        }
        let trials = match &mut self.choice {
            Choice::Made(waiting) => return self.rows.solve(backend, *waiting, r, z),
            Choice::Trying(trials) => trials,
        };
        // Nothing can be timed while work is only noted.
        if backend.journal.is_open() {
            return self.rows.solve(backend, Waiting::RowByRow, r, z);
        }
        if let Some(trial) = trials.iter_mut().find(|trial| trial.done < TRIALS) {
            backend.device.synchronise()?;
            let started = Instant::now();
            self.rows.solve(backend, trial.waiting, r, z)?;
            backend.device.synchronise()?;
            trial.seconds = trial.seconds.min(started.elapsed().as_secs_f64());
            trial.done += 1;
        }
        if trials.iter().all(|trial| trial.done == TRIALS) {
            let fastest = trials.iter().min_by(|a, b| a.seconds.total_cmp(&b.seconds));
            self.choice = Choice::Made(fastest.map_or(Waiting::RowByRow, |trial| trial.waiting));
        }
        Ok(())
    }
}
