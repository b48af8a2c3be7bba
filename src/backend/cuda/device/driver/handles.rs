//! Handles of the driver that cudarc has no fitting values for: what the driver gave is released when they are
//! dropped. cudarc's graph stays on the thread that made it, and is dropped in whatever context is current; its
//! module does not name the handle by which all kernels of it are loaded at a time; its pinned memory waits for an
//! event of its own at each access.
//!
//! Graphs of recorded work are kept: a case asks for the same work in the same places as the last one of its size,
//! and the driver takes longer to make a graph than a small grid takes to run it. Memory of other processes has a
//! handle, too, where these have given it a name (CUDA IPC).
//!
//! The functions of a handle need its context to be current on the calling thread.

use crate::backend::cuda::device::{Address, Mapped, Request};
use crate::backend::cuda::launch::Result;
use crate::backend::cuda::launch::library::DRIVER;
use cudarc::driver::result::{self, DriverError};
use cudarc::driver::{CudaContext, CudaStream, sys};
use parking_lot::{Mutex, RwLock};
use std::collections::VecDeque;
use std::ffi::{CString, c_void};
use std::ops::Deref;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

/// A handle, or an address of pinned memory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Handle<T>(pub(crate) T);

// SAFETY: the driver's handles, and NCCL's, may be used from any thread that has made their context current; memory
// behind an address is accessed as its owner says.
unsafe impl<T> Send for Handle<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for Handle<T> {}

/// A handle with the function of the driver that releases it, in this context where it may be dropped on any thread.
#[derive(Debug)]
pub(super) struct Owned<T: Copy> {
    pub(super) handle: Handle<T>,
    pub(super) release: unsafe fn(T) -> Result<(), DriverError>,
    pub(super) context: Option<Arc<CudaContext>>,
}

impl<T: Copy> Owned<T> {
    pub(super) fn raw(&self) -> T {
        self.handle.0
    }
}

impl<T: Copy> Drop for Owned<T> {
    fn drop(&mut self) {
        // Errors at the end leave nothing to do.
        let _ = self.context.as_ref().map(|context| context.bind_to_thread());
        // SAFETY: the driver gave the handle, and nothing else holds it.
        let _ = unsafe { (self.release)(self.raw()) };
    }
}

/// Makes a context current until what is returned is dropped: a thread of another library keeps its own.
fn visit(context: &CudaContext) -> Result<Owned<sys::CUcontext>, DriverError> {
    let before = result::ctx::get_current()?.unwrap_or(std::ptr::null_mut());
    context.bind_to_thread()?;
    Ok(Owned { handle: Handle(before), release: result::ctx::set_current, context: None })
}

/// Work of a stream from now on starts after that of another one, which must not be recorded. Both belong to a context.
fn order(context: &Arc<CudaContext>, streams: [sys::CUstream; 2]) -> Result<(), DriverError> {
    use sys::CUstreamCaptureStatus_enum::CU_STREAM_CAPTURE_STATUS_NONE as NONE;
    // SAFETY: one stream is the device's, and who lends or borrows on the other keeps it.
    let [first, then] = streams.map(|stream| unsafe { context.wrap_borrowed_stream(stream) });
    if first.capture_status()? != NONE {
        return Err(DriverError(sys::CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED));
    }
    then.join(&first)
}

/// Work of the stream `other`, as DLPack numbers it, starts after the work of `own` so far, or the other way round where it
/// comes `back`. Both belong to a context.
pub(super) fn order_with(
    context: &Arc<CudaContext>,
    own: sys::CUstream,
    other: i64,
    back: bool,
) -> Result<(), DriverError> {
    use sys::CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED as FIRST_OF_RECORDINGS;
    let _visit = visit(context)?;
    let stream = std::ptr::with_exposed_provenance_mut(other.cast_unsigned() as usize);
    match (back, other) {
        (false, ..1) => Ok(()),
        (false, 1..) => order(context, [own, stream]),
        (true, 1 | 3..) => order(context, [stream, own]).or_else(|error| match error {
            DriverError(code) if code >= FIRST_OF_RECORDINGS => Err(error),
            // It was destroyed meanwhile.
            _ => result::ctx::synchronize(),
        }),
        // It is not known, or may be another thread's.
        (true, _) => result::ctx::synchronize(),
    }
}

/// Pinned memory of the host, which has the same address on the GPU: words through which host and kernels
/// tell each other something.
pub(super) struct Pinned<const N: usize>(Owned<*mut c_void>);

impl<const N: usize> Pinned<N> {
    /// Zeros, aligned to a page.
    pub(super) fn zeros(context: &Arc<CudaContext>) -> Result<Self, DriverError> {
        // SAFETY: the memory is as large as what is written.
        let at = unsafe {
            let at = result::malloc_host(size_of::<[AtomicU32; N]>(), 0)?;
            at.cast::<[AtomicU32; N]>().write_bytes(0, 1);
            at
        };
        let (handle, context) = (Handle(at), Some(context.clone()));
        Ok(Self(Owned { handle, release: result::free_host, context }))
    }

