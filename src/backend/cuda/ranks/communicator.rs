//! What ranks need of each other.

use super::super::device::Address;
use crate::backend::DeviceError;

/// What goes to a neighbour, and where that which comes from it goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Swap {
    /// Device memory that is sent.
    pub send: Address,
    /// Device memory that is received into.
    pub receive: Address,
}

/// One rank's way to the others. Calls are part of the work of the rank's device, in its order,
/// and every rank makes the same calls.
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

    /// Begins to pass `bytes` bytes to the rank before and after this one, in a ring, and to
    /// receive as many. A rank leaves out a side if its neighbour there does. What is asked of
    /// the device meanwhile must not touch these places.
    fn start_exchange(&self, sides: [Option<Swap>; 2], bytes: usize) -> Result<(), DeviceError>;

    /// What was received is in its place for work asked for later.
    fn finish_exchange(&self, sides: [Option<Swap>; 2], bytes: usize) -> Result<(), DeviceError>;

    /// Whether these calls can be part of a recording of the device.
    fn recorded(&self) -> bool;
}
