//! One NVIDIA GPU through the driver. All calls go to one stream, so that work is done in the order it
//! is asked for.

use super::handles::{Context, Graph, Handle, Pinned, Stream, reason};
use super::info::{self, DeviceInfo};
use super::pool::Pool;
use super::read_back::{self, ReadBacks};
use super::side_stream::SideStream;
use crate::backend::DeviceError;
use crate::backend::cuda::device::{
    Address, Device, Download, Granted, Recording, SharedWords, Words, check_length, fill,
};
use crate::backend::cuda::launch::{Argument, Kernel, LaunchShape, Source, Width, image, images};
use cudarc::driver::{result, sys};
use std::any::Any;
use std::collections::HashMap;
use std::ffi::{CString, c_void};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};

/// Bytes of the pinned buffer of downloads that are not of whole words.
const READ_BACK_BYTES: usize = 4096;

/// A GPU, its stream and its compiled kernels.
pub struct DriverDevice {
    name: String,
    ordinal: usize,
    /// Compute capability as in `sm_90`.
    capability: u32,
    /// Bytes of shared memory that a block may have.
    shared_limit: i32,
    modules: Mutex<HashMap<(Source, Width), Handle<sys::CUmodule>>>,
    functions: RwLock<HashMap<Kernel, Handle<sys::CUfunction>>>,
    pool: Mutex<Pool>,
    /// What waits for the stream while other ranks may fail.
    wait: RwLock<Option<Arc<dyn StreamWait>>>,
    /// Whether launches go to the side stream.
    forked: AtomicBool,
    side_stream: OnceLock<SideStream>,
    read_backs: OnceLock<ReadBacks>,
    pinned: Mutex<Pinned>,
    stream: Stream,
    // Released last.
    context: Arc<Context>,
}

/// A wait for a device's stream that ends where another rank fails.
pub(crate) trait StreamWait: Send + Sync {
    /// Waits until all work of the device is done.
    fn wait(&self, device: &DriverDevice) -> Result<(), DeviceError>;
}

/// Compute capability as in `sm_90`.
fn capability(info: &DeviceInfo) -> u32 {
    info.capability.0 * 10 + info.capability.1
}

impl DriverDevice {
    /// Opens GPU `ordinal`, in the order of `gridgen devices`. Kernels are compiled when they are
    /// first launched.
    pub fn open(ordinal: usize) -> Result<Self, DeviceError> {
        Self::with_context(info::device(ordinal)?)
    }

    /// Opens GPU `ordinal` with all kernels compiled: several at a time, while the driver makes
    /// the context.
    pub fn open_compiled(ordinal: usize) -> Result<Self, DeviceError> {
        let info = info::device(ordinal)?;
        let capability = capability(&info);
        let (device, images) = std::thread::scope(|scope| {
            let images = scope.spawn(move || images(capability));
            let lost =
                |panic: Box<dyn Any + Send>| Err(DeviceError::panic("compiling kernels", &*panic));
            (Self::with_context(info), images.join().unwrap_or_else(lost))
        });
        let device = device?;
        for (source, width, image) in images? {
            device.load(source, width, &image)?;
        }
        Ok(device)
    }

