//! Devices: what the backend asks of one, memory on it, and NVIDIA GPUs through the driver.

mod buffer;
#[cfg(feature = "cuda")]
pub mod driver;
mod interface;
mod memory;
mod watched;

pub use self::buffer::Buffer;
pub use self::interface::{Address, Device, Download, Granted, Recording, SharedWords, Words};
pub use self::memory::{MemoryEstimate, PreconditionerStorage};
pub use self::watched::{Watch, WatchedDevice};

#[cfg(feature = "cuda")]
pub(super) use self::interface::{check_length, fill};
