//! Arrays on a GPU as DLPack tensors, <https://dmlc.github.io/dlpack/latest/>: exported to other libraries,
//! and imported from them.

use std::ffi::{CStr, c_void};
use std::ptr::NonNull;
use std::sync::Arc;

use dlpack_rs::ffi::{DLManagedTensor, DLManagedTensorVersioned, DLTensor};
use dlpack_rs::safe::{TensorInfo, cuda_device, dtype_f64, pack, pack_versioned};
use gridgen::backend::cuda::{CudaGrid, Device};
use gridgen::error::Error;
use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};

use crate::errors::{raised, refused};

/// `kDLCUDA` of dlpack.h.
const CUDA: u32 = 2;
/// `DLPACK_FLAG_BITMASK_READ_ONLY` of dlpack.h.
const READ_ONLY: u64 = 1;
/// Names of a capsule before a consumer takes its tensor.
const UNVERSIONED: &CStr = c"dltensor";
const VERSIONED: &CStr = c"dltensor_versioned";
/// Names of a capsule after a consumer has taken its tensor.
const USED: [&CStr; 2] = [c"used_dltensor", c"used_dltensor_versioned"];

/// Type and number of the device.
pub(crate) fn device(nodes: &CudaGrid) -> (u32, usize) {
    (CUDA, nodes.nodes()[0].ordinal().unwrap_or_default())
}

/// Parameters of a consumer: its stream, and the newest version of DLPack that it supports.
pub(crate) type Consumer = (Option<i64>, Option<(u32, u32)>);

/// x (axis 0) or y (1), `(nj, ni)`, in a capsule that keeps the memory alive until its consumer frees it. The
/// consumer's work on its stream is ordered after all earlier work of the GPU, and the GPU's next use of the
/// memory after that. Without a stream, the legacy default stream is used, as DLPack defines.
pub(crate) fn capsule<'py>(
    py: Python<'py>,
    nodes: &Arc<CudaGrid>,
    axis: usize,
    (stream, version): Consumer,
) -> PyResult<Bound<'py, PyCapsule>> {
    let buffer = nodes.nodes()[axis];
    let stream = stream.unwrap_or(1);
    if stream < -1 || stream == 0 {
        let message = format!(
            "stream: {stream} is none: 1 is the legacy default stream, 2 the calling thread's, a greater number a \
             handle, -1 asks for no order"
        );
        return Err(PyBufferError::new_err(message));
    }
    py.detach(|| buffer.lend(stream)).map_err(|error| raised(py, Error::from(error)))?;
    let versioned = version.is_some_and(|version| version >= (1, 0));
    let (_, ordinal) = device(nodes);
    let shape = nodes.size().map(|points| i64::try_from(points).unwrap_or(i64::MAX));
    let info = TensorInfo::contiguous(
        buffer.address() as *mut c_void,
        cuda_device(i32::try_from(ordinal).unwrap_or_default()),
        dtype_f64(),
        vec![shape[1], shape[0]],
    );
    let (tensor, name): (*mut c_void, _) = if versioned {
        (pack_versioned(nodes.clone(), info, READ_ONLY).cast(), VERSIONED)
    } else {
        (pack(nodes.clone(), info).cast(), UNVERSIONED)
    };
    let tensor = NonNull::new(tensor).ok_or_else(|| PyBufferError::new_err("no tensor"))?;
    // SAFETY: the tensor stays valid until its deleter is called: by the consumer, who renames the capsule,
    // or by the destructor of a capsule that still has its name.
    #[allow(unsafe_code, reason = "DLPack is an interface of C")]
    unsafe {
        PyCapsule::new_with_pointer_and_destructor(py, tensor, name, Some(free))
    }
}

/// Frees the tensor of a capsule that no consumer has taken.
#[allow(unsafe_code, reason = "DLPack is an interface of C")]
unsafe extern "C" fn free(capsule: *mut ffi::PyObject) {
    // SAFETY: Python calls this once, with the capsule, attached to the interpreter.
    drop(unsafe { Owner::of(capsule) });
}

/// Waits until a device has read borrowed memory, even if the work failed. It must be dropped before that
/// memory.
pub(crate) struct Reading<'a>(pub(crate) &'a dyn Device);

impl Drop for Reading<'_> {
    fn drop(&mut self) {
        // A lost device no longer reads.
        let _ = self.0.synchronise();
    }
}

/// An array of doubles in a GPU's memory, imported from another library; dropping this returns it.
pub(crate) struct Borrowed {
    _owner: Owner,
    /// Address of the first value, and the stride along each axis, in values.
    pub(crate) at: (u64, Vec<u64>),
}

enum Owner {
    Plain(NonNull<DLManagedTensor>),
    Versioned(NonNull<DLManagedTensorVersioned>),
}

