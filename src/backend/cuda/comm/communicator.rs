//! Communication between ranks: messages, all-gathers, and the exchange of halos.

use crate::backend::BadPivot;
use crate::backend::bands::Bands;
use crate::backend::cuda::device::{Address, Buffer, Device};
use crate::backend::cuda::launch::constants::{
    COLUMN_POINTS, EDGE_EAST, EDGE_PERIODIC, EDGE_WEST, PHASE_RECEIVE, PHASE_SEND, RANK_VALUES,
};
use crate::backend::cuda::launch::shared::{HaloColumns, Pointer};
use crate::backend::cuda::launch::{Argument, PeerAccess, Result};
use std::sync::{Arc, Mutex, PoisonError};

/// This rank's band, and its communicator.
pub(crate) struct RankContext {
    pub(crate) communicator: Box<dyn Communicator>,
    pub(crate) bands: Bands,
    own: Mutex<Buffer<u64>>,
    all: Buffer<u64>,
}

impl RankContext {
    /// The context of the communicator's rank, whose columns are those of `bands`.
    pub(crate) fn new(
        device: &Arc<dyn Device>,
        communicator: Box<dyn Communicator>,
        bands: Bands,
    ) -> Result<Self> {
        let ranks = communicator.size();
        Ok(Self {
            communicator,
            bands,
            own: Mutex::new(Buffer::zeros(device, RANK_VALUES)?),
            all: Buffer::zeros(device, ranks * RANK_VALUES)?,
        })
    }

    pub(crate) fn rank(&self) -> usize {
        self.communicator.rank()
    }

    pub(crate) fn size(&self) -> usize {
        self.communicator.size()
    }

    pub(crate) fn first(&self) -> usize {
        self.bands.of(self.rank()).start
    }

    /// Whether there are bands before and after this one.
    pub(crate) fn neighbours(&self) -> [bool; 2] {
        self.bands.neighbours(self.rank())
    }

    pub(crate) fn edges(&self) -> u32 {
        edges(self.neighbours())
    }

    /// Values in device memory, gathered from all ranks: those of rank r at r · [`RANK_VALUES`] of
    /// the buffer returned.
    pub(crate) fn gather(&self, values: &Buffer<f64>, from: usize) -> Result<&Buffer<u64>> {
        let bytes = RANK_VALUES * size_of::<f64>();
        self.communicator.all_gather(values.address_of(from), self.all.address(), bytes)?;
        Ok(&self.all)
    }

    /// The first `K` of the values at the start of `values`, by rank.
    pub(crate) fn gathered<const K: usize>(&self, values: &Buffer<f64>) -> Result<Vec<[f64; K]>> {
        self.gather(values, 0)?;
        let host = self.all.to_host()?;
        Ok(host
            .chunks(RANK_VALUES)
            .map(|rank| std::array::from_fn(|k| f64::from_bits(rank[k])))
            .collect())
    }

    /// A number of each rank, by rank.
    pub(crate) fn numbers(&self, own: u64) -> Result<Vec<u64>> {
        Ok(self.pairs([own, 0])?.into_iter().map(|[number, _]| number).collect())
    }

    /// Two numbers of each rank, by rank.
    fn pairs(&self, own: [u64; 2]) -> Result<Vec<[u64; 2]>> {
        let workspace = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        workspace.upload_part(&own)?;
        let bytes = RANK_VALUES * size_of::<u64>();
        self.communicator.all_gather(workspace.address(), self.all.address(), bytes)?;
        Ok(self.all.to_host()?.chunks(RANK_VALUES).map(|rank| [rank[0], rank[1]]).collect())
    }

    /// The first of the bad pivots that the ranks found in factors of their own rows, as a row of the
    /// whole matrix.
    pub(crate) fn first_pivot(&self, own: Option<BadPivot>) -> Result<Option<BadPivot>> {
        let found = own.map(|bad| [(self.first() + bad.row) as u64, bad.value.to_bits()]);
        let all = self.pairs(found.unwrap_or([u64::MAX, 0]))?;
        let first = all.into_iter().find(|[row, _]| *row != u64::MAX);
        Ok(first.map(|[row, value]| BadPivot { row: row as usize, value: f64::from_bits(value) }))
    }

    /// The first of the indices that the ranks found in their bands, as an index of the whole grid,
    /// each of whose points has `each` of them.
    pub(crate) fn first_of_all(&self, own: Option<usize>, each: usize) -> Result<Option<usize>> {
        let (columns, whole) = (self.bands.of(self.rank()), each * self.bands.columns());
        let band = each * columns.len();
        let place = own.map(|k| k / band * whole + each * columns.start + k % band);
        let all = self.numbers(place.map_or(u64::MAX, |k| k as u64))?;
        Ok(all.into_iter().min().filter(|k| *k != u64::MAX).map(|k| k as usize))
    }
}

/// The edges of a row with such neighbours.
pub(crate) fn edges([before, after]: [bool; 2]) -> u32 {
    (if before { EDGE_WEST } else { 0 }) | (if after { EDGE_EAST } else { 0 })
}

/// Edges of a row whose first and last points are neighbours.
pub(crate) const PERIODIC_ROW: u32 = EDGE_WEST | EDGE_EAST | EDGE_PERIODIC;

/// Device memory that is sent to another rank, or that is received from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message {
    /// The other rank.
    pub rank: usize,
    /// Address of the first byte.
    pub at: Address,
    /// Length.
    pub bytes: usize,
}

