//! Devices: what the backend asks of one, memory on it, and NVIDIA GPUs through the driver.

#[cfg(feature = "cuda")]
pub mod driver;
mod interface;
mod memory;

pub use self::interface::{
    Address, Device, Download, Granted, Mapped, Recording, Request, SharedWords, Watch,
    WatchedDevice,
};
pub use self::memory::Buffer;

pub(super) use self::interface::{GRANTED, Notes, fill, passed_on};
pub(super) use self::memory::Pool;
use crate::backend::Result;
#[cfg(feature = "cuda")]
use crate::backend::error::check_length;
use std::sync::Arc;

/// GPU `ordinal`, compiled with the kernels that grids of this many points need, for a group those of groups, too.
#[cfg(feature = "cuda")]
pub(super) fn open(ordinal: usize, grouped: bool, points: usize) -> Result<Arc<dyn Device>> {
    let modules = super::launch::ModuleKey::usual(grouped, points);
    Ok(Arc::new(driver::DriverDevice::open(ordinal, &modules)?))
}

/// Refuses: this build has no driver.
#[cfg(not(feature = "cuda"))]
pub(super) fn open(_: usize, _: bool, _: usize) -> Result<Arc<dyn Device>> {
    Err(crate::backend::DeviceError::NotBuilt { backend: "cuda" })
}
