//! Whose turn it is: members work side by side until all of them wait, then the device works.

use super::steps::{GroupStaging, Queue, Results};
use crate::backend::DeviceError;
use crate::backend::cuda::device::{Device, GRANTED, Pool};
use crate::backend::cuda::launch::Result;
use parking_lot::Mutex;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::thread::Thread;
use std::time::{Duration, Instant};

/// Time for which members that have arrived wait for absent ones, before they begin without them.
const GATHERING: Duration = Duration::from_millis(20);

/// Time for which members wait for others that still work, some ten solves of a small grid: a hard case holds up its
/// group no longer.
const PATIENCE: Duration = Duration::from_millis(500);

/// Threads that a thread wakes.
const BRANCHES: usize = 3;

/// The status of a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Status {
    /// It asks nothing of the device.
    Away,
    /// Newly arrived: it waits until all current members are idle, since it is at another stage of the solve and none
    /// of its launches could be merged with theirs.
    Arrived,
    /// Its thread works.
    Running,
    /// Its thread waits for its queue to be done.
    Waiting,
    /// It has come to a step for which the others have not come.
    Aligned,
}

/// State shared by a member and the thread that lets it go on.
#[derive(Default)]
pub(super) struct Seat {
    status: AtomicU8,
    pub(super) shared: Mutex<SeatState>,
    /// Memory that the member has given back.
    pub(super) pool: Pool,
}

#[derive(Default)]
pub(super) struct SeatState {
    /// The member's thread, while that waits.
    thread: Option<Thread>,
    /// Threads that it wakes when it goes on.
    wakes: Vec<Thread>,
    /// Requests that the device was not given yet.
    pub(super) queue: Queue,
    /// Results of downloads, for the member to take.
    pub(super) results: Results,
    failed: Option<DeviceError>,
}

impl Seat {
    pub(super) fn is(&self, status: Status) -> bool {
        self.status.load(Ordering::Acquire) == status as u8
    }

    /// The member's thread waits from now on.
    pub(super) fn wait(&self, status: Status) {
        let mut shared = self.shared.lock();
        shared.thread = Some(std::thread::current());
        self.status.store(status as u8, Ordering::Release);
    }

    /// Gives back to the device what the member has given back, unless work that is still to be done may use it.
    pub(super) fn give_back(&self, device: &dyn Device) {
        let idle = self.pool.drain();
        // Work on this memory was asked for before it was given back.
        let in_use = !self.shared.lock().queue.is_empty();
        for (at, bytes) in idle {
            if in_use { self.pool.put(at, bytes) } else { device.free(GRANTED, at, bytes) }
        }
    }

    /// The member asks nothing of the device from now on.
    pub(super) fn leave(&self) {
        let mut shared = self.shared.lock();
        shared.thread = None;
        self.status.store(Status::Away as u8, Ordering::Release);
    }

    /// Wakes members that go on with it. Fails if the device has failed.
    pub(super) fn go_on(&self) -> Result<()> {
        let mut shared = self.shared.lock();
        for thread in shared.wakes.drain(..) {
            thread.unpark();
        }
        shared.failed.clone().map_or(Ok(()), Err)
    }
}

/// The turns of a group.
pub(super) struct Turns {
    pub(super) seats: Vec<Arc<Seat>>,
    staging: GroupStaging,
    /// Since when members that have arrived wait for nothing but others.
    gathering: Option<Instant>,
    /// Since when members that work hold up others.
    holding: Option<Instant>,
    /// The error that all calls report since the device failed.
    failed: Option<DeviceError>,
}

impl Turns {
    pub(super) fn new(device: &Arc<dyn Device>) -> Result<Self> {
        let staging = GroupStaging::new(device)?;
        Ok(Self { seats: Vec::new(), staging, gathering: None, holding: None, failed: None })
    }

    /// Until when members that have arrived wait for others.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.gathering.map(|since| since + GATHERING)
    }

    /// Lets members go on if none is running: those that wait, once the device has done their work, else those
    /// that are aligned, else those that have arrived. Members that were held up for long go on with others.
    pub(super) fn advance(&mut self, running: &AtomicUsize) {
        if running.load(Ordering::Acquire) > 0 {
            return;
        }
        let count = |status| self.seats.iter().filter(|seat| seat.is(status)).count();
        let [waiting, aligned, arrived] =
            [Status::Waiting, Status::Aligned, Status::Arrived].map(count);
        if waiting > 0 {
            self.work();
            self.release(Status::Waiting, running);
            let held = aligned + arrived > 0;
            self.holding = held.then(|| self.holding.unwrap_or_else(Instant::now));
            if self.holding.is_some_and(|since| since.elapsed() >= PATIENCE) {
                self.holding = None;
                self.release(Status::Aligned, running);
                self.release(Status::Arrived, running);
            }
            return;
        }
        self.holding = None;
        if aligned > 0 {
            self.release(Status::Aligned, running);
        } else if arrived > 0 {
            let since = *self.gathering.get_or_insert_with(Instant::now);
            if arrived == self.seats.len() || since.elapsed() >= GATHERING {
                self.gathering = None;
                self.release(Status::Arrived, running);
            }
        }
    }

    fn release(&self, status: Status, running: &AtomicUsize) {
        let released: Vec<_> = self.seats.iter().filter(|seat| seat.is(status)).collect();
        running.fetch_add(released.len(), Ordering::AcqRel);
        // To wake a thread takes longer than it sleeps: each wakes some of the others.
        let threads: Vec<_> =
            released.iter().map(|seat| seat.shared.lock().thread.take()).collect();
        for (k, seat) in released.iter().enumerate() {
            let wakes = (BRANCHES * k + 1..).take(BRANCHES).filter_map(|k| threads.get(k)?.clone());
            seat.shared.lock().wakes = wakes.collect();
        }
        // All may go on before the first is woken, which wakes them.
        for seat in &released {
            seat.status.store(Status::Running as u8, Ordering::Release);
        }
        if let Some(Some(first)) = threads.first() {
            first.unpark();
        }
    }

    /// Wakes a thread that waits, to let members go on.
    pub(super) fn wake_one(&self) {
        let thread = self.seats.iter().find_map(|seat| seat.shared.lock().thread.clone());
        if let Some(thread) = thread {
            thread.unpark();
        }
    }

    /// Does the work of all members that wait.
    fn work(&mut self) {
        let waiting: Vec<_> = self.seats.iter().filter(|seat| seat.is(Status::Waiting)).collect();
        let queue = |seat: &&Arc<Seat>| std::mem::take(&mut seat.shared.lock().queue);
        let queues: Vec<_> = waiting.iter().map(queue).collect();
        // The members would wait for ever for one that panics with the turns in its hands.
        let perform = AssertUnwindSafe(|| self.staging.perform(&queues));
        let perform = || DeviceError::caught("the work of a group", catch_unwind(perform));
        let done = self.failed.clone().map_or_else(perform, Err);
        match done {
            Ok(all) => {
                for (seat, results) in waiting.iter().zip(all) {
                    seat.shared.lock().results.extend(results);
                }
            }
            Err(error) => {
                for seat in waiting {
                    seat.shared.lock().failed = Some(error.clone());
                }
                self.failed = Some(error);
            }
        }
    }
}
