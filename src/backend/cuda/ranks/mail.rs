//! Ranks that write into the memory of each other's devices.

use super::super::Buffer;
use super::super::device::{Address, Device, HostWords};
use super::super::kernel::{Argument, BLOCK, Kernel, Shape, Source, WARP, arguments};
use super::halo::COLUMN_POINTS;
use super::{Alarm, Communicator, Parcel, Reach};
use crate::backend::DeviceError;
use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

// As in `kernels/mail.cuh`.
/// Shares of a message, at most.
const SHARES: usize = 64;
/// Bytes of a share that goes through the mailbox.
const SHARE: usize = 16_384;
/// Messages that an end of a lane has room for.
const ROOMS: usize = 2;
/// Lanes from one rank to another.
const CHANNELS: usize = 3;
/// Bytes of an end of a lane: four numbers a share, and the rooms.
const END: usize = SHARES * (4 * 8 + ROOMS * SHARE);
/// Bytes of a rank's note, and of the number of the last.
const NOTE: usize = 4 * 16;
const LAST: usize = 32;
/// Bytes of a point of a column.
const COLUMN_POINT: usize = 32;
/// Most ranks whose notes a block reads.
const NOTED: usize = 32;
/// Bytes of a value of a note, and lengths of what all gather by notes.
const WORD_OF_NOTE: usize = 8;
const NOTED_BYTES: [usize; 4] = [8, 16, 24, 32];
/// The lane of what all gather; exchanges, which may go on meanwhile, have the others.
const GATHERING: usize = CHANNELS - 1;
/// Bytes that a thread moves at a time.
const WORD: usize = 16;
/// Jobs of a launch.
const JOBS: usize = 8;

/// How long a rank waits for the others to come before it looks at the alarm.
const LOOK: Duration = Duration::from_millis(5);

/// The mailboxes of all ranks, which outlive every rank's last message.
pub struct Mailroom {
    boxes: Mutex<Vec<Option<Buffer<u64>>>>,
    opened: Condvar,
    alarm: Arc<Alarm>,
}

impl Mailroom {
    /// Room for the mailboxes of `ranks` ranks that stop at this alarm.
    #[must_use]
    pub fn new(ranks: usize, alarm: Arc<Alarm>) -> Self {
        Self {
            boxes: Mutex::new((0..ranks).map(|_| None).collect()),
            opened: Condvar::new(),
            alarm,
        }
    }

