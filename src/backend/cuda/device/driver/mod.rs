//! NVIDIA GPUs through the driver, which is opened at run time; nothing is linked.
#![allow(unsafe_code, reason = "the driver's interface is C; every call's contract is kept here")]

mod handles;
mod info;
mod kernels;
mod memory;

pub use self::info::{DeviceInfo, Libraries, device, devices, libraries, present};

use self::handles::{Context, GpuName, Graph, Pinned, SideStream, Stream};
use self::kernels::Kernels;
use self::memory::{Pool, ReadBacks};
use super::{
    Address, Device, Download, GRANTED, Granted, Recording, SharedWords, Words, check_length, fill,
};
use crate::backend::DeviceError;
use crate::backend::cuda::launch::{Argument, Kernel, LaunchShape, Result, Source, images};
use cudarc::driver::{result, sys};
use std::any::Any;
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

/// Bytes of the pinned buffer of downloads that are not of whole words.
const READ_BACK_BYTES: usize = 4096;

/// A GPU, its stream and its compiled kernels.
#[doc(hidden)]
pub struct DriverDevice {
    name: GpuName,
    kernels: Kernels,
    pool: Mutex<Pool>,
    /// What waits for the stream while other ranks may fail.
    wait: RwLock<Option<Arc<dyn StreamWait>>>,
    /// Whether launches go to the side stream.
    forked: AtomicBool,
    side: SideStream,
    read_backs: ReadBacks,
    pinned: Mutex<Pinned>,
    stream: Stream,
    // Released last.
    context: Arc<Context>,
}

/// A wait for a device's stream that ends where another rank fails.
pub(crate) trait StreamWait: Send + Sync {
    /// Waits until all work of the device is done.
    fn wait(&self, device: &DriverDevice) -> Result<()>;
}

impl DriverDevice {
    /// Opens GPU `ordinal`, in the order of `gridgen devices`. Kernels are compiled when they are
    /// first launched.
    pub fn open(ordinal: usize) -> Result<Self> {
        Self::with_context(&info::device(ordinal)?)
    }

    /// Opens GPU `ordinal` with all kernels compiled: several at a time, while the driver makes
    /// the context.
    pub fn open_compiled(ordinal: usize) -> Result<Self> {
        let info = info::device(ordinal)?;
        let capability = info.architecture();
        let (device, images) = std::thread::scope(|scope| {
            let images = scope.spawn(move || images(capability));
            let lost =
                |panic: Box<dyn Any + Send>| Err(DeviceError::panic("compiling kernels", &*panic));
            (Self::with_context(&info), images.join().unwrap_or_else(lost))
        });
        let device = device?;
        for (source, width, image) in images? {
            device.kernels.load(&device.name, (source, width), &image)?;
        }
        Ok(device)
    }

    /// The GPU with a context and a stream.
    fn with_context(info: &DeviceInfo) -> Result<Self> {
        let name = GpuName { ordinal: info.ordinal, name: info.name.clone() };
        let device = info::handle(info.ordinal)?;
        let context = Context::retain(device).map_err(name.failed("its context"))?;
        let stream = Stream::new().map_err(name.failed("making a stream"))?;
        let pinned = Pinned::zeros(READ_BACK_BYTES).map_err(name.failed("pinned memory"))?;
        Ok(Self {
            kernels: Kernels::new(info),
            pool: Mutex::default(),
            wait: RwLock::default(),
            forked: AtomicBool::new(false),
            side: SideStream::new().map_err(name.failed("making a stream"))?,
            read_backs: ReadBacks::new().map_err(name.failed("pinned memory"))?,
            pinned: Mutex::new(pinned),
            stream,
            context: Arc::new(context),
            name,
        })
    }

    pub(crate) fn bind(&self) -> Result<()> {
        self.context.bind().map_err(self.failed("its context"))
    }

