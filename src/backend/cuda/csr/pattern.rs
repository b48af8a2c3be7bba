//! Patterns of matrices by rows on the GPU: their entries, their slices of 32 rows (`slices.cuh`), and the
//! sorts and scans that make them.

use crate::backend::cuda::backend::CudaBackend;
use crate::backend::cuda::device::Buffer;
use crate::backend::cuda::launch::constants::{DIGITS, KEYS, SCANNED};
use crate::backend::cuda::launch::shared::SliceRows;
use crate::backend::cuda::launch::{BLOCK, LaunchShape, Result, WARP, launch};
use crate::backend::{DeviceError, Real};
use crate::sparse::Csr;

/// Values that a block of a scan takes.
const SCANNED_BY_BLOCK: usize = SCANNED * BLOCK as usize;
/// Threads of a block that draws slices of rows, and of one whose warps each draw their own.
pub(super) const DRAWING: usize = 256;
const SLIM: usize = 128;
/// Most such blocks.
pub(super) const MOST_DRAWING: usize = 1056;

/// Blocks whose warps each draw rows of their own, with this number of threads in all.
pub(super) fn slim(threads: usize) -> LaunchShape {
    LaunchShape::new(threads.div_ceil(SLIM).clamp(1, MOST_DRAWING), SLIM as u32)
}

pub(super) fn depth(backend: &CudaBackend, levels: &Buffer<u32>) -> Result<u32> {
    let most = Buffer::<u32>::zeros(&backend.device, 1)?;
    launch!(backend => find_depth[f64, LaunchShape::reduction(levels.len())](levels.len() as u64,
        levels, &most))?;
    most.get(0)
}

/// Place of each row in an order.
pub(super) fn inverse(backend: &CudaBackend, order: &Buffer<u32>) -> Result<Buffer<u32>> {
    let place = Buffer::zeros(&backend.device, order.len())?;
    launch!(backend => invert_order[f64; place.len()](order, &place))?;
    Ok(place)
}

/// to\[k\] ← of\[rows\[k\]\].
pub(super) fn link(
    backend: &CudaBackend,
    rows: &Buffer<u32>,
    of: &Buffer<u32>,
) -> Result<Buffer<u32>> {
    let to = Buffer::zeros(&backend.device, rows.len())?;
    launch!(backend => link_rows[f64; rows.len()](rows, of, &to))?;
    Ok(to)
}

/// The rows sorted by levels from 1 to `depth`, those of a level in natural order.
pub(super) fn sorted(
    backend: &CudaBackend,
    levels: &Buffer<u32>,
    depth: u32,
) -> Result<Buffer<u32>> {
    let (device, rows) = (&backend.device, levels.len());
    let blocks = rows.div_ceil(KEYS);
    let counts = Buffer::<u32>::zeros(device, DIGITS * blocks)?;
    let mut order: Option<Buffer<u32>> = None;
    let mut shift = 0;
    loop {
        let next = Buffer::<u32>::zeros(device, rows)?;
        let before = order.as_ref();
        launch!(backend => count_digits[f64, LaunchShape::blocks(blocks)](rows as u64, shift,
            levels, before, &counts))?;
        let starts = scan(backend, &counts)?;
        launch!(backend => move_rows[f64, LaunchShape::blocks(blocks)](rows as u64, shift, levels,
            before, &starts, &next))?;
        shift += DIGITS.ilog2();
        if shift >= u32::BITS || depth.saturating_sub(1) >> shift == 0 {
            return Ok(next);
        }
        order = Some(next);
    }
}

/// Exclusive prefix sums, and the sum of all values.
pub(super) fn scan(backend: &CudaBackend, values: &Buffer<u32>) -> Result<Buffer<u64>> {
    let n = values.len();
    let blocks = n.div_ceil(SCANNED_BY_BLOCK).max(1);
    let sums = Buffer::<u64>::zeros(&backend.device, n + 1)?;
    let parts = Buffer::<u64>::zeros(&backend.device, blocks)?;
    launch!(backend => scan_parts[f64, LaunchShape::blocks(blocks)](n as u64, values, &sums,
        &parts))?;
    launch!(backend => scan_blocks[f64, LaunchShape::new(1, 1024)](n as u64, blocks as u64, &sums,
        &parts))?;
    if blocks > 1 {
        launch!(backend => scan_all[f64, LaunchShape::blocks(blocks)](n as u64, &parts, &sums))?;
    }
    Ok(sums)
}

