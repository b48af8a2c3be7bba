//! Memory that was given back and is kept for the next who asks for as much.
//!
//! The driver takes milliseconds to give memory that other GPUs can access, and waits for all work
//! before it takes memory back.

use crate::backend::cuda::device::Address;
use std::collections::HashMap;

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
