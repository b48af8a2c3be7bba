//! Trouble with the device that should do the work.

use super::NarrowBands;
use crate::memory::{self, NotEnoughMemory};
use crate::ranks::RanksError;
use crate::sparse::TooFewRows;
use std::any::Any;
use std::time::Duration;

/// What the operations of a backend return.
pub type Result<T, E = DeviceError> = std::result::Result<T, E>;

/// Trouble with the device that should do the work. The CPU backend reports none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message says what each field is")]
pub enum DeviceError {
    /// The named device is not part of this build.
    #[error("this build of gridgen has no {backend} backend")]
    NotBuilt { backend: &'static str },
    /// NVIDIA's driver is not installed.
    #[error("no NVIDIA driver was found")]
    NoDriver,
    /// The driver knows no GPU.
    #[error("the NVIDIA driver finds no GPU")]
    NoGpu,
    /// A GPU was named that this machine does not have.
    #[error("there is no GPU {ordinal}: this machine has {count}")]
    NoSuchGpu { ordinal: usize, count: usize },
    /// More GPUs than the grid has bands for.
    #[error(transparent)]
    NarrowBands(#[from] NarrowBands),
    /// More GPUs than the matrix has rows for.
    #[error(transparent)]
    TooFewRows(#[from] TooFewRows),
    /// The run-time compiler is not installed.
    #[error("NVRTC, NVIDIA's run-time compiler, was not found")]
    NoCompiler,
    /// A library to compare with is not installed.
    #[error("{name} was not found")]
    NoLibrary { name: &'static str },
    /// NCCL is not installed.
    #[error("NCCL, NVIDIA's library for messages between GPUs, was not found")]
    NoNccl,
    /// The driver cannot run what the compiler makes.
    #[error("the NVIDIA driver is for CUDA {}.{}, older than NVRTC {}.{}",
        driver.0, driver.1, compiler.0, compiler.1)]
    OldDriver { driver: (i32, i32), compiler: (i32, i32) },
    /// The driver is older than what gridgen asks of it.
    #[error("the NVIDIA driver is for CUDA {}.{}: gridgen needs one for {}.{} or newer",
        driver.0, driver.1, oldest.0, oldest.1)]
    AncientDriver { driver: (i32, i32), oldest: (i32, i32) },
    /// The driver lacks a function that gridgen calls.
    #[error("the NVIDIA driver has no {function}")]
    LackingDriver { function: String },
    /// The driver's library and its kernel module do not belong together.
    #[error("the NVIDIA driver does not start: {reason}")]
    DriverMismatch { reason: String },
    /// NVRTC refused a file of kernels.
    #[error("NVRTC could not compile {file}: {reason}")]
    Compile { file: &'static str, reason: String },
    /// A thread of the backend panicked.
    #[error("{work} ended in a panic: {reason}")]
    Panic { work: &'static str, reason: String },
    /// The GPU's memory is too small.
    #[error("{device} has no room: {} asked, {} free", bytes(*asked), bytes(*free))]
    OutOfMemory { device: String, asked: usize, free: usize },
    /// The driver reported an error: of a kernel, or that the GPU is lost.
    #[error("{device}: {operation} failed: {reason}")]
    Call { device: String, operation: &'static str, reason: String },
    /// A matrix with more entries than 32 bits count.
    #[error("a matrix of {entries} entries is too large: at most {} fit", u32::MAX)]
    TooManyEntries { entries: usize },
    /// A download was waited for after too many others had begun.
    #[error("more than {most} downloads were asked for before the first of them was waited for")]
    TooManyDownloads { most: usize },
    /// The machine's memory is too small.
    #[error(transparent)]
    Memory(#[from] NotEnoughMemory),
    /// Incomplete factors on the CPU with more entries than 32 bits number.
    #[error("incomplete factors of {rows} rows are too large for the CPU: at most {most} fit")]
    FactorsTooLarge { rows: usize, most: usize },
    /// Factors that matrices in ELL format do not have.
    #[error("there are no {what} of a matrix in ELL format")]
    NotInEll { what: &'static str },
    /// An operand of another length than the operation has.
    #[error("a vector, matrix or buffer of {there} values stands where {asked} are needed")]
    Length { there: usize, asked: usize },
    /// Work that is not launches, in a recording.
    #[error("uploads, downloads and copies of parts of words cannot be recorded")]
    NotRecorded,
    /// A recording of another device was replayed.
    #[error("a recording belongs to another device")]
    ForeignRecording,
    /// Another rank failed, whose error is the one to look at.
    #[error("another GPU of this run failed")]
    OtherRank,
    /// A rank waited for another one that has gone silent. Ranks count from 0 in the order of the GPUs of
    /// the run; `other` is none if it is not known.
    #[error("rank {rank} waited {} s for {}, and nothing came", waited.as_secs_f64(), rank_of(*other))]
    RankTimeout { rank: usize, other: Option<usize>, waited: Duration },
    /// Processes that share a grid without a GPU: the CPU computes within one process.
    #[error(
        "{ranks} ranks share one grid, which needs a GPU for each: the CPU computes within one process"
    )]
    RanksOnCpu { ranks: usize },
    /// Trouble between the processes of a run.
    #[error(transparent)]
    Ranks(#[from] RanksError),
    /// The worker threads could not be started.
    #[error("{threads} worker threads could not be started: {reason}")]
    Threads { threads: usize, reason: String },
}

impl DeviceError {
    /// The error of a thread that was to do some work and panicked.
    pub(crate) fn panic(work: &'static str, payload: &(dyn Any + Send)) -> Self {
        let said = payload.downcast_ref::<&str>().copied();
        let said = said.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        Self::Panic { work, reason: said.unwrap_or("it says no more").to_owned() }
    }

    /// What the user can do about it.
    pub fn hint(&self) -> &str {
        match self {
            Self::NotBuilt { .. } => {
                "run with --backend cpu, or --backend auto to use what is there"
            }
            Self::Threads { .. } => "give a smaller number with --threads",
            Self::NoDriver => {
                "install NVIDIA's driver, or run with --backend cpu; `gridgen devices` lists what is \
                 found"
            }
            Self::NoGpu | Self::NoSuchGpu { .. } => {
                "`gridgen devices` lists the GPUs; --backend cpu needs none"
            }
            Self::NarrowBands(_) => "name fewer GPUs with --devices, or make grid.ni larger",
            Self::TooFewRows(_) => "name fewer GPUs with --devices",
            Self::NoCompiler => {
                "install CUDA's NVRTC library (libnvrtc) and put its folder into LD_LIBRARY_PATH, or \
                 run with --backend cpu"
            }
            Self::TooManyEntries { .. } => "run with --backend cpu",
            Self::Memory(_) => "make the grid smaller, or use a machine with more memory",
            Self::FactorsTooLarge { .. } => {
                "set linear.preconditioner to \"jacobi\", choose fewer points, or use several GPUs"
            }
            Self::NoLibrary { .. } => "put its folder into LD_LIBRARY_PATH",
            Self::NoNccl => "install libnccl2 and put its folder into LD_LIBRARY_PATH",
            Self::OldDriver { .. } => {
                "install a newer driver, or an NVRTC of the driver's CUDA version, or run with \
                 --backend cpu"
            }
            Self::AncientDriver { .. } | Self::LackingDriver { .. } => {
                "install a newer driver, or run with --backend cpu"
            }
            Self::DriverMismatch { .. } => {
                "the driver was changed while it was in use, or a container brings another's library: \
                 restart the machine, or install one driver; --backend cpu needs none"
            }
            Self::Compile { .. }
            | Self::Panic { .. }
            | Self::TooManyDownloads { .. }
            | Self::NotInEll { .. }
            | Self::NotRecorded
            | Self::ForeignRecording
            | Self::OtherRank => {
                "this is a fault of gridgen: please report it with this message; --backend cpu works \
                 without kernels"
            }
            Self::Length { .. } => {
                "give the operation vectors, matrices and levels of one grid or system; if gridgen itself \
                 chose them, please report it with this message"
            }
            Self::RankTimeout { .. } => {
                "ranks are numbered from 0 in the order of --devices: look at the driver's log (dmesg, \
                 nvidia-smi) for that GPU, or run on others"
            }
            Self::RanksOnCpu { .. } => {
                "start one process, use --ranks threads, or give the ranks many cases with gridgen run"
            }
            Self::Ranks(error) => error.hint(),
            Self::OutOfMemory { .. } => {
                "make the grid smaller, take more GPUs by --devices, or run with --backend cpu"
            }
            Self::Call { .. } => {
                "run again; if it fails again, look at the driver's log (dmesg, nvidia-smi) or run \
                 with --backend cpu"
            }
        }
    }
}

/// Refuses `there` values where `asked` are needed.
pub(crate) fn check_length(there: usize, asked: usize) -> Result<()> {
    if there == asked { Ok(()) } else { Err(DeviceError::Length { there, asked }) }
}

/// Refuses operands that do not all have `asked` values.
pub(crate) fn check_lengths<const N: usize>(asked: usize, all: [usize; N]) -> Result<()> {
    all.into_iter().try_for_each(|there| check_length(there, asked))
}

/// Refuses operands with fewer values.
pub(crate) fn check_room<const N: usize>(asked: usize, all: [usize; N]) -> Result<()> {
    check_lengths(asked, all.map(|there| there.min(asked)))
}

/// A rank for people.
fn rank_of(rank: Option<usize>) -> String {
    rank.map_or_else(|| "the others".to_owned(), |rank| format!("rank {rank}"))
}

/// A number of bytes for people.
fn bytes(n: usize) -> String {
    memory::shown(n as u64)
}