/// Places of the entries of a square matrix, by rows; 32 bits an entry.
pub(super) struct CsrPattern {
    pub(super) rows: usize,
    pub(super) entries: usize,
    pub(super) row_start: Buffer<u32>,
    pub(super) columns: Buffer<u32>,
}

impl CsrPattern {
    /// A copy of the pattern of `a`, and one of its values.
    pub(super) fn with_values<T: Real>(
        backend: &CudaBackend,
        a: &Csr,
    ) -> Result<(Self, Buffer<T>)> {
        let values: Vec<T> = a.values.iter().map(|&value| T::narrow(value)).collect();
        Ok((Self::new(backend, a)?, Buffer::from_host(&backend.device, &values)?))
    }

    pub(super) fn new(backend: &CudaBackend, a: &Csr) -> Result<Self> {
        let entries = a.columns.len();
        if u32::try_from(entries).is_err() {
            return Err(DeviceError::TooManyEntries { entries });
        }
        let row_start: Vec<u32> = a.row_start.iter().map(|&start| start as u32).collect();
        Ok(Self {
            rows: a.rows(),
            entries,
            row_start: Buffer::from_host(&backend.device, &row_start)?,
            columns: Buffer::from_host(&backend.device, &a.columns)?,
        })
    }

    /// Memory for the entries of rows of these lengths.
    pub(super) fn of_lengths(backend: &CudaBackend, lengths: &Buffer<u32>) -> Result<Self> {
        let (device, rows) = (&backend.device, lengths.len());
        let wide = scan(backend, lengths)?;
        let row_start = Buffer::zeros(device, rows + 1)?;
        launch!(backend => take_starts[f64; rows + 1](&wide, &row_start))?;
        let entries = wide.get(rows)? as usize;
        Ok(Self { rows, entries, row_start, columns: Buffer::zeros(device, entries)? })
    }
}

pub(super) const SLICE: usize = WARP;
/// Most lanes that bring the entries of a row to their places.
const MOST_LANES: usize = 8;

/// Places of the entries of rows in slices.
pub(super) struct SlicedRows {
    /// Entries that there is memory for.
    pub(super) capacity: usize,
    width: Buffer<u32>,
    start: Buffer<u64>,
    length: Buffer<u32>,
    longest: u32,
}

impl SlicedRows {
    /// Slices of rows of these lengths. Warps take rows together that have more than `longest` entries, or
    /// than a warp has lanes.
    pub(super) fn new(backend: &CudaBackend, length: Buffer<u32>, longest: usize) -> Result<Self> {
        let (count, longest) = (length.len().div_ceil(SLICE), longest.max(WARP) as u32);
        let width = Buffer::zeros(&backend.device, count)?;
        let capacity = Buffer::zeros(&backend.device, count)?;
        launch!(backend => shape_slices[f64; length.len()](&length, longest, &width, &capacity))?;
        let start = scan(backend, &capacity)?;
        Ok(Self { capacity: start.get(count)? as usize, width, start, length, longest })
    }

    pub(super) fn rows(&self) -> usize {
        self.length.len()
    }

    pub(super) fn shared(&self) -> SliceRows {
        SliceRows {
            rows: self.rows() as u64,
            width: (&self.width).into(),
            start: (&self.start).into(),
            length: (&self.length).into(),
            longest: self.longest.into(),
        }
    }

    /// Lanes that bring the entries of a row to their places, about half as many as it has; and a launch
    /// of as many threads a row, the rows in whole slices.
    pub(super) fn teams(&self) -> (u32, LaunchShape) {
        let lanes = self.capacity / (2 * self.rows().max(1));
        let lanes = lanes.clamp(1, MOST_LANES).next_power_of_two();
        let threads = self.rows().div_ceil(SLICE) * SLICE * lanes;
        (lanes as u32, LaunchShape::threads(threads))
    }
}
