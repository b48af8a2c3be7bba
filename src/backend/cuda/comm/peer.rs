//! Peer memory: ranks whose kernels access the memory of each other's devices.

use super::abort_flag::AbortFlag;
use super::communicator::{Communicator, Message};
use crate::backend::DeviceError;
use crate::backend::cuda::device::{Address, Buffer, Device, SharedWords};
use crate::backend::cuda::launch::shared::{
    AWAIT_ACKNOWLEDGEMENT, BUFFERS, CHANNELS, COLUMN_POINTS, COUNTER_WORDS, FRAGMENT_BYTES,
    FRAGMENTS, GATHER_THREADS, GATHERED_VALUES, GATHERED_WORDS, MessageOperation,
    MessageOperations, POINT_WORDS, Pointer, RECEIVE, SEND, Sequence,
};
use crate::backend::cuda::launch::{
    BLOCK, Kernel, LaunchShape, PeerAccess, Source, WARP, arguments,
};
use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Bytes of an endpoint of a channel: the sequence numbers of the fragments, and the buffers.
const ENDPOINT_BYTES: usize = FRAGMENTS * (size_of::<Sequence>() + BUFFERS * FRAGMENT_BYTES);
/// Bytes of a word of an all-gather or of a halo exchange.
const WORD_BYTES: usize = size_of::<u64>();
/// Most ranks of an all-gather of words.
const GATHERING_RANKS: usize = GATHER_THREADS / GATHERED_WORDS;
/// The channel of other all-gathers; exchanges, which may be unfinished then, have the others.
const GATHERING: usize = CHANNELS - 1;
/// Bytes that a thread moves at a time.
const MOVED_BYTES: usize = 16;
/// Most operations of a launch.
const OPERATIONS: usize = 8;

/// Interval of polls of the abort flag.
const POLL: Duration = Duration::from_millis(5);

/// The windows of all ranks, which outlive every rank's last message.
pub struct PeerWindows {
    windows: Mutex<Vec<Option<Buffer<u64>>>>,
    added: Condvar,
    abort_flag: Arc<AbortFlag>,
}

impl PeerWindows {
    /// Room for the windows of `ranks` ranks that stop at this abort flag.
    #[must_use]
    pub fn new(ranks: usize, abort_flag: Arc<AbortFlag>) -> Self {
        Self {
            windows: Mutex::new((0..ranks).map(|_| None).collect()),
            added: Condvar::new(),
            abort_flag,
        }
    }

