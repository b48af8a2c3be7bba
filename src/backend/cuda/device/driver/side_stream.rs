//! A second stream, for messages that are exchanged while the GPU computes.

use super::handles::{Event, Stream};
use cudarc::driver::result::DriverError;

/// A stream of greater priority: messages that waited for the last block of the work at the same time
/// would not be exchanged meanwhile.
pub(super) struct SideStream {
    pub(super) stream: Stream,
    forked: Event,
    joined: Event,
}

impl SideStream {
    pub(super) fn new() -> Result<Self, DriverError> {
        Ok(Self {
            stream: Stream::of_greatest_priority()?,
            forked: Event::new()?,
            joined: Event::new()?,
        })
    }

    /// Work asked of this stream next starts after all that was asked of the main one.
    pub(super) fn fork(&self, main: &Stream) -> Result<(), DriverError> {
        main.record(&self.forked)?;
        self.stream.wait_for(&self.forked)
    }

    /// [`Self::join`] waits for the work asked of this stream so far.
    pub(super) fn end(&self) -> Result<(), DriverError> {
        self.stream.record(&self.joined)
    }

    /// Work asked of the main stream later starts after that end.
    pub(super) fn join(&self, main: &Stream) -> Result<(), DriverError> {
        main.wait_for(&self.joined)
    }
}
