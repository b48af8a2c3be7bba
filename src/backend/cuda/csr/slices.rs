//! Rows in slices of 32, as `slices.cuh` reads them.

use super::super::kernel::{Argument, Shape, arguments};
use super::super::{Buffer, CudaBackend};
use crate::backend::DeviceError;

/// Rows of a slice.
pub(super) const SLICE: usize = 32;
/// Most lanes that bring the entries of a row to their places.
const MOST_LANES: usize = 8;
/// A width that says that the rows of a slice follow each other.
const BY_ROWS: u32 = u32::MAX;

/// Where the entries of rows stand in slices.
pub(super) struct Slices {
    pub(super) rows: usize,
    /// Entries that there is room for.
    pub(super) room: usize,
    pub(super) width: Buffer<u32>,
    pub(super) start: Buffer<u64>,
    pub(super) length: Buffer<u32>,
}

impl Slices {
    /// Slices of rows of these lengths.
    pub(super) fn of_lengths(backend: &CudaBackend, lengths: &[u32]) -> Result<Self, DeviceError> {
        let (mut width, mut start) = (Vec::new(), vec![0_u64]);
        let mut room = 0;
        for slice in lengths.chunks(SLICE) {
            let most = slice.iter().copied().max().unwrap_or(0);
            let sum: u64 = slice.iter().map(|&length| u64::from(length)).sum();
            let padded = SLICE as u64 * u64::from(most);
            let together = most > SLICE as u32 && padded > 2 * sum;
            width.push(if together { BY_ROWS } else { most });
            room += if together { sum } else { padded };
            start.push(room);
        }
        let device = &backend.device;
        Ok(Self {
            rows: lengths.len(),
            room: room as usize,
            width: Buffer::from_host(device, &width)?,
            start: Buffer::from_host(device, &start)?,
            length: Buffer::from_host(device, lengths)?,
        })
    }

    /// Widths, starts and lengths as kernels take them.
    pub(super) fn arguments(&self) -> Vec<Argument> {
        arguments![&self.width, &self.start, &self.length]
    }

    /// A thread a row, so a warp a slice.
    pub(super) fn shape(&self) -> Shape {
        Shape::threads(self.rows)
    }

    /// Lanes that bring the entries of a row to their places: about half as many as it has.
    pub(super) fn lanes(&self) -> usize {
        (self.room / (2 * self.rows.max(1))).clamp(1, MOST_LANES).next_power_of_two()
    }

    /// So many threads a row, the rows in whole slices.
    pub(super) fn shape_of_teams(&self) -> Shape {
        Shape::threads(self.rows.div_ceil(SLICE) * SLICE * self.lanes())
    }
}
