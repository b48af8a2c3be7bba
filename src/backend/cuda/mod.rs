//! The CUDA backend: the kernels of `kernels/` and what launches them.
//!
//! The glue is written on [`Device`], which NVIDIA's driver implements (feature `cuda`); tests
//! implement it on the CPU, so that every kernel and every launch runs where there is no GPU.

mod buffer;
mod control;
mod csr;
pub mod device;
#[cfg(feature = "cuda")]
pub mod driver;
mod elliptic;
mod factors;
mod grids;
mod jacobi;
pub mod kernel;
pub mod kernel_cache;
mod march;
mod matrix;
mod multigrid;
mod projection;
mod quality;
mod ranks;
mod recording;
mod ring;
mod room;
mod vector;
mod watched;

pub use buffer::Buffer;
pub use csr::{CudaCsr, ProductKernel};
pub use device::Device;
pub use elliptic::CudaElliptic;
pub use march::CudaGrid;
pub use matrix::CudaMatrix;
pub use multigrid::CudaLevel;
pub use ranks::{
    Alarm, Communicator, HostCommunicator, MailCommunicator, Mailroom, PATIENCE, Parcel, Post,
    Reach, run_ranks,
};
pub use recording::CudaRecording;
pub use room::{Demand, Kept};
pub use vector::CudaVector;
pub use watched::{Watch, WatchedDevice};

use self::kernel::{Argument, Kernel, Shape, Source, arguments};
use self::ranks::Place;
use self::recording::Journal;
use super::{Bands, DeviceError, Real};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Blocks of a reduction: fixed, so that sums do not depend on the GPU.
const REDUCTION_BLOCKS: usize = 1024;
/// Results of one reduction.
const REDUCTIONS: usize = 4;

/// Unknowns of a level up to which reading a matrix of their square costs less than a cycle's
/// launches.
const MATRIX_UNKNOWNS: usize = 1024;

/// Points of a level up to which every rank works on the whole of it: its bands would wait longer
/// for each other than that takes.
const GATHERED_POINTS: usize = 1 << 18;

/// One GPU, alone or as a rank of several.
pub struct CudaBackend {
    device: Arc<dyn Device>,
    reduction: Mutex<Reduction>,
    journal: Journal,
    /// Most unknowns of a level whose multigrid cycle is applied as a matrix.
    matrix_unknowns: usize,
    /// Most points of a level of multigrid that every rank holds as a whole.
    gathered_points: usize,
    /// Whether the schedule of rows may be chosen by timing the first solves.
    timed_schedules: bool,
    /// Place among the ranks, if there are several.
    place: Option<Place>,
}

/// Where the blocks of a reduction leave their parts.
struct Reduction {
    partials: Buffer<f64>,
    ticket: Buffer<u32>,
    result: Buffer<f64>,
    /// Index of the first entry that is not finite.
    first: Buffer<u64>,
    /// Coefficients of a vector in a basis, twice; as many as were needed so far.
    projection: Buffer<f64>,
}

impl CudaBackend {
    /// A backend on `device`.
    pub fn new(device: Arc<dyn Device>) -> Result<Self, DeviceError> {
        let reduction = Reduction {
            partials: Buffer::zeros(&device, REDUCTIONS * REDUCTION_BLOCKS)?,
            ticket: Buffer::zeros(&device, 1)?,
            result: Buffer::zeros(&device, REDUCTIONS)?,
            first: Buffer::zeros(&device, 1)?,
            projection: Buffer::zeros(&device, 0)?,
        };
        Ok(Self {
            device,
            reduction: Mutex::new(reduction),
            journal: Journal::default(),
            matrix_unknowns: MATRIX_UNKNOWNS,
            gathered_points: GATHERED_POINTS,
            timed_schedules: true,
            place: None,
        })
    }

    /// A backend on `device` that works on the band of the communicator's rank, or on its block of
    /// the rows of matrices. Whatever runs on it must run on all ranks.
    pub fn banded(
        device: Arc<dyn Device>,
        communicator: Box<dyn Communicator>,
        bands: Bands,
    ) -> Result<Self, DeviceError> {
        let place = Place::new(&device, communicator, bands)?;
        Ok(Self { place: Some(place), ..Self::new(device)? })
    }

    /// Applies the multigrid cycle of levels with up to so many unknowns as a matrix.
    #[must_use]
    pub fn with_matrix_unknowns(self, most: usize) -> Self {
        Self { matrix_unknowns: most, ..self }
    }

    /// Gathers levels of multigrid with up to so many points onto every rank.
    #[must_use]
    pub fn with_gathered_points(self, most: usize) -> Self {
        Self { gathered_points: most, ..self }
    }

    /// The same backend with [`crate::sparse::Schedule::Auto`] decided by the shape of a matrix
    /// alone, as every run does it again.
    #[must_use]
    pub fn with_schedules_by_rule(self) -> Self {
        Self { timed_schedules: false, ..self }
    }