    /// Queues a copy from the device's memory at `from` to the first `bytes` bytes, or as many as there are.
    ///
    /// # Safety
    /// That much memory at `from` is the caller's, and these bytes are not read before an event after the copy.
    pub(super) unsafe fn download(
        &mut self,
        stream: &CudaStream,
        from: sys::CUdeviceptr,
        bytes: usize,
    ) -> Result<(), DriverError> {
        let bytes = bytes.min(size_of::<[AtomicU32; N]>());
        // SAFETY: as required of the caller; the memory is as large.
        unsafe {
            let to = std::slice::from_raw_parts_mut(self.0.raw().cast::<u8>(), bytes);
            result::memcpy_dtoh_async(to, from, stream.cu_stream())
        }
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
pub(super) type LaunchableGraph = Owned<sys::CUgraphExec>;

impl LaunchableGraph {
    /// Records what `work` asks of the stream. The outer error comes from the recording itself.
    pub(super) fn record<E>(
        stream: &CudaStream,
        work: impl FnOnce() -> Result<(), E>,
    ) -> Result<Result<Self, E>, DriverError> {
        use sys::CUstreamCaptureMode_enum::CU_STREAM_CAPTURE_MODE_RELAXED as RELAXED;
        // SAFETY: the stream lives as long as the borrow.
        unsafe { result::stream::begin_capture(stream.cu_stream(), RELAXED) }?;
        let done = catch_unwind(AssertUnwindSafe(work));
        // SAFETY: the capture was begun above; the graph is destroyed once it is instantiated.
        unsafe {
            let ended = result::stream::end_capture(stream.cu_stream());
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
            let (handle, context) = (Handle(launchable?), Some(stream.context().clone()));
            Ok(Ok(Self { handle, release: result::graph::exec_destroy, context }))
        }
    }

    /// Launches the work on the stream that recorded it.
    pub(super) fn launch(&self, stream: &CudaStream) -> Result<(), DriverError> {
        // SAFETY: graph and stream live as long as their values.
        unsafe { result::graph::launch(self.raw(), stream.cu_stream()) }
    }
}

/// Compiled kernels, loaded.
pub(super) type Module = Owned<sys::CUmodule>;

impl Module {
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

/// Most graphs that are kept: those of some ten cases of different sizes.
const KEPT: usize = 32;

/// Graphs of work that was noted, the last one first.
#[derive(Default)]
pub(super) struct KeptGraphs(Mutex<VecDeque<(Vec<Request>, Arc<LaunchableGraph>)>>);

impl KeptGraphs {
    /// The graph of this work: one that is kept, or what `make` makes of it, in place of the one that was needed longest
    /// ago.
    pub(super) fn get(
        &self,
        requests: Vec<Request>,
        make: impl FnOnce(&[Request]) -> Result<Arc<LaunchableGraph>>,
    ) -> Result<Arc<LaunchableGraph>> {
        let mut kept = self.0.lock();
        let at = kept.iter().position(|(known, _)| *known == requests);
        let graph = match at.and_then(|at| kept.remove(at)) {
            Some((_, graph)) => graph,
            None => make(&requests)?,
        };
        kept.truncate(KEPT - 1);
        kept.push_front((requests, graph.clone()));
        Ok(graph)
    }

    /// Gives up all graphs.
    pub(super) fn clear(&self) {
        self.0.lock().clear();
    }
}

/// Held for writing by a run on several GPUs: kernels of two runs that wait for other GPUs could each be
/// queued before what the other waits for. Held for reading while a GPU is closed or its memory given back:
/// the driver then waits for all kernels of the GPU and launches nothing meanwhile, not even the kernel
/// whose message another GPU waits for.
pub(crate) static SEVERAL_GPUS: RwLock<()> = RwLock::new(());

/// The name of memory for other processes: the driver's of the block, then where the memory begins in it.
const NAME_BYTES: usize = size_of::<sys::CUipcMemHandle>() + size_of::<u64>();

/// The name of the memory at this address of the current context. Some containers, and parts of a GPU, have none.
pub(super) fn exported(at: Address) -> Result<Vec<u8>, DriverError> {
    let (mut name, mut base) = (sys::CUipcMemHandle { reserved: [0; _] }, 0);
    // SAFETY: all outlive the calls; the size is not asked for.
    unsafe {
        sys::cuMemGetAddressRange_v2(&raw mut base, std::ptr::null_mut(), at).result()?;
        sys::cuIpcGetMemHandle(&raw mut name, base).result()?;
    }
    let offset = (at - base).to_ne_bytes();
    Ok([bytemuck::cast_slice(&name.reserved), &offset].concat())
}

/// The memory of this name, which another process has allocated, in a context; none where that is no name, or the driver
/// refuses it.
pub(super) fn imported(context: &Arc<CudaContext>, name: &[u8]) -> Option<Mapped> {
    let (name, offset) = name.split_last_chunk().filter(|_| name.len() == NAME_BYTES)?;
    let mut handle = sys::CUipcMemHandle { reserved: [0; _] };
    bytemuck::cast_slice_mut(&mut handle.reserved).copy_from_slice(name);
    context.bind_to_thread().ok()?;
    let (mut at, flag) = (0, sys::CUipcMem_flags_enum::CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS as u32);
    // SAFETY: `at` outlives the call, and the driver checks the name.
    unsafe { sys::cuIpcOpenMemHandle_v2(&raw mut at, handle, flag) }.result().ok()?;
    let block = Owned { handle: Handle(at), release: close, context: Some(context.clone()) };
    Some((at + Address::from_ne_bytes(*offset), Box::new(block)))
}

/// Ends the mapping of another process's memory.
///
/// # Safety
/// No kernel accesses it any more.
unsafe fn close(at: sys::CUdeviceptr) -> Result<(), DriverError> {
    // SAFETY: as required of the caller.
    unsafe { sys::cuIpcCloseMemHandle(at) }.result()
}
