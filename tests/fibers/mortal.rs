//! A device that fails.

use std::sync::atomic::{AtomicUsize, Ordering};

use gridgen::backend::DeviceError;
use gridgen::backend::cuda::Device;
use gridgen::backend::cuda::device::{Address, Recording};
use gridgen::backend::cuda::kernel::{Argument, Kernel, Shape};

use super::FiberDevice;

/// A device that is lost after so many launches.
pub struct MortalDevice {
    device: FiberDevice,
    left: AtomicUsize,
}

impl MortalDevice {
    /// After this many launches.
    pub fn new(launches: usize) -> Self {
        Self { device: FiberDevice::default(), left: launches.into() }
    }
}

/// Its error.
pub fn lost() -> DeviceError {
    DeviceError::Call {
        device: "GPU 1".to_owned(),
        operation: "launching a kernel",
        reason: "the device is lost".to_owned(),
    }
}

impl Device for MortalDevice {
    fn name(&self) -> &'static str {
        "mortal"
    }

    fn allocate(&self, bytes: usize) -> Result<Address, DeviceError> {
        self.device.allocate(bytes)
    }

    fn free(&self, at: Address) {
        self.device.free(at);
    }

    fn clear(&self, at: Address, bytes: usize) -> Result<(), DeviceError> {
        self.device.clear(at, bytes)
    }

    fn upload(&self, from: &[u8], to: Address) -> Result<(), DeviceError> {
        self.device.upload(from, to)
    }

    fn download(&self, from: Address, to: &mut [u8]) -> Result<(), DeviceError> {
        self.device.download(from, to)
    }

    fn copy(&self, from: Address, to: Address, bytes: usize) -> Result<(), DeviceError> {
        self.device.copy(from, to, bytes)
    }

    fn launch(
        &self,
        kernel: Kernel,
        shape: Shape,
        arguments: &[Argument],
    ) -> Result<(), DeviceError> {
        let left =
            self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |k| k.checked_sub(1));
        left.map_err(|_| lost())?;
        self.device.launch(kernel, shape, arguments)
    }

    fn record(
        &self,
        work: &mut dyn FnMut() -> Result<(), DeviceError>,
    ) -> Result<Recording, DeviceError> {
        self.device.record(work)
    }

    fn replay(&self, recording: &Recording) -> Result<(), DeviceError> {
        self.device.replay(recording)
    }
}