    fn failed(
        &self,
        operation: &'static str,
    ) -> impl FnOnce(result::DriverError) -> DeviceError + use<'_> {
        self.name.failed(operation)
    }

    /// The error of a call that failed for this reason.
    pub(crate) fn error(&self, operation: &'static str, reason: String) -> DeviceError {
        self.name.error(operation, reason)
    }

    fn pool(&self) -> MutexGuard<'_, Pool> {
        self.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives idle memory back to the driver.
    fn give_back(&self) {
        if self.bind().is_ok() {
            for at in self.pool().clear() {
                // SAFETY: the block came from `allocate` and nobody holds it; a failure means that
                // the device is lost, which the next call reports.
                let _ = unsafe { result::free_sync(at) };
            }
        }
    }

    /// Launches a kernel with any arguments.
    ///
    /// # Safety
    /// The arguments are those of the kernel's signature, and the memory behind their addresses is that
    /// of live buffers of this device; what is not so loses the device for this process.
    pub unsafe fn launch_unchecked(
        &self,
        kernel: Kernel,
        shape: LaunchShape,
        arguments: &[Argument],
    ) -> Result<()> {
        self.launch(GRANTED, kernel, shape, arguments)
    }

    /// The main stream, for libraries that add work to it.
    pub(crate) fn main_stream(&self) -> sys::CUstream {
        self.stream.raw()
    }

    /// Whether all work of the stream is done.
    pub(crate) fn is_done(&self) -> Result<bool> {
        self.stream.is_done().map_err(self.failed("a kernel"))
    }

    /// Waits for the stream by `wait` from now on, or within the driver again.
    pub(crate) fn wait_by(&self, wait: Option<Arc<dyn StreamWait>>) {
        *self.wait.write().unwrap_or_else(PoisonError::into_inner) = wait;
    }

    /// Before the host waits within a call of the driver: as one of several ranks it must not wait
    /// for messages of a rank that has failed.
    fn wait_for_ranks(&self) -> Result<()> {
        let wait = self.wait.read().unwrap_or_else(PoisonError::into_inner).clone();
        wait.map_or(Ok(()), |wait| wait.wait(self))
    }

    /// Lets the kernels of each GPU access the memory of all others; false if two of them cannot.
    ///
    /// # Errors
    /// If a GPU refuses what it said it could do.
    pub(crate) fn enable_peer_access(devices: &[Arc<Self>]) -> Result<bool> {
        let pairs = || {
            let others =
                |a| devices.iter().filter(move |b| !Arc::ptr_eq(a, b)).map(move |b| (a, b));
            devices.iter().flat_map(others)
        };
        for (a, b) in pairs() {
            let can = a.context.can_access(&b.context);
            if !can.map_err(a.failed("asking for its links"))? {
                return Ok(false);
            }
        }
        pairs().try_for_each(|(a, b)| {
            let enabled = a.context.enable_access(&b.context);
            enabled.map_err(a.failed("accessing another GPU's memory"))
        })?;
        Ok(true)
    }

    /// Does `work` on the side stream, after all that was asked of the main one.
    pub(crate) fn on_side_stream(
        &self,
        work: impl FnOnce(sys::CUstream) -> Result<()>,
    ) -> Result<()> {
        self.bind()?;
        self.side.fork(&self.stream).map_err(self.failed("beginning an exchange"))?;
        let done = work(self.side.stream.raw());
        let ended = self.side.end().map_err(self.failed("beginning an exchange"));
        // The error of the work comes first.
        done.and(ended)
    }

    /// Begins to download `words` words; returns the number of the download.
    fn begin_read_back(&self, from: Address, words: usize) -> Result<usize> {
        let number = self.read_backs.begin();
        let kernel = Kernel::new::<f64>(Source::Scalars, "copy_words");
        let arguments =
            [(words as u64).into(), from.into(), self.read_backs.address(number).into()];
        self.launch(GRANTED, kernel, LaunchShape::threads(words), &arguments)?;
        let recorded = self.read_backs.record(number, &self.stream);
        recorded.map_err(self.failed("copying from the device"))?;
        Ok(number)
    }

    /// Waits for a download and reads it.
    fn end_read_back(&self, number: usize, to: &mut [u8]) -> Result<()> {
        self.bind()?;
        if !self.read_backs.holds(number) {
            return Err(DeviceError::TooManyDownloads { most: memory::MOST });
        }
        check_length(to.len().min(memory::MOST_BYTES), to.len())?;
        self.wait_for_ranks()?;
        self.read_backs.finish(number, to).map_err(self.failed("a kernel"))
    }
}

