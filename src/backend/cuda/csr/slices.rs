//! Rows in slices of 32, as `slices.cuh` reads them.

use crate::backend::DeviceError;
use crate::backend::cuda::backend::CudaBackend;
use crate::backend::cuda::device::Buffer;
use crate::backend::cuda::launch::shared::{BY_ROWS, SliceRows};
use crate::backend::cuda::launch::{LaunchShape, WARP};

/// Rows of a slice.
pub(super) const SLICE: usize = WARP;
/// Most lanes that bring the entries of a row to their places.
const MOST_LANES: usize = 8;

/// Where the entries of rows stand in slices.
pub(super) struct Slices {
    pub(super) rows: usize,
    /// Entries that there is memory for.
    pub(super) capacity: usize,
    pub(super) width: Buffer<u32>,
    pub(super) start: Buffer<u64>,
    pub(super) length: Buffer<u32>,
}

impl Slices {
    /// Slices of rows of these lengths.
    pub(super) fn of_lengths(backend: &CudaBackend, lengths: &[u32]) -> Result<Self, DeviceError> {
        let (mut width, mut start) = (Vec::new(), vec![0_u64]);
        let mut capacity = 0;
        for slice in lengths.chunks(SLICE) {
            let most = slice.iter().copied().max().unwrap_or(0);
            let sum: u64 = slice.iter().map(|&length| u64::from(length)).sum();
            let padded = SLICE as u64 * u64::from(most);
            let together = most > SLICE as u32 && padded > 2 * sum;
            width.push(if together { BY_ROWS } else { most });
            capacity += if together { sum } else { padded };
            start.push(capacity);
        }
        let device = &backend.device;
        Ok(Self {
            rows: lengths.len(),
            capacity: capacity as usize,
            width: Buffer::from_host(device, &width)?,
            start: Buffer::from_host(device, &start)?,
            length: Buffer::from_host(device, lengths)?,
        })
    }

    /// As kernels take them.
    pub(super) fn shared(&self) -> SliceRows {
        SliceRows {
            rows: self.rows as u64,
            width: (&self.width).into(),
            start: (&self.start).into(),
            length: (&self.length).into(),
        }
    }

    /// A thread a row, so a warp a slice.
    pub(super) fn shape(&self) -> LaunchShape {
        LaunchShape::threads(self.rows)
    }

    /// Lanes that bring the entries of a row to their places: about half as many as it has.
    pub(super) fn lanes(&self) -> usize {
        (self.capacity / (2 * self.rows.max(1))).clamp(1, MOST_LANES).next_power_of_two()
    }

    /// So many threads a row, the rows in whole slices.
    pub(super) fn shape_of_teams(&self) -> LaunchShape {
        LaunchShape::threads(self.rows.div_ceil(SLICE) * SLICE * self.lanes())
    }
}
