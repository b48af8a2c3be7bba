//! Ranks on devices on the CPU.

use std::sync::Arc;

use gridgen::backend::Bands;
use gridgen::backend::cuda::{CudaBackend, Device};
use gridgen::solver::SolverError;

use super::systems::Machine;
use support::fibers::{Transport, fibers, on_ranks};

/// Devices, with one rank for each, and their transport.
pub(crate) struct Devices(pub(crate) Vec<Arc<dyn Device>>, pub(crate) Transport);

impl Devices {
    /// Devices on the CPU.
    pub(crate) fn fibers(count: usize) -> Self {
        Self(fibers(count), Transport::PeerMemory)
    }
}

impl Machine for Devices {
    fn ranks(&self) -> usize {
        self.0.len()
    }

    fn run<R: Send>(
        &self,
        bands: &Bands,
        work: impl Fn(usize, &CudaBackend) -> Result<R, SolverError> + Sync,
    ) -> Result<Vec<R>, SolverError> {
        on_ranks(&self.0, self.1, |device, link| {
            let rank = link.rank();
            work(rank, &CudaBackend::banded(device, link, bands.clone())?)
        })
    }
}