    /// A backend on GPU `ordinal`, its kernels compiled.
    #[cfg(feature = "cuda")]
    pub fn open(ordinal: usize) -> Result<Self, DeviceError> {
        Self::new(Arc::new(driver::DriverDevice::open_compiled(ordinal)?))
    }

    /// Refuses: this build has no driver.
    #[cfg(not(feature = "cuda"))]
    pub fn open(_: usize) -> Result<Self, DeviceError> {
        Err(DeviceError::NotBuilt { backend: "cuda" })
    }

    /// The device.
    #[must_use]
    pub fn device(&self) -> &Arc<dyn Device> {
        &self.device
    }

    fn launch<T: Real>(
        &self,
        source: Source,
        name: &'static str,
        shape: Shape,
        arguments: &[Argument],
    ) -> Result<(), DeviceError> {
        self.device.launch(Kernel::new::<T>(source, name), shape, arguments)
    }

    /// What was to be received from other ranks is in its place for work asked for later.
    fn finish_exchange(&self) -> Result<(), DeviceError> {
        match &self.place {
            Some(place) => place.communicator().finish_exchange(),
            None => Ok(()),
        }
    }

    /// What the first rank says; all ranks must ask. Alone, what this one says.
    ///
    /// # Errors
    /// If the device or another rank fails.
    pub fn said_by_first(&self, own: u64) -> Result<u64, DeviceError> {
        match &self.place {
            Some(place) => place.numbers(own)?.first().copied().ok_or(DeviceError::OtherRank),
            None => Ok(own),
        }
    }

    /// Room for a reduction, one at a time.
    fn reduction(&self) -> MutexGuard<'_, Reduction> {
        self.reduction.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Launches a kernel that ends in a reduction over `n` items; its partials, ticket and result
    /// are added to `arguments`. Returns the first `K` results, `combine`d over all ranks: result k
    /// of two.
    fn reduce<T: Real, const K: usize>(
        &self,
        source: Source,
        name: &'static str,
        n: usize,
        arguments: &[Argument],
        combine: impl Fn(usize, f64, f64) -> f64,
    ) -> Result<[f64; K], DeviceError> {
        let Some(place) = &self.place else {
            return self.own_reduction::<T, K>(source, name, n, arguments);
        };
        let room = self.reduction();
        self.launch_reduction::<T>(&room, (source, name), n, arguments)?;
        let parts = place.gathered::<K>(&room.result)?;
        let (first, others) = parts.split_first().ok_or(DeviceError::OtherRank)?;
        Ok(others
            .iter()
            .fold(*first, |sums, part| std::array::from_fn(|k| combine(k, sums[k], part[k]))))
    }

    /// As [`Self::reduce`], on this rank alone.
    fn own_reduction<T: Real, const K: usize>(
        &self,
        source: Source,
        name: &'static str,
        n: usize,
        arguments: &[Argument],
    ) -> Result<[f64; K], DeviceError> {
        let room = self.reduction();
        self.launch_reduction::<T>(&room, (source, name), n, arguments)?;
        let mut results = [0.0; K];
        room.result.download(&mut results)?;
        Ok(results)
    }

    fn launch_reduction<T: Real>(
        &self,
        room: &Reduction,
        (source, name): (Source, &'static str),
        n: usize,
        arguments: &[Argument],
    ) -> Result<(), DeviceError> {
        let mut all = arguments.to_vec();
        all.extend(arguments![&room.partials, &room.ticket, &room.result]);
        self.launch::<T>(source, name, Shape::reduction(n), &all)
    }

    /// Launches a kernel that lowers its last argument to the first index where something is
    /// wrong, and returns that index in the whole grid, each of whose points has `each` of them.
    fn find_first<T: Real>(
        &self,
        source: Source,
        name: &'static str,
        shape: Shape,
        arguments: &[Argument],
        each: usize,
    ) -> Result<Option<usize>, DeviceError> {
        self.first_index(each, |first| {
            let mut all = arguments.to_vec();
            all.push(first);
            self.launch::<T>(source, name, shape, &all)
        })
    }

    /// The first index where something is wrong, which the launches of `work` lower at the address
    /// that they are given: in the whole grid, each of whose points has `each` of them.
    fn first_index(
        &self,
        each: usize,
        work: impl FnOnce(Argument) -> Result<(), DeviceError>,
    ) -> Result<Option<usize>, DeviceError> {
        let own = self.own_first_index(work)?;
        match &self.place {
            Some(place) => place.first_of_all(own, each),
            None => Ok(own),
        }
    }

    /// As [`Self::first_index`], on this rank alone.
    fn own_first_index(
        &self,
        work: impl FnOnce(Argument) -> Result<(), DeviceError>,
    ) -> Result<Option<usize>, DeviceError> {
        let room = self.reduction();
        room.first.upload(&[u64::MAX])?;
        work(Argument::from(&room.first))?;
        let mut first = [0];
        room.first.download(&mut first)?;
        Ok((first[0] != u64::MAX).then_some(first[0] as usize))
    }
}
