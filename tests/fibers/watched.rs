//! A device whose work is watched.

use gridgen::backend::DeviceError;
use gridgen::backend::cuda::Device;
use gridgen::backend::cuda::device::{Address, Recording};
use gridgen::backend::cuda::kernel::{Argument, Kernel, Shape};

use super::FiberDevice;

/// What is told of the work of a device.
pub trait Watch: Send + Sync {
    /// A kernel is to be launched; an error is that of the launch.
    fn launching(&self) -> Result<(), DeviceError> {
        Ok(())
    }

    /// These bytes were read from the device.
    fn downloaded(&self, _: &[u8]) {}
}

/// A device that does all its work and tells a watch.
pub struct Watched<W> {
    device: FiberDevice,
    watch: W,
}

impl<W> Watched<W> {
    /// Tells this watch.
    pub fn by(watch: W) -> Self {
        Self { device: FiberDevice::default(), watch }
    }
}

impl<W: Watch> Device for Watched<W> {
    fn name(&self) -> &str {
        self.device.name()
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
        self.device.download(from, to)?;
        self.watch.downloaded(to);
        Ok(())
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
        self.watch.launching()?;
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
