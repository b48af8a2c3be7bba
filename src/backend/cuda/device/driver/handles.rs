//! Handles of the driver as values: what the driver gave is released when they are dropped.
//!
//! All but [`Context::bind`] needs the context of the handle to be current on the calling thread.

use crate::backend::cuda::launch::library::DRIVER;
use cudarc::driver::result::DriverError;
use cudarc::driver::{result, sys};
use std::ffi::{CString, c_void};
use std::ops::Deref;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

/// A handle, or an address of pinned memory.
#[derive(Debug, Clone, Copy)]
pub(super) struct Handle<T>(pub(super) T);

// SAFETY: the driver's handles may be used from any thread that has made their context current; memory
// behind an address is accessed as its owner says.
unsafe impl<T> Send for Handle<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for Handle<T> {}

/// A handle with the function of the driver that releases it, in this context where it may be dropped on any thread.
#[derive(Debug)]
pub(super) struct Owned<T: Copy> {
    pub(super) handle: Handle<T>,
    pub(super) release: unsafe fn(T) -> Result<(), DriverError>,
    pub(super) context: Option<Arc<Context>>,
}

impl<T: Copy> Owned<T> {
    pub(super) fn raw(&self) -> T {
        self.handle.0
    }
}

impl<T: Copy> Drop for Owned<T> {
    fn drop(&mut self) {
        // Errors at the end leave nothing to do.
        let _ = self.context.as_ref().map(|context| context.bind());
        // SAFETY: the driver gave the handle, and nothing else holds it.
        let _ = unsafe { (self.release)(self.raw()) };
    }
}

/// The primary context of a GPU.
#[derive(Debug)]
pub(super) struct Context {
    context: Handle<sys::CUcontext>,
    _retained: Owned<sys::CUdevice>,
}

impl Context {
    /// The context of a GPU, made current on this thread.
    pub(super) fn retain(device: sys::CUdevice) -> Result<Self, DriverError> {
        // SAFETY: `device` came from the driver.
        let context = Handle(unsafe { result::primary_ctx::retain(device) }?);
        let device =
            Owned { handle: Handle(device), release: result::primary_ctx::release, context: None };
        let retained = Self { context, _retained: device };
        retained.bind()?;
        Ok(retained)
    }

    pub(super) fn bind(&self) -> Result<(), DriverError> {
        // SAFETY: the context lives as long as `self`.
        unsafe { result::ctx::set_current(self.context.0) }
    }

    /// Makes the context current until what is returned is dropped: a thread of another library keeps its own.
    pub(super) fn visit(&self) -> Result<Owned<sys::CUcontext>, DriverError> {
        let before = result::ctx::get_current()?.unwrap_or(std::ptr::null_mut());
        self.bind()?;
        Ok(Owned { handle: Handle(before), release: result::ctx::set_current, context: None })
    }

    /// Leaves no context current on this thread.
    pub(super) fn unbind() {
        // SAFETY: no context is needed for this; the driver refuses nothing.
        let _ = unsafe { result::ctx::set_current(std::ptr::null_mut()) };
    }

    /// Lets kernels of this GPU access the memory of another.
    pub(super) fn enable_access(&self, other: &Self) -> Result<(), DriverError> {
        use sys::CUresult::CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED as ALREADY;
        self.bind()?;
        // SAFETY: both contexts live as long as their values.
        match unsafe { sys::cuCtxEnablePeerAccess(other.context.0, 0) }.result() {
            Err(DriverError(ALREADY)) => Ok(()),
            enabled => enabled,
        }
    }
}

pub(super) type Stream = Owned<sys::CUstream>;

impl Stream {
    /// A stream of ordinary priority, or one whose kernels start before those of others.
    pub(super) fn new(comes_first: bool) -> Result<Self, DriverError> {
        let (ordinary, greatest) = result::stream::get_priority_range()?;
        let priority = if comes_first { greatest } else { ordinary };
        let kind = result::stream::StreamKind::NonBlocking;
        let stream = result::stream::create_with_priority(kind, priority)?;
        Ok(Self { handle: Handle(stream), release: result::stream::destroy, context: None })
    }

    pub(super) fn synchronise(&self) -> Result<(), DriverError> {
        // SAFETY: the stream lives as long as `self`.
        unsafe { result::stream::synchronize(self.raw()) }
    }

