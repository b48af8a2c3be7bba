//! Small downloads, which the host may wait for later.

use super::DriverDevice;
use crate::backend::DeviceError;
use crate::backend::cuda::device::{Address, Device, check_length};
use crate::backend::cuda::kernel::{Kernel, Shape, Source};
use cudarc::driver::{result, sys};
use std::ffi::c_void;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Downloads that may be unfinished at a time.
const MOST: usize = 8;
/// Most words of one.
const ROOM: usize = 128;

/// The words of a download of so many bytes, if it is a small one of whole words.
pub(super) fn words(from: Address, bytes: usize) -> Option<usize> {
    const WORD: usize = size_of::<u64>();
    let whole = bytes.is_multiple_of(WORD) && from.is_multiple_of(WORD as Address);
    (whole && (1..=ROOM).contains(&(bytes / WORD))).then_some(bytes / WORD)
}

/// Pinned memory for downloads in turn, and what ends each of them.
pub(super) struct Downloads {
    /// The same address for the host and for the GPU.
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
        let room = unsafe { result::malloc_host(MOST * ROOM * size_of::<u64>(), 0) }?;
        Ok(Self { room, ended, next: AtomicUsize::new(0) })
    }

    /// The memory of a download.
    fn place(&self, number: usize) -> *mut u64 {
        self.room.cast::<u64>().wrapping_add(number % MOST * ROOM)
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
    /// Asks for `words` words, at most [`ROOM`]; returns the number of the download.
    pub(super) fn show_words(&self, from: Address, words: usize) -> Result<usize, DeviceError> {
        let downloads = self.downloads()?;
        let number = downloads.next.fetch_add(1, Ordering::Relaxed);
        let to = downloads.place(number) as Address;
        let kernel = Kernel::new::<f64>(Source::Scalars, "show_words");
        let arguments = [(words as u64).into(), from.into(), to.into()];
        let device: &dyn Device = self;
        device.launch(kernel, Shape::threads(words), &arguments)?;
        // SAFETY: event and stream live as long as the device.
        unsafe { result::event::record(downloads.ended[number % MOST], self.stream) }
            .map_err(self.failed("copying from the device"))?;
        Ok(number)
    }

    /// Waits for a download, one of the last [`MOST`]; the place of an earlier one is another's.
    pub(super) fn shown(&self, number: usize, to: &mut [u8]) -> Result<(), DeviceError> {
        let downloads = self.downloads()?;
        let begun_since = downloads.next.load(Ordering::Relaxed).wrapping_sub(number);
        if !(1..=MOST).contains(&begun_since) {
            return Err(DeviceError::TooManyDownloads { most: MOST });
        }
        check_length(to.len().min(ROOM * size_of::<u64>()), to.len())?;
        self.settle()?;
        // SAFETY: the event was recorded when the download was asked for; what it ends has filled as many
        // words of the place.
        unsafe {
            result::event::synchronize(downloads.ended[number % MOST])
                .map_err(self.failed("a kernel"))?;
            let place = downloads.place(number).cast::<u8>();
            to.copy_from_slice(std::slice::from_raw_parts(place, to.len()));
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