    /// The GPU with a context and a stream.
    fn with_context(info: DeviceInfo) -> Result<Self, DeviceError> {
        let fail = |operation: &'static str| {
            let device = info.name.clone();
            move |error| DeviceError::Call { device, operation, reason: reason(error) }
        };
        let device = info::handle(info.ordinal)?;
        let context = Context::retain(device).map_err(fail("its context"))?;
        let stream = Stream::new().map_err(fail("making a stream"))?;
        let pinned = Pinned::zeros(READ_BACK_BYTES).map_err(fail("pinned memory"))?;
        Ok(Self {
            capability: capability(&info),
            shared_limit: i32::try_from(info.shared_memory_per_block).unwrap_or(i32::MAX),
            ordinal: info.ordinal,
            name: info.name,
            modules: Mutex::default(),
            functions: RwLock::default(),
            pool: Mutex::default(),
            wait: RwLock::default(),
            forked: AtomicBool::new(false),
            side_stream: OnceLock::new(),
            read_backs: OnceLock::new(),
            pinned: Mutex::new(pinned),
            stream,
            context: Arc::new(context),
        })
    }

    /// Makes the context current on this thread.
    pub(crate) fn bind(&self) -> Result<(), DeviceError> {
        self.context.bind().map_err(self.failed("its context"))
    }

    fn failed(
        &self,
        operation: &'static str,
    ) -> impl FnOnce(result::DriverError) -> DeviceError + use<'_> {
        move |error| self.error(operation, reason(error))
    }

    /// The error of a call that failed for this reason.
    pub(crate) fn error(&self, operation: &'static str, reason: String) -> DeviceError {
        let device = format!("GPU {} ({})", self.ordinal, self.name);
        DeviceError::Call { device, operation, reason }
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

    fn load(
        &self,
        source: Source,
        width: Width,
        image: &[u8],
    ) -> Result<Handle<sys::CUmodule>, DeviceError> {
        self.bind()?;
        // SAFETY: `image` is a complete cubin made for this GPU.
        let module = unsafe { result::module::load_data(image.as_ptr().cast()) }
            .map_err(self.failed("loading compiled kernels"))?;
        let mut modules = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
        modules.insert((source, width), Handle(module));
        Ok(Handle(module))
    }

    fn module(&self, source: Source, width: Width) -> Result<Handle<sys::CUmodule>, DeviceError> {
        let known = {
            let modules = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
            modules.get(&(source, width)).copied()
        };
        match known {
            Some(module) => Ok(module),
            None => self.load(source, width, &image(source, width, self.capability)?),
        }
    }

    fn function(&self, kernel: Kernel) -> Result<Handle<sys::CUfunction>, DeviceError> {
        let functions = self.functions.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(function) = functions.get(&kernel) {
            return Ok(*function);
        }
        drop(functions);
        let module = self.module(kernel.source, kernel.width)?;
        self.bind()?;
        let name = CString::new(kernel.name).unwrap_or_default();
        // SAFETY: the module is never unloaded while `self` lives.
        let function = unsafe { result::module::get_function(module.0, name) }
            .map_err(self.failed("finding a kernel"))?;
        self.allow_shared_memory(function)?;
        let mut functions = self.functions.write().unwrap_or_else(PoisonError::into_inner);
        functions.insert(kernel, Handle(function));
        Ok(Handle(function))
    }

    /// Lets a kernel have all the shared memory that a block may have.
    fn allow_shared_memory(&self, function: sys::CUfunction) -> Result<(), DeviceError> {
        use sys::CUfunction_attribute_enum as Attribute;
        let (fixed, dynamic) = (
            Attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,
            Attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
        );
        // SAFETY: `function` belongs to a loaded module of the current context.
        unsafe {
            let fixed = result::function::get_function_attribute(function, fixed)
                .map_err(self.failed("asking for a kernel's shared memory"))?;
            let rest = self.shared_limit - fixed;
            result::function::set_function_attribute(function, dynamic, rest)
                .map_err(self.failed("setting a kernel's shared memory"))
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
    ) -> Result<(), DeviceError> {
        let device: &dyn Device = self;
        device.launch(kernel, shape, arguments)
    }

    /// The main stream, for libraries that add work to it.
    pub(crate) fn main_stream(&self) -> sys::CUstream {
        self.stream.raw()
    }

    /// Whether all work of the stream is done.
    pub(crate) fn is_done(&self) -> Result<bool, DeviceError> {
        self.stream.is_done().map_err(self.failed("a kernel"))
    }

    /// Waits for the stream by `wait` from now on, or within the driver again.
    pub(crate) fn wait_by(&self, wait: Option<Arc<dyn StreamWait>>) {
        *self.wait.write().unwrap_or_else(PoisonError::into_inner) = wait;
    }

    /// Before the host waits within a call of the driver: as one of several ranks it must not wait
    /// for messages of a rank that has failed.
    fn wait_for_ranks(&self) -> Result<(), DeviceError> {
        let wait = self.wait.read().unwrap_or_else(PoisonError::into_inner).clone();
        wait.map_or(Ok(()), |wait| wait.wait(self))
    }

    /// Lets the kernels of each GPU access the memory of all others; false if two of them cannot.
    ///
    /// # Errors
    /// If a GPU refuses what it said it could do.
    pub(crate) fn enable_peer_access(devices: &[Arc<Self>]) -> Result<bool, DeviceError> {
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
        work: impl FnOnce(sys::CUstream) -> Result<(), DeviceError>,
    ) -> Result<(), DeviceError> {
        let side = self.side_stream()?;
        side.fork(&self.stream).map_err(self.failed("beginning an exchange"))?;
        let done = work(side.stream.raw());
        let ended = side.end().map_err(self.failed("beginning an exchange"));
        // The error of the work comes first.
        done.and(ended)
    }

    /// The side stream, made when it is first asked for.
    fn side_stream(&self) -> Result<&SideStream, DeviceError> {
        self.bind()?;
        if let Some(side) = self.side_stream.get() {
            return Ok(side);
        }
        let new = SideStream::new().map_err(self.failed("making a stream"))?;
        Ok(self.side_stream.get_or_init(|| new))
    }

    /// The pinned memory of small downloads, allocated at its first use.
    fn read_backs(&self) -> Result<&ReadBacks, DeviceError> {
        self.bind()?;
        if let Some(read_backs) = self.read_backs.get() {
            return Ok(read_backs);
        }
        let new = ReadBacks::new().map_err(self.failed("pinned memory"))?;
        Ok(self.read_backs.get_or_init(|| new))
    }

    /// Asks for `words` words; returns the number of the download.
    fn begin_read_back(&self, from: Address, words: usize) -> Result<usize, DeviceError> {
        let read_backs = self.read_backs()?;
        let number = read_backs.begin();
        let kernel = Kernel::new::<f64>(Source::Scalars, "copy_words");
        let arguments = [(words as u64).into(), from.into(), read_backs.address(number).into()];
        let device: &dyn Device = self;
        device.launch(kernel, LaunchShape::threads(words), &arguments)?;
        read_backs.record(number, &self.stream).map_err(self.failed("copying from the device"))?;
        Ok(number)
    }

    /// Waits for a download and reads it.
    fn end_read_back(&self, number: usize, to: &mut [u8]) -> Result<(), DeviceError> {
        let read_backs = self.read_backs()?;
        if !read_backs.holds(number) {
            return Err(DeviceError::TooManyDownloads { most: read_back::MOST });
        }
        check_length(to.len().min(read_back::MOST_BYTES), to.len())?;
        self.wait_for_ranks()?;
        read_backs.finish(number, to).map_err(self.failed("a kernel"))
    }
}

impl Drop for DriverDevice {
    fn drop(&mut self) {
        if self.bind().is_err() {
            return;
        }
        self.give_back();
        drop(self.side_stream.take());
        // Stores that nobody waited for end before their memory is freed.
        let _ = self.stream.synchronise();
        for module in self.modules.get_mut().unwrap_or_else(PoisonError::into_inner).values() {
            // SAFETY: nothing uses the module any more.
            let _ = unsafe { result::module::unload(module.0) };
        }
    }
}

/// Words in pinned memory.
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
        &self.name
    }

    fn memory(&self) -> Result<Option<(usize, usize)>, DeviceError> {
        self.bind()?;
        self.give_back();
        result::mem_get_info().map(Some).map_err(self.failed("asking for its memory"))
    }

    fn queue(&self) -> Option<u64> {
        Some(self.stream.raw() as u64)
    }

    fn shared_words(&self) -> Result<Arc<dyn SharedWords>, DeviceError> {
        self.bind()?;
        let memory = Pinned::zeros(size_of::<Words>()).map_err(self.failed("pinned memory"))?;
        Ok(Arc::new(PinnedWords { memory, context: self.context.clone() }))
    }

    fn synchronise(&self) -> Result<(), DeviceError> {
        self.bind()?;
        self.wait_for_ranks()?;
        self.stream.synchronise().map_err(self.failed("a kernel"))
    }

    fn allocate(&self, bytes: usize) -> Result<Address, DeviceError> {
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
                DeviceError::OutOfMemory { device: self.name.clone(), asked: bytes, free }
            } else {
                self.failed("allocating memory")(error)
            }
        })
    }

    fn free_raw(&self, _: Granted, at: Address) {
        self.pool().put(at);
    }

    fn clear_raw(&self, _: Granted, at: Address, bytes: usize) -> Result<(), DeviceError> {
        self.bind()?;
        // SAFETY: the caller owns `bytes` bytes from `at` on.
        unsafe { result::memset_d8_async(at, 0, bytes, self.stream.raw()) }
            .map_err(self.failed("clearing memory"))
    }

    fn upload_raw(&self, _: Granted, from: &[u8], to: Address) -> Result<(), DeviceError> {
        self.bind()?;
        self.wait_for_ranks()?;
        // SAFETY: the caller owns the memory at `to`; `from` outlives the copy, since the stream
        // is waited for.
        unsafe { result::memcpy_htod_async(to, from, self.stream.raw()) }
            .map_err(self.failed("copying to the device"))?;
        self.synchronise()
    }

    fn download_raw(&self, _: Granted, from: Address, to: &mut [u8]) -> Result<(), DeviceError> {
        self.bind()?;
        if let Some(words) = read_back::words(from, to.len()) {
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

    fn begin_download_raw(
        &self,
        granted: Granted,
        from: Address,
        bytes: usize,
    ) -> Result<Download, DeviceError> {
        if let Some(words) = read_back::words(from, bytes) {
            return self.begin_read_back(from, words).map(Download::Begun);
        }
        let mut to = vec![0; bytes];
        self.download_raw(granted, from, &mut to)?;
        Ok(Download::Done(to))
    }

    fn end_download(&self, download: Download, to: &mut [u8]) -> Result<(), DeviceError> {
        match download {
            Download::Done(from) => fill(to, &from),
            Download::Begun(number) => self.end_read_back(number, to),
        }
    }

    fn copy_raw(
        &self,
        _: Granted,
        from: Address,
        to: Address,
        bytes: usize,
    ) -> Result<(), DeviceError> {
        self.bind()?;
        // SAFETY: the caller owns both ranges.
        unsafe { result::memcpy_dtod_async(to, from, bytes, self.stream.raw()) }
            .map_err(self.failed("copying on the device"))
    }

    fn launch_raw(
        &self,
        _: Granted,
        kernel: Kernel,
        shape: LaunchShape,
        arguments: &[Argument],
    ) -> Result<(), DeviceError> {
        let function = self.function(kernel)?;
        self.bind()?;
        let mut pointers: Vec<*mut c_void> =
            arguments.iter().map(|argument| argument.pointer().cast_mut()).collect();
        let stream = match self.side_stream.get() {
            Some(side) if self.forked.load(Ordering::Relaxed) => &side.stream,
            _ => &self.stream,
        };
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

    fn fork(&self, work: &mut dyn FnMut() -> Result<(), DeviceError>) -> Result<(), DeviceError> {
        self.on_side_stream(|_| {
            self.forked.store(true, Ordering::Relaxed);
            let done = work();
            self.forked.store(false, Ordering::Relaxed);
            done
        })
    }

    fn join(&self) -> Result<(), DeviceError> {
        self.side_stream()?.join(&self.stream).map_err(self.failed("ending an exchange"))
    }

    fn record(
        &self,
        work: &mut dyn FnMut() -> Result<(), DeviceError>,
    ) -> Result<Recording, DeviceError> {
        self.bind()?;
        let graph = Graph::record(&self.stream, work).map_err(self.failed("recording"))??;
        Ok(Box::new(graph))
    }

    fn replay_raw(&self, _: Granted, recording: &Recording) -> Result<(), DeviceError> {
        self.bind()?;
        let Some(graph) = recording.downcast_ref::<Graph>() else {
            return Err(DeviceError::ForeignRecording);
        };
        graph.launch(&self.stream).map_err(self.failed("replaying"))
    }
}
