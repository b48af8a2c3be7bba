//! The pool of a GPU's memory, and small downloads through pinned memory of the host.

use super::handles::{Event, Pinned, Stream};
use crate::backend::cuda::device::Address;
use cudarc::driver::result::DriverError;
use std::collections::HashMap;
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

/// Pool of a GPU's memory: the sizes of all, and those that are idle.
#[derive(Default)]
pub(super) struct Pool {
    sizes: HashMap<Address, usize>,
    idle: HashMap<usize, Vec<Address>>,
}

impl Pool {
    /// Takes up a block that the driver gave.
    pub(super) fn add(&mut self, at: Address, bytes: usize) {
        self.sizes.insert(at, bytes);
    }

    /// An idle block of this size.
    pub(super) fn take(&mut self, bytes: usize) -> Option<Address> {
        self.idle.get_mut(&bytes).and_then(Vec::pop)
    }

    /// The block at `at` is idle.
    pub(super) fn put(&mut self, at: Address) {
        if let Some(bytes) = self.sizes.get(&at) {
            self.idle.entry(*bytes).or_default().push(at);
        }
    }

    /// All idle blocks, which are the driver's again.
    pub(super) fn clear(&mut self) -> Vec<Address> {
        let idle: Vec<Address> = self.idle.drain().flat_map(|(_, blocks)| blocks).collect();
        for at in &idle {
            self.sizes.remove(at);
        }
        idle
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_idle_block_is_given_once_and_to_those_who_ask_for_its_size() {
        let mut blocks = Pool::default();
        blocks.add(1000, 64);
        blocks.add(2000, 32);

        blocks.put(1000);

        assert_eq!([blocks.take(32), blocks.take(64), blocks.take(64)], [None, Some(1000), None]);
        blocks.put(1000);
        blocks.put(2000);
        let mut given_back = blocks.clear();
        given_back.sort_unstable();
        assert_eq!(given_back, [1000, 2000]);
        assert_eq!(blocks.take(64), None);
    }
}
