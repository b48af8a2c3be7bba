//! Large downloads: in pieces through pinned memory, from which several threads copy them on. Where the memory is not
//! pinned the driver does so with one thread, and waits for each page that is touched for the first time. Also small
//! downloads that are waited for later, and small uploads for which nobody waits.

use super::handles::Pinned;
use crate::backend::cuda::device::Address;
use cudarc::driver::{CudaContext, CudaEvent, CudaStream, DriverError};
use parking_lot::{Mutex, MutexGuard};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::{panic, thread};

/// Bytes of a piece.
const PIECE: usize = 1 << 20;
/// Least bytes of a large download: threads are started for it.
const LEAST_BYTES: usize = 4 * PIECE;
/// Most threads that copy. Each has two places of its own: a piece arrives while one is copied.
const THREADS: usize = 8;

/// Bytes of large downloads that the driver copies before. With the places 256 MiB take some 10 ms less, as long as it
/// takes to pin them, and a process that makes few grids would not get that back.
const BEFORE: usize = 256 << 20;

/// Places for the pieces of large downloads.
#[derive(Default)]
pub(super) struct StagedDownloads {
    /// Bytes that the driver has copied.
    copied: usize,
    /// Each thread has two.
    places: Vec<[StagingPlace; 2]>,
}

struct StagingPlace {
    memory: Pinned<{ PIECE / 4 }>,
    /// The event that ends the download to this place.
    ended: CudaEvent,
}

impl StagedDownloads {
    /// Whether there are places for a large download by this many threads, within this context, which is current.
    fn are_ready(&mut self, context: &Arc<CudaContext>, threads: usize) -> bool {
        if self.copied < BEFORE {
            return false;
        }
        let place = || {
            let (memory, ended) = (Pinned::zeros(context)?, context.new_event(None)?);
            Ok::<_, DriverError>(StagingPlace { memory, ended })
        };
        while self.places.len() < threads {
            let (Ok(one), Ok(other)) = (place(), place()) else { return false };
            self.places.push([one, other]);
        }
        true
    }

    /// Copies from the device after all that was asked of the stream, within this context, which is current; returns
    /// whether it did: small downloads are the driver's, and all where there is no pinned memory.
    pub(super) fn download(
        &mut self,
        stream: &CudaStream,
        from: Address,
        to: &mut [u8],
    ) -> Result<bool, DriverError> {
        let threads = to.len().div_ceil(PIECE).min(THREADS);
        if to.len() < LEAST_BYTES {
            return Ok(false);
        }
        if !self.are_ready(stream.context(), threads) {
            self.copied += to.len();
            return Ok(false);
        }
        let pieces = Mutex::new(to.chunks_mut(PIECE).enumerate());
        // Begins the download of the next piece, if one is left.
        let begin = |place: &mut StagingPlace| {
            let next = pieces.lock().next();
            let Some((nth, piece)) = next else { return Ok(None) };
            let from = from + (nth * PIECE) as Address;
            // SAFETY: the caller owns what it copies from; the event is waited for.
            unsafe { place.memory.download(stream, from, piece.len()) }?;
            place.ended.record(stream)?;
            Ok::<_, DriverError>(Some(piece))
        };
        let copy = |places: &mut [StagingPlace; 2]| {
            let [mut place, mut other] = places.each_mut();
            stream.context().bind_to_thread()?;
            let mut arriving = begin(place)?;
            while let Some(piece) = arriving {
                arriving = begin(other)?;
                place.ended.synchronize()?;
                place.memory.copy_to(piece);
                (place, other) = (other, place);
            }
            Ok(())
        };
        let copied = thread::scope(|scope| {
            let start = |places| scope.spawn(move || copy(places));
            let threads: Vec<_> = self.places.iter_mut().take(threads).map(start).collect();
            // All of them have ended before the memory is given back.
            let ended: Vec<_> = threads
                .into_iter()
                .map(|thread| thread.join().unwrap_or_else(|lost| panic::resume_unwind(lost)))
                .collect();
            ended.into_iter().collect::<Result<(), _>>()
        });
        copied.map(|()| true)
    }
}

