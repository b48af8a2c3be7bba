//! A device that fails.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use gridgen::backend::DeviceError;
use gridgen::backend::cuda::{Device, Watch, WatchedDevice};

use super::FiberDevice;

/// The number of launches before the device is lost.
struct Launches(AtomicUsize);

impl Watch for Launches {
    fn launching(&self) -> Result<(), DeviceError> {
        let left = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |k| k.checked_sub(1));
        left.map(|_| ()).map_err(|_| lost())
    }
}

/// A device that is lost after this number of launches.
pub fn mortal(launches: usize) -> Arc<dyn Device> {
    let device = Arc::new(FiberDevice::default());
    Arc::new(WatchedDevice::new(device, Launches(launches.into())))
}

/// The error of the lost device.
pub fn lost() -> DeviceError {
    DeviceError::Call {
        device: "GPU 1".to_owned(),
        operation: "launching a kernel",
        reason: "the device is lost".to_owned(),
    }
}
