//! A device that counts the transfers between it and the host.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use gridgen::backend::DeviceError;
use gridgen::backend::cuda::Device;
use gridgen::backend::cuda::device::{Address, Download, Granted, Recording};
use gridgen::backend::cuda::launch::Launch;

use super::FiberDevice;

/// A device on the CPU that records the size of the largest copy to it and from it, and the bytes in use.
#[derive(Default)]
pub struct CountedDevice {
    device: FiberDevice,
    largest: [AtomicUsize; 2],
    used: AtomicUsize,
    /// Total memory in bytes, if limited.
    room: Option<usize>,
}

impl CountedDevice {
    pub fn new() -> Arc<Self> {
        Arc::new(Self::default())
    }

    /// A device with this amount of memory.
    pub fn with_room(bytes: usize) -> Arc<Self> {
        Arc::new(Self { room: Some(bytes), ..Self::default() })
    }

    /// Bytes in use.
    pub fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }

    /// Sizes of the largest upload and of the largest download since the last call.
    pub fn largest(&self) -> [usize; 2] {
        [0, 1].map(|k| self.largest[k].swap(0, Ordering::Relaxed))
    }

    fn note(&self, way: usize, bytes: usize) {
        self.largest[way].fetch_max(bytes, Ordering::Relaxed);
    }
}

impl Device for CountedDevice {
    fn name(&self) -> &str {
        self.device.name()
    }

    fn allocate(&self, bytes: usize) -> Result<Address, DeviceError> {
        let free = self.room.map_or(usize::MAX, |room| room - self.used());
        if bytes > free {
            let device = "a small device".to_owned();
            return Err(DeviceError::OutOfMemory { device, asked: bytes, free });
        }
        self.used.fetch_add(bytes, Ordering::Relaxed);
        self.device.allocate(bytes)
    }

    fn free(&self, granted: Granted, at: Address, bytes: usize) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
        self.device.free(granted, at, bytes);
    }

    fn clear(&self, granted: Granted, at: Address, bytes: usize) -> Result<(), DeviceError> {
        self.device.clear(granted, at, bytes)
    }

    fn upload(&self, granted: Granted, from: &[u8], to: Address) -> Result<(), DeviceError> {
        self.note(0, from.len());
        self.device.upload(granted, from, to)
    }

    fn download(&self, granted: Granted, from: Address, to: &mut [u8]) -> Result<(), DeviceError> {
        self.note(1, to.len());
        self.device.download(granted, from, to)
    }

    fn begin_download(
        &self,
        granted: Granted,
        from: Address,
        bytes: usize,
    ) -> Result<Download, DeviceError> {
        self.note(1, bytes);
        self.device.begin_download(granted, from, bytes)
    }

    fn copy(
        &self,
        granted: Granted,
        from: Address,
        to: Address,
        bytes: usize,
    ) -> Result<(), DeviceError> {
        self.device.copy(granted, from, to, bytes)
    }

    fn launch(&self, granted: Granted, launch: Launch) -> Result<(), DeviceError> {
        self.device.launch(granted, launch)
    }

    fn record(
        &self,
        kept: bool,
        work: &mut dyn FnMut() -> Result<(), DeviceError>,
    ) -> Result<Recording, DeviceError> {
        self.device.record(kept, work)
    }

    fn replay(&self, granted: Granted, recording: &Recording) -> Result<(), DeviceError> {
        self.device.replay(granted, recording)
    }
}
