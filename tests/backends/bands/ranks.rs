//! Ranks on devices on the CPU.

use std::sync::Arc;

use gridgen::backend::Bands;
use gridgen::backend::cuda::{CudaBackend, Device};
use gridgen::pde::control::Wall;
use gridgen::solver::SolverError;
use gridgen::solver::krylov::Method;
use gridgen::solver::precond::Kind;

use super::cases::{Case, Solved};
use support::fibers::{FiberDevice, Order, Transport, fibers, on_ranks};

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
        let backend = CudaBackend::banded(device, link, bands.clone())?.with_gathered_points(100);
        work(rank, &backend)
    })
}

/// Two devices that run the blocks of a launch, and the threads of a block, in opposite orders.
pub fn opposite() -> [Arc<dyn Device>; 2] {
    [Arc::new(FiberDevice::default()), Arc::new(FiberDevice::in_order(Order::BACKWARD))]
}

/// The rows of a band among those of the whole grid, in its order.
pub fn rows(bands: &Bands, rank: usize, mj: usize) -> Vec<usize> {
    let (mi, columns) = (bands.columns(), bands.of(rank));
    (0..mj).flat_map(|j| 2 * (j * mi + columns.start)..2 * (j * mi + columns.end)).collect()
}

/// A frozen wall of a NACA section, solved by `BiCGStab` with a diagonal.
pub const JACOBI: Case = Case {
    periodic: false,
    nodes: (49, 17),
    wall: Wall::Frozen,
    kind: Kind::Jacobi,
    method: Method::Bicgstab,
};

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