/// Most downloads that are unfinished at a time.
pub(super) const MOST_DOWNLOADS: usize = 8;
/// Most words of one.
pub(super) const MOST_WORDS: usize = 512;
/// Most bytes of one.
pub(super) const MOST_BYTES: usize = MOST_WORDS * WORD;
/// Uploads that may be unfinished at a time without a wait.
const UPLOADS: usize = 8;
/// Most words of one: those of some thousand nodes.
pub(super) const MOST_UPLOADED: usize = 2048;
const WORD: usize = size_of::<u64>();
/// Places of pinned memory for a word.
const HALVES: usize = WORD / size_of::<AtomicU32>();

/// The words of `bytes` bytes at an address of the device, if they are whole ones and at most `most`.
pub(super) fn words(at: Address, bytes: usize, most: usize) -> Option<usize> {
    let whole = bytes.is_multiple_of(WORD) && at.is_multiple_of(WORD as Address);
    (whole && (1..=most).contains(&(bytes / WORD))).then_some(bytes / WORD)
}

/// An event for each of `count` places.
fn events(context: &Arc<CudaContext>, count: usize) -> Result<Vec<CudaEvent>, DriverError> {
    (0..count).map(|_| context.new_event(None)).collect()
}

/// Places for the words of small downloads, which are used in turn.
pub(super) struct ReadBacks {
    /// The last place serves downloads that are waited for at once, so that they replace no other one.
    places: Pinned<{ (MOST_DOWNLOADS + 1) * MOST_WORDS * HALVES }>,
    /// The event that ends the download to each place.
    pub(super) ended: Vec<CudaEvent>,
    waited_for: Mutex<()>,
    /// Number of downloads so far that are not waited for at once.
    begun: AtomicUsize,
}

impl ReadBacks {
    /// Places within this context, which is current.
    pub(super) fn new(context: &Arc<CudaContext>) -> Result<Self, DriverError> {
        Ok(Self {
            places: Pinned::zeros(context)?,
            ended: events(context, MOST_DOWNLOADS + 1)?,
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
        self.places[place * MOST_WORDS * HALVES].as_ptr() as Address
    }

    /// Waits for the download to this place and reads it: at most [`MOST_BYTES`].
    pub(super) fn read(&self, place: usize, to: &mut [u8]) -> Result<(), DriverError> {
        self.ended[place].synchronize()?;
        let words = &self.places[place * MOST_WORDS * HALVES..];
        for (to, word) in to.as_chunks_mut().0.iter_mut().zip(words) {
            *to = word.load(Ordering::Acquire).to_ne_bytes();
        }
        Ok(())
    }
}

/// Places for the words of small uploads, which are used in turn. A copy by the driver would have to be waited for, since
/// the caller's memory may be freed before it ends.
pub(super) struct SmallUploads {
    places: Pinned<{ UPLOADS * MOST_UPLOADED * HALVES }>,
    /// The event that ends the upload from each place.
    pub(super) ended: Vec<CudaEvent>,
    /// The last place that was used.
    last: Mutex<usize>,
}

impl SmallUploads {
    /// Places within this context, which is current.
    pub(super) fn new(context: &Arc<CudaContext>) -> Result<Self, DriverError> {
        let (places, ended) = (Pinned::zeros(context)?, events(context, UPLOADS)?);
        Ok(Self { places, ended, last: Mutex::default() })
    }

    /// Copies the words of an upload, at most [`MOST_UPLOADED`], into the next place of the ring. One thread holds a place at a
    /// time. The function calls `wait`, which waits for the stream, if the last upload from that place has not ended. It returns
    /// the place and the address at which a kernel reads the words.
    pub(super) fn put<E>(
        &self,
        from: &[u8],
        wait: impl FnOnce() -> Result<(), E>,
    ) -> Result<(MutexGuard<'_, usize>, Address), E> {
        let mut place = self.last.lock();
        *place = (*place + 1) % UPLOADS;
        if !self.ended[*place].is_complete() {
            wait()?;
        }
        let words = &self.places[*place * MOST_UPLOADED * HALVES..];
        for (from, word) in from.as_chunks().0.iter().zip(words) {
            word.store(u32::from_ne_bytes(*from), Ordering::Release);
        }
        Ok((place, words[0].as_ptr() as Address))
    }
}