impl Drop for DriverDevice {
    fn drop(&mut self) {
        if self.bind().is_err() {
            return;
        }
        self.give_back();
        // Stores that nobody waited for end before their memory is freed.
        let _ = self.stream.synchronise();
        self.kernels.unload();
    }
}

#[derive(Debug)]
struct PinnedWords {
    memory: Pinned,
    context: Arc<Context>,
}

impl SharedWords for PinnedWords {
    fn address(&self) -> Address {
        self.memory.address(0) as Address
    }

    fn words(&self) -> &Words {
        // SAFETY: pinned memory is aligned to pages, holds zeros at first, and lives as long as `self`;
        // host and kernels access the words as atomics.
        unsafe { &*self.memory.address(0).cast() }
    }
}

impl Drop for PinnedWords {
    fn drop(&mut self) {
        // The memory is freed in its context.
        let _ = self.context.bind();
    }
}

impl Device for DriverDevice {
    fn name(&self) -> &str {
        &self.name.name
    }

    fn memory(&self) -> Result<Option<(usize, usize)>> {
        self.bind()?;
        self.give_back();
        result::mem_get_info().map(Some).map_err(self.failed("asking for its memory"))
    }

    fn queue(&self) -> Option<u64> {
        Some(self.stream.raw() as u64)
    }

    fn shared_words(&self) -> Result<Arc<dyn SharedWords>> {
        self.bind()?;
        let memory = Pinned::zeros(size_of::<Words>()).map_err(self.failed("pinned memory"))?;
        Ok(Arc::new(PinnedWords { memory, context: self.context.clone() }))
    }

    fn synchronise(&self) -> Result<()> {
        self.bind()?;
        self.wait_for_ranks()?;
        self.stream.synchronise().map_err(self.failed("a kernel"))
    }

    fn allocate(&self, bytes: usize) -> Result<Address> {
        self.bind()?;
        if let Some(at) = self.pool().take(bytes) {
            return Ok(at);
        }
        // SAFETY: the memory is given back by `give_back`.
        let allocate = || unsafe { result::malloc_sync(bytes) };
        let allocated = allocate().or_else(|_| {
            self.give_back();
            allocate()
        });
        allocated.inspect(|&at| self.pool().add(at, bytes)).map_err(|error| {
            if error.0 == sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY {
                let free = result::mem_get_info().map_or(0, |(free, _)| free);
                DeviceError::OutOfMemory { device: self.name.name.clone(), asked: bytes, free }
            } else {
                self.failed("allocating memory")(error)
            }
        })
    }

    fn free(&self, _: Granted, at: Address) {
        self.pool().put(at);
    }

    fn clear(&self, _: Granted, at: Address, bytes: usize) -> Result<()> {
        self.bind()?;
        // SAFETY: the caller owns `bytes` bytes from `at` on.
        unsafe { result::memset_d8_async(at, 0, bytes, self.stream.raw()) }
            .map_err(self.failed("clearing memory"))
    }

    fn upload(&self, _: Granted, from: &[u8], to: Address) -> Result<()> {
        self.bind()?;
        self.wait_for_ranks()?;
        // SAFETY: the caller owns the memory at `to`; `from` outlives the copy, since the stream
        // is waited for.
        unsafe { result::memcpy_htod_async(to, from, self.stream.raw()) }
            .map_err(self.failed("copying to the device"))?;
        self.synchronise()
    }

