//! The fiber device.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::thread::{self, ThreadId};

use gridgen::backend::DeviceError;
use gridgen::backend::cuda::Device;
use gridgen::backend::cuda::device::{Address, Download, Granted, Recording, Request};
use gridgen::backend::cuda::launch::{DeviceKernel, Launch, ModuleKey};

use super::library::{Library, Order};
use super::memory::Memory;

/// Bytes of shared memory that a block can have by default, as on an H100.
const SHARED_MEMORY: usize = 227 << 10;

/// Runs kernels on the CPU, at once. An error of the backend is a panic.
#[derive(Default)]
pub struct FiberDevice {
    memory: Mutex<Memory>,
    /// The recording in progress, and its thread: as on a GPU, other threads may allocate meanwhile.
    recorded: Mutex<Option<(ThreadId, Vec<Request>)>>,
    /// Kernels that wait for other devices, which therefore need separate copies of them.
    waiting: Mutex<Libraries>,
    /// The order of blocks and threads, since CUDA guarantees none.
    pub order: Order,
    /// Most blocks of a launch that can run together, if there is a limit.
    pub room: Option<usize>,
    /// Bytes of shared memory that a block can have, if not [`SHARED_MEMORY`].
    pub shared_memory: Option<usize>,
    /// Bytes of memory, if they are limited.
    pub capacity: Option<usize>,
    /// Bytes in use.
    used: AtomicUsize,
    /// Sizes of the largest upload and of the largest download.
    largest: [AtomicUsize; 2],
}

/// By module, and whether they are watched.
type Libraries = HashMap<(ModuleKey, bool), Arc<Library>>;

/// Copies for kernels that wait, currently not in use by a device.
static IDLE: Mutex<Vec<Libraries>> = Mutex::new(Vec::new());

impl Drop for FiberDevice {
    fn drop(&mut self) {
        let own = std::mem::take(self.waiting.get_mut().unwrap_or_else(PoisonError::into_inner));
        own.values().for_each(|library| library.release());
        IDLE.lock().unwrap_or_else(PoisonError::into_inner).push(own);
    }
}

/// The module of a kernel, compiled at its first use in this process.
fn library(kernel: DeviceKernel, order: Order) -> Arc<Library> {
    static LOADED: LazyLock<Mutex<Libraries>> = LazyLock::new(Mutex::default);
    let loaded = || LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    let key = (kernel.module, order.yields());
    if let Some(library) = loaded().get(&key) {
        return library.clone();
    }
    // Other threads continue while this one compiles.
    let library = Arc::new(Library::load(order, &key.0.text(), key.0.width));
    loaded().entry(key).or_insert(library).clone()
}

impl FiberDevice {
    /// A device with other fields than by default.
    pub fn with(change: impl FnOnce(&mut Self)) -> Self {
        let mut device = Self::default();
        change(&mut device);
        device
    }

