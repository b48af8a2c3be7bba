//! Incomplete factors of matrices by rows, and the choice of how their rows wait for each other.

use super::CudaCsr;
use super::eliminated::EliminationPattern;
use super::pattern::CsrPattern;
use super::rows::RowFactors;
use super::triangle::Waiting;
use crate::backend::cuda::algebra::{CudaJacobi, CudaVector};
use crate::backend::cuda::backend::CudaBackend;
use crate::backend::cuda::device::Buffer;
use crate::backend::cuda::launch::Result;
use crate::backend::error::check_length;
use crate::backend::matrices::Identity;
use crate::backend::{
    Algebraic, Backend, Incomplete, Preconditioner, PreconditionerFailure, Real, SolverError,
    SparseMatrix,
};
use crate::sparse::Schedule;
use std::sync::Arc;
use std::time::Instant;

/// Seconds that a level takes at least where each is a launch of its own, or a turn of one block: with
/// more levels than fit into the time of the best way so far, launches are not tried.
const LEVEL: f64 = 2e-6;
/// Solves in which a way of waiting is timed; the first also loads its kernels.
const TIMED: usize = 2;

struct CudaCsrFactors<T> {
    kind: Incomplete,
    /// A + `shift` diag(A) is factored.
    shift: f64,
    a: Arc<EliminationPattern>,
    /// Values of A.
    entries: usize,
    /// Equal factors, with their rows in different orders.
    candidates: Vec<RowFactors<T>>,
    /// Ways to solve, the only one or the best one the first once that is `chosen`.
    trials: Vec<Trial>,
    chosen: bool,
    /// Whether the rows are to be sorted by level when a second solve comes.
    sorts_later: bool,
    /// Whether a launch a level may still be added to the trials.
    may_launch: bool,
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
        let entries = a.entries;
        let a = Arc::new(EliminationPattern::new(backend, a, kind, schedule)?);
        // Gaussian elimination gains more from sorted rows than their sort costs.
        let sorts_later = schedule == Schedule::Auto && kind.diagonal_only();
        let (by_level, waiting) = match schedule {
            Schedule::Levels => (true, Waiting::Launches),
            Schedule::Colours => (true, Waiting::RowByRow),
            Schedule::Auto if !sorts_later => (true, Waiting::RowByRow),
            Schedule::Tiles => (false, Waiting::WithinTiles),
            _ => (false, Waiting::RowByRow),
        };
        let mut rows = RowFactors::new(backend, a.clone(), kind, by_level)?;
        if waiting == Waiting::Launches {
            rows.prepare_launches()?;
        }
        Ok(Self {
            kind,
            shift,
            a,
            entries,
            candidates: vec![rows],
            trials: vec![Trial::new(0, waiting)],
            chosen: !sorts_later && schedule != Schedule::Colours,
            sorts_later,
            may_launch: true,
        })
    }

    /// Solves by a way that is to be timed; the fastest is kept once all have been.
    fn solve_timed(
        &mut self,
        backend: &CudaBackend,
        r: &CudaVector<T>,
        z: &CudaVector<T>,
    ) -> Result<()> {
        // The first solve also loads its kernels: its time alone says little.
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
            if !std::mem::take(&mut self.may_launch) || !self.launches_may_win() {
                self.choose();
                return Ok(());
            }
            // The last candidate is sorted by level.
            let candidate = self.candidates.len() - 1;
            self.candidates[candidate].prepare_launches()?;
            self.trials.push(Trial::new(candidate, Waiting::Launches));
        }
        Ok(())
    }

    /// Whether launches level by level could be faster than what was tried. They sum the entries of a row
    /// one by one: where lanes share a row, the last bits would depend on the clock.
    fn launches_may_win(&self) -> bool {
        let best = self.trials.iter().map(|trial| trial.seconds).fold(f64::INFINITY, f64::min);
        let levels = self.candidates.iter().find_map(RowFactors::levels);
        levels.is_some_and(|levels| levels as f64 * LEVEL < best)
    }

    /// Keeps the fastest way and what it needs.
    fn choose(&mut self) {
        self.trials.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
        self.trials.truncate(1);
        self.candidates.swap(0, self.trials[0].candidate);
        self.candidates.truncate(1);
        self.trials[0].candidate = 0;
        self.chosen = true;
    }

    /// Adds the factors with their rows sorted by level to the candidates.
    fn sort(&mut self, backend: &CudaBackend, values: &Buffer<T>) -> Result<()> {
        let mut rows = RowFactors::new(backend, self.a.clone(), self.kind, true)?;
        rows.adopt(backend, &self.candidates[0], values)?;
        self.candidates.push(rows);
        self.trials.push(Trial::new(1, Waiting::RowByRow));
        Ok(())
    }
}

impl<T: Real> SparseMatrix<CudaBackend, T> for CudaCsr<T> {
    fn preconditioner(
        &self,
        backend: &CudaBackend,
        kind: Algebraic,
    ) -> Result<Box<dyn Preconditioner<CudaBackend, T, Self>>> {
        Ok(match kind {
            Algebraic::None => Box::new(Identity),
            Algebraic::Jacobi => {
                Box::new(CudaJacobi { inverse: backend.zeros(self.pattern.rows)? })
            }
            Algebraic::Factors { kind, schedule, shift } => {
                Box::new(CudaCsrFactors::new(backend, &self.pattern, (kind, shift), schedule)?)
            }
        })
    }
}

impl<T: Real> Preconditioner<CudaBackend, T, CudaCsr<T>> for CudaCsrFactors<T> {
    fn update(&mut self, backend: &CudaBackend, a: &CudaCsr<T>) -> Result<(), SolverError> {
        check_length(a.values.len(), self.entries)?;
        // Launches are for schedules that are meant to be levels.
        let launches = self.chosen && !self.sorts_later;
        let waiting = match self.trials[0].waiting {
            Waiting::Launches if launches => Waiting::Launches,
            _ => Waiting::RowByRow,
        };
        let (first, others) = self.candidates.split_at_mut(1);
        let mut bad = first[0].factor(backend, &a.values, self.shift, waiting)?;
        for other in others {
            other.adopt(backend, &first[0], &a.values)?;
        }
        if let Some(ranks) = &backend.ranks {
            bad = ranks.first_pivot(bad)?;
        }
        bad.map_or(Ok(()), |bad| Err(PreconditionerFailure::factor(self.kind, bad).into()))
    }

    fn apply(
        &mut self,
        backend: &CudaBackend,
        a: &CudaCsr<T>,
        r: &CudaVector<T>,
        z: &mut CudaVector<T>,
    ) -> Result<()> {
        // Nothing can be timed while work is recorded.
        if self.chosen || backend.capture.are_open() {
            let Trial { candidate, waiting, .. } = self.trials[0];
            return self.candidates[candidate].solve(backend, waiting, r, z);
        }
        if self.sorts_later && self.candidates.len() == 1 && self.trials[0].timed == 1 {
            self.sort(backend, &a.values)?;
        }
        self.solve_timed(backend, r, z)
    }
}
