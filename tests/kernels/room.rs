//! Devices without clusters, on which few blocks can wait for each other, and with little shared memory.

use std::sync::Arc;

use crate::conformance::conformance;
use gridgen::backend::cuda::CudaBackend;
use support::fibers::FiberDevice;

pub fn narrow() -> CudaBackend {
    CudaBackend::new(Arc::new(FiberDevice::with(|device| device.room = Some(3)))).unwrap()
}

/// Blocks have room for some segments of long lines.
pub fn cramped() -> CudaBackend {
    CudaBackend::new(Arc::new(FiberDevice::with(|device| device.shared_memory = Some(112 << 10))))
        .unwrap()
}

/// Blocks have room for none.
pub fn bare() -> CudaBackend {
    CudaBackend::new(Arc::new(FiberDevice::with(|device| device.shared_memory = Some(48 << 10))))
        .unwrap()
}

conformance!(@module cramped, multigrid, lines_in_segments);
mod without_segments {
    use crate::conformance::conformance;

    conformance!(@module bare, multigrid, lines_in_segments);
}
conformance!(@module narrow, march, the_march_gives_the_grid_of_the_host);
