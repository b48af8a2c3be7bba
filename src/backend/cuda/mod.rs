//! The CUDA backend: the kernels of `kernels/` and what launches them.
//!
//! Everything is written on the trait `Device`, which NVIDIA's driver implements (feature `cuda`); tests
//! implement it on the CPU, so that every kernel and every launch runs where there is no GPU.
//!
//! Each folder uses only those above it in this list: `launch`, `device`, `group`, `comm`, then the backend
//! itself, and on it `algebra`, `grid`, `csr` and `precond`.

// Hidden items are for the tests and measurements of this workspace, and for what the public traits name.
#[doc(hidden)]
pub mod device;
#[doc(hidden)]
pub mod launch;

mod algebra;
mod backend;
mod comm;
mod csr;
mod grid;
mod group;
mod precond;
mod ranks;

pub use self::backend::CudaBackend;
pub use self::comm::Transport;
#[cfg(feature = "cuda")]
pub use self::device::driver;
#[cfg(feature = "cuda")]
pub use self::launch::library::library_folders;
#[cfg(feature = "cuda")]
pub use self::ranks::Gpus;
pub use self::ranks::JobRank;

#[cfg(feature = "cuda")]
#[doc(hidden)]
pub use self::comm::CommunicatorId;
#[doc(hidden)]
pub use self::{
    algebra::{CudaMatrix, CudaVector},
    backend::CudaRecording,
    comm::{
        AbortFlag, Communicator, HostTransport, PeerCommunicator, RANK_TIMEOUT, RankLink,
        RankMessage, connect, run_ranks,
    },
    csr::{CudaCsr, RowChunks, border_lanes, level_launches, row_lanes},
    device::{Buffer, Device, Watch, WatchedDevice},
    grid::{CudaElliptic, CudaGrid},
    group::{Group, GroupMember},
    launch::PeerAccess,
    precond::{CudaLevel, MemoryEstimate, PreconditionerStorage},
    ranks::{RankWork, Ranks},
};
