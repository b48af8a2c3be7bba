//! The context of a GPU and the compiled kernels in it. All calls but the first need the context to be current
//! on the calling thread. Also launches whose blocks run at the same time.

use super::handles::{Handle, Module};
use super::info::GpuInfo;
use crate::backend::DeviceError;
use crate::backend::cuda::launch::{
    Argument, DeviceKernel, LaunchShape, ModuleKey, Result, image, images,
};
use cudarc::driver::result::DriverError;
use cudarc::driver::{CudaContext, result, sys};
use parking_lot::{Mutex, RwLock};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ffi::c_void;
use std::sync::{Arc, LazyLock, Weak};
use std::thread;

/// A GPU that is open in this process: all that open it share its context and the kernels loaded there,
/// which takes a fifth of a second.
pub(super) struct OpenGpu {
    // Unloaded before the context is released.
    pub(super) kernels: LoadedKernels,
    pub(super) context: Arc<CudaContext>,
}

/// The GPUs that are open, by their ordinals. The thread that opens one holds its place until it is open.
static OPEN: LazyLock<Mutex<HashMap<usize, Place>>> = LazyLock::new(Mutex::default);

type Place = Arc<Mutex<Weak<OpenGpu>>>;

impl OpenGpu {
    /// The GPU, its context current on this thread, these modules compiled: several at a time, while the driver
    /// makes the context.
    pub(super) fn shared(gpu: &GpuInfo, modules: &[ModuleKey]) -> Result<Arc<Self>> {
        let place = OPEN.lock().entry(gpu.ordinal).or_default().clone();
        let mut place = place.lock();
        let open = place.upgrade();
        let loaded = |key: &ModuleKey| {
            open.as_ref().is_some_and(|open| open.kernels.modules.lock().contains_key(key))
        };
        let missing: Vec<_> = modules.iter().filter(|key| !loaded(key)).copied().collect();
        let (open, images) = thread::scope(|scope| {
            let images = scope.spawn(|| images(missing.into_iter(), gpu.architecture()));
            let open = open.map_or_else(|| Self::new(gpu).map(Arc::new), Ok);
            (open, DeviceError::caught("compiling kernels", images.join()))
        });
        let open = open?;
        open.context.bind_to_thread().map_err(gpu.failed("its context"))?;
        for (key, image) in images? {
            let module = load(gpu, &image)?;
            open.kernels.modules.lock().entry(key).or_insert(module);
        }
        // None is loaded while kernels wait for those of other GPUs.
        let loaded = open.kernels.modules.lock();
        for module in modules.iter().filter_map(|key| loaded.get(key)) {
            module.load_kernels().map_err(gpu.failed("loading compiled kernels"))?;
        }
        drop(loaded);
        *place = Arc::downgrade(&open);
        Ok(open)
    }

    fn new(gpu: &GpuInfo) -> Result<Self> {
        let context = CudaContext::new(gpu.ordinal).map_err(gpu.failed("its context"))?;
        // Events order memory of cudarc's, of which there is none; a first stream would wait for the GPU.
        // SAFETY: as said.
        unsafe { context.disable_event_tracking() };
        Ok(Self { kernels: LoadedKernels::default(), context })
    }
}

/// Loads the machine code of a module.
fn load(gpu: &GpuInfo, image: &[u8]) -> Result<Module> {
    // SAFETY: images are NVRTC's for this GPU, or a copy of one that the cache has checked: complete cubins, or PTX
    // that ends with a zero.
    let module = unsafe { result::module::load_data(image.as_ptr().cast()) };
    let handle = Handle(module.map_err(gpu.failed("loading compiled kernels"))?);
    Ok(Module { handle, release: result::module::unload, context: None })
}

/// Modules and functions, each loaded at its first use.
#[derive(Default)]
pub(super) struct LoadedKernels {
    modules: Mutex<HashMap<ModuleKey, Module>>,
    functions: RwLock<HashMap<DeviceKernel, Handle<sys::CUfunction>>>,
}

impl LoadedKernels {
    pub(super) fn function(
        &self,
        gpu: &GpuInfo,
        kernel: DeviceKernel,
    ) -> Result<Handle<sys::CUfunction>> {
        if let Some(function) = self.functions.read().get(&kernel) {
            return Ok(*function);
        }
        let mut modules = self.modules.lock();
        let module = match modules.entry(kernel.module) {
            Entry::Occupied(loaded) => loaded.into_mut(),
            Entry::Vacant(place) => {
                let image = image(kernel.module, gpu.architecture())?;
                place.insert(load(gpu, &image)?)
            }
        };
        let shared_limit = i32::try_from(gpu.shared_memory_per_block).unwrap_or(i32::MAX);
        let function = module.function(kernel.name, shared_limit);
        let function = function.map_err(gpu.failed("finding a kernel"))?;
        self.functions.write().insert(kernel, function);
        Ok(function)
    }
}

/// Whether a GPU has clusters of 16 blocks: those of data centres have, from the Hopper generation on, unless they are cut
/// up.
pub(super) fn has_clusters(info: &GpuInfo) -> bool {
    matches!(info.capability.0, 9 | 10) && info.multiprocessors >= 64
}

/// Launches a kernel. Blocks that run together are a cluster, or the whole of a cooperative launch.
///
/// # Safety
/// The arguments fit the kernel's signature, and the memory behind them lives until the stream has done the work.
pub(super) unsafe fn launch_kernel(
    function: Handle<sys::CUfunction>,
    shape: LaunchShape,
    info: &GpuInfo,
    stream: sys::CUstream,
    arguments: &[Argument],
) -> Result<(), DriverError> {
    use sys::CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED as ANY;
    use sys::CUlaunchAttributeID_enum as Attribute;
    let LaunchShape { grid: [x, y, z], block, shared, together, early } = shape;
    let together = together && x > 1;
    let mut pointers: Vec<*mut c_void> =
        arguments.iter().map(|argument| argument.pointer().cast_mut()).collect();
    let value = sys::CUlaunchAttributeValue { cooperative: 1 };
    let id = Attribute::CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    let mut attribute = sys::CUlaunchAttribute { id, pad: [0; 4], value };
    if early {
        attribute.id = Attribute::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
        attribute.value.programmaticStreamSerializationAllowed = 1;
    } else if together && has_clusters(info) {
        // SAFETY: the function is the caller's.
        unsafe { result::function::set_function_attribute(function.0, ANY, 1) }?;
        attribute.id = Attribute::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
        attribute.value.clusterDim =
            sys::CUlaunchAttributeValue_union__bindgen_ty_1 { x, y: 1, z: 1 };
    }
    let config = sys::CUlaunchConfig {
        gridDimX: x,
        gridDimY: y,
        gridDimZ: z,
        blockDimX: block[0],
        blockDimY: block[1],
        blockDimZ: block[2],
        sharedMemBytes: shared,
        hStream: stream,
        attrs: &raw mut attribute,
        numAttrs: u32::from(together || early),
    };
    let (pointers, none) = (pointers.as_mut_ptr(), std::ptr::null_mut());
    // SAFETY: as required of the caller; the attribute lives until the call ends.
    unsafe { sys::cuLaunchKernelEx(&raw const config, function.0, pointers, none) }.result()
}
