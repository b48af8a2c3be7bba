//! One NVIDIA GPU through the driver.
//!
//! Nothing is linked: the driver and NVRTC are opened at run time. All calls go to one stream, so
//! that work is done in the order it is asked for.
#![allow(unsafe_code, reason = "the driver's interface is C; every call's contract is kept here")]

mod aside;
mod blocks;
mod compile;
mod downloads;
mod gpus;
mod list;
mod nccl;
mod peers;

pub use gpus::{Gpus, Way};
pub use list::{DeviceInfo, Libraries, device, devices, libraries, present};
pub use nccl::{CommunicatorId, NcclCommunicator, Seat};

use super::device::{Address, Device, Download, Granted, HostWords, Recording, fill};
use super::kernel::{Argument, Kernel, Shape, Source, Width};
use crate::backend::DeviceError;
use cudarc::driver::{result, sys};
use std::any::Any;
use std::collections::HashMap;
use std::ffi::{CString, c_void};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};

/// Bytes of the pinned buffer through which small answers come back.
const ANSWER: usize = 4096;

/// A GPU, its stream and its compiled kernels.
pub struct DriverDevice {
    name: String,
    ordinal: usize,
    device: sys::CUdevice,
    context: sys::CUcontext,
    stream: sys::CUstream,
    /// Compute capability as in `sm_90`.
    capability: u32,
    /// Bytes of shared memory that a block may have.
    shared_limit: i32,
    modules: Mutex<HashMap<(Source, Width), Module>>,
    functions: RwLock<HashMap<Kernel, Function>>,
    answer: Mutex<Pinned>,
    blocks: Mutex<blocks::Blocks>,
    downloads: OnceLock<downloads::Downloads>,
    aside: OnceLock<aside::Aside>,
    /// Whether launches go there.
    passing: AtomicBool,
    /// The way to other ranks, while there are any.
    link: RwLock<Option<Arc<nccl::Link>>>,
}

#[derive(Clone, Copy)]
struct Module(sys::CUmodule);
#[derive(Clone, Copy)]
struct Function(sys::CUfunction);
struct Pinned(*mut c_void);

// SAFETY: the driver's handles may be used from any thread that has made the context current, which
// every call here does first; the pinned buffer stands behind a mutex.
unsafe impl Send for DriverDevice {}
// SAFETY: as above.
unsafe impl Sync for DriverDevice {}

/// Compute capability as in `sm_90`.
fn capability(info: &DeviceInfo) -> u32 {
    info.capability.0 * 10 + info.capability.1
}

/// What the driver said, in words.
fn reason(error: result::DriverError) -> String {
    error
        .error_string()
        .map_or_else(|_| format!("{error:?}"), |text| text.to_string_lossy().into_owned())
}

impl DriverDevice {
    /// Opens GPU `ordinal`, in the order of `gridgen devices`. Kernels are compiled when they are
    /// first launched.
    pub fn open(ordinal: usize) -> Result<Self, DeviceError> {
        Self::with_context(list::device(ordinal)?)
    }

