//! Halo exchange: the outer columns of a band are sent to its neighbours, and theirs received.

use super::communicator::Message;
use super::context::RankContext;
use crate::backend::DeviceError;
use crate::backend::cuda::device::{Buffer, Device};
use crate::backend::cuda::launch::shared::{
    COLUMN_POINTS, HaloColumns, PHASE_RECEIVE, PHASE_SEND, Pointer,
};
use crate::backend::cuda::launch::{Argument, PeerAccess};
use std::sync::Arc;

/// Memory for what is sent and received: a piece for the side before the band, one for the side after.
pub(crate) struct Halo<T> {
    send: Buffer<T>,
    receive: Buffer<T>,
    /// Values of a side.
    side: usize,
}

impl<T: bytemuck::Pod> Halo<T> {
    /// For `side` values on each side.
    pub(crate) fn new(device: &Arc<dyn Device>, side: usize) -> Result<Self, DeviceError> {
        let zeros = || Buffer::zeros(device, 2 * side);
        Ok(Self { send: zeros()?, receive: zeros()?, side })
    }

    /// Memory for what is to be sent.
    pub(crate) fn sent(&self) -> Argument {
        (&self.send).into()
    }

    /// What was received.
    pub(crate) fn received(&self) -> Argument {
        (&self.receive).into()
    }

    /// Begins the exchange with the neighbours there are.
    pub(crate) fn start(
        &self,
        ranks: &RankContext,
        neighbours: [bool; 2],
    ) -> Result<(), DeviceError> {
        // Two ranks of a periodic grid are neighbours on both sides: what one sends to the rank before it
        // the other receives from the rank after it.
        let [before, after] = self.messages(&self.send, ranks, neighbours);
        let sent: Vec<Message> = before.into_iter().chain(after).collect();
        let [before, after] = self.messages(&self.receive, ranks, neighbours);
        let received: Vec<Message> = after.into_iter().chain(before).collect();
        ranks.communicator().start_exchange(&sent, &received)
    }

    /// Exchanges columns of two values per point by a kernel of `kernels/halo.cuh`, whose last argument
    /// `launch` is given: one launch where kernels access peer memory, else one that packs what is sent
    /// and one that unpacks what was received.
    pub(crate) fn exchange_columns(
        &self,
        ranks: &RankContext,
        neighbours: [bool; 2],
        launch: impl Fn(HaloColumns) -> Result<(), DeviceError>,
    ) -> Result<(), DeviceError> {
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
        launch: impl Fn(HaloColumns) -> Result<(), DeviceError>,
    ) -> Result<(), DeviceError> {
        let access = self.access(ranks);
        if access.is_some() {
            return device.fork(&mut || launch(self.columns(access, PHASE_SEND | PHASE_RECEIVE)));
        }
        device.fork(&mut || launch(self.columns(None, PHASE_SEND)))?;
        self.start(ranks, neighbours)
    }

    /// Access to the neighbours, if a column fits their buffers.
    fn access(&self, ranks: &RankContext) -> Option<PeerAccess> {
        ranks.communicator().peer_access().filter(|_| self.side <= 2 * COLUMN_POINTS)
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

    /// A whole exchange.
    pub(crate) fn exchange(
        &self,
        ranks: &RankContext,
        neighbours: [bool; 2],
    ) -> Result<(), DeviceError> {
        self.start(ranks, neighbours)?;
        ranks.communicator().finish_exchange()
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
