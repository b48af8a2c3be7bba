//! Ranks on devices on the CPU.

use std::sync::Arc;

use gridgen::backend::Bands;
use gridgen::backend::cuda::{CudaBackend, Device};
use gridgen::solver::SolverError;

pub use super::cases::JACOBI;
use super::cases::{Case, Solved};
use crate::rows::machine::Devices;
use crate::rows::systems::Machine;
use support::fibers::{FiberDevice, Order, Transport, fibers};

pub const TRANSPORTS: [Transport; 2] = [Transport::PeerMemory, Transport::Host];

/// Ranks of these devices. Levels are distributed in bands down to about a hundred points.
pub(crate) fn banded(all: Vec<Arc<dyn Device>>, transport: Transport) -> Devices {
    Devices { all, transport, gathered: Some(100) }
}

/// Does `work` on every rank of [`banded`], with its number and a backend for its band.
pub fn on_bands_of<R: Send>(
    devices: &[Arc<dyn Device>],
    transport: Transport,
    bands: &Bands,
    work: impl Fn(usize, &CudaBackend) -> Result<R, SolverError> + Sync,
) -> Result<Vec<R>, SolverError> {
    Machine::run(&banded(devices.to_vec(), transport), bands, work)
}

/// Two devices that run the blocks of a launch, and the threads of a block, in opposite orders.
pub fn opposite() -> [Arc<dyn Device>; 2] {
    [
        Arc::new(FiberDevice::default()),
        Arc::new(FiberDevice::with(|device| device.order = Order::BACKWARD)),
    ]
}

/// The rows of a band among those of the whole grid, in its order.
pub fn rows(bands: &Bands, rank: usize, mj: usize) -> Vec<usize> {
    let (mi, columns) = (bands.columns(), bands.of(rank));
    (0..mj).flat_map(|j| 2 * (j * mi + columns.start)..2 * (j * mi + columns.end)).collect()
}

/// The values of these rows, of each slot of a matrix with `all` rows.
pub fn cut(values: &[f64], all: usize, rows: &[usize]) -> Vec<f64> {
    values.chunks(all).flat_map(|slot| rows.iter().map(|&row| slot[row])).collect()
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
