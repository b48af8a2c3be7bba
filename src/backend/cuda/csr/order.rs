//! The order in which rows are worked on, found on the GPU.

use super::eliminated::Eliminated;
use super::sort::{self, DRAWING, MOST_DRAWING, depth, inverse, slim, sorted};
use crate::backend::DeviceError;
use crate::backend::cuda::backend::CudaBackend;
use crate::backend::cuda::device::Buffer;
use crate::backend::cuda::launch::{LaunchShape, arguments};
use std::sync::Arc;

/// Fewest blocks that draw rows where there is work for them.
const FEWEST_DRAWING: usize = 132;
/// Levels that are worked on ahead of the one that everybody waits for: rows further ahead would only
/// look in vain, and be in the way of those that look for what is nearly there.
const LEVELS_AHEAD: usize = 8;

/// One side of the diagonal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Lower,
    Upper,
}

impl Side {
    /// As kernels take it.
    pub(super) fn flag(self) -> u32 {
        u32::from(self == Self::Upper)
    }
}

/// Rows in an order in which each comes after those that it waits for.
pub(super) struct Order {
    /// The rows.
    pub(super) rows: Arc<Buffer<u32>>,
    /// Place of each row.
    pub(super) place: Buffer<u32>,
    /// Levels, if the rows are sorted by them.
    pub(super) levels: Option<LevelStarts>,
}

/// Rows by level.
pub(super) struct LevelStarts {
    /// Where each level starts, on the device.
    pub(super) starts: Buffer<u64>,
    /// Number of levels.
    pub(super) depth: usize,
}

impl LevelStarts {
    /// Where each level starts; one more than levels.
    pub(super) fn download(&self) -> Result<Vec<u64>, DeviceError> {
        let mut starts = vec![0; self.depth + 1];
        self.starts.download(&mut starts)?;
        Ok(starts)
    }
}

impl Order {
    /// First row first for the lower side, last row first for the upper one.
    pub(super) fn natural(
        backend: &CudaBackend,
        rows: usize,
        side: Side,
    ) -> Result<Self, DeviceError> {
        let order = Buffer::zeros(&backend.device, rows)?;
        let place = Buffer::zeros(&backend.device, rows)?;
        let arguments = arguments![rows as u64, side.flag(), &order, &place];
        sort::launch(backend, "number_rows", LaunchShape::threads(rows), &arguments)?;
        Ok(Self { rows: Arc::new(order), place, levels: None })
    }

    /// By level of one side of the diagonal.
    pub(super) fn by_level(
        backend: &CudaBackend,
        a: &Eliminated,
        side: Side,
    ) -> Result<Self, DeviceError> {
        let (device, pattern) = (&backend.device, &a.pattern);
        let rows = pattern.rows;
        let levels = Buffer::<u32>::zeros(device, rows)?;
        let ticket = Buffer::<u32>::zeros(device, 1)?;
        let arguments = arguments![
            rows as u64,
            side.flag(),
            &pattern.row_start,
            &a.split,
            &pattern.columns,
            &levels,
            &ticket
        ];
        sort::launch(backend, "level_rows", slim(rows), &arguments)?;
        let depth = depth(backend, &levels)?;
        let order = sorted(backend, &levels, depth)?;
        let starts = Buffer::zeros(device, depth as usize + 1)?;
        let arguments = arguments![rows as u64, &levels, &order, &starts];
        sort::launch(backend, "find_starts", LaunchShape::threads(rows), &arguments)?;
        let place = inverse(backend, &order)?;
        let levels = LevelStarts { starts, depth: depth as usize };
        Ok(Self { rows: Arc::new(order), place, levels: Some(levels) })
    }

    /// The same levels from the last to the first: those of the other side, if every entry has a
    /// partner across the diagonal.
    pub(super) fn turned(&self, backend: &CudaBackend) -> Result<Self, DeviceError> {
        let (device, rows) = (&backend.device, self.rows.len());
        let order = Buffer::zeros(device, rows)?;
        let arguments = arguments![rows as u64, &*self.rows, &order];
        sort::launch(backend, "turn_order", LaunchShape::threads(rows), &arguments)?;
        let place = inverse(backend, &order)?;
        let levels = match &self.levels {
            None => None,
            Some(LevelStarts { starts, depth }) => {
                let turned = Buffer::zeros(device, depth + 1)?;
                let arguments = arguments![rows as u64, *depth as u32, starts, &turned];
                sort::launch(backend, "turn_starts", LaunchShape::threads(depth + 1), &arguments)?;
                Some(LevelStarts { starts: turned, depth: *depth })
            }
        };
        Ok(Self { rows: Arc::new(order), place, levels })
    }

    /// Most blocks that should draw the rows at a time, so many lanes a row.
    pub(super) fn most_drawing(&self, lanes: usize) -> usize {
        let Some(levels) = &self.levels else { return MOST_DRAWING };
        let ahead = LEVELS_AHEAD * self.rows.len() * lanes / levels.depth.max(1);
        (ahead / DRAWING).clamp(FEWEST_DRAWING, MOST_DRAWING)
    }
}
