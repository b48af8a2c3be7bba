//! Kernels before a device: their sources, their compilation, and what a launch is given.

pub mod cache;
pub(super) mod constants;
mod kernel;
#[cfg(feature = "cuda")]
pub(super) mod library;
pub(super) mod shared;

pub use self::constants::{BLOCK, WARP};
pub use self::kernel::{Argument, Kernel, LaunchShape, ModuleKey, Source, Width};
pub use self::shared::PeerAccess;

pub(super) use self::kernel::{Listed, REDUCTION_BLOCKS, arguments};
#[cfg(feature = "cuda")]
pub(super) use self::library::{image, images};
pub(super) use crate::backend::Result;
