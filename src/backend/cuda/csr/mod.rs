//! Matrices of any pattern on the CUDA backend, their incomplete factors with the choice of how the rows wait for each
//! other, and what a backend offers for all matrices.

mod pattern;
mod product;
mod rows;
mod triangle;

pub use self::product::{RowChunks, border_lanes};
pub use self::triangle::{level_launches, row_lanes};

pub(super) use self::pattern::EliminationPattern;
pub(super) use self::rows::RowFactors;
pub(super) use self::triangle::Waiting;

use self::pattern::CsrPattern;
use self::product::{RowHalo, RowProduct};
use crate::backend::cuda::algebra::{
    CudaJacobi, CudaMatrix, CudaVector, InvertibleDiagonal, outer_columns,
};
use crate::backend::cuda::backend::CudaBackend;
use crate::backend::cuda::comm::{Halo, RankContext};
use crate::backend::cuda::device::Buffer;
use crate::backend::cuda::launch::constants::SLOTS_OF_POINT;
use crate::backend::cuda::launch::shared::ExchangedColumns;
use crate::backend::cuda::launch::{LaunchShape, Result, kernels, launch};
use crate::backend::error::{check_length, check_lengths};
use crate::backend::matrices::{Identity, check_product};
use crate::backend::{
    Algebraic, Backend, Incomplete, LevelSize, LinearOperator, MatrixFormat, Preconditioner,
    PreconditionerFailure, Product, Real, SolverError, SparseBackend, SparseMatrix,
};
use crate::sparse::{Csr, EllPattern, RowPart, Schedule};
use std::sync::Arc;
use std::time::Instant;

/// A matrix by rows in a GPU's memory.
pub struct CudaCsr<T> {
    pattern: Arc<CsrPattern>,
    values: Buffer<T>,
    product: RowProduct<T>,
    /// The couplings with rows of other ranks, of a part of a larger matrix.
    halo: Option<Box<RowHalo<T>>>,
}

impl<T: Real> CudaCsr<T> {
    /// The rows that the rank of `backend` has of a matrix. Vectors have as many entries; factors are made
    /// of the entries in its own columns.
    ///
    /// # Errors
    /// If the device has too little memory, or there are too many entries.
    pub fn of_rows(backend: &CudaBackend, part: &RowPart, format: MatrixFormat) -> Result<Self> {
        let own = backend.csr(&part.own, format)?;
        Ok(Self { halo: Some(Box::new(RowHalo::new(backend, part)?)), ..own })
    }

    /// Exchanges what a product with x needs of other ranks, and does no more: for measurements.
    ///
    /// # Errors
    /// If the device or another rank fails.
    pub fn exchange(&self, backend: &CudaBackend, x: &CudaVector<T>) -> Result<()> {
        check_length(x.len(), self.pattern.rows)?;
        let Some(halo) = &self.halo else { return Ok(()) };
        halo.start(backend, x)?;
        backend.finish_exchange()
    }
}

impl<T: Real> LinearOperator<CudaBackend, T> for CudaCsr<T> {
    fn apply(&self, backend: &CudaBackend, x: &CudaVector<T>, y: &mut CudaVector<T>) -> Result<()> {
        check_lengths(self.pattern.rows, [x.len(), y.len()])?;
        let multiply = || self.product.multiply(backend, (&self.pattern, &self.values), x, y);
        let Some(halo) = &self.halo else { return multiply() };
        halo.start(backend, x)?;
        multiply()?;
        backend.finish_exchange()?;
        halo.add(backend, y)
    }
}

impl<T: Real> InvertibleDiagonal<T> for CudaCsr<T> {
    fn inverse_diagonal(&self, backend: &CudaBackend, d: &CudaVector<T>) -> Result<Option<usize>> {
        let CsrPattern { rows, row_start, columns, .. } = &*self.pattern;
        check_length(d.len(), *rows)?;
        let shape = LaunchShape::threads(*rows);
        let of = (*rows as u64, row_start, columns, &self.values, d);
        backend.find_first::<T>(kernels::invert_diagonal, shape, of, 1)
    }
}

