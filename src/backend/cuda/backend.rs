//! The backend on one device: launches, reductions, and recordings with the host's state.

use crate::backend::cuda::comm::{RankContext, RankLink};
use crate::backend::cuda::device::{self, Buffer, Device, GRANTED, Notes, Recording, Request};
use crate::backend::cuda::launch::constants::RANK_VALUES;
use crate::backend::cuda::launch::shared::{self, Pointer};
use crate::backend::cuda::launch::{
    Arguments, KernelName, Launch, LaunchShape, REDUCTION_BLOCKS, Result,
};
use crate::backend::{Bands, DeviceError, Real};
use parking_lot::{Mutex, MutexGuard};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Points of a level up to which every rank works on the whole of it: its bands would wait longer
/// for each other than that takes.
const GATHERED_POINTS: usize = 1 << 18;

/// One GPU, alone or as a rank of several.
pub struct CudaBackend {
    pub(crate) device: Arc<dyn Device>,
    reduction: Mutex<ReductionWorkspace>,
    /// Host states that are set while work is recorded, in order.
    pub(crate) capture: Notes<(HostState, u32)>,
    /// Most points of a level of multigrid that every rank holds as a whole.
    pub(crate) gathered_points: usize,
    /// This rank's part and its communicator, if there are several ranks.
    pub(crate) ranks: Option<RankContext>,
}

pub(crate) struct ReductionWorkspace {
    pub(crate) partials: Buffer<f64>,
    pub(crate) ticket: Buffer<u32>,
    result: Buffer<f64>,
    /// Index of the first entry that is not finite.
    first: Buffer<u64>,
    /// Coefficients of a vector in a basis, twice; as many as were needed so far.
    pub(crate) projection: Buffer<f64>,
}

impl ReductionWorkspace {
    /// The target of a kernel: the workspace of parts and ticket, and the address of its results.
    pub(crate) fn out(&self, result: Pointer<f64>) -> shared::Reduction {
        let (partials, ticket) = ((&self.partials).into(), (&self.ticket).into());
        shared::Reduction { partials, ticket, result }
    }
}

// These functions serve the tests and measurements of this workspace.
#[doc(hidden)]
impl CudaBackend {
    /// A backend on `device`.
    pub fn new(device: Arc<dyn Device>) -> Result<Self> {
        let reduction = ReductionWorkspace {
            partials: Buffer::zeros(&device, RANK_VALUES * REDUCTION_BLOCKS)?,
            ticket: Buffer::zeros(&device, 1)?,
            result: Buffer::zeros(&device, RANK_VALUES)?,
            first: Buffer::zeros(&device, 1)?,
            projection: Buffer::zeros(&device, RANK_VALUES)?,
        };
        Ok(Self {
            device,
            reduction: Mutex::new(reduction),
            capture: Notes::default(),
            gathered_points: GATHERED_POINTS,
            ranks: None,
        })
    }

    /// A backend that works on the band of a rank, or on its block of the rows of matrices. All ranks must call each
    /// of its operations.
    pub fn banded(link: RankLink, bands: Bands) -> Result<Self> {
        let device = link.device.clone();
        Ok(Self { ranks: Some(RankContext::new(link, bands)?), ..Self::new(device)? })
    }

    /// Gathers levels of multigrid with up to `most` points onto every rank, where that is not the default.
    #[must_use]
    pub fn with_gathered_points(self, most: Option<usize>) -> Self {
        Self { gathered_points: most.unwrap_or(self.gathered_points), ..self }
    }

    /// The device.
    pub fn device(&self) -> &Arc<dyn Device> {
        &self.device
    }
}

impl CudaBackend {
    /// A backend on GPU `ordinal`, compiled with the kernels that grids of this many points need.
    pub fn open(ordinal: usize, points: usize) -> Result<Self> {
        Self::new(device::open(ordinal, false, points)?)
    }

    pub(crate) fn launch<T: Real>(
        &self,
        kernel: KernelName,
        shape: LaunchShape,
        arguments: impl Arguments,
    ) -> Result<()> {
        self.device.ask(GRANTED, Request::Launch(Launch::new::<T>(kernel, shape, arguments)))
    }

    /// Later work finds the messages of other ranks in their places.
    pub(crate) fn finish_exchange(&self) -> Result<()> {
        self.ranks.as_ref().map_or(Ok(()), |ranks| ranks.communicator.finish_exchange())
    }

