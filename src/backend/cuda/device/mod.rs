//! Devices: what the backend asks of one, memory on it, and NVIDIA GPUs through the driver.

mod actions;
#[cfg(feature = "cuda")]
pub mod driver;
mod interface;
mod memory;
mod pool;

pub use self::actions::Request;
pub use self::interface::{
    Address, Device, Download, Granted, Mapped, Recording, SharedWords, Watch, WatchedDevice, Words,
};
pub use self::memory::Buffer;

#[cfg(feature = "cuda")]
pub(super) use self::interface::StreamWait;
pub(super) use self::interface::{GRANTED, fill, passed_on};
pub(super) use self::pool::Pool;
#[cfg(feature = "cuda")]
use crate::backend::error::check_length;
