//! The CUDA backend on the first GPU, and on the first two if there are two: `cargo test --features gpu-tests
//! --test gpu`, with `-- --include-ignored` for two.
#![allow(clippy::unwrap_used, reason = "a failing step fails the test")]
#![allow(dead_code, unreachable_pub, reason = "some modules serve several programs")]

mod bands;
#[path = "../backends/bands/cases.rs"]
mod cases;
#[path = "../conformance/mod.rs"]
mod conformance;
mod lost;
mod messages;
mod movement;
#[path = "../backends/rows/patterns.rs"]
mod patterns;
mod rows;
mod runs;
#[path = "../backends/rows/systems.rs"]
mod systems;

use std::sync::Arc;

use conformance::conformance;
use gridgen::backend::cuda::driver::DriverDevice;
use gridgen::backend::cuda::{CudaBackend, Device};

fn on_gpu() -> CudaBackend {
    CudaBackend::new(Arc::new(DriverDevice::open(0, &[]).unwrap())).unwrap()
}

conformance!(on_gpu);

#[test]
fn large_downloads_bring_every_byte() {
    let device: Arc<dyn Device> = Arc::new(DriverDevice::open(0, &[]).unwrap());
    let _ = support::gpus::large_downloads_bring_every_byte(&device);
}