    pub(super) fn is_done(&self) -> Result<bool, DriverError> {
        // SAFETY: as above.
        match unsafe { sys::cuStreamQuery(self.raw()) } {
            sys::CUresult::CUDA_ERROR_NOT_READY => Ok(false),
            code => code.result().map(|()| true),
        }
    }

    /// Queues a copy from the device's memory at `from`: as much of it as fits, at most `bytes` bytes.
    ///
    /// # Safety
    /// That much memory at `from` is the caller's, and `to` is not read before an event after the copy.
    pub(super) unsafe fn download<const N: usize>(
        &self,
        from: sys::CUdeviceptr,
        to: &mut Pinned<N>,
        bytes: usize,
    ) -> Result<(), DriverError> {
        let bytes = bytes.min(size_of::<[AtomicU32; N]>());
        // SAFETY: as required of the caller; the memory at `to` is as large.
        unsafe {
            let to = std::slice::from_raw_parts_mut(to.0.raw().cast::<u8>(), bytes);
            result::memcpy_dtoh_async(to, from, self.raw())
        }
    }

    /// The event occurs when all work queued so far is done.
    pub(super) fn record(&self, event: &Event) -> Result<(), DriverError> {
        // SAFETY: stream and event live as long as their values.
        unsafe { result::event::record(event.raw(), self.raw()) }
    }

    /// Work queued later starts after the event.
    pub(super) fn wait_for(&self, event: &Event) -> Result<(), DriverError> {
        let flags = sys::CUevent_wait_flags::CU_EVENT_WAIT_DEFAULT;
        // SAFETY: as above.
        unsafe { result::stream::wait_event(self.raw(), event.raw(), flags) }
    }
}

pub(super) type Event = Owned<sys::CUevent>;

impl Event {
    pub(super) fn new() -> Result<Self, DriverError> {
        let event = result::event::create(sys::CUevent_flags::CU_EVENT_DISABLE_TIMING)?;
        Ok(Self { handle: Handle(event), release: result::event::destroy, context: None })
    }

    pub(super) fn synchronise(&self) -> Result<(), DriverError> {
        // SAFETY: the event lives as long as `self`.
        unsafe { result::event::synchronize(self.raw()) }
    }
}

/// Work of a stream from now on starts after that of another one, which must not be recorded.
pub(super) fn order(first: sys::CUstream, then: sys::CUstream) -> Result<(), DriverError> {
    use sys::CUstreamCaptureStatus_enum::CU_STREAM_CAPTURE_STATUS_NONE as NONE;
    let (event, flags) = (Event::new()?, sys::CUevent_wait_flags::CU_EVENT_WAIT_DEFAULT);
    // SAFETY: one stream is the device's, and who lends or borrows on the other keeps it; the driver keeps the event
    // as long as it needs it.
    unsafe {
        if result::stream::is_capturing(first)? != NONE {
            return Err(DriverError(sys::CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED));
        }
        result::event::record(event.raw(), first)?;
        result::stream::wait_event(then, event.raw(), flags)
    }
}

/// Pinned memory of the host, which has the same address on the GPU: words through which host and kernels
/// tell each other something.
pub(super) struct Pinned<const N: usize>(Owned<*mut c_void>);

impl<const N: usize> Pinned<N> {
    /// Zeros, aligned to a page.
    pub(super) fn zeros(context: &Arc<Context>) -> Result<Self, DriverError> {
        // SAFETY: the memory is as large as what is written.
        let at = unsafe {
            let at = result::malloc_host(size_of::<[AtomicU32; N]>(), 0)?;
            at.cast::<[AtomicU32; N]>().write_bytes(0, 1);
            at
        };
        let (handle, context) = (Handle(at), Some(context.clone()));
        Ok(Self(Owned { handle, release: result::free_host, context }))
    }

    /// Copies as many bytes as `to` has, or as there are, once nothing else accesses them.
    pub(super) fn copy_to(&mut self, to: &mut [u8]) {
        let bytes = to.len().min(size_of::<[AtomicU32; N]>());
        // SAFETY: the memory is as large, and the host accesses it through `self` alone.
        let own = unsafe { std::slice::from_raw_parts(self.0.raw().cast::<u8>(), bytes) };
        to[..bytes].copy_from_slice(own);
    }
}

