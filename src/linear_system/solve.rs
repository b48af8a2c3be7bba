//! Solves a linear system on a machine: as a whole, or in blocks of rows on several devices.

use std::collections::BTreeMap;
use std::ops::Range;

use parking_lot::Mutex;

use super::options::SystemOptions;
use super::system::OrderedSide;
use crate::backend::cpu::CpuBackend;
use crate::backend::cuda::Ranks;
use crate::backend::cuda::{CudaBackend, CudaCsr};
use crate::backend::{Bands, DeviceError, Result, SparseBackend, SparseMatrix};
use crate::report::Timing;
use crate::run::{Machine, RunLog};
use crate::solver::linear::{LinearReport, LinearSolver};
use crate::solver::precond::Preconditioners;
use crate::solver::{SolverError, present};
use crate::sparse::{Csr, RowBlocks};

pub(super) struct SystemSolution {
    pub(super) x: Vec<f64>,
    pub(super) report: LinearReport,
    /// Numbers of iterations, and the relative residuals after them.
    pub(super) residuals: Vec<[f64; 2]>,
}

/// A matrix on a machine with its preconditioner, which all right-hand sides share. Several devices make it again for
/// each call.
#[derive(Default)]
pub(super) struct Loaded {
    cpu: Option<OnBackend<CpuBackend>>,
    cuda: Option<OnBackend<CudaBackend>>,
}

