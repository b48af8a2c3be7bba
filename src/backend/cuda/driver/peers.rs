//! GPUs that reach each other's memory, and words of the host's that they read and write.

use super::{DriverDevice, reason};
use crate::backend::DeviceError;
use crate::backend::cuda::device::{Address, HostWords, Words};
use cudarc::driver::{result, sys};
use std::ffi::c_void;
use std::sync::Arc;

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

    pub(super) fn pinned_words(&self) -> Result<PinnedWords, DeviceError> {
        self.bind()?;
        // SAFETY: freed when the words are dropped.
        let at = unsafe { result::malloc_host(size_of::<Words>(), 0) }
            .map_err(self.failed("pinned memory"))?;
        // SAFETY: the memory is new and has the room.
        unsafe { at.cast::<Words>().write(Words::default()) };
        Ok(PinnedWords { at, context: self.context })
    }
}

/// Words in pinned memory, which has one address for the host and for the GPU.
#[derive(Debug)]
pub(super) struct PinnedWords {
    at: *mut c_void,
    context: sys::CUcontext,
}

// SAFETY: the words are only used as atomics; the context may be made current on any thread.
unsafe impl Send for PinnedWords {}
// SAFETY: as above.
unsafe impl Sync for PinnedWords {}

impl HostWords for PinnedWords {
    fn address(&self) -> Address {
        self.at as Address
    }

    fn words(&self) -> &Words {
        // SAFETY: pinned memory is aligned to pages, was filled when it was given, and lives as long as
        // `self`.
        unsafe { &*self.at.cast() }
    }
}

impl Drop for PinnedWords {
    fn drop(&mut self) {
        // SAFETY: whoever has the words has their device; errors of a dying context leave nothing to do.
        unsafe {
            let _ = result::ctx::set_current(self.context);
            let _ = result::free_host(self.at);
        }
    }
}
