//! Peer memory: ranks whose kernels access the memory of each other's devices, as threads of one process or as
//! processes of one host.

use super::communicator::{Communicator, RankMessage};
use super::host::HostTransport;
use crate::backend::DeviceError;
use crate::backend::cuda::device::{
    Address, Buffer, Device, GRANTED, Mapped, Request, SharedWords,
};
use crate::backend::cuda::launch::constants::{
    BUFFERS, CHANNELS, COLUMN_POINTS, COUNTER_WORDS, FRAGMENT_BYTES, FRAGMENTS, GATHER_THREADS,
    GATHERED_VALUES, GATHERED_WORDS, POINT_WORDS, RECEIVE, SEND,
};
use crate::backend::cuda::launch::shared::{
    MessageOperation, MessageOperations, Pointer, Sequence,
};
use crate::backend::cuda::launch::{BLOCK, Launch, LaunchShape, PeerAccess, Result, WARP, kernels};
use std::mem;
use std::sync::Arc;

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

/// The operation with a message on a channel.
fn operation(kind: u32, channel: usize, message: RankMessage) -> MessageOperation {
    let RankMessage { rank, at, bytes } = message;
    MessageOperation {
        kind,
        channel: channel as u32,
        other: rank as u64,
        at: Pointer::to(at),
        bytes: bytes as u64,
    }
}

/// Most bytes that a message of the kernels has: what an endpoint buffers. Longer ones are sent in pieces.
const PIECE: usize = FRAGMENTS * FRAGMENT_BYTES;

/// Piece `number` of an operation, which has one at least, if it exists.
fn piece(operation: &MessageOperation, number: usize) -> Option<MessageOperation> {
    let first = (number * PIECE) as u64;
    (number == 0 || first < operation.bytes).then(|| MessageOperation {
        at: Pointer::to(operation.at.address() + first),
        bytes: (operation.bytes - first).min(PIECE as u64),
        ..*operation
    })
}

/// Operations of one kind for the messages of an exchange: the second between the same two ranks has
/// another channel.
fn operations(kind: u32, messages: &[RankMessage]) -> Vec<MessageOperation> {
    let numbered = |(k, &message): (usize, &RankMessage)| {
        let before = messages[..k].iter().filter(|before| before.rank == message.rank);
        operation(kind, before.count(), message)
    };
    messages.iter().enumerate().map(numbered).collect()
}

/// A rank whose kernels store its messages in the memory of other ranks' devices. The kernels of all
/// ranks run at the same time; no call waits on the host.
pub struct PeerCommunicator {
    /// Addresses of all windows.
    addresses: Buffer<u64>,
    /// Tickets of launches that gather, and of those that exchange: zero unless one runs.
    tickets: Buffer<u32>,
    words: SharedWords,
    /// Let go of when no kernel of this rank accesses them.
    windows: Windows,
}

impl PeerCommunicator {
    /// True if the processes of a job can join so: each reads what the others have written in their windows. All must
    /// call.
    ///
    /// # Errors
    /// If another rank has failed.
    pub fn is_possible(
        transport: Arc<HostTransport>,
        rank: usize,
        device: Arc<dyn Device>,
    ) -> Result<bool> {
        let Some(windows) = Windows::open(transport, rank, device, TRIAL_WORDS)? else {
            return Ok(false);
        };
        let mark = |rank: usize| rank as u64 + 1;
        if let Some(own) = &windows.own {
            own.upload_part(&[mark(rank)])?;
        }
        windows.transport.gather(rank, &[])?;
        let right = |(other, at): (usize, &Address)| -> Result<bool> {
            let word = windows.device.read(GRANTED, *at, size_of::<u64>())?;
            Ok(word == mark(other).to_ne_bytes())
        };
        let own = windows.all.iter().enumerate().map(right).collect::<Result<Vec<_>>>()?;
        let own = u8::from(own.into_iter().all(|right| right));
        let all = windows.transport.gather(rank, &[own])?;
        Ok(all.iter().all(|right| right[..] == [1]))
    }

