//! Devices whose launches are watched, and one that fails.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use gridgen::backend::DeviceError;
use gridgen::backend::cuda::{Device, Watch, WatchedDevice};

use super::FiberDevice;

/// A function of the number of a launch, and the number of launches.
struct Launches<F>(F, AtomicUsize);

impl<F: Fn(usize) -> Result<(), DeviceError> + Send + Sync> Watch for Launches<F> {
    fn launching(&self) -> Result<(), DeviceError> {
        self.0(self.1.fetch_add(1, Ordering::Relaxed))
    }
}

/// A device on which `at` is asked before each launch, with its number.
pub fn watched(
    at: impl Fn(usize) -> Result<(), DeviceError> + Send + Sync + 'static,
) -> Arc<dyn Device> {
    let device = Arc::new(FiberDevice::default());
    Arc::new(WatchedDevice::new(device, Launches(at, 0.into())))
}

/// A device that is lost after this number of launches.
pub fn mortal(launches: usize) -> Arc<dyn Device> {
    watched(move |number| if number < launches { Ok(()) } else { Err(lost()) })
}

pub fn lost() -> DeviceError {
    DeviceError::Call {
        device: "GPU 1".to_owned(),
        operation: "launching a kernel",
        reason: "the device is lost".to_owned(),
    }
}
