//! Several devices that work together.

#[cfg(feature = "cuda")]
use crate::backend::cuda::Gpus;
use crate::backend::cuda::{CudaBackend, MemoryEstimate};
use crate::backend::{Bands, DeviceError};
use crate::solver::SolverError;

/// What a rank does, by its number and on its backend.
pub type RankWork<'a> = dyn Fn(usize, &CudaBackend) -> Result<(), SolverError> + Sync + 'a;

/// Several devices that can meet: GPUs, or whatever else the kernels run on.
pub trait Ranks: Send {
    /// How many there are.
    fn count(&self) -> usize;

    /// Name for the report.
    fn name(&self) -> String;

    /// A backend on the first of them alone.
    ///
    /// # Errors
    /// If the device has no room.
    fn first(&self) -> Result<CudaBackend, DeviceError>;

    /// Does `work` on all of them, each with a backend that has its band of `bands`.
    ///
    /// # Errors
    /// The failure of the first rank that failed on its own; all others stop.
    fn run(&self, bands: &Bands, work: &RankWork<'_>) -> Result<(), SolverError>;

    /// Refuses what does not fit one of them, each having its share.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`].
    fn check_memory(&self, _demand: MemoryEstimate) -> Result<(), DeviceError> {
        Ok(())
    }
}

#[cfg(feature = "cuda")]
impl Ranks for Gpus {
    fn count(&self) -> usize {
        Self::count(self)
    }

    fn name(&self) -> String {
        format!("cuda ({} × {})", self.count(), self.names())
    }

    fn first(&self) -> Result<CudaBackend, DeviceError> {
        Self::first(self)
    }

    fn run(&self, bands: &Bands, work: &RankWork<'_>) -> Result<(), SolverError> {
        Self::run(self, bands, work).map(|_| ())
    }

    fn check_memory(&self, demand: MemoryEstimate) -> Result<(), DeviceError> {
        Self::check_memory(self, demand)
    }
}