    /// Opens GPU `ordinal` with all kernels compiled: several at a time, while the driver makes
    /// the context.
    pub fn open_compiled(ordinal: usize) -> Result<Self, DeviceError> {
        let info = list::device(ordinal)?;
        let capability = capability(&info);
        let (device, images) = std::thread::scope(|scope| {
            let images = scope.spawn(move || compile::images(capability));
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
        let ordinal = info.ordinal;
        let fail = |operation: &'static str| {
            let device = info.name.clone();
            move |error| DeviceError::Call { device, operation, reason: reason(error) }
        };
        let device = list::handle(ordinal)?;
        // SAFETY: `device` is valid; the context is released when this value is dropped.
        let context =
            unsafe { result::primary_ctx::retain(device) }.map_err(fail("its context"))?;
        // SAFETY: `context` was just retained.
        unsafe { result::ctx::set_current(context) }.map_err(fail("its context"))?;
        let stream = result::stream::create(result::stream::StreamKind::NonBlocking)
            .map_err(fail("making a stream"))?;
        // SAFETY: freed when this value is dropped.
        let answer = unsafe { result::malloc_host(ANSWER, 0) }.map_err(fail("pinned memory"))?;
        Ok(Self {
            capability: capability(&info),
            shared_limit: i32::try_from(info.shared_memory_per_block).unwrap_or(i32::MAX),
            name: info.name,
            ordinal,
            device,
            context,
            stream,
            modules: Mutex::default(),
            functions: RwLock::default(),
            answer: Mutex::new(Pinned(answer)),
            blocks: Mutex::default(),
            downloads: OnceLock::new(),
            aside: OnceLock::new(),
            passing: AtomicBool::new(false),
            link: RwLock::default(),
        })
    }

    /// Makes the context current on this thread.
    fn bind(&self) -> Result<(), DeviceError> {
        // SAFETY: the context lives as long as `self`.
        unsafe { result::ctx::set_current(self.context) }.map_err(self.failed("its context"))
    }

    fn failed(
        &self,
        operation: &'static str,
    ) -> impl FnOnce(result::DriverError) -> DeviceError + use<'_> {
        move |error| DeviceError::Call { device: self.label(), operation, reason: reason(error) }
    }

    fn blocks(&self) -> MutexGuard<'_, blocks::Blocks> {
        self.blocks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives idle memory back to the driver.
    fn give_back(&self) {
        if self.bind().is_ok() {
            for at in self.blocks().clear() {
                // SAFETY: the block came from `allocate` and nobody holds it; a failure means that
                // the device is lost, which the next call reports.
                let _ = unsafe { result::free_sync(at) };
            }
        }
    }

    /// Its number and name.
    fn label(&self) -> String {
        format!("GPU {} ({})", self.ordinal, self.name)
    }

    fn load(&self, source: Source, width: Width, image: &[u8]) -> Result<Module, DeviceError> {
        self.bind()?;
        // SAFETY: `image` is a complete cubin made for this GPU.
        let module = unsafe { result::module::load_data(image.as_ptr().cast()) }
            .map_err(self.failed("loading compiled kernels"))?;
        let mut modules = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
        modules.insert((source, width), Module(module));
        Ok(Module(module))
    }

    fn module(&self, source: Source, width: Width) -> Result<Module, DeviceError> {
        let known = {
            let modules = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
            modules.get(&(source, width)).copied()
        };
        match known {
            Some(module) => Ok(module),
            None => self.load(source, width, &compile::image(source, width, self.capability)?),
        }
    }

    fn function(&self, kernel: Kernel) -> Result<Function, DeviceError> {
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
        functions.insert(kernel, Function(function));
        Ok(Function(function))
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
}

impl Drop for DriverDevice {
    fn drop(&mut self) {
        if self.bind().is_err() {
            return;
        }
        self.give_back();
        let modules = self.modules.get_mut().unwrap_or_else(PoisonError::into_inner);
        let answer = self.answer.get_mut().unwrap_or_else(PoisonError::into_inner).0;
        drop(self.aside.take());
        // Stores that nobody waited for end before their memory does.
        // SAFETY: the stream is destroyed below.
        let _ = unsafe { result::stream::synchronize(self.stream) };
        drop(self.downloads.take());
        // SAFETY: nothing else holds these handles; errors of a dying context leave nothing to do.
        unsafe {
            for module in modules.values() {
                let _ = result::module::unload(module.0);
            }
            let _ = result::free_host(answer);
            let _ = result::stream::destroy(self.stream);
            let _ = result::primary_ctx::release(self.device);
        }
    }
}

impl DriverDevice {
    /// Launches a kernel with any arguments.
    ///
    /// # Safety
    /// The arguments are those of the kernel's signature, and the memory behind their addresses is that
    /// of live buffers of this device; what is not so loses the device for this process.
    pub unsafe fn launch_unchecked(
        &self,
        kernel: Kernel,
        shape: Shape,
        arguments: &[Argument],
    ) -> Result<(), DeviceError> {
        let device: &dyn Device = self;
        device.launch(kernel, shape, arguments)
    }
}

/// A graph that can be launched.
struct Graph(sys::CUgraphExec);

// SAFETY: a graph may be launched and destroyed from any thread.
unsafe impl Send for Graph {}

impl Drop for Graph {
    fn drop(&mut self) {
        // SAFETY: nothing else holds the handle.
        let _ = unsafe { result::graph::exec_destroy(self.0) };
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
        Some(self.stream as u64)
    }