impl Loaded {
    /// Solves for right-hand sides one after the other.
    pub(super) fn solve(
        &mut self,
        machine: &Machine,
        system: (&Csr, &[OrderedSide<'_>]),
        options: &SystemOptions,
        log: &mut RunLog<'_>,
    ) -> Result<Vec<SystemSolution>, SolverError> {
        match machine {
            Machine::Cpu => whole(&mut self.cpu, &CpuBackend, system, options, log),
            Machine::Cuda(cuda) => whole(&mut self.cuda, &**cuda, system, options, log),
            Machine::Ranks(_) if system.1.is_empty() => Ok(Vec::new()),
            Machine::Ranks(ranks) => by_rows(&**ranks, system, options, log),
        }
    }
}

fn whole<B: SparseBackend>(
    loaded: &mut Option<OnBackend<B>>,
    backend: &B,
    (a, sides): (&Csr, &[OrderedSide<'_>]),
    options: &SystemOptions,
    log: &mut RunLog<'_>,
) -> Result<Vec<SystemSolution>, SolverError> {
    let matrix = |backend: &B| backend.csr(a, options.format);
    let loaded = present(loaded, || OnBackend::new(backend, matrix, a.rows(), options, log))?;
    loaded.solve_all(backend, sides, 0..a.rows(), options, log)
}

/// Cuts the rows into blocks with about equal numbers of entries, one for each rank.
fn by_rows(
    ranks: &dyn Ranks,
    (a, sides): (&Csr, &[OrderedSide<'_>]),
    options: &SystemOptions,
    log: &mut RunLog<'_>,
) -> Result<Vec<SystemSolution>, SolverError> {
    let blocks = RowBlocks::new(a.pattern(), ranks.count()).map_err(DeviceError::from)?;
    let parts = Mutex::new(BTreeMap::new());
    // All ranks have the same residuals and times, so only the first of this process reports them.
    let first = ranks.job().map_or(0, |job| job.rank());
    let observed = Mutex::new(log);
    ranks.run(&Bands::from(&blocks), &|rank, backend| {
        let part = blocks.part(rank, a);
        let rows = part.rows.clone();
        let matrix = |backend: &_| CudaCsr::of_rows(backend, &part, options.format);
        let solve = |log: &mut RunLog<'_>| {
            let mut loaded = OnBackend::new(backend, matrix, rows.len(), options, log)?;
            loaded.solve_all(backend, sides, rows.clone(), options, log)
        };
        let solved = if rank == first {
            solve(&mut observed.lock())
        } else {
            solve(&mut RunLog::new(&mut (), Timing::default()))
        };
        parts.lock().insert(rank, solved?);
        Ok(())
    })?;
    let mut parts = parts.into_inner().into_values();
    let mut whole: Vec<SystemSolution> = parts.next().ok_or(DeviceError::NoGpu)?;
    match ranks.job() {
        None => {
            for part in parts {
                whole.iter_mut().zip(part).for_each(|(whole, part)| whole.x.extend(part.x));
            }
        }
        Some(job) => {
            for whole in &mut whole {
                let own = bytemuck::cast_slice(&whole.x).to_vec();
                let all = job.all_gather(own).map_err(DeviceError::from)?;
                let numbers = all.concat();
                let numbers = numbers.as_chunks().0.iter();
                whole.x = numbers.map(|bytes| f64::from_ne_bytes(*bytes)).collect();
            }
        }
    }
    if let Some(first) = whole.first_mut() {
        first.report.events.extend(notes(&blocks, options));
    }
    Ok(whole)
}

fn notes(blocks: &RowBlocks, options: &SystemOptions) -> Vec<String> {
    let ranks = 0..blocks.ranks();
    let rows = || ranks.clone().map(|rank| blocks.of(rank).len());
    let share = |rank| blocks.halo(rank).len() as f64 / blocks.of(rank).len() as f64;
    let mut notes = vec![format!(
        "each GPU has {} to {} rows, and needs of the others up to {:.1} % as many entries of a vector",
        rows().min().unwrap_or_default(),
        rows().max().unwrap_or_default(),
        100.0 * ranks.clone().map(share).fold(0.0, f64::max),
    )];
    if options.is_eliminated() {
        notes.push(format!(
            "the factors leave out what couples the rows of one GPU with those of another: \
             block Jacobi of {} blocks",
            blocks.ranks(),
        ));
    }
    notes
}

/// A matrix on a backend with its preconditioner, and vectors for a right-hand side and its solution. One of several
/// ranks has its rows of each.
struct OnBackend<B: SparseBackend> {
    operator: B::CsrMatrix<f64>,
    solver: LinearSolver<B, f64, B::CsrMatrix<f64>>,
    right: B::Vector<f64>,
    x: B::Vector<f64>,
}

impl<B: SparseBackend> OnBackend<B> {
    /// Makes the preconditioner of the matrix of `n` rows that `matrix` uploads.
    fn new(
        backend: &B,
        matrix: impl FnOnce(&B) -> Result<B::CsrMatrix<f64>>,
        n: usize,
        options: &SystemOptions,
        log: &mut RunLog<'_>,
    ) -> Result<Self, SolverError> {
        // A phase ends when the backend has completed all work: reading an inner product waits for it.
        let ready = backend.zeros::<f64>(1)?;
        let wait = || backend.dot_products([(&ready, &ready)]).map(drop);
        let (operator, right, x) = log.timed("set-up", |_| {
            let made = (matrix(backend)?, backend.zeros(n)?, backend.zeros(n)?);
            wait().map(|()| made)
        })?;
        let kind = options.preconditioner;
        let mut preconditioner = Preconditioners::one(move |backend, a: &B::CsrMatrix<f64>| {
            a.preconditioner(backend, kind)
        });
        log.timed("analysis", |_| {
            preconditioner.current(backend, &operator)?;
            wait()
        })?;
        let mut solver = LinearSolver::new(options.linear, n, preconditioner);
        log.timed("factorisation", |_| {
            solver.update(backend, &operator)?;
            Ok::<_, SolverError>(wait()?)
        })?;
        Ok(Self { operator, solver, right, x })
    }

    /// Solves for these rows of right-hand sides, each from its start.
    fn solve_all(
        &mut self,
        backend: &B,
        sides: &[OrderedSide<'_>],
        rows: Range<usize>,
        options: &SystemOptions,
        log: &mut RunLog<'_>,
    ) -> Result<Vec<SystemSolution>, SolverError> {
        let Self { operator, solver, right, x } = self;
        let solve = |side: &OrderedSide<'_>| {
            log.timed("solve", |log| {
                backend.upload(&side.b[rows.clone()], right)?;
                backend.upload(&side.start[rows.clone()], x)?;
                let mut residuals = vec![[0.0, 1.0]];
                let mut observe = |iteration, residual| {
                    residuals.push([iteration, residual]);
                    log.progress.linear(iteration, residual);
                };
                let tolerance = options.tolerance;
                let report = solver.solve(backend, operator, right, tolerance, x, &mut observe)?;
                let mut host = vec![0.0; rows.len()];
                backend.download(x, &mut host)?;
                Ok(SystemSolution { x: host, report, residuals })
            })
        };
        sides.iter().map(solve).collect()
    }
}
