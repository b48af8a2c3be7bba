//! Devices without clusters, on which few blocks can wait for each other, and with little shared memory.

use crate::conformance::conformance;
use crate::on_fibers_with;
use gridgen::backend::cuda::CudaBackend;

pub fn narrow() -> CudaBackend {
    on_fibers_with(|device| device.room = Some(3))
}

/// Blocks have room for some segments of long lines.
pub fn cramped() -> CudaBackend {
    on_fibers_with(|device| device.shared_memory = Some(112 << 10))
}

/// Blocks have room for none.
pub fn bare() -> CudaBackend {
    on_fibers_with(|device| device.shared_memory = Some(48 << 10))
}

conformance!(@module cramped, multigrid, lines_in_segments);
mod without_segments {
    use crate::conformance::conformance;

    conformance!(@module bare, multigrid, lines_in_segments);
}
conformance!(@module narrow, march, the_march_gives_the_grid_of_the_host);