    fn host_words(&self) -> Result<Arc<dyn HostWords>, DeviceError> {
        Ok(Arc::new(self.pinned_words()?))
    }

    fn synchronise(&self) -> Result<(), DeviceError> {
        self.bind()?;
        self.settle()?;
        // SAFETY: the stream lives as long as `self`.
        unsafe { result::stream::synchronize(self.stream) }.map_err(self.failed("a kernel"))
    }

    fn allocate(&self, bytes: usize) -> Result<Address, DeviceError> {
        self.bind()?;
        if let Some(at) = self.blocks().take(bytes) {
            return Ok(at);
        }
        // SAFETY: the memory is given back by `give_back`.
        let mut given = unsafe { result::malloc_sync(bytes) };
        if given.is_err() {
            self.give_back();
            // SAFETY: as above.
            given = unsafe { result::malloc_sync(bytes) };
        }
        let given = given.inspect(|&at| self.blocks().add(at, bytes));
        given.map_err(|error| {
            if error.0 == sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY {
                let free = result::mem_get_info().map_or(0, |(free, _)| free);
                DeviceError::OutOfMemory { device: self.name.clone(), asked: bytes, free }
            } else {
                self.failed("allocating memory")(error)
            }
        })
    }

    fn free_raw(&self, _: Granted, at: Address) {
        self.blocks().put(at);
    }

    fn clear_raw(&self, _: Granted, at: Address, bytes: usize) -> Result<(), DeviceError> {
        self.bind()?;
        // SAFETY: the caller owns `bytes` bytes from `at` on.
        unsafe { result::memset_d8_async(at, 0, bytes, self.stream) }
            .map_err(self.failed("clearing memory"))
    }

    fn upload_raw(&self, _: Granted, from: &[u8], to: Address) -> Result<(), DeviceError> {
        self.bind()?;
        self.settle()?;
        // SAFETY: the caller owns the memory at `to`; `from` outlives the copy, since the stream
        // is waited for.
        unsafe { result::memcpy_htod_async(to, from, self.stream) }
            .map_err(self.failed("copying to the device"))?;
        self.synchronise()
    }

    fn download_raw(&self, _: Granted, from: Address, to: &mut [u8]) -> Result<(), DeviceError> {
        self.bind()?;
        if let Some(words) = downloads::words(from, to.len()) {
            let number = self.show_words(from, words)?;
            return self.shown(number, to);
        }
        if to.len() > ANSWER {
            self.settle()?;
            // SAFETY: the caller owns the memory at `from`; `to` outlives the copy.
            unsafe { result::memcpy_dtoh_async(to, from, self.stream) }
                .map_err(self.failed("copying from the device"))?;
            return self.synchronise();
        }
        let answer = self.answer.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the pinned buffer has `ANSWER` bytes and is this thread's while the lock is held.
        let pinned = unsafe { std::slice::from_raw_parts_mut(answer.0.cast::<u8>(), to.len()) };
        // SAFETY: as above.
        unsafe { result::memcpy_dtoh_async(pinned, from, self.stream) }
            .map_err(self.failed("copying from the device"))?;
        self.synchronise()?;
        to.copy_from_slice(pinned);
        Ok(())
    }