/// One rank's communication with the others. Calls are part of the work of the rank's device, in its
/// order, and every rank makes the same calls.
///
/// Nothing else in the backend knows where the other ranks run: in threads of one process here, in
/// processes of several hosts if a launcher supplies number, size and the communicator's name.
pub trait Communicator: Send + Sync {
    /// Number of this rank.
    fn rank(&self) -> usize;

    /// Number of ranks.
    fn size(&self) -> usize;

    /// Place r of `to` ← `bytes` bytes at `from` of rank r, for all ranks.
    fn all_gather(&self, from: Address, to: Address, bytes: usize) -> Result<()>;

    /// Begins to send and to receive. What one rank sends to another the other receives in the same
    /// call; two messages between the same two ranks are received in the order in which they are sent. Work
    /// that is asked of the device meanwhile must not access this memory.
    fn start_exchange(&self, sent: &[Message], received: &[Message]) -> Result<()>;

    /// Work queued later finds what was received.
    fn finish_exchange(&self) -> Result<()>;

    /// How kernels access the other ranks, if they can do an all-reduce by themselves.
    fn peer_access(&self) -> Option<PeerAccess> {
        None
    }

    /// Whether these calls can be part of a recording of the device.
    fn recorded(&self) -> bool;
}

/// Memory for what is sent and received: a piece for the side before the band, one for the side after.
pub(crate) struct Halo<T> {
    send: Buffer<T>,
    receive: Buffer<T>,
    side: usize,
}

impl<T: bytemuck::Pod> Halo<T> {
    /// For `side` values on each side.
    pub(crate) fn new(device: &Arc<dyn Device>, side: usize) -> Result<Self> {
        let zeros = || Buffer::zeros(device, 2 * side);
        Ok(Self { send: zeros()?, receive: zeros()?, side })
    }

    pub(crate) fn sent(&self) -> Argument {
        (&self.send).into()
    }

    pub(crate) fn received(&self) -> Argument {
        (&self.receive).into()
    }

    /// Begins the exchange with the neighbours there are.
    pub(crate) fn start(&self, ranks: &RankContext, neighbours: [bool; 2]) -> Result<()> {
        // Two ranks of a periodic grid are neighbours on both sides: what one sends to the rank before it
        // the other receives from the rank after it.
        let [before, after] = self.messages(&self.send, ranks, neighbours);
        let sent: Vec<Message> = before.into_iter().chain(after).collect();
        let [before, after] = self.messages(&self.receive, ranks, neighbours);
        let received: Vec<Message> = after.into_iter().chain(before).collect();
        ranks.communicator.start_exchange(&sent, &received)
    }

    /// Exchanges columns of two values per point by a kernel of `kernels/halo.cuh`, whose last argument
    /// `launch` is given: one launch where kernels access peer memory, else one that packs what is sent
    /// and one that unpacks what was received.
    pub(crate) fn exchange_columns(
        &self,
        ranks: &RankContext,
        neighbours: [bool; 2],
        launch: impl Fn(HaloColumns) -> Result<()>,
    ) -> Result<()> {
        let access = self.access(ranks);
        if access.is_some() {
            return launch(self.columns(access, PHASE_SEND | PHASE_RECEIVE));
        }
        launch(self.columns(None, PHASE_SEND))?;
        self.exchange(ranks, neighbours)?;
        launch(self.columns(None, PHASE_RECEIVE))
    }

    /// Begins such an exchange on the side stream; [`Self::received`] will hold what is received.
    pub(crate) fn start_columns(
        &self,
        device: &dyn Device,
        ranks: &RankContext,
        neighbours: [bool; 2],
        launch: impl Fn(HaloColumns) -> Result<()>,
    ) -> Result<()> {
        let access = self.access(ranks);
        if access.is_some() {
            return device.fork(&mut || launch(self.columns(access, PHASE_SEND | PHASE_RECEIVE)));
        }
        device.fork(&mut || launch(self.columns(None, PHASE_SEND)))?;
        self.start(ranks, neighbours)
    }

    /// Access to the neighbours, if a column fits their buffers.
    fn access(&self, ranks: &RankContext) -> Option<PeerAccess> {
        ranks.communicator.peer_access().filter(|_| self.side <= 2 * COLUMN_POINTS)
    }

    /// The last argument of a kernel of `kernels/halo.cuh`.
    fn columns(&self, access: Option<PeerAccess>, phase: u64) -> HaloColumns {
        HaloColumns {
            access: access.unwrap_or(PeerAccess::NONE),
            phase,
            sent: Pointer::to(self.send.address()),
            received: Pointer::to(self.receive.address()),
        }
    }

    /// What was received from the band after this one.
    pub(crate) fn received_after(&self) -> Argument {
        self.receive.address_of(self.side).into()
    }

    pub(crate) fn exchange(&self, ranks: &RankContext, neighbours: [bool; 2]) -> Result<()> {
        self.start(ranks, neighbours)?;
        ranks.communicator.finish_exchange()
    }

    /// The pieces of a buffer for the rank before this one and the rank after it, the last before the first.
    fn messages(
        &self,
        buffer: &Buffer<T>,
        ranks: &RankContext,
        neighbours: [bool; 2],
    ) -> [Option<Message>; 2] {
        let (rank, ranks) = (ranks.rank(), ranks.size());
        let beside = [(rank + ranks - 1) % ranks, (rank + 1) % ranks];
        [0, 1].map(|k| {
            let (at, bytes) = (buffer.address_of(k * self.side), self.side * size_of::<T>());
            neighbours[k].then_some(Message { rank: beside[k], at, bytes })
        })
    }
}
