//! Trouble with the device that should do the work.

use super::NarrowBands;
use crate::diagnostics::errors;
use crate::memory::{self, NotEnoughMemory};
use crate::ranks::RanksError;
use crate::sparse::TooFewRows;
use std::thread;
use std::time::Duration;

/// Result of an operation of a backend.
pub type Result<T, E = DeviceError> = std::result::Result<T, E>;

/// The hint where gridgen itself is at fault.
const FAULT: &str = "this is a fault of gridgen: please report it with this message; --backend cpu works without kernels";

errors! {
    /// Trouble with the device that should do the work. The CPU backend reports none.
    #[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
    #[class(Device)]
    pub enum DeviceError {
        #[error("this build of gridgen has no {backend} backend")]
        #[hint("run with --backend cpu, or --backend auto to use what is there")]
        NotBuilt { backend: &'static str },
        /// Wall terms on other sides than this work has.
        #[error("GPUs do not solve for these walls of a grid")]
        #[hint("run with --backend cpu, or without walls on other sides than that of the section")]
        OtherWalls,
        /// Lines whose two ends are a shift apart.
        #[error("several GPUs have no lines whose ends are a pitch apart")]
        #[hint("run with one GPU or with --backend cpu")]
        Shifted,
        #[error("no NVIDIA driver was found")]
        #[hint("install NVIDIA's driver, or run with --backend cpu; `gridgen devices` lists what is found")]
        NoDriver,
        #[error("the NVIDIA driver finds no GPU")]
        #[hint("`gridgen devices` lists the GPUs; --backend cpu needs none")]
        NoGpu,
        #[error("there is no GPU {ordinal}: this machine has {count}")]
        #[hint("`gridgen devices` lists the GPUs; --backend cpu needs none")]
        NoSuchGpu { ordinal: usize, count: usize },
        /// More GPUs than the grid has bands for.
        #[error(transparent)]
        #[hint("name fewer GPUs with --devices, or make grid.ni larger")]
        #[class(Device)]
        NarrowBands(#[from] NarrowBands),
        /// More GPUs than the matrix has rows for.
        #[error(transparent)]
        #[hint("name fewer GPUs with --devices")]
        #[class(Device)]
        TooFewRows(#[from] TooFewRows),
        #[error("NVRTC, NVIDIA's run-time compiler, was not found")]
        #[hint(
            "install CUDA's NVRTC library (libnvrtc) and put its folder into LD_LIBRARY_PATH, or run with --backend \
             cpu"
        )]
        NoCompiler,
        #[error("NCCL, NVIDIA's library for messages between GPUs, was not found")]
        #[hint("install libnccl2 and put its folder into LD_LIBRARY_PATH")]
        NoNccl,
        /// The driver cannot run what the compiler makes.
        #[error(
            "the NVIDIA driver is for CUDA {}.{}, older than NVRTC {}.{}",
            driver.0, driver.1, compiler.0, compiler.1
        )]
        #[hint("install a newer driver, or an NVRTC of the driver's CUDA version, or run with --backend cpu")]
        OldDriver { driver: (i32, i32), compiler: (i32, i32) },
        #[error(
            "the NVIDIA driver is for CUDA {}.{}: gridgen needs one for {}.{} or newer",
            driver.0, driver.1, oldest.0, oldest.1
        )]
        #[hint("install a newer driver, or run with --backend cpu")]
        AncientDriver { driver: (i32, i32), oldest: (i32, i32) },
        /// The driver lacks a function that gridgen calls.
        #[error("the NVIDIA driver has no {function}")]
        #[hint("install a newer driver, or run with --backend cpu")]
        LackingDriver { function: String },
        /// The driver's library and its kernel module do not belong together.
        #[error("the NVIDIA driver does not start: {reason}")]
        #[hint(
            "the driver was changed while it was in use, or a container brings another's library: restart the machine, \
             or install one driver; --backend cpu needs none"
        )]
        DriverMismatch { reason: String },
        #[error("NVRTC could not compile {file}: {reason}")]
        #[hint("{FAULT}")]
        Compile { file: &'static str, reason: String },
        #[error("{work} ended in a panic: {reason}")]
        #[hint("{FAULT}")]
        Panic { work: &'static str, reason: String },
        #[error("{device} has no room: {} asked, {} free", memory::shown(*asked as u64), memory::shown(*free as u64))]
        #[hint("make the grid smaller, take more GPUs by --devices, or run with --backend cpu")]
        OutOfMemory { device: String, asked: usize, free: usize },
        /// The driver reported an error: of a kernel, or that the GPU is lost.
        #[error("{device}: {operation} failed: {reason}")]
        #[hint("run again; if it fails again, look at the driver's log (dmesg, nvidia-smi) or run with --backend cpu")]
        Call { device: String, operation: &'static str, reason: String },
        #[error("a matrix of {entries} entries is too large: at most {} fit", u32::MAX)]
        #[hint("run with --backend cpu")]
        TooManyEntries { entries: usize },
        #[error("more than {most} downloads were asked for before the first of them was waited for")]
        #[hint("{FAULT}")]
        TooManyDownloads { most: usize },
        /// The machine's memory is too small.
        #[error(transparent)]
        #[hint("make the grid smaller, or use a machine with more memory")]
        #[class(Input)]
        Memory(#[from] NotEnoughMemory),
        #[error("there are no {what} of a matrix in ELL format")]
        #[hint("{FAULT}")]
        NotInEll { what: &'static str },
        #[error("a vector, matrix or buffer of {there} values was given where {asked} are needed")]
        #[hint(
            "give the operation vectors, matrices and levels of one grid or system; if gridgen itself chose them, \
             please report it with this message"
        )]
        Length { there: usize, asked: usize },
        #[error("uploads, downloads and copies of parts of words cannot be recorded")]
        #[hint("{FAULT}")]
        NotRecorded,
        #[error("a recording belongs to another device")]
        #[hint("{FAULT}")]
        ForeignRecording,
        /// Another rank failed, whose error is the one to look at.
        #[error("another GPU of this run failed")]
        #[hint("{FAULT}")]
        OtherRank,
        /// A rank waited for another one that has gone silent. Ranks count from 0 in the order of the GPUs of
        /// the run; `other` is none if it is not known.
        #[error("rank {rank} waited {} s for {}, and nothing came", waited.as_secs_f64(), rank_of(*other))]
        #[hint(
            "ranks are numbered from 0 in the order of --devices: look at the driver's log (dmesg, nvidia-smi) for \
             that GPU, or run on others"
        )]
        RankTimeout { rank: usize, other: Option<usize>, waited: Duration },
        #[error("{ranks} ranks share one grid, which needs a GPU for each: the CPU computes within one process")]
        #[hint("start one process, use --ranks threads, or give the ranks many cases with gridgen run")]
        RanksOnCpu { ranks: usize },
        /// Trouble between the processes of a run.
        #[error(transparent)]
        Ranks(#[from] RanksError),
        #[error("{threads} worker threads could not be started: {reason}")]
        #[hint("give a smaller number with --threads")]
        Threads { threads: usize, reason: String },
    }
}

impl DeviceError {
    /// The result of work that has ended, or the error of its panic.
    pub(crate) fn caught<T, E: From<Self>>(
        work: &'static str,
        ended: thread::Result<Result<T, E>>,
    ) -> Result<T, E> {
        ended.unwrap_or_else(|payload| {
            let said = payload.downcast_ref::<&str>().copied();
            let said = said.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
            let reason = said.unwrap_or("it says no more").to_owned();
            Err(Self::Panic { work, reason }.into())
        })
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
