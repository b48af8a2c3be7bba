//! A linear system on a machine: whole, or on several devices a block of rows each.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use super::SystemOptions;
use super::report::SystemTiming;
use crate::backend::cpu::CpuBackend;
use crate::backend::cuda::CudaCsr;
use crate::backend::{Algebraic, Backend, Bands, DeviceError, Result, SparseBackend, scalars};
use crate::generate::{Machine, Progress, Ranks};
use crate::solver::SolverError;
use crate::solver::linear::{LinearReport, LinearSettings, LinearSolver};
use crate::solver::precond::FromMatrix;
use crate::sparse::{Csr, RowBlocks};

pub(super) struct Solved {
    pub(super) x: Vec<f64>,
    pub(super) report: LinearReport,
    /// Iterations and the relative residuals after them.
    pub(super) residuals: Vec<[f64; 2]>,
}

/// Solves a system as the options ask for it.
pub(super) fn solve_on_machine(
    machine: &Machine,
    system: (&Csr, &[f64]),
    options: &SystemOptions,
    timing: &mut SystemTiming,
    progress: &mut dyn Progress,
) -> Result<Solved, SolverError> {
    match machine {
        Machine::Cpu => whole(&CpuBackend, system, options, timing, progress),
        Machine::Cuda(backend) => whole(&**backend, system, options, timing, progress),
        Machine::Ranks(ranks) => by_rows(&**ranks, system, options, timing, progress),
    }
}

fn whole<B: SparseBackend>(
    backend: &B,
    (a, b): (&Csr, &[f64]),
    options: &SystemOptions,
    timing: &mut SystemTiming,
    progress: &mut dyn Progress,
) -> Result<Solved, SolverError> {
    let matrix = |backend: &B| backend.csr(a, options.format);
    solve_on(backend, (matrix, b), options, timing, progress)
}

/// Cuts the rows into blocks of about as many entries and solves with each rank on its own.
fn by_rows(
    ranks: &dyn Ranks,
    (a, b): (&Csr, &[f64]),
    options: &SystemOptions,
    timing: &mut SystemTiming,
    progress: &mut dyn Progress,
) -> Result<Solved, SolverError> {
    let blocks = RowBlocks::new(a.pattern(), ranks.count()).map_err(DeviceError::from)?;
    let parts: Vec<Mutex<Option<Solved>>> = (0..ranks.count()).map(|_| Mutex::default()).collect();
    // All ranks see and time the same: the first reports it.
    let observed = Mutex::new((timing, progress));
    ranks.run(&Bands::from(&blocks), &|rank, backend| {
        let part = blocks.part(rank, a);
        let own = &b[part.rows.clone()];
        let matrix = |backend: &_| CudaCsr::of_rows(backend, &part, options.format);
        let solved = if rank == 0 {
            let mut observed = observed.lock().unwrap_or_else(PoisonError::into_inner);
            let (timing, progress) = &mut *observed;
            solve_on(backend, (matrix, own), options, timing, &mut **progress)
        } else {
            let mut timing = SystemTiming::default();
            solve_on(backend, (matrix, own), options, &mut timing, &mut ())
        };
        *parts[rank].lock().unwrap_or_else(PoisonError::into_inner) = Some(solved?);
        Ok(())
    })?;
    let solved = |part: Mutex<Option<_>>| part.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut parts = parts.into_iter().filter_map(solved);
    let mut whole: Solved = parts.next().ok_or(DeviceError::NoGpu)?;
    parts.for_each(|part| whole.x.extend(part.x));
    whole.report.events.extend(notes(&blocks, options));
    Ok(whole)
}

/// What the user should know of the blocks.
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
    if matches!(options.preconditioner, Algebraic::Factors { .. }) {
        notes.push(format!(
            "the factors leave out what couples the rows of one GPU with those of another: \
             block Jacobi of {} blocks",
            blocks.ranks(),
        ));
    }
    notes
}

/// Solves A x = b from x = 0 as the options ask for it, with what makes A on the backend. On one of
/// several ranks A, b and x are its rows.
fn solve_on<B: SparseBackend>(
    backend: &B,
    (matrix, b): (impl FnOnce(&B) -> Result<B::CsrMatrix<f64>>, &[f64]),
    options: &SystemOptions,
    timing: &mut SystemTiming,
    progress: &mut dyn Progress,
) -> Result<Solved, SolverError> {
    let n = b.len();
    let (ready, scalars) = (backend.zeros(1)?, scalars::allocate(backend)?);
    let mut clock = Clock { backend, ready, scalars, last: Instant::now() };
    progress.phase("set-up");
    let operator = matrix(backend)?;
    let (mut right, mut x) = (backend.zeros::<f64>(n)?, backend.zeros::<f64>(n)?);
    backend.upload(b, &mut right)?;
    timing.add("set-up", clock.lap()?);
    progress.phase("analysis");
    let mut preconditioner = FromMatrix::new(options.preconditioner);
    preconditioner.analyse(backend, &operator)?;
    timing.add("analysis", clock.lap()?);
    progress.phase("factorisation");
    let settings = LinearSettings {
        method: options.method,
        max_iterations: options.max_iterations,
        restart: options.restart,
    };
    let mut solver = LinearSolver::new(settings, n, preconditioner);
    solver.update(backend, &operator)?;
    timing.add("factorisation", clock.lap()?);
    progress.phase("solve");
    let mut residuals = vec![[0.0, 1.0]];
    let mut observe = |iteration, residual| {
        residuals.push([iteration, residual]);
        progress.linear(iteration, residual);
    };
    let report =
        solver.solve(backend, &operator, &right, options.tolerance, &mut x, &mut observe)?;
    timing.add("solve", clock.lap()?);
    let mut host = vec![0.0; n];
    backend.download(&x, &mut host)?;
    Ok(Solved { x: host, report, residuals })
}

/// Time between two moments at which a backend has nothing left to do.
struct Clock<'a, B: Backend> {
    backend: &'a B,
    /// An inner product that is read waits for all work before it.
    ready: B::Vector<f64>,
    scalars: B::Vector<f64>,
    last: Instant,
}

impl<B: Backend> Clock<'_, B> {
    /// Seconds since the last call.
    fn lap(&mut self) -> Result<f64> {
        scalars::read_dots(self.backend, &mut self.scalars, [(&self.ready, &self.ready)])?;
        let before = std::mem::replace(&mut self.last, Instant::now());
        Ok((self.last - before).as_secs_f64())
    }
}
