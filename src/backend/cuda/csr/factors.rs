//! Incomplete factors of matrices by rows, and the choice of how their rows wait for each other.

use super::eliminated::Eliminated;
use super::pattern::{CsrPattern, scan, slim};
use super::rows::{RowFactors, Sorting};
use super::triangle::Waiting;
use crate::backend::cuda::algebra::CudaVector;
use crate::backend::cuda::backend::CudaBackend;
use crate::backend::cuda::device::Buffer;
use crate::backend::cuda::launch::shared::PushState;
use crate::backend::cuda::launch::{Result, Source, arguments};
use crate::backend::{BadPivot, Incomplete, Real};
use crate::sparse::Schedule;
use std::sync::Arc;
use std::time::Instant;

/// Seconds that a level takes at least where each is a launch of its own, or a turn of one block: with
/// more levels than fit into the time of the best way so far, launches are not tried.
const LEVEL: f64 = 2e-6;
/// Solves in which a way of waiting is timed; the first also loads its kernels.
const TIMED: usize = 2;

pub(super) struct CudaCsrFactors<T> {
    pub(super) kind: Incomplete,
    /// They are those of A + `shift` diag(A).
    shift: f64,
    a: Arc<Eliminated>,
    /// The same factors, their rows in one order or another.
    candidates: Vec<RowFactors<T>>,
    /// Of the schedule that pushes along columns.
    columns: Option<ColumnPushes<T>>,
    /// The values of the matrix that was factored last.
    values: Option<Arc<Buffer<T>>>,
    trials: Vec<Trial>,
    /// The best of the trials, once that is known.
    chosen: Option<usize>,
    /// Whether the rows are to be sorted by level when a second solve comes.
    sorts_later: bool,
    /// Whether a launch a level may still be added to the trials.
    may_launch: bool,
    solves: usize,
}

struct Trial {
    candidate: usize,
    waiting: Waiting,
    timed: usize,
    seconds: f64,
}

impl Trial {
    fn new(candidate: usize, waiting: Waiting) -> Self {
        Self { candidate, waiting, timed: 0, seconds: f64::INFINITY }
    }
}

impl<T: Real> CudaCsrFactors<T> {
    pub(super) fn new(
        backend: &CudaBackend,
        a: &Arc<CsrPattern>,
        (kind, shift): (Incomplete, f64),
        schedule: Schedule,
    ) -> Result<Self> {
        let a = Arc::new(Eliminated::new(backend, a, kind, schedule)?);
        // Gaussian elimination gains more from sorted rows than their sort costs.
        let sorts_later = schedule == Schedule::Auto && kind.diagonal_only();
        let sorting = match schedule {
            Schedule::Auto if sorts_later => Sorting::Natural,
            Schedule::Auto | Schedule::Levels | Schedule::Colours => Sorting::ByLevel,
            _ => Sorting::Natural,
        };
        let rows = RowFactors::new(backend, a.clone(), kind, sorting)?;
        let columns = match schedule {
            Schedule::Correlation => Some(ColumnPushes::new(backend, &a)?),
            _ => None,
        };
        let waiting = match schedule {
            Schedule::Levels => Waiting::Launches,
            Schedule::Tiles => Waiting::WithinTiles,
            _ => Waiting::RowByRow,
        };
        let mut factors = Self {
            kind,
            shift,
            a,
            candidates: vec![rows],
            columns,
            values: None,
            trials: vec![Trial::new(0, waiting)],
            chosen: (!sorts_later).then_some(0),
            sorts_later,
            may_launch: true,
            solves: 0,
        };
        if waiting == Waiting::Launches {
            factors.candidates[0].prepare_launches()?;
        }
        if schedule == Schedule::Colours {
            factors.chosen = None;
        }
        Ok(factors)
    }

    pub(super) fn factor(
        &mut self,
        backend: &CudaBackend,
        values: &Arc<Buffer<T>>,
    ) -> Result<Option<BadPivot>> {
        // Launches are for schedules that are meant to be levels.
        let waiting = match self.chosen.map(|chosen| self.trials[chosen].waiting) {
            Some(Waiting::Launches) if !self.sorts_later => Waiting::Launches,
            _ => Waiting::RowByRow,
        };
        let (first, others) = self.candidates.split_at_mut(1);
        let bad = first[0].factor(backend, values, self.shift, waiting)?;
        for other in others {
            other.adopt(backend, &first[0], values)?;
        }
        if let Some(columns) = &self.columns {
            columns.take(backend, &self.a, first[0].eliminated(values))?;
        }
        self.values = Some(values.clone());
        Ok(bad)
    }

    pub(super) fn solve(
        &mut self,
        backend: &CudaBackend,
        r: &CudaVector<T>,
        z: &CudaVector<T>,
    ) -> Result<()> {
        if let Some(columns) = &self.columns {
            return columns.solve(backend, &self.a, &self.candidates[0].inverse, r, z);
        }
        // Nothing can be timed while work is recorded.
        if let Some(chosen) = self.chosen.or(backend.capture.is_open().then_some(0)) {
            let Trial { candidate, waiting, .. } = self.trials[chosen];
            return self.candidates[candidate].solve(backend, waiting, r, z);
        }
        if self.sorts_later && self.solves == 1 {
            self.sort(backend)?;
        }
        self.solves += 1;
        self.solve_timed(backend, r, z)
    }

