//! Ranks on devices on the CPU.
#![allow(clippy::unwrap_used, reason = "a failing step fails the test")]

use std::sync::Arc;

use gridgen::backend::Bands;
use gridgen::backend::cuda::{Alarm, CudaBackend, Device, HostCommunicator, Post, run_ranks};
use gridgen::solver::SolverError;

use crate::fibers::FiberDevice;
use crate::systems::Machine;

/// A rank for each device.
pub(crate) struct Devices(pub(crate) Vec<Arc<dyn Device>>);

impl Devices {
    /// Devices on the CPU.
    pub(crate) fn fibers(count: usize) -> Self {
        Self((0..count).map(|_| Arc::new(FiberDevice::default()) as Arc<dyn Device>).collect())
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
        let (alarm, ranks) = (Arc::new(Alarm::default()), self.0.len());
        let post = Arc::new(Post::new(alarm.clone()));
        run_ranks(ranks, &alarm, |rank| {
            let device = self.0[rank].clone();
            let link = HostCommunicator::new(post.clone(), rank, ranks, device.clone());
            work(rank, &CudaBackend::banded(device, Box::new(link), bands.clone())?)
        })
    }
}
