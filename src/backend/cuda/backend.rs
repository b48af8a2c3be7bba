//! The backend on one device: launches, reductions and recordings.

use super::comm::{Communicator, RankContext};
use super::device::{Address, Buffer, Device, MemoryEstimate};
use super::launch::shared::{self, Pointer};
use super::launch::{Argument, Kernel, LaunchShape, REDUCTION_BLOCKS, Source};
use super::recording::{CaptureLog, CudaRecording};
use crate::backend::{Bands, DeviceError, Real};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Results of one reduction.
pub(crate) const REDUCTIONS: usize = 4;

/// Unknowns of a level up to which reading a matrix of their square costs less than a cycle's
/// launches.
const MATRIX_UNKNOWNS: usize = 1024;

/// Points of a level up to which every rank works on the whole of it: its bands would wait longer
/// for each other than that takes.
const GATHERED_POINTS: usize = 1 << 18;

/// One GPU, alone or as a rank of several.
pub struct CudaBackend {
    pub(crate) device: Arc<dyn Device>,
    reduction: Mutex<Reduction>,
    pub(crate) capture: CaptureLog,
    /// Most unknowns of a level whose multigrid cycle is applied as a matrix.
    pub(crate) matrix_unknowns: usize,
    /// Most points of a level of multigrid that every rank holds as a whole.
    pub(crate) gathered_points: usize,
    /// Whether the schedule of rows may be chosen by timing the first solves.
    pub(crate) timed_schedules: bool,
    /// This rank's part and its communicator, if there are several ranks.
    pub(crate) ranks: Option<RankContext>,
}

/// Memory of reductions.
pub(crate) struct Reduction {
    pub(crate) partials: Buffer<f64>,
    pub(crate) ticket: Buffer<u32>,
    result: Buffer<f64>,
    /// Index of the first entry that is not finite.
    first: Buffer<u64>,
    /// Coefficients of a vector in a basis, twice; as many as were needed so far.
    pub(crate) projection: Buffer<f64>,
}

