//! The compiled kernels of a GPU. All calls need its context to be current on the calling thread.

use super::handles::{Handle, Module};
use super::info::DeviceInfo;
use crate::backend::cuda::launch::{Kernel, Result, Source, Width, image};
use cudarc::driver::sys;
use parking_lot::{Mutex, RwLock};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// Modules and functions, each loaded at its first use.
#[derive(Default)]
pub(super) struct Kernels {
    modules: Mutex<HashMap<(Source, Width), Module>>,
    functions: RwLock<HashMap<Kernel, Handle<sys::CUfunction>>>,
}

impl Kernels {
    /// Takes up the machine code of a module.
    pub(super) fn load(
        &self,
        gpu: &DeviceInfo,
        module: (Source, Width),
        image: &[u8],
    ) -> Result<()> {
        let loaded = Module::load(image).map_err(gpu.failed("loading compiled kernels"))?;
        self.modules.lock().entry(module).or_insert(loaded);
        Ok(())
    }

    pub(super) fn function(
        &self,
        gpu: &DeviceInfo,
        kernel: Kernel,
    ) -> Result<Handle<sys::CUfunction>> {
        if let Some(function) = self.functions.read().get(&kernel) {
            return Ok(*function);
        }
        let mut modules = self.modules.lock();
        let module = match modules.entry((kernel.source, kernel.width)) {
            Entry::Occupied(loaded) => loaded.into_mut(),
            Entry::Vacant(place) => {
                let image = image(kernel.source, kernel.width, gpu.architecture())?;
                let loaded =
                    Module::load(&image).map_err(gpu.failed("loading compiled kernels"))?;
                place.insert(loaded)
            }
        };
        let shared_limit = i32::try_from(gpu.shared_memory_per_block).unwrap_or(i32::MAX);
        let function = module.function(kernel.name, shared_limit);
        let function = function.map_err(gpu.failed("finding a kernel"))?;
        self.functions.write().insert(kernel, function);
        Ok(function)
    }
}
