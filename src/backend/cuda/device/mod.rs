//! Devices: what the backend asks of one, memory on it, and NVIDIA GPUs through the driver.

#[cfg(feature = "cuda")]
pub mod driver;
mod interface;
mod memory;

pub use self::interface::{
    Address, Device, Download, Granted, Mapped, Recording, Request, SharedWords, Watch,
    WatchedDevice, Words,
};
pub use self::memory::Buffer;

#[cfg(feature = "cuda")]
pub(super) use self::interface::StreamWait;
pub(super) use self::interface::{GRANTED, fill, passed_on};
pub(super) use self::memory::Pool;
#[cfg(feature = "cuda")]
use crate::backend::error::check_length;
