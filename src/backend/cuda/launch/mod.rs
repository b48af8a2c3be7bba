//! Kernels before a device: their sources, their compilation, and what a launch is given.

pub mod cache;
#[cfg(feature = "cuda")]
mod compile;
mod kernel;
#[cfg(feature = "cuda")]
pub(super) mod library;
pub(super) mod shared;
mod source;

pub use self::kernel::{Argument, Kernel, LaunchShape};
pub use self::shared::{BLOCK, PeerAccess, WARP};
pub use self::source::{Source, Width};

#[cfg(feature = "cuda")]
pub(super) use self::compile::{image, images};
pub(super) use self::kernel::{REDUCTION_BLOCKS, arguments};
