//! NVIDIA GPUs through the driver, which is opened at run time; nothing is linked.
#![allow(unsafe_code, reason = "the driver's interface is C; every call's contract is kept here")]

mod gpu;
mod handles;
mod info;
mod pool;
mod read_back;
mod side_stream;

pub use self::gpu::DriverDevice;
pub use self::info::{DeviceInfo, Libraries, device, devices, libraries, present};

pub(crate) use self::gpu::StreamWait;
