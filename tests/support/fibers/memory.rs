//! Memory of the fiber device, with guards around each piece.
#![allow(unsafe_code, reason = "memory is handed out by address, as a device does")]

use std::alloc::{Layout, alloc, dealloc};
use std::collections::BTreeMap;

use gridgen::backend::cuda::device::Address;

/// Alignment of a piece and bytes of the guard on either side of it.
const GUARD: usize = 256;
/// Bytes of a guard and of fresh memory: NaN as floating-point numbers.
const FILL: u8 = 0xff;

/// Pieces in use: sizes by address.
#[derive(Default)]
pub struct Memory(BTreeMap<Address, usize>);

fn layout(bytes: usize) -> Layout {
    Layout::from_size_align(bytes.next_multiple_of(GUARD) + 2 * GUARD, GUARD).unwrap()
}

impl Memory {
    pub fn allocate(&mut self, bytes: usize) -> Address {
        let layout = layout(bytes);
        // SAFETY: the size is not zero, and the piece lies within the allocation.
        let piece = unsafe {
            let start = alloc(layout);
            assert!(!start.is_null(), "no memory for {bytes} bytes");
            start.write_bytes(FILL, layout.size());
            start.add(GUARD)
        };
        let at = piece.expose_provenance() as Address;
        self.0.insert(at, bytes);
        at
    }

    pub fn free(&mut self, at: Address) {
        self.check("before memory is given back");
        let bytes = self.0.remove(&at).unwrap_or_else(|| panic!("{at:#x} is not allocated"));
        let start = std::ptr::with_exposed_provenance_mut::<u8>(at as usize - GUARD);
        // SAFETY: `at` was allocated with this layout and has just left the map.
        unsafe { dealloc(start, layout(bytes)) };
    }

    /// The bytes beginning at `at`, which must lie within one piece.
    pub fn bytes(&mut self, at: Address, bytes: usize) -> &mut [u8] {
        let piece = self.0.range(..=at).next_back();
        let within =
            piece.is_some_and(|(start, size)| at + bytes as Address <= start + *size as Address);
        assert!(within, "{bytes} bytes from {at:#x} on are not within an allocation ({piece:x?})");
        // SAFETY: the range lies within a live piece that was initialised when allocated; the borrow of the
        // map excludes other borrows of it.
        unsafe {
            std::slice::from_raw_parts_mut(
                std::ptr::with_exposed_provenance_mut(at as usize),
                bytes,
            )
        }
    }

    /// Panics if a guard was overwritten.
    pub fn check(&self, when: &str) {
        for (&at, &bytes) in &self.0 {
            let end = bytes.next_multiple_of(GUARD) + GUARD;
            // SAFETY: the guards lie within the allocation.
            let guard = |from: usize, length: usize| unsafe {
                let start = std::ptr::with_exposed_provenance::<u8>(at as usize - GUARD);
                std::slice::from_raw_parts(start.add(from), length)
            };
            let guards = [guard(0, GUARD), guard(GUARD + bytes, end - bytes)];
            let whole = guards.iter().all(|guard| guard.iter().all(|byte| *byte == FILL));
            assert!(whole, "{when}: written outside of {bytes} bytes at {at:#x}");
        }
    }
}
