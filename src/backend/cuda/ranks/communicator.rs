//! What ranks need of each other.

use super::super::device::Address;
use super::super::kernel::{Argument, arguments};
use crate::backend::DeviceError;

/// Device memory that goes to another rank, or that is filled by what comes from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parcel {
    /// The other rank.
    pub rank: usize,
    /// Where it starts.
    pub at: Address,
    /// Its length.
    pub bytes: usize,
}

/// The way of kernels to the memory of all ranks: `Reach` of `kernels/mail.cuh`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reach {
    /// Addresses of the mailboxes of all ranks.
    pub ends: Address,
    /// Number of this rank.
    pub rank: u32,
    /// Number of ranks.
    pub ranks: u32,
    /// The words that end all waiting.
    pub alarm: Address,
}

impl Reach {
    /// What kernels take; zeros if there is no such way.
    pub(in super::super) fn arguments(reach: Option<Self>) -> Vec<Argument> {
        let none = Self { ends: 0, rank: 0, ranks: 0, alarm: 0 };
        let Self { ends, rank, ranks, alarm } = reach.unwrap_or(none);
        arguments![ends, rank, ranks, alarm]
    }
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

    /// Begins to send and to receive. What one rank sends to another the other receives in the same
    /// call, and two parcels between the same two, which there may be, in the same order. What is asked of the
    /// device meanwhile must not touch these places.
    fn start_exchange(&self, sent: &[Parcel], received: &[Parcel]) -> Result<(), DeviceError>;

    /// What was to be received is in its place for work asked for later.
    fn finish_exchange(&self) -> Result<(), DeviceError>;

    /// How kernels reach the other ranks, if they may add up the parts of all ranks by themselves.
    fn reach(&self) -> Option<Reach> {
        None
    }

    /// Whether these calls can be part of a recording of the device.
    fn recorded(&self) -> bool;
}
