//! Handles of the driver as values: what the driver gave is released when they are dropped.
//!
//! All but [`Context::bind`] needs the context of the handle to be current on the calling thread.

use crate::backend::DeviceError;
use cudarc::driver::result::DriverError;
use cudarc::driver::{result, sys};
use std::ffi::c_void;

pub(super) fn reason(error: DriverError) -> String {
    error
        .error_string()
        .map_or_else(|_| format!("{error:?}"), |text| text.to_string_lossy().into_owned())
}

/// A GPU as errors name it.
pub(super) struct GpuName {
    pub(super) ordinal: usize,
    pub(super) name: String,
}

impl GpuName {
    /// The error of a call that the driver refused.
    pub(super) fn failed(
        &self,
        operation: &'static str,
    ) -> impl FnOnce(DriverError) -> DeviceError + use<'_> {
        move |error| self.error(operation, reason(error))
    }

    /// The error of a call that failed for this reason.
    pub(super) fn error(&self, operation: &'static str, reason: String) -> DeviceError {
        let device = format!("GPU {} ({})", self.ordinal, self.name);
        DeviceError::Call { device, operation, reason }
    }
}

/// A handle, or an address of pinned memory.
#[derive(Debug, Clone, Copy)]
pub(super) struct Handle<T>(pub(super) T);

// SAFETY: the driver's handles may be used from any thread that has made their context current; memory
// behind an address is accessed as its owner says.
unsafe impl<T> Send for Handle<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for Handle<T> {}

/// The primary context of a GPU.
#[derive(Debug)]
pub(super) struct Context {
    device: sys::CUdevice,
    context: Handle<sys::CUcontext>,
}

impl Context {
    /// The context of a GPU, made current on this thread.
    pub(super) fn retain(device: sys::CUdevice) -> Result<Self, DriverError> {
        // SAFETY: `device` came from the driver; the context is released on drop.
        let context = Handle(unsafe { result::primary_ctx::retain(device) }?);
        let retained = Self { device, context };
        retained.bind()?;
        Ok(retained)
    }

    pub(super) fn bind(&self) -> Result<(), DriverError> {
        // SAFETY: the context lives as long as `self`.
        unsafe { result::ctx::set_current(self.context.0) }
    }

    /// Leaves no context current on this thread.
    pub(super) fn unbind() {
        // SAFETY: no context is needed for this; the driver refuses nothing.
        let _ = unsafe { result::ctx::set_current(std::ptr::null_mut()) };
    }

    /// Whether kernels of this GPU can access the memory of another.
    pub(super) fn can_access(&self, other: &Self) -> Result<bool, DriverError> {
        can_access(self.device, other.device)
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

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: the context was retained once; errors at the end leave nothing to do.
        let _ = unsafe { result::primary_ctx::release(self.device) };
    }
}

/// Whether kernels of one GPU can access the memory of another.
pub(super) fn can_access(from: sys::CUdevice, to: sys::CUdevice) -> Result<bool, DriverError> {
    let mut can = 0;
    // SAFETY: both came from the driver; `can` outlives the call.
    unsafe { sys::cuDeviceCanAccessPeer(&raw mut can, from, to) }.result()?;
    Ok(can != 0)
}

pub(super) struct Stream(Handle<sys::CUstream>);

impl Stream {
    /// A stream of ordinary priority.
    pub(super) fn new() -> Result<Self, DriverError> {
        let stream = result::stream::create(result::stream::StreamKind::NonBlocking)?;
        Ok(Self(Handle(stream)))
    }

    /// A stream whose kernels start before those of others.
    pub(super) fn of_greatest_priority() -> Result<Self, DriverError> {
        let (_, greatest) = result::stream::get_priority_range()?;
        let kind = result::stream::StreamKind::NonBlocking;
        Ok(Self(Handle(result::stream::create_with_priority(kind, greatest)?)))
    }

    pub(super) fn raw(&self) -> sys::CUstream {
        self.0.0
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

    /// The event occurs when all work queued so far is done.
    pub(super) fn record(&self, event: &Event) -> Result<(), DriverError> {
        // SAFETY: stream and event live as long as their values.
        unsafe { result::event::record(event.0.0, self.raw()) }
    }

    /// Work queued later starts after the event.
    pub(super) fn wait_for(&self, event: &Event) -> Result<(), DriverError> {
        let flags = sys::CUevent_wait_flags::CU_EVENT_WAIT_DEFAULT;
        // SAFETY: as above.
        unsafe { result::stream::wait_event(self.raw(), event.0.0, flags) }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // SAFETY: nothing else holds the handle.
        let _ = unsafe { result::stream::destroy(self.raw()) };
    }
}

pub(super) struct Event(Handle<sys::CUevent>);

impl Event {
    pub(super) fn new() -> Result<Self, DriverError> {
        let event = result::event::create(sys::CUevent_flags::CU_EVENT_DISABLE_TIMING)?;
        Ok(Self(Handle(event)))
    }

