//! The CUDA backend: the kernels of `kernels/` and what launches them.
//!
//! Everything is written on [`Device`], which NVIDIA's driver implements (feature `cuda`); tests
//! implement it on the CPU, so that every kernel and every launch runs where there is no GPU.
//!
//! Each folder uses only those above it in this list: [`launch`], [`device`], `comm`, then the backend
//! itself, and on it `algebra`, `grid`, `precond` and `csr`.

pub mod launch;

pub mod device;

mod comm;

mod backend;
mod recording;

mod algebra;
mod grid;
mod precond;

mod csr;
mod sparse;

#[cfg(feature = "cuda")]
mod gpus;

pub use self::algebra::{CudaMatrix, CudaVector};
pub use self::backend::CudaBackend;
pub use self::comm::{
    AbortFlag, Communicator, HostCommunicator, HostTransport, Message, PeerCommunicator,
    PeerWindows, RANK_TIMEOUT, run_ranks,
};
#[cfg(feature = "cuda")]
pub use self::comm::{CommunicatorId, NcclCommunicator, RankSetup};
pub use self::csr::{CudaCsr, ProductKernel};
#[cfg(feature = "cuda")]
pub use self::device::driver;
pub use self::device::{
    Buffer, Device, MemoryEstimate, PreconditionerStorage, Watch, WatchedDevice,
};
#[cfg(feature = "cuda")]
pub use self::gpus::{Gpus, Transport};
pub use self::grid::{CudaElliptic, CudaGrid};
pub use self::launch::PeerAccess;
pub use self::precond::CudaLevel;
pub use self::recording::CudaRecording;
