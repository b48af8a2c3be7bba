//! Ranks on devices on the CPU.
#![allow(clippy::unwrap_used, unreachable_pub, reason = "a failing step fails the test")]

use std::sync::Arc;

use gridgen::backend::Bands;
use gridgen::backend::cuda::{Alarm, CudaBackend, Device, HostCommunicator, Post, run_ranks};
use gridgen::solver::SolverError;

use crate::cases::{Case, Solved};
use crate::fibers::FiberDevice;

/// Does `work` on every device, with the number of the rank and a backend for its band. Levels are
/// in bands down to about a hundred points.
pub fn on_ranks<R: Send>(
    devices: &[Arc<dyn Device>],
    bands: &Bands,
    work: impl Fn(usize, &CudaBackend) -> Result<R, SolverError> + Sync,
) -> Result<Vec<R>, SolverError> {
    let (alarm, ranks) = (Arc::new(Alarm::default()), devices.len());
    let post = Arc::new(Post::new(alarm.clone()));
    run_ranks(ranks, &alarm, |rank| {
        let device = devices[rank].clone();
        let link = HostCommunicator::new(post.clone(), rank, ranks, device.clone());
        let backend = CudaBackend::banded(device, Box::new(link), bands.clone())?
            .with_matrix_unknowns(64)
            .with_gathered_points(100);
        work(rank, &backend)
    })
}

/// Devices on the CPU.
pub fn fibers(count: usize) -> Vec<Arc<dyn Device>> {
    (0..count).map(|_| Arc::new(FiberDevice::default()) as Arc<dyn Device>).collect()
}

impl Case {
    /// On a band for each device.
    pub fn on_devices(self, devices: &[Arc<dyn Device>]) -> Result<Solved, SolverError> {
        self.on_ranks(devices.len(), |bands, work| on_ranks(devices, bands, work))
    }

    pub fn on_bands(self, bands: usize) -> Solved {
        self.on_devices(&fibers(bands)).unwrap()
    }
}
