//! Trouble with the device that should do the work.

use super::NarrowBands;
use crate::memory::{self, NotEnoughMemory};
use crate::sparse::TooFewRows;
use std::any::Any;
use std::time::Duration;

/// Trouble with the device that should do the work. The CPU backend reports none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DeviceError {
    /// The device asked for is not part of this build.
    #[error("this build of gridgen has no {backend} backend")]
    NotBuilt {
        /// Name of the backend.
        backend: &'static str,
    },
    /// NVIDIA's driver is not installed.
    #[error("no NVIDIA driver was found")]
    NoDriver,
    /// The driver knows no GPU.
    #[error("the NVIDIA driver finds no GPU")]
    NoGpu,
    /// A GPU that is not there was asked for.
    #[error("there is no GPU {ordinal}: this machine has {count}")]
    NoSuchGpu {
        /// The number asked for.
        ordinal: usize,
        /// GPUs there are.
        count: usize,
    },
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
    NoLibrary {
        /// Name of the library.
        name: &'static str,
    },
    /// NCCL is not installed.
    #[error("NCCL, NVIDIA's library for messages between GPUs, was not found")]
    NoNccl,
    /// The driver cannot run what the compiler makes.
    #[error("the NVIDIA driver is for CUDA {}.{}, older than NVRTC {}.{}",
        driver.0, driver.1, compiler.0, compiler.1)]
    OldDriver {
        /// CUDA version of the driver.
        driver: (i32, i32),
        /// Version of NVRTC.
        compiler: (i32, i32),
    },
    /// The driver is older than what gridgen asks of it.
    #[error("the NVIDIA driver is for CUDA {}.{}: gridgen needs one for {}.{} or newer",
        driver.0, driver.1, oldest.0, oldest.1)]
    AncientDriver {
        /// CUDA version of the driver.
        driver: (i32, i32),
        /// The oldest that will do.
        oldest: (i32, i32),
    },
    /// The driver lacks a function that gridgen calls.
    #[error("the NVIDIA driver has no {function}")]
    LackingDriver {
        /// Name of the function.
        function: String,
    },
    /// The driver's library and its kernel module do not belong together.
    #[error("the NVIDIA driver does not start: {reason}")]
    DriverMismatch {
        /// What the driver said.
        reason: String,
    },
    /// NVRTC refused a file of kernels.
    #[error("NVRTC could not compile {file}: {reason}")]
    Compile {
        /// Name of the file.
        file: &'static str,
        /// What it said.
        reason: String,
    },
    /// A thread of the backend panicked.
    #[error("{work} ended in a panic: {reason}")]
    Panic {
        /// What it was to do.
        work: &'static str,
        /// What the panic said.
        reason: String,
    },
    /// The GPU's memory is too small.
    #[error("{device} has no room: {} asked, {} free", bytes(*asked), bytes(*free))]
    OutOfMemory {
        /// Name of the GPU.
        device: String,
        /// Bytes asked for.
        asked: usize,
        /// Bytes free.
        free: usize,
    },
    /// The driver reported an error: of a kernel, or that the GPU is lost.
    #[error("{device}: {operation} failed: {reason}")]
    Call {
        /// Name of the GPU.
        device: String,
        /// What was being done.
        operation: &'static str,
        /// What the driver said.
        reason: String,
    },
    /// A matrix with more entries than 32 bits count.
    #[error("a matrix of {entries} entries is too large: at most {} fit", u32::MAX)]
    TooManyEntries {
        /// Its entries.
        entries: usize,
    },
    /// A download was waited for after too many others had been asked for.
    #[error("more than {most} downloads were asked for before the first of them was waited for")]
    TooManyDownloads {
        /// Most that may be unfinished.
        most: usize,
    },
    /// The machine's memory is too small.
    #[error(transparent)]
    Memory(#[from] NotEnoughMemory),
    /// Incomplete factors on the CPU with more entries than 32 bits number.
    #[error("incomplete factors of {rows} rows are too large for the CPU: at most {most} fit")]
    FactorsTooLarge {
        /// Rows of the matrix.
        rows: usize,
        /// Rows that fit.
        most: usize,
    },
    /// Factors that matrices in ELL format do not have.
    #[error("there are no {what} of a matrix in ELL format")]
    NotInEll {
        /// What was asked for.
        what: &'static str,
    },
    /// A copy to or from a buffer of another length.
    #[error("a copy of {asked} values to or from a buffer of {there}")]
    Length {
        /// Values of the buffer.
        there: usize,
        /// Values that were to be copied.
        asked: usize,
    },
    /// A recording of another device was replayed.
    #[error("a recording belongs to another device")]
    ForeignRecording,
    /// Another rank failed, whose error is the one to look at.
    #[error("another GPU of this run failed")]
    OtherRank,
    /// A rank waited for another one that has gone silent.
    #[error("rank {rank} waited {} s for {}, and nothing came", waited.as_secs_f64(), rank_of(*other))]
    RankTimeout {
        /// The rank that waited, by its place among the GPUs of the run.
        rank: usize,
        /// The rank that it waited for; none if that is not known.
        other: Option<usize>,
        /// How long.
        waited: Duration,
    },
    /// The worker threads could not be started.
    #[error("{threads} worker threads could not be started: {reason}")]
    Threads {
        /// Threads asked for.
        threads: usize,
        /// What the system said.
        reason: String,
    },
}

impl DeviceError {
    /// The error of a thread that was to do some work and panicked.
    pub(crate) fn panic(work: &'static str, payload: &(dyn Any + Send)) -> Self {
        let said = payload.downcast_ref::<&str>().copied();
        let said = said.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        Self::Panic { work, reason: said.unwrap_or("it says no more").to_owned() }
    }

    /// What the user can do about it.
    #[must_use]
    pub fn hint(&self) -> &'static str {
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
            Self::Memory(_) => "make the grid smaller, or set linear.precision = \"single\"",
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
            | Self::Length { .. }
            | Self::NotInEll { .. }
            | Self::ForeignRecording
            | Self::OtherRank => {
                "this is a fault of gridgen: please report it with this message; --backend cpu works \
                 without kernels"
            }
            Self::RankTimeout { .. } => {
                "ranks are numbered from 0 in the order of --devices: look at the driver's log (dmesg, \
                 nvidia-smi) for that GPU, or run on others"
            }
            Self::OutOfMemory { .. } => {
                "make the grid smaller, set linear.precision = \"single\", or run with --backend cpu"
            }
            Self::Call { .. } => {
                "run again; if it fails again, look at the driver's log (dmesg, nvidia-smi) or run \
                 with --backend cpu"
            }
        }
    }
}

/// A rank for people.
fn rank_of(rank: Option<usize>) -> String {
    rank.map_or_else(|| "the others".to_owned(), |rank| format!("rank {rank}"))
}

/// A number of bytes for people.
fn bytes(n: usize) -> String {
    memory::shown(n as u64)
}
