//! Patterns made on the GPU from that of a matrix: rows renumbered by colour, or cut into tiles.

use super::pattern::CsrPattern;
use super::sort::{depth, inverse, scan, slim, sorted};
use crate::backend::DeviceError;
use crate::backend::cuda::backend::CudaBackend;
use crate::backend::cuda::device::Buffer;
use crate::backend::cuda::launch::shared::EntryTarget;
use crate::backend::cuda::launch::{Argument, LaunchShape, Source, arguments};
use crate::sparse::ROW_TILE;
use std::sync::Arc;

/// A pattern, and what its entries and rows are in the matrix.
pub(super) struct DerivedPattern {
    pub(super) pattern: Arc<CsrPattern>,
    pub(super) source: Buffer<u32>,
    /// Rows of the matrix in their new order, if it is another.
    pub(super) rows: Option<Arc<Buffer<u32>>>,
}

fn launch(
    backend: &CudaBackend,
    name: &'static str,
    rows: usize,
    arguments: &[Argument],
) -> Result<(), DeviceError> {
    backend.launch::<f64>(Source::Patterns, name, LaunchShape::threads(rows), arguments)
}

/// Where rows of these lengths start, and how many entries they have.
fn starts(
    backend: &CudaBackend,
    length: &Buffer<u32>,
) -> Result<(Buffer<u32>, usize), DeviceError> {
    let device = &backend.device;
    let (wide, rows) = (scan(backend, length)?, length.len());
    let narrow = Buffer::zeros(device, rows + 1)?;
    let arguments = arguments![rows as u64 + 1, &wide, &narrow];
    launch(backend, "take_starts", rows + 1, &arguments)?;
    let mut total = [0_u64];
    device.download(wide.address_of(rows), bytemuck::cast_slice_mut(&mut total))?;
    Ok((narrow, total[0] as usize))
}

fn address(source: Option<&Buffer<u32>>) -> u64 {
    source.map_or(0, Buffer::address)
}

/// The rows of `a`, whose pattern is that of its transpose, by colour: those of
/// [`crate::sparse::colours`], which looks at the rows one by one as each waits here for its neighbours.
/// `split` is where each row stops to be left of the diagonal, `source` where the entries of `a` come
/// from, if not from their own places. None if there are too many colours.
pub(super) fn by_colour(
    backend: &CudaBackend,
    a: &CsrPattern,
    split: &Buffer<u32>,
    source: Option<&Buffer<u32>>,
) -> Result<Option<DerivedPattern>, DeviceError> {
    let (device, rows) = (&backend.device, a.rows);
    let colours = Buffer::<u64>::zeros(device, rows)?;
    let numbers = Buffer::<u32>::zeros(device, rows)?;
    let marks = Buffer::<u32>::zeros(device, 2)?;
    let arguments = arguments![
        rows as u64,
        &a.row_start,
        split,
        &a.columns,
        &colours,
        &numbers,
        &marks,
        marks.address_of(1)
    ];
    backend.launch::<f64>(Source::Patterns, "colour_rows", slim(rows), &arguments)?;
    let mut found = [0; 2];
    marks.download(&mut found)?;
    if found[1] != 0 {
        return Ok(None);
    }
    let most = depth(backend, &numbers)?;
    let order = sorted(backend, &numbers, most)?;
    let place = inverse(backend, &order)?;
    let length = Buffer::zeros(device, rows)?;
    let arguments = arguments![rows as u64, &order, &a.row_start, &length];
    launch(backend, "order_lengths", rows, &arguments)?;
    let (row_start, entries) = starts(backend, &length)?;
    let columns = Buffer::zeros(device, entries)?;
    let to_source = Buffer::zeros(device, entries)?;
    let target = EntryTarget {
        starts: (&row_start).into(),
        columns: (&columns).into(),
        source: (&to_source).into(),
    };
    let arguments = arguments![
        rows as u64,
        most,
        &order,
        &place,
        &numbers,
        &a.row_start,
        &a.columns,
        address(source),
        target
    ];
    launch(backend, "take_colours", rows, &arguments)?;
    let pattern = Arc::new(CsrPattern { rows, entries, row_start, columns });
    Ok(Some(DerivedPattern { pattern, source: to_source, rows: Some(Arc::new(order)) }))
}

/// The entries of `a` that do not couple rows of different tiles.
pub(super) fn within_tiles(
    backend: &CudaBackend,
    a: &CsrPattern,
    source: Option<&Buffer<u32>>,
) -> Result<DerivedPattern, DeviceError> {
    let (device, rows) = (&backend.device, a.rows);
    let (begin, end) = (Buffer::<u32>::zeros(device, rows)?, Buffer::<u32>::zeros(device, rows)?);
    let length = Buffer::<u32>::zeros(device, rows)?;
    let arguments =
        arguments![rows as u64, ROW_TILE as u32, &a.row_start, &a.columns, &begin, &end, &length];
    launch(backend, "cut_rows", rows, &arguments)?;
    let (row_start, entries) = starts(backend, &length)?;
    let columns = Buffer::zeros(device, entries)?;
    let to_source = Buffer::zeros(device, entries)?;
    let arguments = arguments![
        rows as u64,
        &begin,
        &end,
        &a.columns,
        address(source),
        &row_start,
        &columns,
        &to_source
    ];
    launch(backend, "take_tiles", rows, &arguments)?;
    let pattern = Arc::new(CsrPattern { rows, entries, row_start, columns });
    Ok(DerivedPattern { pattern, source: to_source, rows: None })
}