    fn begin_download_raw(
        &self,
        granted: Granted,
        from: Address,
        bytes: usize,
    ) -> Result<Download, DeviceError> {
        if let Some(words) = downloads::words(from, bytes) {
            return self.show_words(from, words).map(Download::Begun);
        }
        let mut to = vec![0; bytes];
        self.download_raw(granted, from, &mut to)?;
        Ok(Download::Done(to))
    }

    fn end_download(&self, download: Download, to: &mut [u8]) -> Result<(), DeviceError> {
        match download {
            Download::Done(from) => fill(to, &from)?,
            Download::Begun(number) => self.shown(number, to)?,
        }
        Ok(())
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
        unsafe { result::memcpy_dtod_async(to, from, bytes, self.stream) }
            .map_err(self.failed("copying on the device"))
    }

    fn launch_raw(
        &self,
        _: Granted,
        kernel: Kernel,
        shape: Shape,
        arguments: &[Argument],
    ) -> Result<(), DeviceError> {
        let function = self.function(kernel)?;
        self.bind()?;
        let mut pointers: Vec<*mut c_void> =
            arguments.iter().map(|argument| argument.pointer().cast_mut()).collect();
        let ([gx, gy, gz], [bx, by, bz]) = (shape.grid, shape.block);
        let stream = match self.aside.get() {
            Some(aside) if self.passing.load(Ordering::Relaxed) => aside.stream,
            _ => self.stream,
        };
        // SAFETY: the arguments are those of the kernel's signature (checked by running every
        // launch in the tests), and the memory behind them belongs to the caller.
        unsafe {
            result::launch_kernel(
                function.0,
                (gx, gy, gz),
                (bx, by, bz),
                shape.shared,
                stream,
                &mut pointers,
            )
        }
        .map_err(self.failed("launching a kernel"))
    }

    fn beside(&self, work: &mut dyn FnMut() -> Result<(), DeviceError>) -> Result<(), DeviceError> {
        let aside = self.aside()?;
        aside.fork(self)?;
        self.passing.store(true, Ordering::Relaxed);
        let done = work();
        self.passing.store(false, Ordering::Relaxed);
        let ended = aside.end(self);
        // What the work met comes first.
        done.and(ended)
    }

    fn join(&self) -> Result<(), DeviceError> {
        self.aside()?.join(self)
    }

    fn record(
        &self,
        work: &mut dyn FnMut() -> Result<(), DeviceError>,
    ) -> Result<Recording, DeviceError> {
        use sys::CUstreamCaptureMode_enum::CU_STREAM_CAPTURE_MODE_RELAXED;
        self.bind()?;
        // SAFETY: the stream lives as long as `self`.
        unsafe { result::stream::begin_capture(self.stream, CU_STREAM_CAPTURE_MODE_RELAXED) }
            .map_err(self.failed("recording"))?;
        let done = work();
        // SAFETY: the capture was begun above; the graph is destroyed once it is instantiated.
        unsafe {
            let ended = result::stream::end_capture(self.stream);
            // What the work met comes first: it may be why the recording ends with an error.
            if let Err(error) = done {
                let _ = ended.map(|graph| result::graph::destroy(graph));
                return Err(error);
            }
            let graph = ended.map_err(self.failed("recording"))?;
            // Messages keep the priority of their stream.
            let flags =
                sys::CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
            let launchable = result::graph::instantiate(graph, flags);
            let _ = result::graph::destroy(graph);
            Ok(Box::new(Graph(launchable.map_err(self.failed("recording"))?)))
        }
    }

    fn replay_raw(&self, _: Granted, recording: &Recording) -> Result<(), DeviceError> {
        self.bind()?;
        let Some(graph) = recording.downcast_ref::<Graph>() else {
            return Err(DeviceError::ForeignRecording);
        };
        // SAFETY: the graph was made on this stream.
        unsafe { result::graph::launch(graph.0, self.stream) }.map_err(self.failed("replaying"))
    }
}
