//! Several devices: every rank runs the solver on its band of columns, or on its rows of a matrix.
//!
//! All ranks do the same work in the same order. Each value that decides its course (inner product,
//! merit, count) is combined over all ranks in one order, so that every rank sees the same bits and takes
//! the same branches.

mod abort_flag;
mod communicator;
mod host;
#[cfg(feature = "cuda")]
mod nccl;
mod peer;

pub use self::abort_flag::{AbortFlag, RANK_TIMEOUT, run_ranks};
pub use self::communicator::{Communicator, RankMessage, Transport};
pub use self::host::{HostCommunicator, HostTransport};
#[cfg(feature = "cuda")]
pub use self::nccl::{CommunicatorId, NcclCommunicator};
pub use self::peer::PeerCommunicator;

pub(super) use self::communicator::{Halo, PERIODIC_ROW, RankContext, edges};
#[cfg(feature = "cuda")]
pub(super) use self::nccl::{NcclRank, present as nccl_present};
#[cfg(not(feature = "cuda"))]
pub(super) type NcclRank = std::convert::Infallible;
