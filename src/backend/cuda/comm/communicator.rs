//! Communication between ranks.

use crate::backend::DeviceError;
use crate::backend::cuda::device::Address;
use crate::backend::cuda::launch::PeerAccess;

/// Device memory that is sent to another rank, or that is received from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message {
    /// The other rank.
    pub rank: usize,
    /// Address of the first byte.
    pub at: Address,
    /// Length.
    pub bytes: usize,
}

/// One rank's communication with the others. Calls are part of the work of the rank's device, in its
/// order, and every rank makes the same calls.
///
/// Nothing else in the backend knows where the other ranks run: in threads of one process here, in
/// processes of several hosts if a launcher supplies number, size and the communicator's name.
pub trait Communicator: Send + Sync {
    /// Number of this rank.
    fn rank(&self) -> usize;

    /// Number of ranks.
    fn size(&self) -> usize;

    /// Place r of `to` ← `bytes` bytes at `from` of rank r, for all ranks.
    fn all_gather(&self, from: Address, to: Address, bytes: usize) -> Result<(), DeviceError>;

    /// Begins to send and to receive. What one rank sends to another the other receives in the same
    /// call; two messages between the same two ranks are received in the order in which they are sent. Work
    /// that is asked of the device meanwhile must not access this memory.
    fn start_exchange(&self, sent: &[Message], received: &[Message]) -> Result<(), DeviceError>;

    /// Work asked for later finds what was received.
    fn finish_exchange(&self) -> Result<(), DeviceError>;

    /// How kernels access the other ranks, if they can do an all-reduce by themselves.
    fn peer_access(&self) -> Option<PeerAccess> {
        None
    }

    /// Whether these calls can be part of a recording of the device.
    fn recorded(&self) -> bool;
}
