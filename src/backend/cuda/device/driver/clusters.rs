//! Launches whose blocks run at the same time.

use super::handles::Handle;
use super::info::GpuInfo;
use crate::backend::cuda::launch::{Argument, LaunchShape};
use cudarc::driver::result::DriverError;
use cudarc::driver::{result, sys};
use std::ffi::c_void;

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
    let LaunchShape { grid: [x, y, z], block, shared, together } = shape;
    let mut pointers: Vec<*mut c_void> =
        arguments.iter().map(|argument| argument.pointer().cast_mut()).collect();
    if !together || x == 1 {
        let (grid, block) = (shape.grid.into(), block.into());
        // SAFETY: as required of the caller.
        return unsafe {
            result::launch_kernel(function.0, grid, block, shared, stream, &mut pointers)
        };
    }
    let value = sys::CUlaunchAttributeValue { cooperative: 1 };
    let id = Attribute::CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    let mut attribute = sys::CUlaunchAttribute { id, pad: [0; 4], value };
    if has_clusters(info) {
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
        numAttrs: 1,
    };
    let (pointers, none) = (pointers.as_mut_ptr(), std::ptr::null_mut());
    // SAFETY: as required of the caller; the attribute lives until the call ends.
    unsafe { sys::cuLaunchKernelEx(&raw const config, function.0, pointers, none) }.result()
}
