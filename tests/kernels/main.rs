//! The CUDA backend on fibers: every kernel and its launch, without a GPU.
#![allow(clippy::unwrap_used, reason = "a failing step fails the test")]
#![allow(unreachable_pub, reason = "some modules serve several programs")]

#[path = "../conformance/mod.rs"]
mod conformance;
mod fiber_header;
mod kernel_cache;
mod nvrtc;
mod orders;
mod room;
mod table;
mod waits;

use std::sync::Arc;

use conformance::conformance;
use gridgen::backend::cpu::CpuBackend;
use gridgen::backend::cuda::CudaBackend;
use orders::adverse;
use room::{bare, cramped, narrow};
use support::fibers::FiberDevice;

/// A backend on a device with other fields than by default.
fn on_fibers_with(change: impl FnOnce(&mut FiberDevice)) -> CudaBackend {
    CudaBackend::new(Arc::new(FiberDevice::with(change))).unwrap()
}

fn on_fibers() -> CudaBackend {
    on_fibers_with(|_| {})
}

conformance!(on_fibers);

fn on_cpu() -> CpuBackend {
    CpuBackend
}

/// Facts that are not comparisons with the CPU backend hold for that backend too.
mod cpu {
    use crate::conformance::conformance;

    conformance!(@module on_cpu, lengths,
        vectors_of_another_length_are_refused
        scalars_without_their_slots_are_refused
        products_with_vectors_of_another_length_are_refused
        levels_and_vectors_of_other_grids_are_refused
        unknowns_of_other_grids_are_refused
    );
    conformance!(@module on_cpu, scalars,
        a_condition_that_holds_halts_the_slots
        nothing_follows_a_condition_that_holds_before
        a_nan_halts_as_vanished
        the_log_is_a_ring
    );
    conformance!(@module on_cpu, walls, a_singular_wall_block_names_its_point);
    conformance!(@module on_cpu, general, the_first_bad_pivot_and_its_value);
}
