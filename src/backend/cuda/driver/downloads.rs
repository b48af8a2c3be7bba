//! Small downloads that the host waits for later.

use super::DriverDevice;
use crate::backend::DeviceError;
use crate::backend::cuda::device::Address;
use cudarc::driver::{result, sys};
use std::ffi::c_void;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Downloads that may be unfinished at a time.
const MOST: usize = 8;
/// Most bytes of one.
pub(super) const ROOM: usize = 1024;

/// Pinned memory for downloads in turn, and what ends each of them.
pub(super) struct Downloads {
    room: *mut c_void,
    ended: Vec<sys::CUevent>,
    next: AtomicUsize,
}

// SAFETY: events may be used from any thread that has made the context current; the memory of a download
// is read by whoever finishes it alone.
unsafe impl Send for Downloads {}
// SAFETY: as above.
unsafe impl Sync for Downloads {}

impl Downloads {
    fn new() -> Result<Self, result::DriverError> {
        let event = |_| result::event::create(sys::CUevent_flags::CU_EVENT_DISABLE_TIMING);
        let ended = (0..MOST).map(event).collect::<Result<_, _>>()?;
        // SAFETY: freed when this value is dropped.
        let room = unsafe { result::malloc_host(MOST * ROOM, 0) }?;
        Ok(Self { room, ended, next: AtomicUsize::new(0) })
    }

    /// The memory of a download.
    fn place(&self, number: usize) -> *mut u8 {
        self.room.cast::<u8>().wrapping_add(number % MOST * ROOM)
    }
}

/// Gives everything back to the driver.
impl Drop for Downloads {
    fn drop(&mut self) {
        // SAFETY: nothing else holds these handles; errors of a dying context leave nothing to do.
        unsafe {
            for &event in &self.ended {
                let _ = result::event::destroy(event);
            }
            let _ = result::free_host(self.room);
        }
    }
}

impl DriverDevice {
    /// Asks for `bytes` bytes, at most [`ROOM`]; returns the number of the download.
    pub(super) fn begin_download(&self, from: Address, bytes: usize) -> Result<usize, DeviceError> {
        let downloads = self.downloads()?;
        let number = downloads.next.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the place has room for as many bytes and is not read before the event; the caller owns
        // the memory at `from`.
        unsafe {
            let to = std::slice::from_raw_parts_mut(downloads.place(number), bytes);
            result::memcpy_dtoh_async(to, from, self.stream)
                .and_then(|()| result::event::record(downloads.ended[number % MOST], self.stream))
        }
        .map_err(self.failed("copying from the device"))?;
        Ok(number)
    }

    /// Waits for a download, one of the last [`MOST`].
    pub(super) fn end_download(&self, number: usize, to: &mut [u8]) -> Result<(), DeviceError> {
        let downloads = self.downloads()?;
        self.settle()?;
        // SAFETY: the event was recorded when the download was asked for; what it ends has filled the
        // place.
        unsafe {
            result::event::synchronize(downloads.ended[number % MOST])
                .map_err(self.failed("a kernel"))?;
            to.copy_from_slice(std::slice::from_raw_parts(downloads.place(number), to.len()));
        }
        Ok(())
    }

    /// Room for downloads, made when it is first asked for.
    fn downloads(&self) -> Result<&Downloads, DeviceError> {
        self.bind()?;
        if let Some(downloads) = self.downloads.get() {
            return Ok(downloads);
        }
        let new = Downloads::new().map_err(self.failed("pinned memory"))?;
        Ok(self.downloads.get_or_init(|| new))
    }
}
