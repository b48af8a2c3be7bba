//! The order in which rows are worked on, found on the GPU.

use super::super::kernel::{Argument, BLOCK, Shape, Source, arguments};
use super::super::{Buffer, CudaBackend};
use super::source::Eliminated;
use crate::backend::DeviceError;
use std::sync::Arc;

/// Values that a block of a scan takes, as `order.cu` has it.
const SCANNED: usize = 8 * BLOCK as usize;
/// Digits and keys of a block of a pass of the sort, as `order.cu` has them.
const DIGITS: usize = 256;
const KEYS: usize = 2048;
/// Threads of a block that draws slices of rows, and of one whose warps each draw their own.
pub(super) const DRAWING: usize = 256;
const SLIM: usize = 128;
/// Most such blocks, and fewest where there is work for them.
const MOST_DRAWING: usize = 1056;
const MOST_SLIM: usize = 1056;
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

/// Blocks that draw the rows of so many threads, at most so many.
pub(super) fn drawing(threads: usize, most: usize) -> Shape {
    Shape::blocks(threads.div_ceil(DRAWING).clamp(1, most))
}

/// Blocks whose warps each draw their own of the rows of so many threads.
pub(super) fn slim(threads: usize) -> Shape {
    let blocks = threads.div_ceil(SLIM).clamp(1, MOST_SLIM);
    Shape { block: [SLIM as u32, 1, 1], ..Shape::blocks(blocks) }
}

/// Rows in an order in which each comes after those that it waits for.
pub(super) struct Order {
    /// The rows.
    pub(super) rows: Arc<Buffer<u32>>,
    /// Place of each row.
    pub(super) place: Buffer<u32>,
    /// Levels, if the rows are sorted by them.
    pub(super) levels: Option<Levels>,
}

/// Rows by level.
pub(super) struct Levels {
    /// Where each level starts, on the device.
    pub(super) starts: Buffer<u64>,
    /// Number of levels.
    pub(super) depth: usize,
}

impl Levels {
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
        launch(backend, "number_rows", Shape::threads(rows), &arguments)?;
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
        launch(backend, "level_rows", slim(rows), &arguments)?;
        let depth = depth(backend, &levels)?;
        let order = sorted(backend, &levels, depth)?;
        let starts = Buffer::zeros(device, depth as usize + 1)?;
        let arguments = arguments![rows as u64, &levels, &order, &starts];
        launch(backend, "find_starts", Shape::threads(rows), &arguments)?;
        let place = inverse(backend, &order)?;
        let levels = Levels { starts, depth: depth as usize };
        Ok(Self { rows: Arc::new(order), place, levels: Some(levels) })
    }

    /// The same levels from the last to the first: those of the other side, if every entry has a
    /// partner across the diagonal.
    pub(super) fn turned(&self, backend: &CudaBackend) -> Result<Self, DeviceError> {
        let (device, rows) = (&backend.device, self.rows.len());
        let order = Buffer::zeros(device, rows)?;
        let arguments = arguments![rows as u64, &*self.rows, &order];
        launch(backend, "turn_order", Shape::threads(rows), &arguments)?;
        let place = inverse(backend, &order)?;
        let levels = match &self.levels {
            None => None,
            Some(Levels { starts, depth }) => {
                let turned = Buffer::zeros(device, depth + 1)?;
                let arguments = arguments![rows as u64, *depth as u32, starts, &turned];
                launch(backend, "turn_starts", Shape::threads(depth + 1), &arguments)?;
                Some(Levels { starts: turned, depth: *depth })
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

/// The highest level.
pub(super) fn depth(backend: &CudaBackend, levels: &Buffer<u32>) -> Result<u32, DeviceError> {
    let most = Buffer::<u32>::zeros(&backend.device, 1)?;
    let arguments = arguments![levels.len() as u64, levels, &most];
    launch(backend, "find_depth", Shape::reduction(levels.len()), &arguments)?;
    let mut found = [0];
    most.download(&mut found)?;
    Ok(found[0])
}

/// Place of each row in an order.
pub(super) fn inverse(
    backend: &CudaBackend,
    order: &Buffer<u32>,
) -> Result<Buffer<u32>, DeviceError> {
    let place = Buffer::zeros(&backend.device, order.len())?;
    let arguments = arguments![order.len() as u64, order, &place];
    launch(backend, "invert_order", Shape::threads(order.len()), &arguments)?;
    Ok(place)
}

/// The rows sorted by levels from 1 to `depth`, those of a level in natural order.
pub(super) fn sorted(
    backend: &CudaBackend,
    levels: &Buffer<u32>,
    depth: u32,
) -> Result<Buffer<u32>, DeviceError> {
    let (device, rows) = (&backend.device, levels.len());
    let blocks = rows.div_ceil(KEYS);
    let counts = Buffer::<u32>::zeros(device, DIGITS * blocks)?;
    let mut order: Option<Buffer<u32>> = None;
    let mut shift = 0;
    loop {
        let next = Buffer::<u32>::zeros(device, rows)?;
        let before = order.as_ref().map_or(0, Buffer::address);
        let arguments = arguments![rows as u64, shift, levels, before, &counts];
        launch(backend, "count_digits", Shape::blocks(blocks), &arguments)?;
        let starts = scan(backend, &counts)?;
        let arguments = arguments![rows as u64, shift, levels, before, &starts, &next];
        launch(backend, "move_rows", Shape::blocks(blocks), &arguments)?;
        shift += DIGITS.ilog2();
        if shift >= u32::BITS || depth.saturating_sub(1) >> shift == 0 {
            return Ok(next);
        }
        order = Some(next);
    }
}

fn launch(
    backend: &CudaBackend,
    name: &'static str,
    shape: Shape,
    arguments: &[Argument],
) -> Result<(), DeviceError> {
    backend.launch::<f64>(Source::Order, name, shape, arguments)
}

/// What stands before each value, and the sum of all.
pub(super) fn scan(
    backend: &CudaBackend,
    values: &Buffer<u32>,
) -> Result<Buffer<u64>, DeviceError> {
    let n = values.len();
    let blocks = n.div_ceil(SCANNED).max(1);
    let sums = Buffer::<u64>::zeros(&backend.device, n + 1)?;
    let parts = Buffer::<u64>::zeros(&backend.device, blocks)?;
    let arguments = arguments![n as u64, values, &sums, &parts];
    launch(backend, "scan_parts", Shape::blocks(blocks), &arguments)?;
    let arguments = arguments![n as u64, blocks as u64, &sums, &parts];
    launch(backend, "scan_blocks", Shape { block: [1024, 1, 1], ..Shape::blocks(1) }, &arguments)?;
    if blocks > 1 {
        let arguments = arguments![n as u64, &parts, &sums];
        launch(backend, "scan_all", Shape::blocks(blocks), &arguments)?;
    }
    Ok(sums)
}
