//! The place of a backend among the ranks.

use super::super::Buffer;
use super::super::device::Device;
use super::{Communicator, halo};
use crate::backend::bands::Bands;
use crate::backend::{BadPivot, DeviceError};
use std::sync::{Arc, Mutex, PoisonError};

/// Values of a rank in one gathering.
const GATHERED: usize = 4;

/// This rank's band, and its way to the others.
pub(in super::super) struct Place {
    communicator: Box<dyn Communicator>,
    bands: Bands,
    own: Mutex<Buffer<u64>>,
    all: Buffer<u64>,
}

impl Place {
    /// The place of the communicator's rank, whose columns are those of `bands`.
    pub(in super::super) fn new(
        device: &Arc<dyn Device>,
        communicator: Box<dyn Communicator>,
        bands: Bands,
    ) -> Result<Self, DeviceError> {
        let ranks = communicator.size();
        Ok(Self {
            communicator,
            bands,
            own: Mutex::new(Buffer::zeros(device, GATHERED)?),
            all: Buffer::zeros(device, ranks * GATHERED)?,
        })
    }

    pub(in super::super) fn communicator(&self) -> &dyn Communicator {
        &*self.communicator
    }

    /// Number of this rank.
    pub(in super::super) fn rank(&self) -> usize {
        self.communicator.rank()
    }

    /// Number of ranks.
    pub(in super::super) fn ranks(&self) -> usize {
        self.communicator.size()
    }

    pub(in super::super) fn bands(&self) -> &Bands {
        &self.bands
    }

    /// First column of this rank.
    pub(in super::super) fn first(&self) -> usize {
        self.bands.of(self.rank()).start
    }

    /// Whether there are bands before and after this one.
    pub(in super::super) fn neighbours(&self) -> [bool; 2] {
        self.bands.neighbours(self.rank())
    }

    /// The same as kernels take it.
    pub(in super::super) fn rim(&self) -> u32 {
        halo::rim(self.neighbours())
    }

    /// Values in device memory, gathered from all ranks: those of rank r at r · [`GATHERED`] of
    /// the buffer returned.
    pub(in super::super) fn gather(
        &self,
        values: &Buffer<f64>,
        from: usize,
    ) -> Result<&Buffer<u64>, DeviceError> {
        let bytes = GATHERED * size_of::<f64>();
        self.communicator.all_gather(values.address_of(from), self.all.address(), bytes)?;
        Ok(&self.all)
    }

    /// The first `K` of the values at the start of `values`, by rank.
    pub(in super::super) fn gathered<const K: usize>(
        &self,
        values: &Buffer<f64>,
    ) -> Result<Vec<[f64; K]>, DeviceError> {
        self.gather(values, 0)?;
        let host = self.download()?;
        Ok(host
            .chunks(GATHERED)
            .map(|rank| std::array::from_fn(|k| f64::from_bits(rank[k])))
            .collect())
    }

    /// A number of each rank, by rank.
    pub(in super::super) fn numbers(&self, own: u64) -> Result<Vec<u64>, DeviceError> {
        Ok(self.pairs([own, 0])?.into_iter().map(|[number, _]| number).collect())
    }

    /// Two numbers of each rank, by rank.
    fn pairs(&self, own: [u64; 2]) -> Result<Vec<[u64; 2]>, DeviceError> {
        let room = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        room.upload_part(&own)?;
        let bytes = GATHERED * size_of::<u64>();
        self.communicator.all_gather(room.address(), self.all.address(), bytes)?;
        Ok(self.download()?.chunks(GATHERED).map(|rank| [rank[0], rank[1]]).collect())
    }

    /// The first of the bad pivots that the ranks found in factors of their own rows, as a row of the
    /// whole matrix.
    pub(in super::super) fn first_pivot(
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
    pub(in super::super) fn first_of_all(
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
