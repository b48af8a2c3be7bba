//! The CUDA backend on fibers: every kernel and its launch, without a GPU.
#![allow(clippy::unwrap_used, reason = "a failing step fails the test")]
#![allow(unreachable_pub, reason = "some modules serve several programs")]

#[path = "../conformance/mod.rs"]
mod conformance;
mod fiber_header;
mod kernel_cache;
mod nvrtc;
mod orders;
mod table;
mod waits;

use std::sync::Arc;

use conformance::conformance;
use gridgen::backend::cuda::CudaBackend;
use support::fibers::FiberDevice;
use orders::adverse;

fn on_fibers() -> CudaBackend {
    // Fibers take long for the many copies of a larger level.
    CudaBackend::new(Arc::new(FiberDevice::default())).unwrap().with_matrix_unknowns(64)
}

conformance!(on_fibers);
