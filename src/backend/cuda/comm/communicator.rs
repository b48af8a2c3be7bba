//! Communication between ranks: messages, all-gathers, and the exchange of halos.

use crate::backend::BadPivot;
use crate::backend::bands::Bands;
use crate::backend::cuda::device::{Address, Buffer, Device};
use crate::backend::cuda::launch::constants::{
    COLUMN_POINTS, EDGE_EAST, EDGE_PERIODIC, EDGE_WEST, PHASE_RECEIVE, PHASE_SEND, RANK_VALUES,
};
use crate::backend::cuda::launch::shared::{HaloColumns, Pointer};
use crate::backend::cuda::launch::{PeerAccess, Result};
use bytemuck::Pod;
use parking_lot::Mutex;
use std::ops::{Deref, Range};
use std::sync::Arc;

/// This rank's band, and its communicator.
pub(crate) struct RankContext {
    pub(crate) communicator: Box<dyn Communicator>,
    pub(crate) transport: Transport,
    pub(crate) bands: Bands,
    pub(crate) rank: usize,
    pub(crate) size: usize,
    /// Whether there are bands before and after this one.
    pub(crate) neighbours: [bool; 2],
    own: Mutex<Buffer<u64>>,
    all: Buffer<u64>,
}

impl RankContext {
    /// The context of a rank, which has its columns of `bands`.
    pub(crate) fn new(link: RankLink, bands: Bands) -> Result<Self> {
        let RankLink { rank, transport, device, communicator } = link;
        let own = Mutex::new(Buffer::zeros(&device, RANK_VALUES)?);
        let size = bands.ranks();
        let (neighbours, all) =
            (bands.neighbours(rank), Buffer::zeros(&device, size * RANK_VALUES)?);
        Ok(Self { communicator, transport, bands, rank, size, neighbours, own, all })
    }

    /// Launches queued later find the columns that neighbours have sent.
    pub(crate) fn finish_columns(&self, arriving: HaloColumns) -> Result<()> {
        if arriving.are_direct() { Ok(()) } else { self.communicator.finish_exchange() }
    }

    /// Values in device memory, gathered from all ranks: those of rank r at r · [`RANK_VALUES`] of
    /// what is returned.
    pub(crate) fn gather<T: Pod>(&self, values: &Buffer<T>, from: usize) -> Result<Pointer<f64>> {
        let bytes = RANK_VALUES * size_of::<T>();
        self.communicator.all_gather(values.address_of(from), self.all.address(), bytes)?;
        Ok(Pointer::to(self.all.address()))
    }

    /// The first `K` of what was gathered last from each rank, by rank.
    fn by_rank<const K: usize>(&self) -> Result<Vec<[u64; K]>> {
        let host = self.all.to_host()?;
        Ok(host.chunks(RANK_VALUES).map(|rank| std::array::from_fn(|k| rank[k])).collect())
    }

    /// The first `K` of the values at the start of `values`, by rank.
    pub(crate) fn gathered<const K: usize>(&self, values: &Buffer<f64>) -> Result<Vec<[f64; K]>> {
        self.gather(values, 0)?;
        Ok(self.by_rank()?.into_iter().map(|rank: [_; K]| rank.map(f64::from_bits)).collect())
    }

    /// A number of each rank, by rank.
    pub(crate) fn numbers(&self, own: u64) -> Result<Vec<u64>> {
        Ok(self.pairs([own, 0])?.into_iter().map(|[number, _]| number).collect())
    }

    /// A range of each rank, by rank.
    pub(crate) fn ranges(&self, own: &Range<usize>) -> Result<Vec<Range<usize>>> {
        let all = self.pairs([own.start as u64, own.end as u64])?;
        Ok(all.into_iter().map(|[start, end]| start as usize..end as usize).collect())
    }

    /// Two numbers of each rank, by rank.
    fn pairs(&self, own: [u64; 2]) -> Result<Vec<[u64; 2]>> {
        let workspace = self.own.lock();
        workspace.upload_part(&own)?;
        self.gather(&workspace, 0)?;
        self.by_rank()
    }

