//! A backend as one of several ranks.

use super::communicator::Communicator;
use crate::backend::bands::Bands;
use crate::backend::cuda::device::{Buffer, Device};
use crate::backend::cuda::launch::shared::{EDGE_EAST, EDGE_PERIODIC, EDGE_WEST, RANK_VALUES};
use crate::backend::{BadPivot, DeviceError};
use std::sync::{Arc, Mutex, PoisonError};

/// This rank's band, and its communicator.
pub(crate) struct RankContext {
    communicator: Box<dyn Communicator>,
    bands: Bands,
    own: Mutex<Buffer<u64>>,
    all: Buffer<u64>,
}

impl RankContext {
    /// The context of the communicator's rank, whose columns are those of `bands`.
    pub(crate) fn new(
        device: &Arc<dyn Device>,
        communicator: Box<dyn Communicator>,
        bands: Bands,
    ) -> Result<Self, DeviceError> {
        let ranks = communicator.size();
        Ok(Self {
            communicator,
            bands,
            own: Mutex::new(Buffer::zeros(device, RANK_VALUES)?),
            all: Buffer::zeros(device, ranks * RANK_VALUES)?,
        })
    }

    pub(crate) fn communicator(&self) -> &dyn Communicator {
        &*self.communicator
    }

    /// Number of this rank.
    pub(crate) fn rank(&self) -> usize {
        self.communicator.rank()
    }

    /// Number of ranks.
    pub(crate) fn size(&self) -> usize {
        self.communicator.size()
    }

    pub(crate) fn bands(&self) -> &Bands {
        &self.bands
    }

    /// First column of this rank.
    pub(crate) fn first(&self) -> usize {
        self.bands.of(self.rank()).start
    }

    /// Whether there are bands before and after this one.
    pub(crate) fn neighbours(&self) -> [bool; 2] {
        self.bands.neighbours(self.rank())
    }

    /// The same as flags of the kernels.
    pub(crate) fn edges(&self) -> u32 {
        edges(self.neighbours())
    }

    /// Values in device memory, gathered from all ranks: those of rank r at r · [`RANK_VALUES`] of
    /// the buffer returned.
    pub(crate) fn gather(
        &self,
        values: &Buffer<f64>,
        from: usize,
    ) -> Result<&Buffer<u64>, DeviceError> {
        let bytes = RANK_VALUES * size_of::<f64>();
        self.communicator.all_gather(values.address_of(from), self.all.address(), bytes)?;
        Ok(&self.all)
    }

    /// The first `K` of the values at the start of `values`, by rank.
    pub(crate) fn gathered<const K: usize>(
        &self,
        values: &Buffer<f64>,
    ) -> Result<Vec<[f64; K]>, DeviceError> {
        self.gather(values, 0)?;
        let host = self.download()?;
        Ok(host
            .chunks(RANK_VALUES)
            .map(|rank| std::array::from_fn(|k| f64::from_bits(rank[k])))
            .collect())
    }

    /// A number of each rank, by rank.
    pub(crate) fn numbers(&self, own: u64) -> Result<Vec<u64>, DeviceError> {
        Ok(self.pairs([own, 0])?.into_iter().map(|[number, _]| number).collect())
    }

    /// Two numbers of each rank, by rank.
    fn pairs(&self, own: [u64; 2]) -> Result<Vec<[u64; 2]>, DeviceError> {
        let workspace = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        workspace.upload_part(&own)?;
        let bytes = RANK_VALUES * size_of::<u64>();
        self.communicator.all_gather(workspace.address(), self.all.address(), bytes)?;
        Ok(self.download()?.chunks(RANK_VALUES).map(|rank| [rank[0], rank[1]]).collect())
    }

    /// The first of the bad pivots that the ranks found in factors of their own rows, as a row of the
    /// whole matrix.
    pub(crate) fn first_pivot(
        &self,
        own: Option<BadPivot>,
    ) -> Result<Option<BadPivot>, DeviceError> {
        let found = own.map(|bad| [(self.first() + bad.row) as u64, bad.value.to_bits()]);
        let all = self.pairs(found.unwrap_or([u64::MAX, 0]))?;
        let first = all.into_iter().find(|[row, _]| *row != u64::MAX);
        Ok(first.map(|[row, value]| BadPivot { row: row as usize, value: f64::from_bits(value) }))
    }

    /// The first of the indices that the ranks found in their bands, as an index of the whole grid,
    /// each of whose points has `each` of them.
    pub(crate) fn first_of_all(
        &self,
        own: Option<usize>,
        each: usize,
    ) -> Result<Option<usize>, DeviceError> {
        let (columns, whole) = (self.bands.of(self.rank()), each * self.bands.columns());
        let band = each * columns.len();
        let place = own.map(|k| k / band * whole + each * columns.start + k % band);
        let all = self.numbers(place.map_or(u64::MAX, |k| k as u64))?;
        Ok(all.into_iter().min().filter(|k| *k != u64::MAX).map(|k| k as usize))
    }

    fn download(&self) -> Result<Vec<u64>, DeviceError> {
        let mut host = vec![0; self.all.len()];
        self.all.download(&mut host)?;
        Ok(host)
    }
}

/// The edges of a row with such neighbours.
pub(crate) fn edges([before, after]: [bool; 2]) -> u32 {
    (if before { EDGE_WEST } else { 0 }) | (if after { EDGE_EAST } else { 0 })
}

/// Edges of a row whose first and last points are neighbours.
pub(crate) const PERIODIC_ROW: u32 = EDGE_WEST | EDGE_EAST | EDGE_PERIODIC;