impl SparseBackend for CudaBackend {
    type Matrix<T: Real> = CudaMatrix<T>;
    type CsrMatrix<T: Real> = CudaCsr<T>;

    fn matrix<T: Real>(&self, pattern: EllPattern) -> Result<CudaMatrix<T>> {
        CudaMatrix::new(self, pattern)
    }

    fn matrix_values<T: Real>(&self, a: &CudaMatrix<T>) -> Result<Vec<T>> {
        let padded = a.values.to_host()?;
        let slots = padded.chunks(a.stride.max(1));
        Ok(slots.flat_map(|slot| &slot[..a.pattern.rows()]).copied().collect())
    }

    fn multiply<T: Real>(
        &self,
        a: &CudaMatrix<T>,
        x: &CudaVector<T>,
        product: Product,
        y: &mut CudaVector<T>,
    ) -> Result<()> {
        a.multiply(self, x, product, y)
    }

    fn multiply_with_walls<T: Real>(
        &self,
        a: &CudaMatrix<T>,
        b: &CudaMatrix<T>,
        x: &CudaVector<T>,
        skipped: [usize; 2],
        y: &mut CudaVector<T>,
    ) -> Result<()> {
        // A whole matrix by ten numbers a point takes one launch.
        let of = (a.pattern, b.pattern, &self.ranks);
        let (EllPattern::TenNumbers(size), EllPattern::WallColumns(_, walls), None) = of else {
            self.multiply(a, x, Product { skipped, add: false }, y)?;
            return self.multiply(b, x, Product { skipped: [0; 2], add: true }, y);
        };
        for pattern in [a.pattern, b.pattern] {
            check_product(pattern, x.len(), y.len())?;
        }
        let [before, after] = skipped;
        let kept = (before as u64, (x.len() - before - after) as u64);
        let of = (self.grid_arguments(size), &a.values, walls.bits(), &b.values);
        let LevelSize { mi, mj, .. } = size;
        launch!(self => multiply_with_walls[T, LaunchShape::threads(mi * mj)](of, x, kept, &*y))
    }

    fn transpose<T: Real>(&self, a: &CudaMatrix<T>, t: &mut CudaMatrix<T>) -> Result<()> {
        let size = a.nine_points()?;
        let LevelSize { mi, mj, .. } = size;
        check_length(t.pattern.rows(), a.pattern.rows())?;
        let received = |ranks: &RankContext| -> Result<Halo<T>> {
            let halo = Halo::new(&self.device, 2 * SLOTS_OF_POINT * mj)?;
            let of = ExchangedColumns {
                plane: a.stride as u64,
                planes: SLOTS_OF_POINT as u32,
                edges: self.edges(false),
                ..outer_columns([mi, mj], &a.values)
            };
            self.exchange_columns(&halo, ranks.neighbours, of)?;
            Ok(halo)
        };
        let halo = self.ranks.as_ref().map(received).transpose()?;
        launch!(self => transpose_nine_point[T, LaunchShape::threads(mi * mj)](
            self.grid_arguments(size), &a.values, halo.as_ref().map(|halo| &halo.received), &t.values))
    }

    fn entries<T: Real>(&self, numbers: &CudaMatrix<T>, entries: &mut CudaMatrix<T>) -> Result<()> {
        let EllPattern::TenNumbers(size) = numbers.pattern else { return Ok(()) };
        check_length(entries.pattern.rows(), numbers.pattern.rows())?;
        launch!(self => entries_of_ten_numbers[T, LaunchShape::threads(size.mi * size.mj)](
            self.grid_arguments(size), &numbers.values, &entries.values))
    }

    fn csr<T: Real>(&self, a: &Csr, format: MatrixFormat) -> Result<CudaCsr<T>> {
        let (pattern, values) = CsrPattern::with_values(self, a)?;
        let product = RowProduct::new(self, a, format, (&pattern, &values))?;
        Ok(CudaCsr { pattern: Arc::new(pattern), values, product, halo: None })
    }
}

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
    /// Ways to solve: one alone once it is `chosen`.
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
    fn new(
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