    /// The first of the bad pivots that the ranks found in factors of their own rows, as a row of the
    /// whole matrix.
    pub(crate) fn first_pivot(&self, own: Option<BadPivot>) -> Result<Option<BadPivot>> {
        let first = self.bands.of(self.rank).start;
        let found = own.map(|bad| [(first + bad.row) as u64, bad.value.to_bits()]);
        let all = self.pairs(found.unwrap_or([u64::MAX, 0]))?;
        let first = all.into_iter().find(|[row, _]| *row != u64::MAX);
        Ok(first.map(|[row, value]| BadPivot { row: row as usize, value: f64::from_bits(value) }))
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
pub struct RankMessage {
    /// The other rank.
    pub rank: usize,
    /// Address of the first byte.
    pub at: Address,
    /// Length.
    pub bytes: usize,
}

impl RankMessage {
    /// Some values of a buffer that another rank receives, or sends.
    pub(crate) fn of<T: Pod>(rank: usize, buffer: &Buffer<T>, values: Range<usize>) -> Self {
        Self { rank, at: buffer.address_of(values.start), bytes: values.len() * size_of::<T>() }
    }
}

/// The transport of messages between GPUs, and their place in a recording of the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// Kernels write into the memory of other GPUs: messages are recorded as launches of the device.
    PeerMemory,
    /// NCCL: the driver captures them as work of another library.
    Nccl,
    /// Through the host's memory: the host takes part in them, and they cannot be recorded.
    Host,
}

impl Transport {
    /// The fastest one, where kernels of all ranks access the memory of the others, or NCCL is there.
    #[cfg(feature = "cuda")]
    pub(crate) fn fastest(peers: bool, nccl: bool) -> Self {
        match (peers, nccl) {
            (true, _) => Self::PeerMemory,
            (_, true) => Self::Nccl,
            _ => Self::Host,
        }
    }
}

/// One rank's communication with the others. Calls are part of the work of the rank's device, in its
/// order, and every rank makes the same calls.
///
/// Nothing else in the backend knows whether the other ranks are threads of this process, or processes that a launcher
/// has started on one host or several.
pub trait Communicator: Send + Sync {
    /// Place r of `to` ← `bytes` bytes at `from` of rank r, for all ranks.
    fn all_gather(&self, from: Address, to: Address, bytes: usize) -> Result<()>;

    /// Begins to send and to receive. A message is received in the call in which the other rank sends
    /// it; two messages between the same two ranks are received in the order in which they are sent. Work
    /// that is asked of the device meanwhile must not access this memory.
    fn start_exchange(&self, sent: &[RankMessage], received: &[RankMessage]) -> Result<()>;

    /// Work queued later finds what was received.
    fn finish_exchange(&self) -> Result<()>;

    /// Access of kernels to the other ranks, if they can do an all-reduce by themselves.
    fn peer_access(&self) -> Option<PeerAccess> {
        None
    }
}

/// A rank: its device, and its communication with the others.
pub struct RankLink {
    /// Its number.
    pub rank: usize,
    /// The transport of messages.
    pub transport: Transport,
    /// Watched where kernels access the memory of other ranks.
    pub device: Arc<dyn Device>,
    pub(super) communicator: Box<dyn Communicator>,
}

impl Deref for RankLink {
    type Target = dyn Communicator;

    fn deref(&self) -> &Self::Target {
        &*self.communicator
    }
}

/// Memory for what is sent and received: a piece for the side before the band, one for the side after.
pub(crate) struct Halo<T> {
    pub(crate) sent: Buffer<T>,
    pub(crate) received: Buffer<T>,
    side: usize,
}

impl<T: Pod> Halo<T> {
    /// For `side` values on each side.
    pub(crate) fn new(device: &Arc<dyn Device>, side: usize) -> Result<Self> {
        let zeros = || Buffer::zeros(device, 2 * side);
        Ok(Self { sent: zeros()?, received: zeros()?, side })
    }

    /// Begins the exchange with the neighbours there are.
    fn start(&self, ranks: &RankContext, neighbours: [bool; 2]) -> Result<()> {
        let (rank, size) = (ranks.rank, ranks.size);
        let others = [(rank + size - 1) % size, (rank + 1) % size];
        let messages = |buffer: &Buffer<T>, sides: [usize; 2]| -> Vec<RankMessage> {
            let message = |side: usize| {
                RankMessage::of(others[side], buffer, side * self.side..(side + 1) * self.side)
            };
            sides.into_iter().filter(|&side| neighbours[side]).map(message).collect()
        };
        // Two ranks of a periodic grid are neighbours on both sides: what one sends to the rank before it
        // the other receives from the rank after it.
        let (sent, received) = (messages(&self.sent, [0, 1]), messages(&self.received, [1, 0]));
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
        let columns = self.columns(ranks);
        if columns.are_direct() {
            return launch(HaloColumns { phase: PHASE_SEND | PHASE_RECEIVE, ..columns });
        }
        let arriving = self.send_columns(ranks, neighbours, &launch)?;
        ranks.finish_columns(arriving)?;
        launch(arriving)
    }

    /// Sends columns by such a kernel. Returns the last argument of a later launch that receives those of the
    /// neighbours after [`RankContext::finish_columns`]; no launch between both exchanges other columns.
    pub(crate) fn send_columns(
        &self,
        ranks: &RankContext,
        neighbours: [bool; 2],
        launch: impl FnOnce(HaloColumns) -> Result<()>,
    ) -> Result<HaloColumns> {
        let columns = self.columns(ranks);
        launch(HaloColumns { phase: PHASE_SEND, ..columns })?;
        if !columns.are_direct() {
            self.start(ranks, neighbours)?;
        }
        Ok(HaloColumns { phase: PHASE_RECEIVE, ..columns })
    }

    /// The columns as kernels take them: direct where kernels access the neighbours, and a column fits their buffers.
    fn columns(&self, ranks: &RankContext) -> HaloColumns {
        let fits = self.side <= 2 * COLUMN_POINTS;
        let access = ranks.communicator.peer_access().filter(|_| fits);
        HaloColumns {
            access: access.unwrap_or_default(),
            phase: 0,
            sent: Pointer::to(self.sent.address()),
            received: Pointer::to(self.received.address()),
        }
    }
}
