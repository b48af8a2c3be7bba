//! A device without clusters, on which few blocks can wait for each other.

use std::sync::Arc;

use crate::conformance::conformance;
use gridgen::backend::cuda::CudaBackend;
use support::fibers::FiberDevice;

pub fn narrow() -> CudaBackend {
    CudaBackend::new(Arc::new(FiberDevice::with_room(3))).unwrap()
}

conformance!(@module narrow, march, the_march_gives_the_grid_of_the_host);
