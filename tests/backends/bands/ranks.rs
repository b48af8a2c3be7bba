//! Ranks on devices on the CPU.

use std::sync::Arc;

use gridgen::backend::Bands;
use gridgen::backend::cuda::{CudaBackend, Device};
use gridgen::solver::SolverError;

use super::cases::{Case, Solved};
use support::fibers::{FiberDevice, Order, Transport, on_ranks};

/// Does `work` on every device, with the number of the rank and a backend for its band. Levels are
/// distributed in bands down to about a hundred points.
pub fn on_bands_of<R: Send>(
    devices: &[Arc<dyn Device>],
    transport: Transport,
    bands: &Bands,
    work: impl Fn(usize, &CudaBackend) -> Result<R, SolverError> + Sync,
) -> Result<Vec<R>, SolverError> {
    on_ranks(devices, transport, |device, link| {
        let rank = link.rank();
        let backend = CudaBackend::banded(device, link, bands.clone())?
            .with_matrix_unknowns(64)
            .with_gathered_points(100);
        work(rank, &backend)
    })
}

/// Two devices that run the blocks of a launch, and the threads of a block, in opposite orders.
pub fn opposite() -> [Arc<dyn Device>; 2] {
    [Arc::new(FiberDevice::default()), Arc::new(FiberDevice::in_order(Order::BACKWARD))]
}

/// Devices on the CPU.
pub fn fibers(count: usize) -> Vec<Arc<dyn Device>> {
    (0..count).map(|_| Arc::new(FiberDevice::default()) as Arc<dyn Device>).collect()
}

impl Case {
    /// Solves on one band for each device.
    pub fn on_devices(
        self,
        devices: &[Arc<dyn Device>],
        transport: Transport,
    ) -> Result<Solved, SolverError> {
        self.on_ranks(devices.len(), |bands, work| on_bands_of(devices, transport, bands, work))
    }

    /// Solves on `bands` bands, with messages through peer memory.
    pub fn on_bands(self, bands: usize) -> Solved {
        self.on_devices(&fibers(bands), Transport::PeerMemory).unwrap()
    }
}