    pub(super) fn synchronise(&self) -> Result<(), DriverError> {
        // SAFETY: the event lives as long as `self`.
        unsafe { result::event::synchronize(self.0.0) }
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: nothing else holds the handle.
        let _ = unsafe { result::event::destroy(self.0.0) };
    }
}

/// Pinned memory of the host, which has the same address on the GPU.
#[derive(Debug)]
pub(super) struct Pinned {
    at: Handle<*mut c_void>,
    bytes: usize,
}

impl Pinned {
    /// Memory filled with zeros, aligned to a page.
    pub(super) fn zeros(bytes: usize) -> Result<Self, DriverError> {
        // SAFETY: the memory is freed on drop, and is as large as what is written.
        let at = unsafe {
            let at = result::malloc_host(bytes, 0)?;
            at.cast::<u8>().write_bytes(0, bytes);
            at
        };
        Ok(Self { at: Handle(at), bytes })
    }

    pub(super) fn address(&self, offset: usize) -> *mut c_void {
        debug_assert!(offset <= self.bytes);
        self.at.0.wrapping_byte_add(offset)
    }

    /// The bytes from `offset` on, which no kernel and no copy writes at present.
    pub(super) fn read(&self, offset: usize, to: &mut [u8]) {
        let from = offset.min(self.bytes)..(offset + to.len()).min(self.bytes);
        // SAFETY: the range lies in the memory, which lives as long as `self`.
        let bytes = unsafe {
            std::slice::from_raw_parts(self.address(from.start).cast::<u8>(), from.len())
        };
        to[..bytes.len()].copy_from_slice(bytes);
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        // SAFETY: nothing else holds the memory.
        let _ = unsafe { result::free_host(self.at.0) };
    }
}

/// A graph of recorded work that can be launched.
pub(super) struct Graph(Handle<sys::CUgraphExec>);

impl Graph {
    /// Records what `work` asks of the stream. The outer error is that of the recording.
    pub(super) fn record<E>(
        stream: &Stream,
        work: impl FnOnce() -> Result<(), E>,
    ) -> Result<Result<Self, E>, DriverError> {
        use sys::CUstreamCaptureMode_enum::CU_STREAM_CAPTURE_MODE_RELAXED as RELAXED;
        // SAFETY: the stream lives as long as the borrow.
        unsafe { result::stream::begin_capture(stream.raw(), RELAXED) }?;
        let done = work();
        // SAFETY: the capture was begun above; the graph is destroyed once it is instantiated.
        unsafe {
            let ended = result::stream::end_capture(stream.raw());
            // The error of the work comes first: it may be why the recording ends with an error.
            if let Err(error) = done {
                let _ = ended.map(|graph| result::graph::destroy(graph));
                return Ok(Err(error));
            }
            let graph = ended?;
            // Messages keep the priority of their stream.
            let flags =
                sys::CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
            let launchable = result::graph::instantiate(graph, flags);
            let _ = result::graph::destroy(graph);
            Ok(Ok(Self(Handle(launchable?))))
        }
    }

    /// Launches the work on the stream that recorded it.
    pub(super) fn launch(&self, stream: &Stream) -> Result<(), DriverError> {
        // SAFETY: graph and stream live as long as their values.
        unsafe { result::graph::launch(self.0.0, stream.raw()) }
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        // SAFETY: nothing else holds the handle.
        let _ = unsafe { result::graph::exec_destroy(self.0.0) };
    }
}

/// A stream of greater priority: messages that waited for the last block of the work at the same time
/// would not be exchanged meanwhile.
pub(super) struct SideStream {
    pub(super) stream: Stream,
    forked: Event,
    joined: Event,
}

impl SideStream {
    pub(super) fn new() -> Result<Self, DriverError> {
        Ok(Self {
            stream: Stream::of_greatest_priority()?,
            forked: Event::new()?,
            joined: Event::new()?,
        })
    }

    /// Work asked of this stream next starts after all that was asked of the main one.
    pub(super) fn fork(&self, main: &Stream) -> Result<(), DriverError> {
        main.record(&self.forked)?;
        self.stream.wait_for(&self.forked)
    }

    /// [`Self::join`] waits for the work asked of this stream so far.
    pub(super) fn end(&self) -> Result<(), DriverError> {
        self.stream.record(&self.joined)
    }

    /// Work asked of the main stream later starts after that end.
    pub(super) fn join(&self, main: &Stream) -> Result<(), DriverError> {
        main.wait_for(&self.joined)
    }
}