    fn download(&self, _: Granted, from: Address, to: &mut [u8]) -> Result<()> {
        self.bind()?;
        if let Some(words) = memory::words(from, to.len()) {
            let number = self.begin_read_back(from, words)?;
            return self.end_read_back(number, to);
        }
        let copy = |to: &mut [u8]| {
            // SAFETY: the caller owns the memory at `from`; `to` outlives the copy, since the stream
            // is waited for.
            unsafe { result::memcpy_dtoh_async(to, from, self.stream.raw()) }
                .map_err(self.failed("copying from the device"))?;
            self.synchronise()
        };
        if to.len() > READ_BACK_BYTES {
            self.wait_for_ranks()?;
            return copy(to);
        }
        let pinned = self.pinned.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the pinned buffer has `READ_BACK_BYTES` bytes and is this thread's while the lock is
        // held.
        copy(unsafe { std::slice::from_raw_parts_mut(pinned.address(0).cast::<u8>(), to.len()) })?;
        pinned.read(0, to);
        Ok(())
    }

    fn begin_download(&self, granted: Granted, from: Address, bytes: usize) -> Result<Download> {
        if let Some(words) = memory::words(from, bytes) {
            return self.begin_read_back(from, words).map(Download::Begun);
        }
        let mut to = vec![0; bytes];
        self.download(granted, from, &mut to)?;
        Ok(Download::Done(to))
    }

    fn end_download(&self, download: Download, to: &mut [u8]) -> Result<()> {
        match download {
            Download::Done(from) => fill(to, &from),
            Download::Begun(number) => self.end_read_back(number, to),
        }
    }

    fn copy(&self, _: Granted, from: Address, to: Address, bytes: usize) -> Result<()> {
        self.bind()?;
        // SAFETY: the caller owns both ranges.
        unsafe { result::memcpy_dtod_async(to, from, bytes, self.stream.raw()) }
            .map_err(self.failed("copying on the device"))
    }

    fn launch(
        &self,
        _: Granted,
        kernel: Kernel,
        shape: LaunchShape,
        arguments: &[Argument],
    ) -> Result<()> {
        self.bind()?;
        let function = self.kernels.function(&self.name, kernel)?;
        let mut pointers: Vec<*mut c_void> =
            arguments.iter().map(|argument| argument.pointer().cast_mut()).collect();
        let forked = self.forked.load(Ordering::Relaxed);
        let stream = if forked { &self.side.stream } else { &self.stream };
        let (grid, block) = (shape.grid.into(), shape.block.into());
        // SAFETY: the arguments are those of the kernel's signature (checked by running every
        // launch in the tests), and the memory behind them belongs to the caller.
        unsafe {
            result::launch_kernel(
                function.0,
                grid,
                block,
                shape.shared,
                stream.raw(),
                &mut pointers,
            )
        }
        .map_err(self.failed("launching a kernel"))
    }

    fn fork(&self, work: &mut dyn FnMut() -> Result<()>) -> Result<()> {
        self.on_side_stream(|_| {
            self.forked.store(true, Ordering::Relaxed);
            let done = work();
            self.forked.store(false, Ordering::Relaxed);
            done
        })
    }

    fn join(&self) -> Result<()> {
        self.bind()?;
        self.side.join(&self.stream).map_err(self.failed("ending an exchange"))
    }

    fn record(&self, work: &mut dyn FnMut() -> Result<()>) -> Result<Recording> {
        self.bind()?;
        let graph = Graph::record(&self.stream, work).map_err(self.failed("recording"))??;
        Ok(Box::new(graph))
    }

    fn replay(&self, _: Granted, recording: &Recording) -> Result<()> {
        self.bind()?;
        let Some(graph) = recording.downcast_ref::<Graph>() else {
            return Err(DeviceError::ForeignRecording);
        };
        graph.launch(&self.stream).map_err(self.failed("replaying"))
    }
}
