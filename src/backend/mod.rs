//! What a machine must offer so that the solvers, written once, run on it.
//!
//! Three traits, each building on the one before: [`Backend`] (vectors), [`SparseBackend`]
//! (ELL matrices and incomplete factors) and [`EllipticBackend`] (the grid equations); beside the
//! last, [`CsrBackend`] (matrices of any pattern). A vector
//! may live in one memory or be spread over several devices; solver code never asks.

mod bands;
pub mod cpu;
mod csr;
pub mod cuda;
mod data;
mod elliptic;
mod grids;
mod multigrid;
pub mod projection;
mod real;
pub mod scalars;

pub use bands::{Bands, NarrowBands};
pub use csr::{BadPivot, CsrBackend, Format, Incomplete, RowSchedule};
pub use elliptic::{CellGuard, EllipticBackend, EllipticData, Scaling, WallTerms};
pub use grids::GridBackend;
pub use multigrid::{Coarsening, LevelSize, MultigridBackend, Order, SMALLEST_NORTH};
pub use real::Real;

use self::projection::Projection;
use self::scalars::{Coefficient, Ending, LOG, SLOTS, Slot};
use crate::memory::{self, NotEnoughMemory};
use crate::sparse::{EllPattern, TooFewRows};
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
    Silent {
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
            | Self::ForeignRecording
            | Self::OtherRank => {
                "this is a fault of gridgen: please report it with this message; --backend cpu works \
                 without kernels"
            }
            Self::Silent { .. } => {
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

/// Two vectors of which the inner product is wanted.
pub type Pair<'a, V> = (&'a V, &'a V);

/// Vectors and coefficients of [`Backend::advance`].
#[derive(Debug)]
pub struct Advance<'a, V> {
    /// Solution, improved by a h.
    pub x: &'a mut V,
    /// a and h.
    pub along: (Coefficient, &'a V),
    /// Residual, changed by b v.
    pub r: &'a mut V,
    /// b and v.
    pub change: (Coefficient, &'a V),
    /// w.
    pub with: Option<&'a V>,
}

/// Vectors and the two operations that carry every Krylov method.
///
/// Vectors of a backend hold `f64` or `f32`; scalars are `f64`, and inner products are
/// accumulated in `f64` in an order that does not depend on the number of threads.
pub trait Backend: Sync {
    /// A vector of `T`.
    type Vector<T: Real>: Send;
    /// Scalars beside the vectors; see [`scalars`].
    type Scalars: Send;
    /// A look at them that was asked for.
    type Look;
    /// Work that is done again and again in the same places; empty at first.
    type Recording: Default + Send;

    /// Does `work`. A device on which it costs time to ask for work notes at the first call what
    /// `work` asks for and does the same at later calls: it must ask for nothing but work of this
    /// backend, read nothing back, and find its vectors and levels in the same places and, where
    /// it begins, in the same condition every time.
    fn replay(
        &self,
        recording: &mut Self::Recording,
        work: impl FnMut() -> Result<(), DeviceError>,
    ) -> Result<(), DeviceError>;

    /// A vector of `n` zeros.
    fn zeros<T: Real>(&self, n: usize) -> Result<Self::Vector<T>, DeviceError>;

    /// v ← host. Both have the same length.
    fn upload<T: Real>(&self, host: &[T], v: &mut Self::Vector<T>) -> Result<(), DeviceError>;

    /// host ← v. Both have the same length.
    fn download<T: Real>(&self, v: &Self::Vector<T>, host: &mut [T]) -> Result<(), DeviceError>;

    /// y ← scale · x, from one precision to another.
    fn convert<S: Real, T: Real>(
        &self,
        scale: f64,
        x: &Self::Vector<S>,
        y: &mut Self::Vector<T>,
    ) -> Result<(), DeviceError>;

    /// Several inner products in one reduction.
    fn dots<T: Real, const K: usize>(
        &self,
        pairs: [Pair<'_, Self::Vector<T>>; K],
    ) -> Result<[f64; K], DeviceError>;

    /// max |x_i|; NaN if any entry is NaN.
    fn max_abs<T: Real>(&self, x: &Self::Vector<T>) -> Result<f64, DeviceError>;

    /// y ← β y + Σ αₖ xₖ in one pass; β = 0 overwrites y, even where it is NaN.
    fn lincomb<T: Real, const K: usize>(
        &self,
        y: &mut Self::Vector<T>,
        beta: f64,
        terms: [(f64, &Self::Vector<T>); K],
    ) -> Result<(), DeviceError>;

    /// h ← Vᵀ w and w ← w − V h for a `basis` V; then Vᵀ w and (w, w) again. A device is waited for
    /// once.
    fn project<T: Real>(
        &self,
        basis: &[Self::Vector<T>],
        w: &mut Self::Vector<T>,
    ) -> Result<Projection, DeviceError>
    where
        Self: Sized,
    {
        projection::project(self, basis, w)
    }

    /// Room for [`scalars::SLOTS`] slots and a log.
    fn scalars(&self) -> Result<Self::Scalars, DeviceError>;

    /// Slots ← `values`, padded with zeros; [`scalars::HALTED`] ← 0, [`scalars::ONE`] ← 1, an empty
    /// log.
    fn set_scalars(&self, scalars: &mut Self::Scalars, values: &[f64]) -> Result<(), DeviceError>;

    /// Looks at the scalars as all that was asked for so far leaves them; does not wait. At most eight
    /// looks may be open.
    fn look(&self, scalars: &Self::Scalars) -> Result<Self::Look, DeviceError>;

    /// host ← the slots that a look found, followed by the log.
    fn see(&self, look: Self::Look, host: &mut [f64; SLOTS + LOG]) -> Result<(), DeviceError>;

    /// host ← the slots, followed by the log.
    fn read_scalars(
        &self,
        scalars: &Self::Scalars,
        host: &mut [f64; SLOTS + LOG],
    ) -> Result<(), DeviceError> {
        self.see(self.look(scalars)?, host)
    }

    /// Slots from `first` on ← several inner products in one reduction, then what `ending` says.
    /// Nothing if the slots are halted.
    fn dots_into<T: Real, const K: usize>(
        &self,
        scalars: &mut Self::Scalars,
        first: Slot,
        pairs: [Pair<'_, Self::Vector<T>>; K],
        ending: Ending<'_>,
    ) -> Result<(), DeviceError>;

    /// The step of a Krylov method: x ← x + a h and r ← r + b v in one pass with (r, r), and with
    /// (w, r) after it if there is a `w`, into the slots from `first` on; then what `ending` says.
    /// Nothing if the slots are halted.
    fn advance<T: Real>(
        &self,
        scalars: &mut Self::Scalars,
        step: Advance<'_, Self::Vector<T>>,
        first: Slot,
        ending: Ending<'_>,
    ) -> Result<(), DeviceError>;

    /// y ← β y + Σ αₖ xₖ with coefficients of slots; nothing if they are halted.
    fn lincomb_by<T: Real, const K: usize>(
        &self,
        scalars: &Self::Scalars,
        y: &mut Self::Vector<T>,
        beta: Coefficient,
        terms: [(Coefficient, &Self::Vector<T>); K],
    ) -> Result<(), DeviceError>;
}

/// Which part of a product A x is formed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Product {
    /// Leading columns of A taken as zero.
    pub skip_columns: usize,
    /// y ← y + A x instead of y ← A x.
    pub add: bool,
}

/// ELL matrices and the incomplete factors made from them.
pub trait SparseBackend: Backend {
    /// A matrix in ELL format.
    type Matrix<T: Real>: Send;
    /// Incomplete factors M = (I + L)(D + U), L and U strictly triangular.
    type Factors<T: Real>: Send;

    /// A zero matrix with the given pattern.
    fn matrix<T: Real>(&self, pattern: &EllPattern) -> Result<Self::Matrix<T>, DeviceError>;

    /// Values of A by slot, column-major, padding included.
    fn matrix_values<T: Real>(&self, a: &Self::Matrix<T>) -> Result<Vec<T>, DeviceError>;

    /// Number of rows of A.
    fn rows<T: Real>(&self, a: &Self::Matrix<T>) -> usize;

    /// y ← A x, or the part of it that `product` names.
    fn multiply<T: Real>(
        &self,
        a: &Self::Matrix<T>,
        x: &Self::Vector<T>,
        product: Product,
        y: &mut Self::Vector<T>,
    ) -> Result<(), DeviceError>;

    /// d ← diag(A)⁻¹, and the first row whose diagonal is zero or not finite, if any.
    fn inverse_diagonal<T: Real>(
        &self,
        a: &Self::Matrix<T>,
        d: &mut Self::Vector<T>,
    ) -> Result<Option<usize>, DeviceError>;

    /// z ← d ∘ r, entry by entry.
    fn scale<T: Real>(
        &self,
        d: &Self::Vector<T>,
        r: &Self::Vector<T>,
        z: &mut Self::Vector<T>,
    ) -> Result<(), DeviceError>;

    /// z ← d ∘ r and y ← A z: in one pass where that saves time.
    fn scale_and_multiply<T: Real>(
        &self,
        a: &Self::Matrix<T>,
        d: &Self::Vector<T>,
        r: &Self::Vector<T>,
        z: &mut Self::Vector<T>,
        y: &mut Self::Vector<T>,
    ) -> Result<(), DeviceError> {
        self.scale(d, r, z)?;
        self.multiply(a, z, Product::default(), y)
    }

    /// Room for factors of matrices with the pattern of `a`.
    fn factors<T: Real>(&self, a: &Self::Matrix<T>) -> Result<Self::Factors<T>, DeviceError>;

    /// DILU in natural order: D_i = a_ii − Σ_{j<i} a_ij a_ji / D_j, L = strict lower part of A
    /// times D⁻¹, U = strict upper part of A, so that diag(M) = diag(A). Returns the first row
    /// with a pivot that is zero or not finite.
    fn factor_dilu<T: Real>(
        &self,
        a: &Self::Matrix<T>,
        factors: &mut Self::Factors<T>,
    ) -> Result<Option<usize>, DeviceError>;

    /// ILU(0) in natural order. Returns the first row with a pivot that is zero or not finite.
    fn factor_ilu0<T: Real>(
        &self,
        a: &Self::Matrix<T>,
        factors: &mut Self::Factors<T>,
    ) -> Result<Option<usize>, DeviceError>;

    /// z ← M⁻¹ r: (I + L) y = r, then (D + U) z = y.
    fn solve_factors<T: Real>(
        &self,
        factors: &Self::Factors<T>,
        r: &Self::Vector<T>,
        z: &mut Self::Vector<T>,
    ) -> Result<(), DeviceError>;
}