impl Drop for Owner {
    #[allow(unsafe_code, reason = "DLPack is an interface of C")]
    fn drop(&mut self) {
        // SAFETY: the tensor was taken from its capsule, so only this returns it.
        unsafe {
            match self {
                Self::Plain(tensor) => {
                    if let Some(delete) = tensor.as_ref().deleter {
                        delete(tensor.as_ptr());
                    }
                }
                Self::Versioned(tensor) => {
                    if let Some(delete) = tensor.as_ref().deleter {
                        delete(tensor.as_ptr());
                    }
                }
            }
        }
    }
}

impl Borrowed {
    /// The array, with this name in messages and of this shape, on a GPU. Later work of the GPU is ordered
    /// after the work of the array's owner.
    ///
    /// # Errors
    /// `CaseError` for an array on another device, of another shape or of other numbers, and exceptions of
    /// its owner.
    pub(crate) fn new(
        device: &dyn Device,
        name: &str,
        array: &Bound<'_, PyAny>,
        shape: &[usize],
    ) -> PyResult<Self> {
        let py = array.py();
        let own = (CUDA, device.ordinal().unwrap_or_default());
        let there: (u32, usize) = array.call_method0("__dlpack_device__")?.extract()?;
        if there != own {
            let message =
                format!("{name}: an array on device {own:?} was expected, found one on {there:?}");
            return Err(refused(py, &message));
        }
        let stream = PyDict::new(py);
        // Without a queue no ordering is requested.
        stream.set_item("stream", device.queue().map_or(-1, u64::cast_signed))?;
        let capsule = array.call_method("__dlpack__", (), Some(&stream))?;
        // SAFETY: the capsule lives, and this thread is attached.
        #[allow(unsafe_code, reason = "DLPack is an interface of C")]
        let owner = unsafe { Owner::of(capsule.as_ptr()) };
        let none = || PyBufferError::new_err("__dlpack__ gave no capsule of a tensor");
        let owner = owner.ok_or_else(none)?;
        let tensor = owner.tensor();
        // SAFETY: a DLPack array has as many values of each list as it has dimensions; missing strides mean
        // contiguous rows.
        #[allow(unsafe_code, reason = "DLPack is an interface of C")]
        let (found, strides) = unsafe {
            let dimensions = usize::try_from(tensor.ndim).unwrap_or_default();
            let list = |values: *mut i64| {
                (!values.is_null()).then(|| std::slice::from_raw_parts(values, dimensions).to_vec())
            };
            (list(tensor.shape).unwrap_or_default(), list(tensor.strides))
        };
        let wanted: Vec<i64> =
            shape.iter().map(|&n| i64::try_from(n).unwrap_or(i64::MAX)).collect();
        if found != wanted {
            let message =
                format!("{name}: an array of shape {wanted:?} was expected, found {found:?}");
            return Err(refused(py, &message));
        }
        let (kind, double) = (&tensor.dtype, dtype_f64());
        if (kind.code, kind.bits, kind.lanes) != (double.code, double.bits, double.lanes) {
            return Err(refused(py, &format!("{name}: an array of float64 was expected")));
        }
        let strides = strides.unwrap_or_else(|| {
            (0..shape.len()).map(|axis| wanted[axis + 1..].iter().product()).collect()
        });
        let strides = strides.into_iter().map(i64::cast_unsigned).collect();
        let at = (tensor.data as u64 + tensor.byte_offset, strides);
        Ok(Self { _owner: owner, at })
    }
}

impl Owner {
    /// The tensor of a capsule, which is marked as used; `None` if the capsule has no tensor any more.
    ///
    /// # Safety
    /// The calling thread is attached to the interpreter, and the capsule is an object that lives.
    #[allow(unsafe_code, reason = "DLPack is an interface of C")]
    unsafe fn of(capsule: *mut ffi::PyObject) -> Option<Self> {
        // SAFETY: a capsule with this name contains a tensor of this type, which belongs to whoever renames
        // the capsule.
        unsafe {
            let named = |name: &CStr| ffi::PyCapsule_IsValid(capsule, name.as_ptr()) == 1;
            let names = [UNVERSIONED, VERSIONED].into_iter().zip(USED);
            let (name, used) = names.into_iter().find(|(name, _)| named(name))?;
            let tensor = ffi::PyCapsule_GetPointer(capsule, name.as_ptr());
            if ffi::PyCapsule_SetName(capsule, used.as_ptr()) != 0 {
                return None;
            }
            if name == UNVERSIONED {
                NonNull::new(tensor.cast()).map(Self::Plain)
            } else {
                NonNull::new(tensor.cast()).map(Self::Versioned)
            }
        }
    }

    #[allow(unsafe_code, reason = "DLPack is an interface of C")]
    fn tensor(&self) -> &DLTensor {
        // SAFETY: the tensor is valid until its owner is dropped.
        unsafe {
            match self {
                Self::Plain(tensor) => &tensor.as_ref().dl_tensor,
                Self::Versioned(tensor) => &tensor.as_ref().dl_tensor,
            }
        }
    }
}