    /// Adds the window of a rank, zeros, and waits for those of all others.
    fn add(&self, rank: usize, own: Buffer<u64>) -> Result<Vec<Address>, DeviceError> {
        let mut windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
        windows[rank] = Some(own);
        self.added.notify_all();
        let started = Instant::now();
        loop {
            let Some(missing) = windows.iter().position(Option::is_none) else {
                return Ok(windows.iter().flatten().map(Buffer::address).collect());
            };
            self.abort_flag.check()?;
            if started.elapsed() >= self.abort_flag.timeout() {
                return Err(self.abort_flag.timed_out(rank, Some(missing)));
            }
            let waited = self.added.wait_timeout(windows, POLL);
            windows = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// What is done with a message, on which channel.
#[derive(Clone, Copy)]
struct Operation {
    kind: u32,
    channel: usize,
    message: Message,
}

impl Operation {
    /// As kernels take it.
    fn shared(self) -> MessageOperation {
        let Message { rank, at, bytes } = self.message;
        MessageOperation {
            kind: self.kind,
            channel: self.channel as u32,
            other: rank as u64,
            at: Pointer::to(at),
            bytes: bytes as u64,
        }
    }

    /// Whether the receiver reads the message from the sender's memory.
    fn rendezvous(self) -> bool {
        self.message.bytes > FRAGMENTS * FRAGMENT_BYTES
    }
}

/// Operations of one kind for the messages of an exchange: the second between the same two ranks has
/// another channel.
fn operations(kind: u32, messages: &[Message]) -> Vec<Operation> {
    let mut before = HashMap::new();
    let operation = |&message: &Message| {
        let count: &mut usize = before.entry(message.rank).or_default();
        let channel = *count;
        *count += 1;
        Operation { kind, channel, message }
    };
    messages.iter().map(operation).collect()
}

/// A rank whose kernels store its messages in the memory of other ranks' devices. The kernels of all
/// ranks run at the same time; no call waits on the host.
pub struct PeerCommunicator {
    rank: usize,
    size: usize,
    device: Arc<dyn Device>,
    /// Addresses of all windows.
    windows: Buffer<u64>,
    /// Tickets of launches that gather, and of those that exchange: zero unless one runs.
    tickets: Buffer<u32>,
    all_windows: Arc<PeerWindows>,
    words: Arc<dyn SharedWords>,
}

impl PeerCommunicator {
    /// Joins the other ranks; returns when all have joined. The devices access each other's memory.
    ///
    /// # Errors
    /// If the device has too little memory, or another rank fails.
    pub fn join(
        all_windows: Arc<PeerWindows>,
        rank: usize,
        size: usize,
        device: Arc<dyn Device>,
    ) -> Result<Self, DeviceError> {
        let point = BUFFERS * POINT_WORDS * WORD_BYTES + size_of::<u32>();
        let per_rank = CHANNELS * ENDPOINT_BYTES + BUFFERS * GATHERED_WORDS * WORD_BYTES;
        let bytes = size * per_rank + COUNTER_WORDS * WORD_BYTES + 2 * COLUMN_POINTS * point;
        let own = Buffer::zeros(&device, bytes / size_of::<u64>())?;
        // Others write as soon as they know the address.
        device.synchronise()?;
        let windows = Buffer::from_host(&device, &all_windows.add(rank, own)?)?;
        let tickets = Buffer::zeros(&device, 2)?;
        let words = device.shared_words()?;
        all_windows.abort_flag.register(rank, words.clone());
        Ok(Self { rank, size, device, windows, tickets, all_windows, words })
    }

    fn access(&self) -> PeerAccess {
        PeerAccess {
            windows: (&self.windows).into(),
            rank: self.rank as u32,
            ranks: self.size as u32,
            abort_flag: Pointer::to(self.words.address()),
        }
    }

    /// Sends, receives, and waits until what was sent is no longer needed, in this order, so that no rank
    /// waits for what another would do later. The wait for the acknowledgement of a rendezvous has launches
    /// of its own, since it reads the sequence number that the send stores.
    fn perform(&self, sends: &[Operation], receives: &[Operation]) -> Result<(), DeviceError> {
        let operations: Vec<Operation> = sends.iter().chain(receives).copied().collect();
        let rendezvous = sends.iter().filter(|operation| operation.rendezvous());
        let awaits: Vec<Operation> = rendezvous
            .map(|operation| Operation { kind: AWAIT_ACKNOWLEDGEMENT, ..*operation })
            .collect();
        for operations in operations.chunks(OPERATIONS).chain(awaits.chunks(OPERATIONS)) {
            let gathers = operations.iter().any(|operation| operation.channel == GATHERING);
            let ticket = self.tickets.address_of(usize::from(!gathers));
            let bytes = operations.iter().map(|operation| operation.message.bytes);
            let longest = bytes.max().unwrap_or(0);
            let fragments = longest.div_ceil(FRAGMENT_BYTES).clamp(1, FRAGMENTS);
            let mut all = [bytemuck::Zeroable::zeroed(); OPERATIONS];
            for (to, operation) in all.iter_mut().zip(operations) {
                *to = operation.shared();
            }
            let arguments = arguments![self.access(), ticket, MessageOperations { at: all }];
            let threads =
                longest.div_ceil(MOVED_BYTES).next_multiple_of(WARP).clamp(WARP, BLOCK as usize);
            let grid = [fragments as u32, operations.len() as u32, 1];
            let shape = LaunchShape { grid, block: [threads as u32, 1, 1], shared: 0 };
            let kernel = Kernel::new::<f64>(Source::Messages, "exchange_messages");
            self.device.launch(kernel, shape, &arguments)?;
        }
        Ok(())
    }
}

impl Communicator for PeerCommunicator {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn all_gather(&self, from: Address, to: Address, bytes: usize) -> Result<(), DeviceError> {
        let values = bytes / WORD_BYTES;
        let by_words = bytes.is_multiple_of(WORD_BYTES) && (1..=GATHERED_VALUES).contains(&values);
        if let Some(access) = self.peer_access().filter(|_| by_words) {
            let arguments = arguments![access, values as u32, from, to];
            let shape =
                LaunchShape { grid: [1; 3], block: [GATHER_THREADS as u32, 1, 1], shared: 0 };
            let kernel = Kernel::new::<f64>(Source::Messages, "gather_words");
            return self.device.launch(kernel, shape, &arguments);
        }
        let operation = |kind, rank, at| {
            let message = Message { rank, at, bytes };
            Operation { kind, channel: GATHERING, message }
        };
        let place = |rank: usize| to + (rank * bytes) as Address;
        let sends: Vec<Operation> =
            (0..self.size).map(|rank| operation(SEND, rank, from)).collect();
        let receives: Vec<Operation> =
            (0..self.size).map(|rank| operation(RECEIVE, rank, place(rank))).collect();
        self.perform(&sends, &receives)
    }

    fn start_exchange(&self, sent: &[Message], received: &[Message]) -> Result<(), DeviceError> {
        let (sends, receives) = (operations(SEND, sent), operations(RECEIVE, received));
        self.device.fork(&mut || self.perform(&sends, &receives))
    }

    fn finish_exchange(&self) -> Result<(), DeviceError> {
        self.device.join()
    }

    fn peer_access(&self) -> Option<PeerAccess> {
        (self.size <= GATHERING_RANKS).then(|| self.access())
    }

    fn recorded(&self) -> bool {
        true
    }
}

impl Drop for PeerCommunicator {
    fn drop(&mut self) {
        // No kernel uses the words once all work is done, or the abort flag has ended it.
        let _ = self.device.synchronise();
        self.all_windows.abort_flag.unregister(&self.words);
    }
}