    /// Joins the other ranks; returns when all have joined. The devices access each other's memory.
    pub fn join(
        transport: Arc<HostTransport>,
        rank: usize,
        device: Arc<dyn Device>,
    ) -> Result<Self> {
        let point = BUFFERS * POINT_WORDS * WORD_BYTES + size_of::<u32>();
        let per_rank = CHANNELS * ENDPOINT_BYTES + BUFFERS * GATHERED_WORDS * WORD_BYTES;
        let shared = COUNTER_WORDS * WORD_BYTES + 2 * COLUMN_POINTS * point;
        let bytes = transport.ranks * per_rank + shared;
        let words = bytes / size_of::<u64>();
        let name = device.name().to_owned();
        let windows = Windows::open(transport, rank, device, words)?;
        let windows = windows.ok_or_else(|| DeviceError::Call {
            device: name,
            operation: "accessing the memory of another process's GPU",
            reason: "the driver refuses it".to_owned(),
        })?;
        let addresses = Buffer::from_host(&windows.device, &windows.all)?;
        let tickets = Buffer::zeros(&windows.device, 2)?;
        let words = windows.device.shared_words()?;
        windows.transport.abort_flag.register(rank, words.clone());
        Ok(Self { addresses, tickets, words, windows })
    }

    fn access(&self) -> PeerAccess {
        PeerAccess {
            windows: (&self.addresses).into(),
            rank: self.windows.rank as u32,
            ranks: self.windows.transport.ranks as u32,
            // Host and kernels find the words at the same address.
            abort_flag: Pointer::to((&raw const **self.words).expose_provenance() as Address),
        }
    }

    /// Sends and receives, in this order, so that no rank waits for what another would do later. Of long
    /// messages a piece at a time: a rank sends the third when the other one has received the first.
    fn perform(&self, sends: &[MessageOperation], receives: &[MessageOperation]) -> Result<()> {
        let operations = [sends, receives].concat();
        let pieces = |number| -> Vec<_> {
            operations.iter().filter_map(|operation| piece(operation, number)).collect()
        };
        let mut rounds = (0..).map(pieces).take_while(|pieces| !pieces.is_empty());
        rounds.try_for_each(|all| all.chunks(OPERATIONS).try_for_each(|pieces| self.launch(pieces)))
    }

    /// Does [`OPERATIONS`] operations at most, which an endpoint buffers.
    fn launch(&self, operations: &[MessageOperation]) -> Result<()> {
        let gathers = operations.iter().any(|operation| operation.channel == GATHERING as u32);
        let ticket = self.tickets.at(usize::from(!gathers));
        let longest = operations.iter().map(|operation| operation.bytes as usize).max();
        let longest = longest.unwrap_or(0);
        let fragments = longest.div_ceil(FRAGMENT_BYTES).clamp(1, FRAGMENTS);
        let mut at = [MessageOperation::default(); OPERATIONS];
        at[..operations.len()].copy_from_slice(operations);
        let threads =
            longest.div_ceil(MOVED_BYTES).next_multiple_of(WARP).clamp(WARP, BLOCK as usize);
        let grid = [fragments as u32, operations.len() as u32, 1];
        let shape = LaunchShape { grid, ..LaunchShape::new(1, threads as u32) };
        let arguments = (self.access(), ticket, MessageOperations { at });
        let launch = Launch::new::<f64>(kernels::exchange_messages, shape, arguments);
        self.windows.device.ask(GRANTED, Request::Launch(launch))
    }
}

