//! Small downloads through pinned memory, which the host may wait for later.

use super::handles::{Event, Pinned, Stream};
use crate::backend::cuda::device::Address;
use cudarc::driver::result::DriverError;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Most downloads that are unfinished at a time.
pub(super) const MOST: usize = 8;
/// Most words of one.
const MOST_WORDS: usize = 128;
/// Most bytes of one.
pub(super) const MOST_BYTES: usize = MOST_WORDS * size_of::<u64>();

/// The words of a download of `bytes` bytes, if it is a small one of whole words.
pub(super) fn words(from: Address, bytes: usize) -> Option<usize> {
    const WORD: usize = size_of::<u64>();
    let whole = bytes.is_multiple_of(WORD) && from.is_multiple_of(WORD as Address);
    (whole && (1..=MOST_WORDS).contains(&(bytes / WORD))).then_some(bytes / WORD)
}

/// Pinned memory that downloads use in turn, and the event that ends each of them.
pub(super) struct ReadBacks {
    memory: Pinned,
    ended: Vec<Event>,
    next: AtomicUsize,
}

impl ReadBacks {
    pub(super) fn new() -> Result<Self, DriverError> {
        let ended = (0..MOST).map(|_| Event::new()).collect::<Result<_, _>>()?;
        let memory = Pinned::zeros(MOST * MOST_BYTES)?;
        Ok(Self { memory, ended, next: AtomicUsize::new(0) })
    }

    /// The number of a new download.
    pub(super) fn begin(&self) -> usize {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// Where the GPU stores the words of a download.
    pub(super) fn address(&self, number: usize) -> Address {
        self.memory.address(Self::offset(number)) as Address
    }

    /// The download has ended when all work of the stream so far is done.
    pub(super) fn record(&self, number: usize, stream: &Stream) -> Result<(), DriverError> {
        stream.record(&self.ended[number % MOST])
    }

    /// Whether the download is one of the last [`MOST`]: the memory of an earlier one is reused.
    pub(super) fn holds(&self, number: usize) -> bool {
        let begun_since = self.next.load(Ordering::Relaxed).wrapping_sub(number);
        (1..=MOST).contains(&begun_since)
    }

    /// Waits for the download and reads it.
    pub(super) fn finish(&self, number: usize, to: &mut [u8]) -> Result<(), DriverError> {
        self.ended[number % MOST].synchronise()?;
        self.memory.read(Self::offset(number), to);
        Ok(())
    }

    fn offset(number: usize) -> usize {
        number % MOST * MOST_BYTES
    }
}
