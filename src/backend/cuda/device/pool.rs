//! Idle memory of a device.

use super::interface::Address;
use parking_lot::Mutex;
use std::collections::{BTreeSet, HashMap};

/// Idle blocks by their size. The one of the lowest address is taken first: solves of one size find theirs in the
/// same places.
#[derive(Default)]
pub(in super::super) struct Pool(Mutex<HashMap<usize, BTreeSet<Address>>>);

impl Pool {
    /// A block of this size, if there is one.
    pub(in super::super) fn take(&self, bytes: usize) -> Option<Address> {
        self.0.lock().get_mut(&bytes).and_then(BTreeSet::pop_first)
    }

    pub(in super::super) fn put(&self, at: Address, bytes: usize) {
        self.0.lock().entry(bytes).or_default().insert(at);
    }

    /// Bytes of all blocks.
    pub(in super::super) fn bytes(&self) -> usize {
        self.0.lock().iter().map(|(bytes, all)| bytes * all.len()).sum()
    }

    /// Hands over all blocks, each with its size.
    pub(in super::super) fn drain(&self, mut take: impl FnMut(Address, usize)) {
        for (bytes, all) in self.0.lock().drain() {
            for at in all {
                take(at, bytes);
            }
        }
    }
}
