//! A device of the CUDA backend on the CPU: kernels compiled by the system's C++ compiler, with fibers as
//! threads (`fibers.hpp`).

mod device;
mod library;
mod memory;
mod mortal;
mod ranks;

pub use device::FiberDevice;
pub use library::{Code, Fault, Library, Order, compiled};
pub use mortal::{lost, mortal, watched};
pub use ranks::{Transport, fibers, on_ranks, on_ranks_with_timeout};