    /// Brings the mailbox of a rank, empty, and waits for those of all others.
    fn open(&self, rank: usize, own: Buffer<u64>) -> Result<Vec<Address>, DeviceError> {
        let mut boxes = self.boxes.lock().unwrap_or_else(PoisonError::into_inner);
        boxes[rank] = Some(own);
        self.opened.notify_all();
        let started = Instant::now();
        loop {
            let Some(missing) = boxes.iter().position(Option::is_none) else {
                return Ok(boxes.iter().flatten().map(Buffer::address).collect());
            };
            self.alarm.check()?;
            if started.elapsed() >= self.alarm.patience() {
                return Err(self.alarm.silent(rank, Some(missing)));
            }
            let waited = self.opened.wait_timeout(boxes, LOOK);
            boxes = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// What a job of the kernel does: its constants of `kernels/mail.cu`.
#[derive(Clone, Copy)]
enum Kind {
    Send = 1,
    Receive = 2,
    LetFetch = 3,
}

/// A parcel and what is done with it on which lane.
#[derive(Clone, Copy)]
struct Job {
    kind: Kind,
    channel: usize,
    parcel: Parcel,
}

impl Job {
    fn arguments(self) -> [Argument; 3] {
        let packed =
            self.kind as u64 | (self.channel as u64) << 8 | (self.parcel.rank as u64) << 32;
        [packed.into(), self.parcel.at.into(), (self.parcel.bytes as u64).into()]
    }

    /// Whether the receiver fetches the parcel from where it stands.
    fn fetched(self) -> bool {
        self.parcel.bytes > SHARES * SHARE
    }
}

/// Jobs of one kind for the parcels of an exchange: the second between the same two has another lane.
fn jobs(kind: Kind, parcels: &[Parcel]) -> Vec<Job> {
    let mut before = HashMap::new();
    let job = |&parcel: &Parcel| {
        let count: &mut usize = before.entry(parcel.rank).or_default();
        let channel = *count;
        *count += 1;
        Job { kind, channel, parcel }
    };
    parcels.iter().map(job).collect()
}

/// A rank whose messages are stores of its kernels into the memory of other ranks' devices, on each of
/// which the kernels of all run at the same time. No call waits on the host.
pub struct MailCommunicator {
    rank: usize,
    size: usize,
    device: Arc<dyn Device>,
    /// Addresses of all mailboxes.
    ends: Buffer<u64>,
    /// Tickets of launches that gather, and of those that exchange: zero but while one runs.
    tickets: Buffer<u32>,
    room: Arc<Mailroom>,
    words: Arc<dyn HostWords>,
}

impl MailCommunicator {
    /// Meets the other ranks of `room`; returns when all are there. The devices reach each other's memory.
    ///
    /// # Errors
    /// If the device has no room, or another rank fails.
    pub fn join(
        room: Arc<Mailroom>,
        rank: usize,
        size: usize,
        device: Arc<dyn Device>,
    ) -> Result<Self, DeviceError> {
        let columns = 2 * COLUMN_POINTS * (ROOMS * COLUMN_POINT + size_of::<u32>());
        let bytes = size * (CHANNELS * END + ROOMS * NOTE) + LAST + columns;
        let own = Buffer::zeros(&device, bytes / size_of::<u64>())?;
        // Others write as soon as they know the address.
        device.synchronise()?;
        let ends = Buffer::from_host(&device, &room.open(rank, own)?)?;
        let tickets = Buffer::zeros(&device, 2)?;
        let words = device.host_words()?;
        room.alarm.tell(rank, words.clone());
        Ok(Self { rank, size, device, ends, tickets, room, words })
    }

    /// Sends, receives, and waits until what was sent is no longer needed: so many jobs in a launch, in
    /// this order, so that nobody waits for what a rank would do later. The waiting for what is fetched
    /// has launches of its own, since it asks for the number that sending ends with.
    fn pass(&self, sends: &[Job], receives: &[Job]) -> Result<(), DeviceError> {
        let jobs: Vec<Job> = sends.iter().chain(receives).copied().collect();
        let fetched = sends.iter().filter(|job| job.fetched());
        let let_fetch: Vec<Job> = fetched.map(|job| Job { kind: Kind::LetFetch, ..*job }).collect();
        for jobs in jobs.chunks(JOBS).chain(let_fetch.chunks(JOBS)) {
            let gathers = jobs.iter().any(|job| job.channel == GATHERING);
            let ticket = self.tickets.address_of(usize::from(!gathers));
            let longest = jobs.iter().map(|job| job.parcel.bytes).max().unwrap_or(0);
            let shares = longest.div_ceil(SHARE).clamp(1, SHARES);
            let mut arguments =
                arguments![&self.ends, self.rank as u32, self.words.address(), ticket];
            let own = arguments.len();
            arguments.extend(jobs.iter().flat_map(|job| job.arguments()));
            arguments.resize(own + 3 * JOBS, Argument::from(0_u64));
            let threads = longest.div_ceil(WORD).next_multiple_of(WARP).clamp(WARP, BLOCK as usize);
            let grid = [shares as u32, jobs.len() as u32, 1];
            let shape = Shape { grid, block: [threads as u32, 1, 1], shared: 0 };
            self.device.launch(Kernel::new::<f64>(Source::Mail, "pass_mail"), shape, &arguments)?;
        }
        Ok(())
    }
}

impl Communicator for MailCommunicator {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn all_gather(&self, from: Address, to: Address, bytes: usize) -> Result<(), DeviceError> {
        if let Some(reach) = self.reach().filter(|_| NOTED_BYTES.contains(&bytes)) {
            let mut arguments = Reach::arguments(Some(reach));
            arguments.extend(arguments![(bytes / WORD_OF_NOTE) as u32, from, to]);
            let shape = Shape { grid: [1; 3], block: [BLOCK, 1, 1], shared: 0 };
            let kernel = Kernel::new::<f64>(Source::Mail, "gather_notes");
            return self.device.launch(kernel, shape, &arguments);
        }
        let job =
            |kind, rank, at| Job { kind, channel: GATHERING, parcel: Parcel { rank, at, bytes } };
        let place = |rank: usize| to + (rank * bytes) as Address;
        let sends: Vec<Job> = (0..self.size).map(|rank| job(Kind::Send, rank, from)).collect();
        let receives: Vec<Job> =
            (0..self.size).map(|rank| job(Kind::Receive, rank, place(rank))).collect();
        self.pass(&sends, &receives)
    }

    fn start_exchange(&self, sent: &[Parcel], received: &[Parcel]) -> Result<(), DeviceError> {
        let (sends, receives) = (jobs(Kind::Send, sent), jobs(Kind::Receive, received));
        self.device.beside(&mut || self.pass(&sends, &receives))
    }

    fn finish_exchange(&self) -> Result<(), DeviceError> {
        self.device.join()
    }

    fn reach(&self) -> Option<Reach> {
        let (rank, ranks) = (self.rank as u32, self.size as u32);
        let reach = Reach { ends: self.ends.address(), rank, ranks, alarm: self.words.address() };
        (self.size <= NOTED).then_some(reach)
    }

    fn recorded(&self) -> bool {
        true
    }
}

impl Drop for MailCommunicator {
    fn drop(&mut self) {
        // Nothing uses the words any more when all that was asked for is done, or the alarm has ended it.
        let _ = self.device.synchronise();
        self.room.alarm.forget(&self.words);
    }
}
