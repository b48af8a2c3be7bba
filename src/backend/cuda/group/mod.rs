//! A group: devices that are one GPU, whose work is done together.
//!
//! A small grid leaves a GPU idle: its kernels take less time than a launch, and each waits for the one before. The
//! members of a group are devices of their own to those who use them, each a thread that solves for a grid. The
//! work of a member waits until all members wait for a result; then the work of all is done. Launches of several
//! members alike, a kernel in one shape, are one launch of all its blocks (`GROUPED` in `kernels/common.cuh`),
//! those of one member after those of another. A kernel sees the same arguments and blocks as alone, so that the
//! bits of a grid do not depend on the company, and members that ask for different work have launches of their own.

mod steps;
mod turns;

use self::steps::MemberWork;
use self::turns::{Seat, Status, Turns};
use crate::backend::DeviceError;
use crate::backend::cuda::device::{
    self, Address, Device, Download, GRANTED, Granted, Notes, Recording, Request, SharedWords,
    fill, passed_on,
};
use crate::backend::cuda::launch::{Launch, Result};
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

/// Members that share a device.
pub struct Group {
    device: Arc<dyn Device>,
    turns: Mutex<Turns>,
    /// Members whose threads work.
    running: AtomicUsize,
}

impl Group {
    /// A group on a device that has no other user.
    pub fn new(device: Arc<dyn Device>) -> Result<Arc<Self>> {
        let turns = Mutex::new(Turns::new(&device)?);
        Ok(Arc::new(Self { device, turns, running: AtomicUsize::new(0) }))
    }

    /// A group on GPU `ordinal`, compiled with the kernels that grids of this many points need.
    pub fn open(ordinal: usize, points: usize) -> Result<Arc<Self>> {
        Self::new(device::open(ordinal, true, points)?)
    }

    /// A new member.
    pub fn member(self: &Arc<Self>) -> GroupMember {
        let (seat, takes_part, recorded, downloads) = Default::default();
        self.turns.lock().seats.push(Arc::clone(&seat));
        GroupMember { group: self.clone(), seat, takes_part, recorded, downloads }
    }

    /// Members that there are.
    pub fn size(&self) -> usize {
        self.turns.lock().seats.len()
    }
}

/// A device whose work is done with that of the other members of its group. One thread at a time uses it.
pub struct GroupMember {
    group: Arc<Group>,
    seat: Arc<Seat>,
    /// Whether it takes part in the turns: from the first wait until it rests.
    takes_part: AtomicBool,
    /// Launches that are recorded.
    recorded: Notes<Launch>,
    /// Downloads so far.
    downloads: AtomicUsize,
}

impl GroupMember {
    /// Waits until this member may go on.
    fn wait(&self, status: Status) -> Result<()> {
        self.seat.wait(status);
        // The last running member lets all go on.
        let mut last = status == Status::Arrived || self.stops();
        loop {
            let mut deadline = None;
            if last {
                let mut turns = self.group.turns.lock();
                turns.advance(&self.group.running);
                deadline = turns.deadline().filter(|_| status == Status::Arrived);
            }
            if self.seat.is(Status::Running) {
                return self.seat.go_on();
            }
            match deadline {
                Some(time) => thread::park_timeout(time.saturating_duration_since(Instant::now())),
                None => thread::park(),
            }
            // It was woken to let others go on, or it is time.
            last |= !self.seat.is(Status::Running);
        }
    }

    /// Whether no member runs once this one stops.
    fn stops(&self) -> bool {
        self.group.running.fetch_sub(1, Ordering::AcqRel) == 1
    }

    fn leave(&self) {
        if self.takes_part.swap(false, Ordering::Relaxed) {
            self.seat.leave();
            if self.stops() {
                self.group.turns.lock().wake_one();
            }
        }
    }

    /// Waits until the queue is done.
    fn finish(&self) -> Result<()> {
        if !self.takes_part.swap(true, Ordering::Relaxed) {
            self.wait(Status::Arrived)?;
        }
        self.wait(Status::Waiting)
    }

