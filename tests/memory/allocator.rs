//! The system's allocator with counters, and with a cap on the memory.
#![allow(unsafe_code, reason = "an allocator is unsafe by its trait")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Bytes in use, and their maximum since [`peak`] began.
static USED: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);
static CAP: AtomicUsize = AtomicUsize::new(usize::MAX);
/// Allocations of the threads that called [`count_this_thread`].
static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);
/// Bytes of the largest allocation; see [`largest`].
static LARGEST: AtomicUsize = AtomicUsize::new(0);
/// Alignment of the memory of devices on the CPU, and size of the buffer for writing a file.
const DEVICE_ALIGNMENT: usize = 256;
const FILE_BUFFER: usize = 1 << 20;

thread_local! {
    static COUNTED: Cell<bool> = const { Cell::new(false) };
}

// SAFETY: all calls are passed to the system's allocator, which keeps the contract.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(COUNTED.get().into(), Ordering::Relaxed);
        let used = USED.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK.fetch_max(used, Ordering::Relaxed);
        if layout.align() < DEVICE_ALIGNMENT && layout.size() != FILE_BUFFER {
            LARGEST.fetch_max(layout.size(), Ordering::Relaxed);
        }
        if used > CAP.load(Ordering::Relaxed) {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        USED.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// Blocks all other tests of this program, and limits the memory.
pub(crate) struct Alone(
    #[allow(dead_code, reason = "held until it is dropped")] MutexGuard<'static, ()>,
);

impl Drop for Alone {
    fn drop(&mut self) {
        CAP.store(usize::MAX, Ordering::Relaxed);
    }
}

/// Gives one test at a time `cap` bytes of memory.
pub(crate) fn alone(cap: usize) -> Alone {
    static ALONE: Mutex<()> = Mutex::new(());
    let guard = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    CAP.store(cap, Ordering::Relaxed);
    Alone(guard)
}

/// The result of `work`, and the largest number of bytes in use meanwhile.
pub(crate) fn peak<R>(work: impl FnOnce() -> R) -> (R, usize) {
    let before = USED.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    let result = work();
    (result, PEAK.load(Ordering::Relaxed).saturating_sub(before))
}

/// Size of the largest allocation so far, without buffers of files and memory of devices on the CPU.
pub(crate) fn largest() -> usize {
    LARGEST.load(Ordering::Relaxed)
}

/// Makes [`allocations`] count those of this thread, too. Other threads are not counted, since the threads
/// that run the tests allocate whenever a test ends.
pub(crate) fn count_this_thread() {
    COUNTED.set(true);
}

/// Allocations of the counted threads while `work` runs.
pub(crate) fn allocations(work: impl FnOnce()) -> usize {
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    work();
    ALLOCATIONS.load(Ordering::Relaxed) - before
}