impl Communicator for PeerCommunicator {
    fn all_gather(&self, from: Address, to: Address, bytes: usize) -> Result<()> {
        let values = bytes / WORD_BYTES;
        let by_words = bytes.is_multiple_of(WORD_BYTES) && (1..=GATHERED_VALUES).contains(&values);
        if let Some(access) = self.peer_access().filter(|_| by_words) {
            let shape = LaunchShape::new(1, GATHER_THREADS as u32);
            let (from, to) = (Pointer::<u64>::to(from), Pointer::<u64>::to(to));
            let arguments = (access, values as u32, from, to);
            let launch = Launch::new::<f64>(kernels::gather_words, shape, arguments);
            return self.windows.device.ask(GRANTED, Request::Launch(launch));
        }
        let with = |kind, rank, at| operation(kind, GATHERING, RankMessage { rank, at, bytes });
        let ranks = 0..self.windows.transport.ranks;
        let sends: Vec<_> = ranks.clone().map(|rank| with(SEND, rank, from)).collect();
        let place = |rank: usize| to + (rank * bytes) as Address;
        let receives: Vec<_> = ranks.map(|rank| with(RECEIVE, rank, place(rank))).collect();
        self.perform(&sends, &receives)
    }

    fn start_exchange(&self, sent: &[RankMessage], received: &[RankMessage]) -> Result<()> {
        let (sends, receives) = (operations(SEND, sent), operations(RECEIVE, received));
        self.windows.device.fork(&mut || self.perform(&sends, &receives))
    }

    fn finish_exchange(&self) -> Result<()> {
        self.windows.device.join()
    }

    fn peer_access(&self) -> Option<PeerAccess> {
        (self.windows.transport.ranks <= GATHERING_RANKS).then(|| self.access())
    }
}

impl Drop for PeerCommunicator {
    fn drop(&mut self) {
        // No kernel uses the words once all work is done, or the abort flag has ended it.
        let _ = self.windows.device.synchronise();
        self.windows.transport.abort_flag.unregister(&self.words);
    }
}

/// Words of a window that is opened for a trial: as many as the driver gives a block of its own for.
const TRIAL_WORDS: usize = 1 << 18;

/// The window of a rank, and where it finds those of the others.
struct Windows {
    /// Address of the window of each rank, by rank.
    all: Vec<Address>,
    rank: usize,
    device: Arc<dyn Device>,
    transport: Arc<HostTransport>,
    /// The own window of a process, and the mapped ones of the others.
    own: Option<Buffer<u64>>,
    mapped: Vec<Mapped>,
}

impl Windows {
    /// A window of this many words, zeros at first, on every rank; none on all of them where one cannot access
    /// that of another. All ranks must call.
    fn open(
        transport: Arc<HostTransport>,
        rank: usize,
        device: Arc<dyn Device>,
        words: usize,
    ) -> Result<Option<Self>> {
        let own = Buffer::zeros(&device, words)?;
        // Others write as soon as they know the address.
        device.synchronise()?;
        if transport.job.is_none() {
            let address = own.address().to_ne_bytes();
            // It outlives the last message of every rank.
            transport.windows.lock().push(own);
            let all = transport.gather(rank, &address)?;
            let all = all.iter().map(|bytes| bytemuck::pod_read_unaligned(bytes)).collect();
            return Ok(Some(Self { all, rank, device, transport, own: None, mapped: Vec::new() }));
        }
        let name = device.export(own.address())?.unwrap_or_default();
        let names = transport.gather(rank, &name)?;
        let (mut all, mut mapped) = (Vec::new(), Vec::new());
        for (other, name) in names.iter().enumerate() {
            if other == rank {
                all.push(own.address());
            } else if let Some(window) = device.import(name)? {
                all.push(window.0);
                mapped.push(window);
            }
        }
        let opened = u8::from(all.len() == names.len());
        let windows = Self { all, rank, device, transport, own: Some(own), mapped };
        let opened = windows.transport.gather(rank, &[opened])?;
        Ok(opened.iter().all(|opened| opened[..] == [1]).then_some(windows))
    }

    /// Waits until no rank accesses a window, and lets go of those of the others; then until all have.
    fn leave(&mut self) -> Result<()> {
        self.device.synchronise()?;
        self.transport.gather(self.rank, &[])?;
        self.mapped.clear();
        self.transport.gather(self.rank, &[]).map(drop)
    }
}

impl Drop for Windows {
    fn drop(&mut self) {
        if self.own.is_some() && self.leave().is_err() {
            // Kernels of a rank that has failed may still write there: the memory goes with the process.
            mem::forget((self.own.take(), mem::take(&mut self.mapped)));
        }
    }
}
