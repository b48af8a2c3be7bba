//! Solves a linear system on a machine: as a whole, or in blocks of rows on several devices.

use parking_lot::Mutex;

use super::options::SystemOptions;
use crate::backend::cpu::CpuBackend;
use crate::backend::cuda::CudaCsr;
use crate::backend::{Backend, Bands, DeviceError, Result, SparseBackend, SparseMatrix, scalars};
use crate::ranks::values;
use crate::report::Timing;
use crate::run::{Machine, Ranks, RunLog};
use crate::solver::SolverError;
use crate::solver::linear::{LinearReport, LinearSettings, LinearSolver};
use crate::solver::precond::Preconditioners;
use crate::sparse::{Csr, RowBlocks};

pub(super) struct SystemSolution {
    pub(super) x: Vec<f64>,
    pub(super) report: LinearReport,
    /// Numbers of iterations, and the relative residuals after them.
    pub(super) residuals: Vec<[f64; 2]>,
}

pub(super) fn solve_on_machine(
    machine: &Machine,
    system: (&Csr, &[f64]),
    options: &SystemOptions,
    log: &mut RunLog<'_>,
) -> Result<SystemSolution, SolverError> {
    match machine {
        Machine::Cpu => whole(&CpuBackend, system, options, log),
        Machine::Cuda(backend) => whole(&**backend, system, options, log),
        Machine::Ranks(ranks) => by_rows(&**ranks, system, options, log),
    }
}

fn whole<B: SparseBackend>(
    backend: &B,
    (a, b): (&Csr, &[f64]),
    options: &SystemOptions,
    log: &mut RunLog<'_>,
) -> Result<SystemSolution, SolverError> {
    let matrix = |backend: &B| backend.csr(a, options.format);
    solve_on(backend, (matrix, b), options, log)
}

/// Cuts the rows into blocks with about equal numbers of entries, one for each rank.
fn by_rows(
    ranks: &dyn Ranks,
    (a, b): (&Csr, &[f64]),
    options: &SystemOptions,
    log: &mut RunLog<'_>,
) -> Result<SystemSolution, SolverError> {
    let blocks = RowBlocks::new(a.pattern(), ranks.count()).map_err(DeviceError::from)?;
    let parts: Vec<Mutex<Option<SystemSolution>>> =
        (0..ranks.count()).map(|_| Mutex::default()).collect();
    // All ranks have the same residuals and times, so only the first of this process reports them.
    let first = ranks.job().map_or(0, |job| job.rank());
    let observed = Mutex::new(log);
    ranks.run(&Bands::from(&blocks), &|rank, backend| {
        let part = blocks.part(rank, a);
        let own = &b[part.rows.clone()];
        let matrix = |backend: &_| CudaCsr::of_rows(backend, &part, options.format);
        let solved = if rank == first {
            let mut observed = observed.lock();
            solve_on(backend, (matrix, own), options, &mut observed)
        } else {
            solve_on(backend, (matrix, own), options, &mut RunLog::new(&mut (), Timing::default()))
        };
        *parts[rank].lock() = Some(solved?);
        Ok(())
    })?;
    let solved = |part: Mutex<Option<_>>| part.into_inner();
    let mut parts = parts.into_iter().filter_map(solved);
    let mut whole: SystemSolution = parts.next().ok_or(DeviceError::NoGpu)?;
    match ranks.job() {
        None => parts.for_each(|part| whole.x.extend(part.x)),
        Some(job) => {
            let own = bytemuck::cast_slice(&whole.x).to_vec();
            let all = job.all_gather(own).map_err(DeviceError::from)?;
            whole.x = values(&all.concat());
        }
    }
    whole.report.events.extend(notes(&blocks, options));
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

/// Solves A x = b from x = 0 with the chosen options; `matrix` uploads A to the backend. One of several ranks
/// has its rows of A, b and x.
fn solve_on<B: SparseBackend>(
    backend: &B,
    (matrix, b): (impl FnOnce(&B) -> Result<B::CsrMatrix<f64>>, &[f64]),
    options: &SystemOptions,
    log: &mut RunLog<'_>,
) -> Result<SystemSolution, SolverError> {
    let n = b.len();
    let mut clock =
        Clock { backend, ready: backend.zeros(1)?, scalars: scalars::allocate(backend)? };
    let (operator, right, mut x) = clock.timed(log, "set-up", |_| {
        let (operator, mut right) = (matrix(backend)?, backend.zeros::<f64>(n)?);
        backend.upload(b, &mut right)?;
        Ok((operator, right, backend.zeros::<f64>(n)?))
    })?;
    let kind = options.preconditioner;
    let mut preconditioner =
        Preconditioners::one(move |backend, a: &B::CsrMatrix<f64>| a.preconditioner(backend, kind));
    clock
        .timed(log, "analysis", |_| Ok(preconditioner.current(backend, &operator).map(drop)?))?;
    let settings = LinearSettings {
        method: options.method,
        max_iterations: options.max_iterations,
        restart: options.restart,
    };
    let mut solver = LinearSolver::new(settings, n, preconditioner);
    clock.timed(log, "factorisation", |_| solver.update(backend, &operator))?;
    let mut residuals = vec![[0.0, 1.0]];
    let report = clock.timed(log, "solve", |log| {
        let mut observe = |iteration, residual| {
            residuals.push([iteration, residual]);
            log.progress.linear(iteration, residual);
        };
        solver.solve(backend, &operator, &right, options.tolerance, &mut x, &mut observe)
    })?;
    let mut host = vec![0.0; n];
    backend.download(&x, &mut host)?;
    Ok(SystemSolution { x: host, report, residuals })
}

/// Measures phases; each ends when the backend has completed all work.
struct Clock<'a, B: Backend> {
    backend: &'a B,
    ready: B::Vector<f64>,
    scalars: B::Vector<f64>,
}

impl<B: Backend> Clock<'_, B> {
    fn timed<R>(
        &mut self,
        log: &mut RunLog<'_>,
        phase: &str,
        work: impl FnOnce(&mut RunLog<'_>) -> Result<R, SolverError>,
    ) -> Result<R, SolverError> {
        log.timed(phase, |log| {
            let result = work(log)?;
            // Reading an inner product waits for all earlier work.
            let Self { backend, ready, scalars } = self;
            scalars::read_dots(*backend, scalars, [(&*ready, &*ready)])?;
            Ok(result)
        })
    }
}