    /// A number of each rank, by rank: all must call. Alone, `own`.
    pub(crate) fn numbers(&self, own: u64) -> Result<Vec<u64>> {
        self.ranks.as_ref().map_or_else(|| Ok(vec![own]), |ranks| ranks.numbers(own))
    }

    /// The least of the numbers that the ranks have found, if one has: all must call.
    pub(crate) fn least(&self, own: Option<usize>) -> Result<Option<usize>> {
        let all = self.numbers(own.map_or(u64::MAX, |own| own as u64))?;
        Ok(all.into_iter().min().filter(|least| *least != u64::MAX).map(|least| least as usize))
    }

    /// The first of the indices that the ranks have found in their bands, as an index of the whole grid, each of whose
    /// points has `each` of them.
    pub(crate) fn first_of_all(&self, own: Option<usize>, each: usize) -> Result<Option<usize>> {
        let Some(ranks) = &self.ranks else { return Ok(own) };
        let (columns, whole) = (ranks.bands.of(ranks.rank), each * ranks.bands.columns());
        let band = each * columns.len();
        self.least(own.map(|k| k / band * whole + each * columns.start + k % band))
    }

    /// Sets a flag now and, if work is being recorded, notes it so that every replay sets it again.
    pub(crate) fn set(&self, state: &HostState, value: u32) {
        state.store(value, Ordering::Relaxed);
        self.capture.add((state.clone(), value));
    }

    pub(crate) fn reduction(&self) -> MutexGuard<'_, ReductionWorkspace> {
        self.reduction.lock()
    }

    /// Launches a kernel that ends in a reduction over `n` items; its partials, ticket and result
    /// are added to `arguments`. Returns the first `K` results, `combine`d over all ranks: result k
    /// of two.
    pub(crate) fn reduce<T: Real, const K: usize>(
        &self,
        kernel: KernelName,
        n: usize,
        arguments: impl Arguments,
        combine: impl Fn(usize, f64, f64) -> f64,
    ) -> Result<[f64; K]> {
        let workspace = self.reduction();
        let out = workspace.out((&workspace.result).into());
        self.launch::<T>(kernel, LaunchShape::reduction(n), (arguments, out))?;
        if let Some(ranks) = &self.ranks {
            let joined = |sums: [f64; K], part: [f64; K]| {
                std::array::from_fn(|k| combine(k, sums[k], part[k]))
            };
            let parts = ranks.gathered(&workspace.result)?;
            return parts.into_iter().reduce(joined).ok_or(DeviceError::OtherRank);
        }
        let mut results = [0.0; K];
        workspace.result.download(&mut results)?;
        Ok(results)
    }

    /// Launches a kernel that lowers its last argument to the first index where something is
    /// wrong, and returns that index in the whole grid, each of whose points has `each` of them.
    pub(crate) fn find_first<T: Real>(
        &self,
        kernel: KernelName,
        shape: LaunchShape,
        arguments: impl Arguments,
        each: usize,
    ) -> Result<Option<usize>> {
        let own =
            self.own_first_index(|first| self.launch::<T>(kernel, shape, (arguments, first)))?;
        self.first_of_all(own, each)
    }

    /// The first index where something is wrong on this rank: the launches of `work` lower the number that they
    /// are given to it.
    pub(crate) fn own_first_index(
        &self,
        work: impl FnOnce(Pointer<u64>) -> Result<()>,
    ) -> Result<Option<usize>> {
        let workspace = self.reduction();
        workspace.first.upload(&[u64::MAX])?;
        work((&workspace.first).into())?;
        let first = workspace.first.get(0)?;
        Ok((first != u64::MAX).then_some(first as usize))
    }
}

/// A recording of the device and the host states that the recorded work sets.
#[derive(Default)]
pub struct CudaRecording(Option<(Recording, Vec<(HostState, u32)>)>);

impl CudaRecording {
    /// Does `work`, which is recorded the first time and replayed ever after.
    pub(super) fn run(
        &mut self,
        backend: &CudaBackend,
        kept: bool,
        mut work: impl FnMut() -> Result<()>,
    ) -> Result<()> {
        let launches = if let Some((launches, states)) = &self.0 {
            for (state, value) in states {
                state.store(*value, Ordering::Relaxed);
            }
            launches
        } else {
            let (launches, states) =
                backend.capture.during(|| backend.device.record(kept, &mut work));
            &self.0.insert((launches?, states)).0
        };
        backend.device.replay(GRANTED, launches)
    }
}

/// A flag of the host about a value in the device's memory. One thread queues work, and reads and sets such flags in
/// the order of its calls.
pub(crate) type HostState = Arc<AtomicU32>;
