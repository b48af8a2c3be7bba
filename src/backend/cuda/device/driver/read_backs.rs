//! Small downloads: a kernel stores their words in pinned memory, and an event says when. A copy by the driver
//! takes several times as long.

use super::handles::Pinned;
use crate::backend::cuda::device::Address;
use cudarc::driver::{CudaContext, CudaEvent, CudaStream, DriverError};
use parking_lot::{Mutex, MutexGuard};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Most downloads that are unfinished at a time.
pub(super) const MOST_DOWNLOADS: usize = 8;
/// Most words of one.
const MOST_WORDS: usize = 128;
const WORD: usize = size_of::<u64>();
/// Most bytes of one.
pub(super) const MOST_BYTES: usize = MOST_WORDS * WORD;

/// The words of a download of `bytes` bytes, if it is a small one of whole words.
pub(super) fn words(from: Address, bytes: usize) -> Option<usize> {
    let whole = bytes.is_multiple_of(WORD) && from.is_multiple_of(WORD as Address);
    (whole && (1..=MOST_WORDS).contains(&(bytes / WORD))).then_some(bytes / WORD)
}

/// Places for the words of small downloads, which are used in turn.
pub(super) struct ReadBacks {
    /// The last place serves downloads that are waited for at once, so that they replace no other one.
    places: Pinned<{ (MOST_DOWNLOADS + 1) * MOST_WORDS * 2 }>,
    /// The event that ends the download to each place.
    ended: Vec<CudaEvent>,
    waited_for: Mutex<()>,
    /// Number of downloads so far that are not waited for at once.
    begun: AtomicUsize,
}

impl ReadBacks {
    /// Places within this context, which is current.
    pub(super) fn new(context: &Arc<CudaContext>) -> Result<Self, DriverError> {
        Ok(Self {
            places: Pinned::zeros(context)?,
            ended: (0..=MOST_DOWNLOADS)
                .map(|_| context.new_event(None))
                .collect::<Result<_, _>>()?,
            waited_for: Mutex::default(),
            begun: AtomicUsize::new(0),
        })
    }

    /// The place of the download that is waited for at once; one thread has it at a time.
    pub(super) fn own(&self) -> (usize, MutexGuard<'_, ()>) {
        (MOST_DOWNLOADS, self.waited_for.lock())
    }

    /// The number of one more download, and its place.
    pub(super) fn next(&self) -> (usize, usize) {
        let number = self.begun.fetch_add(1, Ordering::Relaxed);
        (number, number % MOST_DOWNLOADS)
    }

    /// The place of download `number`, unless a later one has taken it.
    pub(super) fn find(&self, number: usize) -> Option<usize> {
        let begun_since = self.begun.load(Ordering::Relaxed).wrapping_sub(number);
        (1..=MOST_DOWNLOADS).contains(&begun_since).then_some(number % MOST_DOWNLOADS)
    }

    /// The address at which the kernel stores the words of a place.
    pub(super) fn address(&self, place: usize) -> Address {
        self.places[place * MOST_WORDS * 2].as_ptr() as Address
    }

    /// The download to this place ends when the work queued so far has ended.
    pub(super) fn record(&self, place: usize, stream: &CudaStream) -> Result<(), DriverError> {
        self.ended[place].record(stream)
    }

    /// Waits for the download to this place and reads it: at most [`MOST_BYTES`].
    pub(super) fn read(&self, place: usize, to: &mut [u8]) -> Result<(), DriverError> {
        self.ended[place].synchronize()?;
        let words = &self.places[place * MOST_WORDS * 2..];
        for (to, word) in to.as_chunks_mut().0.iter_mut().zip(words) {
            *to = word.load(Ordering::Acquire).to_ne_bytes();
        }
        Ok(())
    }
}
