//! Large downloads: in pieces through pinned memory, from which several threads copy them on. Where the memory is not
//! pinned the driver does so with one thread, and waits for each page that is touched for the first time.

use super::handles::Pinned;
use crate::backend::cuda::device::Address;
use cudarc::driver::{CudaContext, CudaEvent, CudaStream, DriverError};
use parking_lot::Mutex;
use std::sync::Arc;
use std::{panic, thread};

/// Bytes of a piece.
const PIECE: usize = 1 << 20;
/// Least bytes of a large download: threads are started for it.
const LEAST_BYTES: usize = 4 * PIECE;
/// Threads that copy, each from a place of its own.
const THREADS: usize = 4;

/// Large downloads that the driver does before: memory for the pieces takes the time of two to pin, which a process
/// that makes one grid does not get back.
const BEFORE: usize = 2;

/// Places for the pieces of large downloads.
#[derive(Default)]
pub(super) struct StagedDownloads {
    asked: usize,
    places: Vec<StagingPlace>,
}

struct StagingPlace {
    memory: Pinned<{ PIECE / 4 }>,
    /// The event that ends the download to this place.
    ended: CudaEvent,
}

impl StagedDownloads {
    /// Whether there are places for one more large download, within this context, which is current.
    fn is_ready(&mut self, context: &Arc<CudaContext>) -> bool {
        self.asked += 1;
        if self.asked <= BEFORE {
            return false;
        }
        while self.places.len() < THREADS {
            let place =
                || Ok::<_, DriverError>((Pinned::zeros(context)?, context.new_event(None)?));
            let Ok((memory, ended)) = place() else { return false };
            self.places.push(StagingPlace { memory, ended });
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
        if to.len() < LEAST_BYTES || !self.is_ready(stream.context()) {
            return Ok(false);
        }
        let pieces = Mutex::new(to.chunks_mut(PIECE).enumerate());
        let copy = |place: &mut StagingPlace| {
            stream.context().bind_to_thread()?;
            loop {
                let next = pieces.lock().next();
                let Some((nth, piece)) = next else { return Ok(()) };
                let from = from + (nth * PIECE) as Address;
                // SAFETY: the caller owns what it copies from; the event is waited for.
                unsafe { place.memory.download(stream, from, piece.len()) }?;
                place.ended.record(stream)?;
                place.ended.synchronize()?;
                place.memory.copy_to(piece);
            }
        };
        let copied = thread::scope(|scope| {
            let start = |place| scope.spawn(move || copy(place));
            let threads: Vec<_> = self.places.iter_mut().map(start).collect();
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
