//! Kernels before a device: their sources, their compilation, and what a launch is given.

mod argument;
pub mod cache;
pub(super) mod constants;
mod kernel;
#[cfg(feature = "cuda")]
pub(super) mod library;
pub(super) mod shared;

pub use self::argument::{Argument, Arguments};
pub use self::constants::{BLOCK, WARP};
pub use self::kernel::{
    DeviceKernel, KernelFile, KernelName, Launch, LaunchShape, ModuleKey, Width,
};
pub use self::shared::PeerAccess;

pub(super) use self::constants::MOST_TOGETHER;
pub(super) use self::kernel::{REDUCTION_BLOCKS, by_width, kernels};
#[cfg(feature = "cuda")]
pub(super) use self::library::{image, images};
pub(super) use crate::backend::Result;

/// Launches a kernel, by its name or by a value in parentheses, for a type in a shape, or with a thread for each of `n`
/// items, of which `n` is the first argument.
macro_rules! launch {
    ($backend:expr => ($kernel:expr)[$type:ty, $shape:expr]($($argument:expr),*)) => {
        $backend.launch::<$type>($kernel, $shape, ($($argument,)*))
    };
    ($backend:expr => ($kernel:expr)[$type:ty; $n:expr]($($argument:expr),*)) => {{
        let (n, threads) = ($n, $crate::backend::cuda::launch::LaunchShape::threads);
        $backend.launch::<$type>($kernel, threads(n), (n as u64, $($argument,)*))
    }};
    ($backend:expr => $kernel:ident $($rest:tt)*) => {
        launch!($backend => ($crate::backend::cuda::launch::kernels::$kernel) $($rest)*)
    };
}
pub(super) use launch;
