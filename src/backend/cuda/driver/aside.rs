//! A second stream for what passes beside a GPU's work.

use super::DriverDevice;
use crate::backend::DeviceError;
use cudarc::driver::{result, sys};

/// A stream whose kernels come before those of others: messages that waited for the last block of the
/// work beside them would not pass beside it.
pub(super) struct Aside {
    pub(super) stream: sys::CUstream,
    forked: sys::CUevent,
    joined: sys::CUevent,
}

// SAFETY: streams and events may be used from any thread that has made the context current.
unsafe impl Send for Aside {}
// SAFETY: as above.
unsafe impl Sync for Aside {}

impl Aside {
    fn new() -> Result<Self, result::DriverError> {
        let (_, greatest) = result::stream::get_priority_range()?;
        let event = || result::event::create(sys::CUevent_flags::CU_EVENT_DISABLE_TIMING);
        Ok(Self {
            stream: result::stream::create_with_priority(
                result::stream::StreamKind::NonBlocking,
                greatest,
            )?,
            forked: event()?,
            joined: event()?,
        })
    }

    /// What is asked of this stream next comes after all that was asked of the device.
    pub(super) fn fork(&self, device: &DriverDevice) -> Result<(), DeviceError> {
        let wait = sys::CUevent_wait_flags::CU_EVENT_WAIT_DEFAULT;
        // SAFETY: streams and events live as long as the device.
        unsafe {
            result::event::record(self.forked, device.stream)
                .and_then(|()| result::stream::wait_event(self.stream, self.forked, wait))
        }
        .map_err(device.failed("beginning an exchange"))
    }

    /// What [`Self::join`] waits for ends here.
    pub(super) fn end(&self, device: &DriverDevice) -> Result<(), DeviceError> {
        // SAFETY: as above.
        unsafe { result::event::record(self.joined, self.stream) }
            .map_err(device.failed("beginning an exchange"))
    }

    /// What is asked of the device later comes after that end.
    pub(super) fn join(&self, device: &DriverDevice) -> Result<(), DeviceError> {
        let wait = sys::CUevent_wait_flags::CU_EVENT_WAIT_DEFAULT;
        // SAFETY: as above.
        unsafe { result::stream::wait_event(device.stream, self.joined, wait) }
            .map_err(device.failed("ending an exchange"))
    }
}

/// Gives everything back to the driver.
impl Drop for Aside {
    fn drop(&mut self) {
        // SAFETY: nothing else holds these handles; errors of a dying context leave nothing to do.
        unsafe {
            let _ = result::stream::destroy(self.stream);
            let _ = result::event::destroy(self.forked);
            let _ = result::event::destroy(self.joined);
        }
    }
}

impl DriverDevice {
    /// The second stream, made when it is first asked for.
    pub(super) fn aside(&self) -> Result<&Aside, DeviceError> {
        self.bind()?;
        if let Some(aside) = self.aside.get() {
            return Ok(aside);
        }
        let new = Aside::new().map_err(self.failed("making a stream"))?;
        Ok(self.aside.get_or_init(|| new))
    }
}
