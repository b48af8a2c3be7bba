//! A linear system on a machine: whole, or on several devices a block of rows each.

use std::sync::{Mutex, PoisonError};

use super::SystemOptions;
use super::report::SystemTiming;
use super::solve::{Solved, solve_on};
use crate::backend::cpu::CpuBackend;
use crate::backend::cuda::CudaCsr;
use crate::backend::{Algebraic, Bands, DeviceError, SparseBackend};
use crate::generate::{Machine, Progress, Ranks};
use crate::solver::SolverError;
use crate::sparse::{Csr, RowBlocks};

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
        Machine::Ranks(ranks) => solve_by_rows(&**ranks, system, options, timing, progress),
    }
}

/// Solves a system on one backend.
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
fn solve_by_rows(
    ranks: &dyn Ranks,
    (a, b): (&Csr, &[f64]),
    options: &SystemOptions,
    timing: &mut SystemTiming,
    progress: &mut dyn Progress,
) -> Result<Solved, SolverError> {
    let blocks = RowBlocks::new(a.pattern(), ranks.count()).map_err(DeviceError::from)?;
    let parts: Vec<Mutex<Option<Solved>>> = (0..ranks.count()).map(|_| Mutex::default()).collect();
    // All ranks see and time the same: the first tells it.
    let told = Mutex::new((timing, progress));
    ranks.run(&Bands::from(&blocks), &|rank, backend| {
        let part = blocks.part(rank, a);
        let own = &b[part.rows.clone()];
        let matrix = |backend: &_| CudaCsr::of_rows(backend, &part, options.format);
        let solved = if rank == 0 {
            let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
            let (timing, progress) = &mut *told;
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
