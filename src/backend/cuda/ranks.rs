//! Several devices that share the work on a grid or a matrix.

use crate::backend::cuda::backend::CudaBackend;
use crate::backend::cuda::precond::MemoryEstimate;
use crate::backend::{Bands, DeviceError, SolverError};
use crate::ranks::Job;
use std::sync::Arc;

/// Names of devices, each once with the number of the devices that have it.
pub(super) fn counted<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for name in names {
        match counts.iter_mut().find(|(known, _)| *known == name) {
            Some((_, count)) => *count += 1,
            None => counts.push((name, 1)),
        }
    }
    let counts = counts.iter().map(|(name, count)| format!("{count} × {name}"));
    counts.collect::<Vec<_>>().join(", ")
}

/// The work of a rank, given its number and its backend.
pub type RankWork<'a> = dyn Fn(usize, &CudaBackend) -> Result<(), SolverError> + Sync + 'a;

/// Several devices that can meet: GPUs, or whatever else the kernels run on.
pub trait Ranks: Send {
    /// Number of devices.
    fn count(&self) -> usize;

    /// Name for the report.
    fn name(&self) -> String;

    /// Does `work` on all of them, each with a backend that has its band of `bands`.
    ///
    /// # Errors
    /// The failure of the first rank that failed on its own; all others stop.
    fn run(&self, bands: &Bands, work: &RankWork<'_>) -> Result<(), SolverError>;

    /// The job whose processes the ranks are: this process then has one of them, and [`Self::run`] does the
    /// work of that one. None where all are threads of this process.
    fn job(&self) -> Option<&Arc<Job>> {
        None
    }

    /// Refuses what does not fit the free memory of one of them, each having its share.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`].
    fn check_memory(&self, _demand: MemoryEstimate) -> Result<(), DeviceError> {
        Ok(())
    }
}
