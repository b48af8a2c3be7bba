//! A device whose work is watched.

use super::interface::{Address, Device, Download, Granted, Recording, SharedWords};
use crate::backend::DeviceError;
use crate::backend::cuda::launch::{Argument, Kernel, LaunchShape};
use std::sync::Arc;

/// What is asked and told of the work of a device. An error is that of the device.
pub trait Watch: Send + Sync {
    /// A kernel or a recording is to be launched.
    ///
    /// # Errors
    /// It is not.
    fn launching(&self) -> Result<(), DeviceError> {
        Ok(())
    }

    /// These bytes were read from the device.
    ///
    /// # Errors
    /// They are worth nothing.
    fn downloaded(&self, _: &[u8]) -> Result<(), DeviceError> {
        Ok(())
    }

    /// All work was waited for.
    ///
    /// # Errors
    /// It was not done to its end.
    fn waited(&self) -> Result<(), DeviceError> {
        Ok(())
    }
}

/// A device that does all its work under a watch.
pub struct WatchedDevice<W> {
    device: Arc<dyn Device>,
    watch: W,
}

impl<W: Watch> WatchedDevice<W> {
    /// `device`, watched by `watch`.
    #[must_use]
    pub fn new(device: Arc<dyn Device>, watch: W) -> Self {
        Self { device, watch }
    }
}

impl<W: Watch> Device for WatchedDevice<W> {
    fn name(&self) -> &str {
        self.device.name()
    }

    fn memory(&self) -> Result<Option<(usize, usize)>, DeviceError> {
        self.device.memory()
    }

    fn queue(&self) -> Option<u64> {
        self.device.queue()
    }

    fn shared_words(&self) -> Result<Arc<dyn SharedWords>, DeviceError> {
        self.device.shared_words()
    }

    fn synchronise(&self) -> Result<(), DeviceError> {
        self.device.synchronise()?;
        self.watch.waited()
    }

    fn allocate(&self, bytes: usize) -> Result<Address, DeviceError> {
        self.device.allocate(bytes)
    }

    fn free_raw(&self, _: Granted, at: Address) {
        self.device.free(at);
    }

    fn clear_raw(&self, _: Granted, at: Address, bytes: usize) -> Result<(), DeviceError> {
        self.device.clear(at, bytes)
    }

    fn upload_raw(&self, _: Granted, from: &[u8], to: Address) -> Result<(), DeviceError> {
        self.device.upload(from, to)
    }

    fn download_raw(&self, _: Granted, from: Address, to: &mut [u8]) -> Result<(), DeviceError> {
        self.device.download(from, to)?;
        self.watch.downloaded(to)
    }

    fn begin_download_raw(
        &self,
        _: Granted,
        from: Address,
        bytes: usize,
    ) -> Result<Download, DeviceError> {
        self.device.begin_download(from, bytes)
    }

    fn end_download(&self, download: Download, to: &mut [u8]) -> Result<(), DeviceError> {
        self.device.end_download(download, to)?;
        self.watch.downloaded(to)
    }

    fn copy_raw(
        &self,
        _: Granted,
        from: Address,
        to: Address,
        bytes: usize,
    ) -> Result<(), DeviceError> {
        self.device.copy(from, to, bytes)
    }

    fn launch_raw(
        &self,
        _: Granted,
        kernel: Kernel,
        shape: LaunchShape,
        arguments: &[Argument],
    ) -> Result<(), DeviceError> {
        self.watch.launching()?;
        self.device.launch(kernel, shape, arguments)
    }

    fn fork(&self, work: &mut dyn FnMut() -> Result<(), DeviceError>) -> Result<(), DeviceError> {
        self.device.fork(work)
    }

    fn join(&self) -> Result<(), DeviceError> {
        self.device.join()
    }

    fn record(
        &self,
        work: &mut dyn FnMut() -> Result<(), DeviceError>,
    ) -> Result<Recording, DeviceError> {
        self.device.record(work)
    }

    fn replay_raw(&self, _: Granted, recording: &Recording) -> Result<(), DeviceError> {
        self.watch.launching()?;
        self.device.replay(recording)
    }
}
