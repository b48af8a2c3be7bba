//! Coordinates on a GPU as tensors of DLPack, <https://dmlc.github.io/dlpack/latest/>.

use std::ffi::{CStr, c_void};
use std::ptr::NonNull;

use dlpack_rs::ffi::{DLManagedTensor, DLManagedTensorVersioned};
use dlpack_rs::safe::{TensorInfo, cuda_device, dtype_f64, pack, pack_versioned};
use gridgen::generate::DeviceNodes;
use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

/// `kDLCUDA` of dlpack.h.
const CUDA: u32 = 2;
/// `DLPACK_FLAG_BITMASK_READ_ONLY` of dlpack.h.
const READ_ONLY: u64 = 1;
/// Names of a capsule before a consumer takes its tensor.
const UNVERSIONED: &CStr = c"dltensor";
const VERSIONED: &CStr = c"dltensor_versioned";

/// Type and number of the device.
pub(crate) fn device(nodes: &DeviceNodes) -> (u32, usize) {
    (CUDA, nodes.nodes()[0].ordinal().unwrap_or_default())
}

/// x (axis 0) or y (1), `(nj, ni)`, in a capsule that holds the memory until its consumer lets go.
pub(crate) fn capsule<'py>(
    py: Python<'py>,
    nodes: &DeviceNodes,
    axis: usize,
    versioned: bool,
) -> PyResult<Bound<'py, PyCapsule>> {
    let buffer = nodes.nodes()[axis];
    let (_, ordinal) = device(nodes);
    let shape = nodes.size().map(|points| i64::try_from(points).unwrap_or(i64::MAX));
    let info = TensorInfo::contiguous(
        buffer.address() as *mut c_void,
        cuda_device(i32::try_from(ordinal).unwrap_or_default()),
        dtype_f64(),
        vec![shape[1], shape[0]],
    );
    let (tensor, name, destructor): (*mut c_void, _, ffi::PyCapsule_Destructor) = if versioned {
        (pack_versioned(nodes.clone(), info, READ_ONLY).cast(), VERSIONED, free_versioned)
    } else {
        (pack(nodes.clone(), info).cast(), UNVERSIONED, free)
    };
    let tensor = NonNull::new(tensor).ok_or_else(|| PyBufferError::new_err("no tensor"))?;
    // SAFETY: the tensor stays valid until its deleter is called: by the consumer, who renames the capsule,
    // or by the destructor of a capsule that has kept its name.
    #[allow(unsafe_code, reason = "DLPack is an interface of C")]
    unsafe {
        PyCapsule::new_with_pointer_and_destructor(py, tensor, name, Some(destructor))
    }
}

/// Frees the tensor of a capsule that no consumer has taken.
#[allow(unsafe_code, reason = "DLPack is an interface of C")]
unsafe extern "C" fn free(capsule: *mut ffi::PyObject) {
    // SAFETY: Python calls this once, with the capsule, attached to the interpreter.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, UNVERSIONED.as_ptr()) == 1 {
            let tensor = ffi::PyCapsule_GetPointer(capsule, UNVERSIONED.as_ptr());
            let tensor = tensor.cast::<DLManagedTensor>();
            if let Some(delete) = (*tensor).deleter {
                delete(tensor);
            }
        }
    }
}

/// The same of a capsule with a version.
#[allow(unsafe_code, reason = "DLPack is an interface of C")]
unsafe extern "C" fn free_versioned(capsule: *mut ffi::PyObject) {
    // SAFETY: as in `free`.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, VERSIONED.as_ptr()) == 1 {
            let tensor = ffi::PyCapsule_GetPointer(capsule, VERSIONED.as_ptr());
            let tensor = tensor.cast::<DLManagedTensorVersioned>();
            if let Some(delete) = (*tensor).deleter {
                delete(tensor);
            }
        }
    }
}
