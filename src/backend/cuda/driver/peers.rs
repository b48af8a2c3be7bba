//! GPUs that reach each other's memory, and a word of the host's that they read.

use super::{DriverDevice, reason};
use crate::backend::DeviceError;
use crate::backend::cuda::device::{Address, HostWord};
use cudarc::driver::{result, sys};
use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Lets the kernels of each GPU reach the memory of all others; false if there is no way for two of
/// them.
///
/// # Errors
/// If a GPU refuses what it said it could do.
pub(super) fn connect(devices: &[Arc<DriverDevice>]) -> Result<bool, DeviceError> {
    let pairs = || {
        let others = |a| devices.iter().filter(move |b| !Arc::ptr_eq(a, b)).map(move |b| (a, b));
        devices.iter().flat_map(others)
    };
    for (a, b) in pairs() {
        if !a.can_reach(b)? {
            return Ok(false);
        }
    }
    pairs().try_for_each(|(a, b)| a.reach(b))?;
    Ok(true)
}

impl DriverDevice {
    fn can_reach(&self, other: &Self) -> Result<bool, DeviceError> {
        let mut can = 0;
        // SAFETY: both handles are valid; the answer has room.
        unsafe { sys::cuDeviceCanAccessPeer(&raw mut can, self.device, other.device) }
            .result()
            .map_err(self.failed("asking for its links"))?;
        Ok(can != 0)
    }

    fn reach(&self, other: &Self) -> Result<(), DeviceError> {
        use sys::CUresult::CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED as ALREADY;
        self.bind()?;
        // SAFETY: both contexts live as long as their devices.
        match unsafe { sys::cuCtxEnablePeerAccess(other.context, 0) }.result() {
            Err(result::DriverError(ALREADY)) | Ok(()) => Ok(()),
            Err(error) => Err(DeviceError::Call {
                device: self.label(),
                operation: "reaching another GPU's memory",
                reason: reason(error),
            }),
        }
    }

    pub(super) fn pinned_word(&self) -> Result<PinnedWord, DeviceError> {
        self.bind()?;
        // SAFETY: freed when the word is dropped.
        let at = unsafe { result::malloc_host(size_of::<AtomicU32>(), 0) }
            .map_err(self.failed("pinned memory"))?;
        let word = PinnedWord { at, context: self.context };
        word.value().store(0, Ordering::Relaxed);
        Ok(word)
    }
}

/// A word in pinned memory, which has one address for the host and for the GPU.
#[derive(Debug)]
pub(super) struct PinnedWord {
    at: *mut c_void,
    context: sys::CUcontext,
}

// SAFETY: the word is only used as an atomic; the context may be made current on any thread.
unsafe impl Send for PinnedWord {}
// SAFETY: as above.
unsafe impl Sync for PinnedWord {}

impl PinnedWord {
    fn value(&self) -> &AtomicU32 {
        // SAFETY: pinned memory is aligned to pages, this word's is freed last, and all use it so.
        unsafe { AtomicU32::from_ptr(self.at.cast()) }
    }
}

impl HostWord for PinnedWord {
    fn address(&self) -> Address {
        self.at as Address
    }

    fn set(&self) {
        self.value().store(1, Ordering::Release);
    }
}

impl Drop for PinnedWord {
    fn drop(&mut self) {
        // SAFETY: whoever has the word has its device; errors of a dying context leave nothing to do.
        unsafe {
            let _ = result::ctx::set_current(self.context);
            let _ = result::free_host(self.at);
        }
    }
}