    /// Bytes in use.
    pub fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }

    /// Sizes of the largest upload and of the largest download since the last call.
    pub fn largest(&self) -> [usize; 2] {
        self.largest.each_ref().map(|largest| largest.swap(0, Ordering::Relaxed))
    }

    /// The module of a kernel; a kernel that waits for other devices has a separate copy for this device.
    fn library(&self, kernel: DeviceKernel) -> Arc<Library> {
        if !kernel.module.source.waits_for_ranks() {
            return library(kernel, self.order);
        }
        let mut own = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if own.is_empty() {
            *own = IDLE.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default();
        }
        let ModuleKey { width, .. } = kernel.module;
        let copy = || Arc::new(Library::copy_for(self.order, &kernel.module.text(), width));
        own.entry((kernel.module, self.order.yields())).or_insert_with(copy).clone()
    }

    fn memory<R>(&self, work: impl FnOnce(&mut Memory) -> R) -> R {
        work(&mut self.memory.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Records the action if a recording is in progress, otherwise performs it.
    fn take(&self, action: Request) {
        match &mut *self.recorded.lock().unwrap() {
            Some((_, recorded)) => recorded.push(action),
            None => self.perform(&action),
        }
    }

    fn perform(&self, action: &Request) {
        match action {
            Request::Clear { at, bytes } => self.memory(|memory| memory.bytes(*at, *bytes).fill(0)),
            Request::Copy { from, to, bytes } => self.memory(|memory| {
                let moved = memory.bytes(*from, *bytes).to_vec();
                memory.bytes(*to, *bytes).copy_from_slice(&moved);
            }),
            Request::Launch(Launch { kernel, shape, arguments }) => {
                let launched = self.library(*kernel);
                let launched = launched.launch(self.order, kernel.name, *shape, arguments);
                if let Err(fault) = launched {
                    panic!("{kernel:?}: {:?}: {}", fault.code, fault.message);
                }
                self.memory(|memory| memory.check(&format!("after {kernel:?}")));
            }
            Request::Fork(_) | Request::Join => {}
        }
    }

    pub fn zero(&self, at: Address, bytes: usize) {
        self.take(Request::Clear { at, bytes });
    }

    fn must_not_be_recorded(&self, what: &str) {
        assert!(self.recording_thread().is_none(), "{what} cannot be recorded");
    }

    fn recording_thread(&self) -> Option<ThreadId> {
        self.recorded.lock().unwrap().as_ref().map(|(thread, _)| *thread)
    }
}

impl Device for FiberDevice {
    fn name(&self) -> &'static str {
        "fibers on the CPU"
    }

    fn room_together(&self) -> Option<usize> {
        self.room
    }

    fn shared_memory(&self) -> usize {
        self.shared_memory.unwrap_or(SHARED_MEMORY)
    }

    fn allocate(&self, bytes: usize) -> Result<Address, DeviceError> {
        let recording = self.recording_thread() == Some(thread::current().id());
        assert!(!recording, "an allocation cannot be recorded");
        let free = self.capacity.map_or(usize::MAX, |capacity| capacity - self.used());
        if bytes > free {
            let device = self.name().to_owned();
            return Err(DeviceError::OutOfMemory { device, asked: bytes, free });
        }
        self.used.fetch_add(bytes, Ordering::Relaxed);
        Ok(self.memory(|memory| memory.allocate(bytes)))
    }

    fn free(&self, _: Granted, at: Address, bytes: usize) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
        // A buffer that is dropped while a test fails must not abort the test program.
        if !std::thread::panicking() {
            self.memory(|memory| memory.free(at));
        }
    }

    fn upload(&self, _: Granted, from: &[u8], to: Address) -> Result<(), DeviceError> {
        self.must_not_be_recorded("an upload");
        self.largest[0].fetch_max(from.len(), Ordering::Relaxed);
        self.memory(|memory| memory.bytes(to, from.len()).copy_from_slice(from));
        Ok(())
    }

    fn download(&self, _: Granted, from: Address, to: &mut [u8]) -> Result<(), DeviceError> {
        self.must_not_be_recorded("a download");
        self.largest[1].fetch_max(to.len(), Ordering::Relaxed);
        self.memory(|memory| to.copy_from_slice(memory.bytes(from, to.len())));
        Ok(())
    }

    // Uses the kernel that makes a GPU's words visible to the host.
    fn begin_download(
        &self,
        _: Granted,
        from: Address,
        bytes: usize,
    ) -> Result<Download, DeviceError> {
        self.largest[1].fetch_max(bytes, Ordering::Relaxed);
        let words = vec![0_u64; bytes / size_of::<u64>()];
        let to = words.as_ptr().expose_provenance() as Address;
        self.take(Request::Launch(Launch::copying(words.len(), from, to)));
        Ok(Download::Done(bytemuck::cast_slice(&words).to_vec()))
    }

    fn ask(&self, _: Granted, request: Request) -> Result<(), DeviceError> {
        self.take(request);
        Ok(())
    }

    fn record(
        &self,
        _: bool,
        work: &mut dyn FnMut() -> Result<(), DeviceError>,
    ) -> Result<Recording, DeviceError> {
        self.must_not_be_recorded("a recording");
        *self.recorded.lock().unwrap() = Some((thread::current().id(), Vec::new()));
        let result = work();
        let (_, actions) = self.recorded.lock().unwrap().take().unwrap();
        result.map(|()| -> Recording { Box::new(actions) })
    }

    fn replay(&self, _: Granted, recording: &Recording) -> Result<(), DeviceError> {
        self.must_not_be_recorded("a replay");
        let actions: &Vec<Request> = recording.downcast_ref().unwrap();
        actions.iter().for_each(|action| self.perform(action));
        Ok(())
    }
}
