//! Kernels before a device: their sources, their compilation, and what a launch is given.

pub mod cache;
pub(super) mod constants;
mod kernel;
#[cfg(feature = "cuda")]
pub(super) mod library;
pub(super) mod shared;

pub use self::constants::{BLOCK, WARP};
pub use self::kernel::{Argument, Arguments, Kernel, LaunchShape, ModuleKey, Source, Width};
pub use self::shared::PeerAccess;

pub(super) use self::kernel::{KernelName, REDUCTION_BLOCKS, kernels, launch};
#[cfg(feature = "cuda")]
pub(super) use self::library::{image, images};
pub(super) use crate::backend::Result;
