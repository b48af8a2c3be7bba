//! The order in which rows are worked on, found on the GPU.

use super::super::kernel::{BLOCK, Shape, Source, arguments};
use super::super::{Buffer, CudaBackend};
use super::source::Eliminated;
use crate::backend::DeviceError;
use std::sync::Arc;

/// Values that a block of a scan takes, as `order.cu` has it.
const SCANNED: usize = 8 * BLOCK as usize;
/// Most blocks whose warps draw slices of rows.
pub(super) const DRAWING_BLOCKS: usize = 1056;
/// Threads of such a block.
pub(super) const DRAWING: u32 = 128;

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

/// Blocks whose warps draw slices of `rows` rows.
pub(super) fn drawing(rows: usize) -> Shape {
    let blocks = rows.div_ceil(DRAWING as usize).clamp(1, DRAWING_BLOCKS);
    Shape { grid: [blocks as u32, 1, 1], block: [DRAWING, 1, 1], shared: 0 }
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
        backend.launch::<f64>(Source::Order, "number_rows", Shape::threads(rows), &arguments)?;
        Ok(Self { rows: Arc::new(order), place, levels: None })
    }

    /// By level of one side of the diagonal.
    pub(super) fn by_level(
        backend: &CudaBackend,
        a: &Eliminated,
        side: Side,
    ) -> Result<Self, DeviceError> {
        let (device, rows) = (&backend.device, a.pattern.rows);
        let launch = |name, shape, arguments: Vec<_>| {
            backend.launch::<f64>(Source::Order, name, shape, &arguments)
        };
        let levels = Buffer::<u32>::zeros(device, rows)?;
        let ticket = Buffer::<u32>::zeros(device, 1)?;
        let pattern = &a.pattern;
        let arguments = arguments![
            rows as u64,
            side.flag(),
            &pattern.row_start,
            &a.split,
            &pattern.columns,
            &levels,
            &ticket
        ];
        launch("level_rows", drawing(rows), arguments)?;
        let counts = Buffer::<u32>::zeros(device, rows)?;
        let depth = Buffer::<u32>::zeros(device, 1)?;
        let arguments = arguments![rows as u64, &levels, &counts, &depth];
        launch("count_levels", Shape::reduction(rows), arguments)?;
        let starts = scan(backend, &counts)?;
        let order = Buffer::zeros(device, rows)?;
        let place = Buffer::zeros(device, rows)?;
        let arguments = arguments![rows as u64, &levels, &starts, &counts, &order, &place];
        launch("sort_rows", Shape::threads(rows), arguments)?;
        let mut found = [0];
        depth.download(&mut found)?;
        let levels = Levels { starts, depth: found[0] as usize };
        Ok(Self { rows: Arc::new(order), place, levels: Some(levels) })
    }
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
    let launch = |name, shape, arguments: Vec<_>| {
        backend.launch::<f64>(Source::Order, name, shape, &arguments)
    };
    launch("scan_parts", Shape::blocks(blocks), arguments![n as u64, values, &sums, &parts])?;
    let arguments = arguments![n as u64, blocks as u64, &sums, &parts];
    launch("scan_blocks", Shape { block: [1024, 1, 1], ..Shape::blocks(1) }, arguments)?;
    if blocks > 1 {
        launch("scan_all", Shape::blocks(blocks), arguments![n as u64, &parts, &sums])?;
    }
    Ok(sums)
}