impl<const N: usize> Deref for Pinned<N> {
    type Target = [AtomicU32; N];

    fn deref(&self) -> &Self::Target {
        // SAFETY: the memory holds as many words and lives as long as `self`; all access is atomic.
        unsafe { &*self.0.raw().cast() }
    }
}

/// A graph of recorded work that can be launched.
pub(super) type Graph = Owned<sys::CUgraphExec>;

impl Graph {
    /// Records what `work` asks of the stream. The outer error comes from the recording itself.
    pub(super) fn record<E>(
        (context, stream): (&Arc<Context>, &Stream),
        work: impl FnOnce() -> Result<(), E>,
    ) -> Result<Result<Self, E>, DriverError> {
        use sys::CUstreamCaptureMode_enum::CU_STREAM_CAPTURE_MODE_RELAXED as RELAXED;
        // SAFETY: the stream lives as long as the borrow.
        unsafe { result::stream::begin_capture(stream.raw(), RELAXED) }?;
        let done = catch_unwind(AssertUnwindSafe(work));
        // SAFETY: the capture was begun above; the graph is destroyed once it is instantiated.
        unsafe {
            let ended = result::stream::end_capture(stream.raw());
            // The error of the work comes first: it may be why the recording ends with an error.
            if let Err(error) = done.unwrap_or_else(|panic| resume_unwind(panic)) {
                let _ = ended.map(|graph| result::graph::destroy(graph));
                return Ok(Err(error));
            }
            let graph = ended?;
            // Messages keep the priority of their stream.
            let priority =
                sys::CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
            let launchable = result::graph::instantiate(graph, priority);
            let _ = result::graph::destroy(graph);
            let (handle, context) = (Handle(launchable?), Some(context.clone()));
            Ok(Ok(Self { handle, release: result::graph::exec_destroy, context }))
        }
    }

    /// Launches the work on the stream that recorded it.
    pub(super) fn launch(&self, stream: &Stream) -> Result<(), DriverError> {
        // SAFETY: graph and stream live as long as their values.
        unsafe { result::graph::launch(self.raw(), stream.raw()) }
    }
}

/// Compiled kernels, loaded.
pub(super) type Module = Owned<sys::CUmodule>;

impl Module {
    /// Loads machine code.
    ///
    /// # Safety
    /// It is a complete cubin made for the GPU of the current context, or PTX that ends with a zero.
    pub(super) unsafe fn load(image: &[u8]) -> Result<Self, DriverError> {
        // SAFETY: as required of the caller.
        let module = unsafe { result::module::load_data(image.as_ptr().cast()) }?;
        Ok(Self { handle: Handle(module), release: result::module::unload, context: None })
    }

    /// Loads all kernels, if the driver can (12.4): otherwise it loads each when that is first asked for.
    pub(super) fn load_kernels(&self) -> Result<(), DriverError> {
        let mut count = 0;
        if !DRIVER.has(c"cuModuleEnumerateFunctions") {
            return Ok(());
        }
        // SAFETY: the module lives as long as `self`; the list has as many places as there are functions.
        unsafe {
            sys::cuModuleGetFunctionCount(&raw mut count, self.raw()).result()?;
            let mut all = vec![std::ptr::null_mut(); count as usize];
            sys::cuModuleEnumerateFunctions(all.as_mut_ptr(), count, self.raw()).result()?;
            all.into_iter().try_for_each(|function| sys::cuFuncLoad(function).result())
        }
    }

    /// A kernel, valid as long as the module. Its blocks may have all the shared memory up to this limit.
    pub(super) fn function(
        &self,
        name: &str,
        shared_limit: i32,
    ) -> Result<Handle<sys::CUfunction>, DriverError> {
        use sys::CUfunction_attribute_enum::{
            CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES as DYNAMIC,
            CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES as FIXED,
        };
        let name = CString::new(name).unwrap_or_default();
        // SAFETY: the module lives as long as `self`, and the function belongs to it.
        unsafe {
            let function = result::module::get_function(self.raw(), name)?;
            let fixed = result::function::get_function_attribute(function, FIXED)?;
            result::function::set_function_attribute(function, DYNAMIC, shared_limit - fixed)?;
            Ok(Handle(function))
        }
    }
}
