//! The context of a GPU and the compiled kernels in it. All calls but the first need the context to be current
//! on the calling thread.

use super::handles::{Handle, Module};
use super::info::GpuInfo;
use crate::backend::DeviceError;
use crate::backend::cuda::launch::{DeviceKernel, ModuleKey, Result, image, images};
use cudarc::driver::{CudaContext, sys};
use parking_lot::{Mutex, RwLock};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
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
        let loaded = |key| open.as_ref().is_some_and(|open| open.kernels.has(key));
        let missing: Vec<_> = modules.iter().copied().filter(|&key| !loaded(key)).collect();
        let (open, images) = thread::scope(|scope| {
            let compiled = || images(missing.iter().copied(), gpu.architecture());
            let images = (!missing.is_empty()).then(|| scope.spawn(compiled));
            let open = open.map_or_else(|| Self::new(gpu).map(Arc::new), Ok);
            let images = images.map(|images| {
                let lost = |panic: Box<_>| Err(DeviceError::panic("compiling kernels", &*panic));
                images.join().unwrap_or_else(lost)
            });
            (open, images)
        });
        let open = open?;
        open.context.bind_to_thread().map_err(gpu.failed("its context"))?;
        for (key, image) in images.transpose()?.into_iter().flatten() {
            open.kernels.load(gpu, key, &image)?;
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

/// Modules and functions, each loaded at its first use.
#[derive(Default)]
pub(super) struct LoadedKernels {
    modules: Mutex<HashMap<ModuleKey, Module>>,
    functions: RwLock<HashMap<DeviceKernel, Handle<sys::CUfunction>>>,
}

impl LoadedKernels {
    fn has(&self, key: ModuleKey) -> bool {
        self.modules.lock().contains_key(&key)
    }

    /// Takes up the machine code of a module.
    pub(super) fn load(&self, gpu: &GpuInfo, key: ModuleKey, image: &[u8]) -> Result<()> {
        // SAFETY: images are NVRTC's for this GPU, or a copy of one that the cache has checked.
        let loaded = unsafe { Module::load(image) };
        let loaded = loaded.map_err(gpu.failed("loading compiled kernels"))?;
        self.modules.lock().entry(key).or_insert(loaded);
        Ok(())
    }

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
                // SAFETY: as above.
                let loaded = unsafe { Module::load(&image) };
                place.insert(loaded.map_err(gpu.failed("loading compiled kernels"))?)
            }
        };
        let shared_limit = i32::try_from(gpu.shared_memory_per_block).unwrap_or(i32::MAX);
        let function = module.function(kernel.name, shared_limit);
        let function = function.map_err(gpu.failed("finding a kernel"))?;
        self.functions.write().insert(kernel, function);
        Ok(function)
    }
}