    /// Solves by a way that is to be timed; the fastest is kept once all have been.
    fn solve_timed(
        &mut self,
        backend: &CudaBackend,
        r: &CudaVector<T>,
        z: &CudaVector<T>,
    ) -> Result<()> {
        // The first solve alone does not tell how long it takes when its kernels are there.
        let next = self.trials.iter_mut().min_by_key(|trial| trial.timed);
        if let Some(trial) = next {
            backend.device.synchronise()?;
            let started = Instant::now();
            self.candidates[trial.candidate].solve(backend, trial.waiting, r, z)?;
            backend.device.synchronise()?;
            trial.seconds = trial.seconds.min(started.elapsed().as_secs_f64());
            trial.timed += 1;
        }
        let sorted = !self.sorts_later || self.candidates.len() > 1;
        if sorted && self.trials.iter().all(|trial| trial.timed >= TIMED) {
            if std::mem::take(&mut self.may_launch) && self.launches_may_win() {
                return self.try_launches();
            }
            self.choose();
        }
        Ok(())
    }

    /// Whether launches level by level could be faster than what was tried. They sum the entries of a row
    /// one by one: where lanes share a row, the last bits would depend on the clock.
    fn launches_may_win(&self) -> bool {
        if self.candidates.iter().any(RowFactors::shares_rows) {
            return false;
        }
        let best = self.trials.iter().map(|trial| trial.seconds).fold(f64::INFINITY, f64::min);
        let mut depths = self.candidates.iter().filter_map(RowFactors::depths);
        depths.next().is_some_and(|[below, above]| (below + above) as f64 * LEVEL < best)
    }

    /// Keeps the fastest way and what it needs.
    fn choose(&mut self) {
        let seconds = |trial: &Trial| trial.seconds;
        self.trials.sort_by(|a, b| seconds(a).total_cmp(&seconds(b)));
        self.trials.truncate(1);
        self.candidates.swap(0, self.trials[0].candidate);
        self.candidates.truncate(1);
        self.trials[0].candidate = 0;
        self.chosen = Some(0);
    }

    /// Adds the factors with their rows sorted by level to what is tried.
    fn sort(&mut self, backend: &CudaBackend) -> Result<()> {
        let Some(values) = &self.values else { return Ok(()) };
        let mut rows = RowFactors::new(backend, self.a.clone(), self.kind, Sorting::ByLevel)?;
        rows.adopt(backend, &self.candidates[0], values)?;
        self.candidates.push(rows);
        self.trials.push(Trial::new(1, Waiting::RowByRow));
        Ok(())
    }

    /// Adds launches of the factors that are sorted by level, the last, to what is tried.
    fn try_launches(&mut self) -> Result<()> {
        let candidate = self.candidates.len() - 1;
        self.candidates[candidate].prepare_launches()?;
        self.trials.push(Trial::new(candidate, Waiting::Launches));
        Ok(())
    }
}

/// The entries of the factors by column, and what the unknowns have been given.
pub(super) struct ColumnPushes<T> {
    starts: Buffer<u64>,
    rows: Buffer<u32>,
    source: Buffer<u32>,
    values: Buffer<T>,
    sums: Buffer<T>,
    counters: Buffer<u32>,
    tickets: Buffer<u32>,
    w: Buffer<T>,
}

impl<T: Real> ColumnPushes<T> {
    pub(super) fn new(backend: &CudaBackend, a: &Eliminated) -> Result<Self> {
        let (device, pattern) = (&backend.device, &a.pattern);
        let (rows, entries) = (pattern.rows, pattern.entries);
        let counts = Buffer::<u32>::zeros(device, rows)?;
        let arguments = arguments![&pattern.columns, &counts];
        backend.for_each::<T>(Source::Correlation, "count_columns", entries, arguments)?;
        let starts = scan(backend, &counts)?;
        let to_rows = Buffer::zeros(device, entries)?;
        let source = Buffer::zeros(device, entries)?;
        let mut arguments = arguments![&pattern.row_start, &pattern.columns, &starts];
        arguments.extend(arguments![&counts, &to_rows, &source]);
        backend.for_each::<T>(Source::Correlation, "turn_entries", rows, arguments)?;
        Ok(Self {
            starts,
            rows: to_rows,
            source,
            values: Buffer::zeros(device, entries)?,
            sums: Buffer::zeros(device, 2 * rows)?,
            counters: Buffer::zeros(device, 2 * rows)?,
            tickets: Buffer::zeros(device, 2)?,
            w: Buffer::zeros(device, rows)?,
        })
    }

    /// The factors' values, which stand as in the pattern that was eliminated.
    pub(super) fn take(
        &self,
        backend: &CudaBackend,
        a: &Eliminated,
        factored: &Buffer<T>,
    ) -> Result<()> {
        let CsrPattern { rows, entries, row_start, columns } = &*a.pattern;
        let arguments = arguments![&self.source, factored, &self.values];
        backend.for_each::<T>(Source::Triangular, "take_values", *entries, arguments)?;
        self.sums.clear()?;
        self.tickets.clear()?;
        let arguments = arguments![row_start, &a.split, columns, &self.counters];
        backend.for_each::<T>(Source::Correlation, "set_counters", *rows, arguments)
    }

    pub(super) fn solve(
        &self,
        backend: &CudaBackend,
        a: &Eliminated,
        inverse: &Buffer<T>,
        r: &CudaVector<T>,
        z: &CudaVector<T>,
    ) -> Result<()> {
        let rows = a.pattern.rows;
        let state = PushState {
            inverse: inverse.into(),
            sums: (&self.sums).into(),
            counters: (&self.counters).into(),
            tickets: (&self.tickets).into(),
            w: (&self.w).into(),
        };
        let mut arguments = arguments![rows as u64, a.shared(), &self.starts, &self.rows];
        arguments.extend(arguments![&self.values, state, r, z]);
        let shape = slim(2 * rows);
        backend.launch::<T>(Source::Correlation, "push_columns", shape, &arguments)
    }
}
