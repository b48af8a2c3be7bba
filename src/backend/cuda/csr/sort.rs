//! Sorts and scans on the GPU, and the shapes of launches that draw rows.

use crate::backend::DeviceError;
use crate::backend::cuda::backend::CudaBackend;
use crate::backend::cuda::device::Buffer;
use crate::backend::cuda::launch::shared::{DIGITS, KEYS, SCANNED};
use crate::backend::cuda::launch::{Argument, BLOCK, LaunchShape, Source, arguments};

/// Values that a block of a scan takes.
const SCANNED_BY_BLOCK: usize = SCANNED * BLOCK as usize;
/// Threads of a block that draws slices of rows, and of one whose warps each draw their own.
pub(super) const DRAWING: usize = 256;
const SLIM: usize = 128;
/// Most such blocks.
pub(super) const MOST_DRAWING: usize = 1056;
const MOST_SLIM: usize = 1056;
/// Blocks that draw the rows of so many threads, at most so many.
pub(super) fn drawing(threads: usize, most: usize) -> LaunchShape {
    LaunchShape::blocks(threads.div_ceil(DRAWING).clamp(1, most))
}

/// Blocks whose warps each draw their own of the rows of so many threads.
pub(super) fn slim(threads: usize) -> LaunchShape {
    let blocks = threads.div_ceil(SLIM).clamp(1, MOST_SLIM);
    LaunchShape { block: [SLIM as u32, 1, 1], ..LaunchShape::blocks(blocks) }
}

/// The highest level.
pub(super) fn depth(backend: &CudaBackend, levels: &Buffer<u32>) -> Result<u32, DeviceError> {
    let most = Buffer::<u32>::zeros(&backend.device, 1)?;
    let arguments = arguments![levels.len() as u64, levels, &most];
    launch(backend, "find_depth", LaunchShape::reduction(levels.len()), &arguments)?;
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
    launch(backend, "invert_order", LaunchShape::threads(order.len()), &arguments)?;
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
        launch(backend, "count_digits", LaunchShape::blocks(blocks), &arguments)?;
        let starts = scan(backend, &counts)?;
        let arguments = arguments![rows as u64, shift, levels, before, &starts, &next];
        launch(backend, "move_rows", LaunchShape::blocks(blocks), &arguments)?;
        shift += DIGITS.ilog2();
        if shift >= u32::BITS || depth.saturating_sub(1) >> shift == 0 {
            return Ok(next);
        }
        order = Some(next);
    }
}

pub(super) fn launch(
    backend: &CudaBackend,
    name: &'static str,
    shape: LaunchShape,
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
    let blocks = n.div_ceil(SCANNED_BY_BLOCK).max(1);
    let sums = Buffer::<u64>::zeros(&backend.device, n + 1)?;
    let parts = Buffer::<u64>::zeros(&backend.device, blocks)?;
    let arguments = arguments![n as u64, values, &sums, &parts];
    launch(backend, "scan_parts", LaunchShape::blocks(blocks), &arguments)?;
    let arguments = arguments![n as u64, blocks as u64, &sums, &parts];
    launch(
        backend,
        "scan_blocks",
        LaunchShape { block: [1024, 1, 1], ..LaunchShape::blocks(1) },
        &arguments,
    )?;
    if blocks > 1 {
        let arguments = arguments![n as u64, &parts, &sums];
        launch(backend, "scan_all", LaunchShape::blocks(blocks), &arguments)?;
    }
    Ok(sums)
}
