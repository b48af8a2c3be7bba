//! The compiled kernels of a GPU. All calls need its context to be current on the calling thread.

use super::handles::{GpuName, Handle};
use super::info::DeviceInfo;
use crate::backend::cuda::launch::{Kernel, Result, Source, Width, image};
use cudarc::driver::{result, sys};
use std::collections::HashMap;
use std::ffi::CString;
use std::sync::{Mutex, PoisonError, RwLock};

/// Modules and functions, each loaded at its first use.
pub(super) struct Kernels {
    /// Compute capability as in `sm_90`.
    capability: u32,
    /// Bytes of shared memory that a block may have.
    shared_limit: i32,
    modules: Mutex<HashMap<(Source, Width), Handle<sys::CUmodule>>>,
    functions: RwLock<HashMap<Kernel, Handle<sys::CUfunction>>>,
}

impl Kernels {
    pub(super) fn new(info: &DeviceInfo) -> Self {
        Self {
            capability: info.architecture(),
            shared_limit: i32::try_from(info.shared_memory_per_block).unwrap_or(i32::MAX),
            modules: Mutex::default(),
            functions: RwLock::default(),
        }
    }

    /// Loads a module from its machine code.
    pub(super) fn load(
        &self,
        gpu: &GpuName,
        module: (Source, Width),
        image: &[u8],
    ) -> Result<Handle<sys::CUmodule>> {
        // SAFETY: `image` is a complete cubin made for this GPU.
        let handle = unsafe { result::module::load_data(image.as_ptr().cast()) }
            .map_err(gpu.failed("loading compiled kernels"))?;
        let mut modules = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
        modules.insert(module, Handle(handle));
        Ok(Handle(handle))
    }

    fn module(&self, gpu: &GpuName, module: (Source, Width)) -> Result<Handle<sys::CUmodule>> {
        let known = {
            let modules = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
            modules.get(&module).copied()
        };
        match known {
            Some(module) => Ok(module),
            None => self.load(gpu, module, &image(module.0, module.1, self.capability)?),
        }
    }

    pub(super) fn function(
        &self,
        gpu: &GpuName,
        kernel: Kernel,
    ) -> Result<Handle<sys::CUfunction>> {
        let functions = self.functions.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(function) = functions.get(&kernel) {
            return Ok(*function);
        }
        drop(functions);
        let module = self.module(gpu, (kernel.source, kernel.width))?;
        let name = CString::new(kernel.name).unwrap_or_default();
        // SAFETY: the module is not unloaded while `self` is in use.
        let function = unsafe { result::module::get_function(module.0, name) }
            .map_err(gpu.failed("finding a kernel"))?;
        self.allow_shared_memory(gpu, function)?;
        let mut functions = self.functions.write().unwrap_or_else(PoisonError::into_inner);
        functions.insert(kernel, Handle(function));
        Ok(Handle(function))
    }

    /// Lets a kernel have all the shared memory that a block may have.
    fn allow_shared_memory(&self, gpu: &GpuName, function: sys::CUfunction) -> Result<()> {
        use sys::CUfunction_attribute_enum::{
            CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES as DYNAMIC,
            CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES as FIXED,
        };
        // SAFETY: `function` belongs to a loaded module of the current context.
        unsafe {
            let fixed = result::function::get_function_attribute(function, FIXED)
                .map_err(gpu.failed("asking for a kernel's shared memory"))?;
            result::function::set_function_attribute(function, DYNAMIC, self.shared_limit - fixed)
                .map_err(gpu.failed("setting a kernel's shared memory"))
        }
    }

    /// Unloads all modules; no kernel is launched later.
    pub(super) fn unload(&mut self) {
        for (_, module) in self.modules.get_mut().unwrap_or_else(PoisonError::into_inner).drain() {
            // SAFETY: nothing uses the module any more.
            let _ = unsafe { result::module::unload(module.0) };
        }
    }
}
