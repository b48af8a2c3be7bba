//! Several devices: every rank runs the solver on its band of columns, or on its rows of a matrix.
//!
//! All ranks do the same work in the same order. Each value that decides its course (inner product,
//! merit, count) is combined over all ranks in one order, so that every rank sees the same bits and takes
//! the same branches.

mod communicator;
mod host;
#[cfg(feature = "cuda")]
mod nccl;
mod peer;

pub use self::communicator::{Communicator, RankLink, RankMessage, Transport};
pub use self::host::{AbortFlag, HostTransport, RANK_TIMEOUT, run_ranks};
#[cfg(feature = "cuda")]
pub use self::nccl::CommunicatorId;
pub use self::peer::PeerCommunicator;

pub(super) use self::communicator::{Halo, PERIODIC_ROW, RankContext, edges};
use self::host::HostCommunicator;
#[cfg(feature = "cuda")]
use self::nccl::NcclCommunicator;
#[cfg(feature = "cuda")]
pub(super) use self::nccl::{NcclRank, present as nccl_present};
use crate::backend::cuda::device::{Device, WatchedDevice};
use crate::backend::cuda::launch::Result;
use std::sync::Arc;

#[cfg(not(feature = "cuda"))]
pub(super) type NcclRank = std::convert::Infallible;

/// Connects a rank, whose messages are sent by `transport`, by NCCL where that is given. All ranks must call.
pub fn connect(
    transport: Transport,
    (host, rank): (Arc<HostTransport>, usize),
    mut device: Arc<dyn Device>,
    nccl: Option<NcclRank>,
) -> Result<RankLink> {
    let communicator: Box<dyn Communicator> = match (transport, nccl) {
        (Transport::PeerMemory, _) => {
            device = Arc::new(WatchedDevice::new(device, host.abort_flag.clone()));
            Box::new(PeerCommunicator::join(host, rank, device.clone())?)
        }
        #[cfg(feature = "cuda")]
        (_, Some((gpu, id))) => Box::new(NcclCommunicator::join(host, rank, gpu, id)?),
        _ => Box::new(HostCommunicator::new(host, rank, device.clone())),
    };
    Ok(RankLink { rank, transport, device, communicator })
}