    /// Adds to the queue, or to the recording that is open.
    fn queue(&self, work: MemberWork) -> Result<()> {
        match work {
            _ if !self.recorded.are_open() => self.seat.shared.lock().queue.push(work),
            MemberWork::Launch(launch) => drop(self.recorded.add(Arc::unwrap_or_clone(launch))),
            _ => return Err(DeviceError::NotRecorded),
        }
        Ok(())
    }
}

impl Drop for GroupMember {
    fn drop(&mut self) {
        self.leave();
        let mut turns = self.group.turns.lock();
        turns.seats.retain(|seat| !Arc::ptr_eq(seat, &self.seat));
        // The others may wait for none but this one.
        turns.wake_one();
        drop(turns);
        for (at, bytes) in self.seat.pool.drain() {
            self.group.device.free(GRANTED, at, bytes);
        }
    }
}

impl Device for GroupMember {
    passed_on! { self => self.group.device;
        name() -> &str;
        ordinal() -> Option<usize>;
        room_together() -> Option<usize>;
        shared_memory() -> usize;
        queue() -> Option<u64>;
        shared_words() -> Result<SharedWords>;
        share(stream: i64, back: bool) -> Result<()>;
    }

    fn memory(&self) -> Result<Option<(usize, usize)>> {
        let memory = self.group.device.memory()?;
        Ok(memory.map(|(free, total)| (free + self.seat.pool.bytes(), total)))
    }

    fn trim(&self) -> Result<()> {
        self.seat.give_back(&*self.group.device);
        self.group.device.trim()
    }

    fn companion(&self) -> Option<Arc<dyn Device>> {
        Some(Arc::new(self.group.member()))
    }

    fn synchronise(&self) -> Result<()> {
        if self.seat.shared.lock().queue.is_empty() { Ok(()) } else { self.finish() }
    }

    fn align(&self) -> Result<()> {
        let takes_part = self.takes_part.load(Ordering::Relaxed);
        if takes_part { self.wait(Status::Aligned) } else { Ok(()) }
    }

    fn rest(&self) -> Result<()> {
        let done = self.synchronise();
        self.leave();
        done
    }

    fn allocate(&self, bytes: usize) -> Result<Address> {
        let device = &self.group.device;
        match self.seat.pool.take(bytes).map_or_else(|| device.allocate(bytes), Ok) {
            // The device may have room once no member keeps what it has given back.
            Err(DeviceError::OutOfMemory { .. }) => {
                self.synchronise()?;
                let turns = self.group.turns.lock();
                turns.seats.iter().for_each(|seat| seat.give_back(&**device));
                device.allocate(bytes)
            }
            done => done,
        }
    }

    fn free(&self, _: Granted, at: Address, bytes: usize) {
        self.seat.pool.put(at, bytes);
    }

    fn upload(&self, _: Granted, from: &[u8], to: Address) -> Result<()> {
        self.queue(MemberWork::Upload(from.into(), to))
    }

    fn download(&self, granted: Granted, from: Address, to: &mut [u8]) -> Result<()> {
        let download = self.begin_download(granted, from, to.len())?;
        self.end_download(download, to)
    }

    fn begin_download(&self, _: Granted, from: Address, bytes: usize) -> Result<Download> {
        let number = self.downloads.fetch_add(1, Ordering::Relaxed);
        self.queue(MemberWork::Download { number, from, bytes })?;
        Ok(Download::Begun(number))
    }

    fn finish_download(&self, number: usize, to: &mut [u8]) -> Result<()> {
        if !self.seat.shared.lock().results.contains_key(&number) {
            self.finish()?;
        }
        fill(to, &self.seat.shared.lock().results.remove(&number).unwrap_or_default())
    }

    fn ask(&self, _: Granted, request: Request) -> Result<()> {
        self.queue(request.into())
    }

    fn record(&self, _: bool, work: &mut dyn FnMut() -> Result<()>) -> Result<Recording> {
        let (done, recorded) = self.recorded.during(work);
        done.map(|()| -> Recording { Box::new(Arc::<[Launch]>::from(recorded)) })
    }

    fn replay(&self, _: Granted, recording: &Recording) -> Result<()> {
        let Some(launches) = recording.downcast_ref::<Arc<[Launch]>>() else {
            return Err(DeviceError::ForeignRecording);
        };
        self.queue(MemberWork::Replay(launches.clone()))
    }
}
