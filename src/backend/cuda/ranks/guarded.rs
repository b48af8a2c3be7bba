//! A device whose rank stops with the others.

use super::super::device::{Address, Device, HostWord, Recording};
use super::super::kernel::{Argument, Kernel, Shape};
use super::Alarm;
use crate::backend::DeviceError;
use std::sync::Arc;

/// A device that refuses to go on once the alarm is raised. Kernels that waited for a message then have
/// gone on without it: what they left must not be read.
pub struct GuardedDevice {
    device: Arc<dyn Device>,
    alarm: Arc<Alarm>,
}

impl GuardedDevice {
    /// `device`, stopped by `alarm`.
    #[must_use]
    pub fn new(device: Arc<dyn Device>, alarm: Arc<Alarm>) -> Self {
        Self { device, alarm }
    }
}

impl Device for GuardedDevice {
    fn name(&self) -> &str {
        self.device.name()
    }

    fn memory(&self) -> Result<Option<(usize, usize)>, DeviceError> {
        self.device.memory()
    }

    fn queue(&self) -> Option<u64> {
        self.device.queue()
    }

    fn host_word(&self) -> Result<Arc<dyn HostWord>, DeviceError> {
        self.device.host_word()
    }

    fn synchronise(&self) -> Result<(), DeviceError> {
        self.device.synchronise()?;
        self.alarm.check()
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
        self.alarm.check()
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
        self.alarm.check()?;
        self.device.launch(kernel, shape, arguments)
    }

    fn beside(&self, work: &mut dyn FnMut() -> Result<(), DeviceError>) -> Result<(), DeviceError> {
        self.device.beside(work)
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

    fn replay(&self, recording: &Recording) -> Result<(), DeviceError> {
        self.alarm.check()?;
        self.device.replay(recording)
    }
}