impl Reduction {
    /// Where a kernel leaves parts and ticket, and its results at an address.
    pub(crate) fn out(&self, result: Address) -> shared::Reduction {
        let (partials, ticket) = ((&self.partials).into(), (&self.ticket).into());
        shared::Reduction { partials, ticket, result: Pointer::to(result) }
    }
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
            capture: CaptureLog::default(),
            matrix_unknowns: MATRIX_UNKNOWNS,
            gathered_points: GATHERED_POINTS,
            timed_schedules: true,
            ranks: None,
        })
    }

    /// A backend on `device` that works on the band of the communicator's rank, or on its block of
    /// the rows of matrices. Whatever runs on it must run on all ranks.
    pub fn banded(
        device: Arc<dyn Device>,
        communicator: Box<dyn Communicator>,
        bands: Bands,
    ) -> Result<Self, DeviceError> {
        let ranks = RankContext::new(&device, communicator, bands)?;
        Ok(Self { ranks: Some(ranks), ..Self::new(device)? })
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
        Self::new(Arc::new(super::device::driver::DriverDevice::open_compiled(ordinal)?))
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

    pub(crate) fn launch<T: Real>(
        &self,
        source: Source,
        name: &'static str,
        shape: LaunchShape,
        arguments: &[Argument],
    ) -> Result<(), DeviceError> {
        self.device.launch(Kernel::new::<T>(source, name), shape, arguments)
    }

    /// Does `work`, which is recorded the first time and replayed ever after.
    pub(crate) fn record(
        &self,
        recording: &mut CudaRecording,
        mut work: impl FnMut() -> Result<(), DeviceError>,
    ) -> Result<(), DeviceError> {
        // Messages that the host sends cannot be recorded. Within another recording the launches are
        // part of that one.
        let recorded = self.ranks.as_ref().is_none_or(|ranks| ranks.communicator().recorded());
        if !recorded || self.capture.is_open() {
            return work();
        }
        recording.run(&*self.device, &self.capture, work)
    }

    /// Refuses what does not fit the GPU's free memory.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`].
    pub fn check_memory(&self, estimate: MemoryEstimate) -> Result<(), DeviceError> {
        estimate.check(&*self.device)
    }

    /// What was to be received from other ranks is in its place for work asked for later.
    pub(crate) fn finish_exchange(&self) -> Result<(), DeviceError> {
        match &self.ranks {
            Some(ranks) => ranks.communicator().finish_exchange(),
            None => Ok(()),
        }
    }

    /// The number of the first rank, on all ranks: all must call. Alone, `own`.
    ///
    /// # Errors
    /// If the device or another rank fails.
    pub fn broadcast(&self, own: u64) -> Result<u64, DeviceError> {
        match &self.ranks {
            Some(ranks) => ranks.numbers(own)?.first().copied().ok_or(DeviceError::OtherRank),
            None => Ok(own),
        }
    }

    /// The workspace of reductions, one at a time.
    pub(crate) fn reduction(&self) -> MutexGuard<'_, Reduction> {
        self.reduction.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Launches a kernel that ends in a reduction over `n` items; its partials, ticket and result
    /// are added to `arguments`. Returns the first `K` results, `combine`d over all ranks: result k
    /// of two.
    pub(crate) fn reduce<T: Real, const K: usize>(
        &self,
        source: Source,
        name: &'static str,
        n: usize,
        arguments: &[Argument],
        combine: impl Fn(usize, f64, f64) -> f64,
    ) -> Result<[f64; K], DeviceError> {
        let Some(ranks) = &self.ranks else {
            return self.own_reduction::<T, K>(source, name, n, arguments);
        };
        let workspace = self.reduction();
        self.launch_reduction::<T>(&workspace, (source, name), n, arguments)?;
        let parts = ranks.gathered::<K>(&workspace.result)?;
        let (first, others) = parts.split_first().ok_or(DeviceError::OtherRank)?;
        Ok(others
            .iter()
            .fold(*first, |sums, part| std::array::from_fn(|k| combine(k, sums[k], part[k]))))
    }

    /// As [`Self::reduce`], on this rank alone.
    pub(crate) fn own_reduction<T: Real, const K: usize>(
        &self,
        source: Source,
        name: &'static str,
        n: usize,
        arguments: &[Argument],
    ) -> Result<[f64; K], DeviceError> {
        let workspace = self.reduction();
        self.launch_reduction::<T>(&workspace, (source, name), n, arguments)?;
        let mut results = [0.0; K];
        workspace.result.download(&mut results)?;
        Ok(results)
    }

    fn launch_reduction<T: Real>(
        &self,
        workspace: &Reduction,
        (source, name): (Source, &'static str),
        n: usize,
        arguments: &[Argument],
    ) -> Result<(), DeviceError> {
        let mut all = arguments.to_vec();
        all.push(workspace.out(workspace.result.address()).into());
        self.launch::<T>(source, name, LaunchShape::reduction(n), &all)
    }

    /// Launches a kernel that lowers its last argument to the first index where something is
    /// wrong, and returns that index in the whole grid, each of whose points has `each` of them.
    pub(crate) fn find_first<T: Real>(
        &self,
        source: Source,
        name: &'static str,
        shape: LaunchShape,
        arguments: &[Argument],
        each: usize,
    ) -> Result<Option<usize>, DeviceError> {
        self.first_index(each, |first| {
            let mut all = arguments.to_vec();
            all.push(first.into());
            self.launch::<T>(source, name, shape, &all)
        })
    }

    /// The first index where something is wrong, which the launches of `work` lower at the address
    /// that they are given: in the whole grid, each of whose points has `each` of them.
    pub(crate) fn first_index(
        &self,
        each: usize,
        work: impl FnOnce(Address) -> Result<(), DeviceError>,
    ) -> Result<Option<usize>, DeviceError> {
        let own = self.own_first_index(work)?;
        match &self.ranks {
            Some(ranks) => ranks.first_of_all(own, each),
            None => Ok(own),
        }
    }

    /// As [`Self::first_index`], on this rank alone.
    pub(crate) fn own_first_index(
        &self,
        work: impl FnOnce(Address) -> Result<(), DeviceError>,
    ) -> Result<Option<usize>, DeviceError> {
        let workspace = self.reduction();
        workspace.first.upload(&[u64::MAX])?;
        work(workspace.first.address())?;
        let mut first = [0];
        workspace.first.download(&mut first)?;
        Ok((first[0] != u64::MAX).then_some(first[0] as usize))
    }
}
