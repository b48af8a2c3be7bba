//! A linear system on several ranks, a block of rows each.

use std::sync::{Mutex, PoisonError};

use super::SystemOptions;
use super::solve::{Solved, solve_on};
#[cfg(feature = "cuda")]
use crate::backend::cuda::driver::Gpus;
use crate::backend::cuda::{CudaBackend, CudaCsr};
use crate::backend::{Bands, DeviceError};
use crate::io::solution::SystemTiming;
use crate::run::Progress;
use crate::solver::SolverError;
use crate::solver::general::GeneralKind;
use crate::sparse::{Csr, RowBlocks};

/// What a rank does, by its number and on its backend.
pub type RankWork<'a> = dyn Fn(usize, &CudaBackend) -> Result<(), SolverError> + Sync + 'a;

/// Several devices that can meet: GPUs, or whatever else the kernels run on.
pub trait Ranks: Send {
    /// How many there are.
    fn count(&self) -> usize;

    /// Name for the report.
    fn name(&self) -> String;

    /// Does `work` on all of them, each with a backend that has its band of `bands`.
    ///
    /// # Errors
    /// The failure of the first rank that failed on its own; all others stop.
    fn run(&self, bands: &Bands, work: &RankWork<'_>) -> Result<(), SolverError>;
}

#[cfg(feature = "cuda")]
impl Ranks for Gpus {
    fn count(&self) -> usize {
        Self::count(self)
    }

    fn name(&self) -> String {
        format!("cuda ({} × {})", self.count(), self.names())
    }

    fn run(&self, bands: &Bands, work: &RankWork<'_>) -> Result<(), SolverError> {
        Self::run(self, bands, work).map(|_| ())
    }
}

/// Cuts the rows into blocks of about as many entries and solves with each rank on its own.
pub(super) fn solve_by_rows(
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
    if matches!(options.preconditioner, GeneralKind::Factors { .. }) {
        notes.push(format!(
            "the factors leave out what couples the rows of one GPU with those of another: \
             block Jacobi of {} blocks",
            blocks.ranks(),
        ));
    }
    notes
}
