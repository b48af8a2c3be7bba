//! Ranks on devices on the CPU.

use std::sync::Arc;

use gridgen::backend::Bands;
use gridgen::backend::cuda::{CudaBackend, Device};
use gridgen::internals::generate::{RankWork, Ranks};
use gridgen::solver::SolverError;

use super::systems::Machine;
use support::fibers::{Transport, fibers, on_ranks};

/// Devices, with one rank for each, and their transport.
pub(crate) struct Devices {
    pub(crate) all: Vec<Arc<dyn Device>>,
    pub(crate) transport: Transport,
    /// Points down to which levels are distributed in bands, if not by default.
    pub(crate) gathered: Option<usize>,
}

impl Devices {
    pub(crate) fn fibers(count: usize) -> Self {
        Self { all: fibers(count), transport: Transport::PeerMemory, gathered: None }
    }
}

impl Machine for Devices {
    fn ranks(&self) -> usize {
        self.all.len()
    }

    fn run<R: Send>(
        &self,
        bands: &Bands,
        work: impl Fn(usize, &CudaBackend) -> Result<R, SolverError> + Sync,
    ) -> Result<Vec<R>, SolverError> {
        on_ranks(&self.all, self.transport, |link| {
            let rank = link.rank;
            let backend = CudaBackend::banded(link, bands.clone())?;
            work(rank, &backend.with_gathered_points(self.gathered))
        })
    }
}

impl Ranks for Devices {
    fn count(&self) -> usize {
        self.all.len()
    }

    fn name(&self) -> String {
        format!("{} × fibers", self.all.len())
    }

    fn run(&self, bands: &Bands, work: &RankWork<'_>) -> Result<(), SolverError> {
        Machine::run(self, bands, work).map(drop)
    }
}
