//! Patterns of matrices by rows on the GPU: their entries, their slices of 32 rows (`slices.cuh`), and the sorts
//! and scans that make them; and the pattern that is eliminated: that of A itself, or of A renumbered, mirrored or
//! cut into tiles.

use crate::backend::cuda::algebra::CudaMatrix;
use crate::backend::cuda::backend::CudaBackend;
use crate::backend::cuda::device::Buffer;
use crate::backend::cuda::launch::constants::{DIGITS, KEYS, SCANNED};
use crate::backend::cuda::launch::shared::{EntryTarget, SliceRows, SplitPattern};
use crate::backend::cuda::launch::{BLOCK, LaunchShape, Result, WARP, launch};
use crate::backend::{DeviceError, Incomplete, LevelSize, Real};
use crate::sparse::{
    Csr, Elimination, EllPattern, Graph, ROW_TILE, RowSets, Schedule, Sorted, colours,
};
use std::sync::Arc;

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
fn scan(backend: &CudaBackend, values: &Buffer<u32>) -> Result<Buffer<u64>> {
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
    fn of_lengths(backend: &CudaBackend, lengths: &Buffer<u32>) -> Result<Self> {
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

/// The part of a row that `part_lengths` measures: all of it.
const WHOLE: u32 = 2;
/// Lanes that look for the partners of a row's entries.
const LANES: usize = 8;

/// The pattern that is eliminated in natural order, and where its entries come from.
pub(crate) struct EliminationPattern {
    pub(super) pattern: Arc<CsrPattern>,
    /// End of the entries left of the diagonal, for each row.
    split: Buffer<u32>,
    /// Value of A that each entry comes from, if it is not A's own pattern and values.
    pub(super) source: Option<Buffer<u32>>,
    /// Row of A that each row is, if they are renumbered.
    renumbered: Option<Arc<Buffer<u32>>>,
}

impl EliminationPattern {
    /// The pattern that is eliminated of matrices with the pattern of A.
    pub(super) fn new(
        backend: &CudaBackend,
        a: &Arc<CsrPattern>,
        kind: Incomplete,
        schedule: Schedule,
    ) -> Result<Self> {
        let symmetric = kind.symmetric();
        let source = if symmetric { mirrored(backend, a)? } else { None };
        // The host takes patterns that are not those of their transposes, and those of very many colours.
        if symmetric && source.is_none() {
            return Self::on_host(backend, a, symmetric, schedule);
        }
        match schedule {
            Schedule::Tiles => Self::within_tiles(backend, a, source.as_ref()),
            Schedule::Colours => {
                let plain = Self::of(backend, a.clone(), None, None)?;
                if (symmetric || plain.is_matched(backend)?)
                    && let Some(coloured) = plain.by_colour(backend, source.as_ref())?
                {
                    return Ok(coloured);
                }
                Self::on_host(backend, a, symmetric, schedule)
            }
            _ => Self::of(backend, a.clone(), source, None),
        }
    }

    /// The pattern that is eliminated of a matrix in ELL format. Couplings with other bands are dropped.
    pub(crate) fn of_ell<T: Real>(
        backend: &CudaBackend,
        a: &CudaMatrix<T>,
        schedule: Schedule,
    ) -> Result<Self> {
        let (pattern, stride) = (a.pattern, a.stride);
        let slots = pattern.width() * stride;
        if u32::try_from(slots).is_err() {
            return Err(DeviceError::TooManyEntries { entries: slots });
        }
        let mi = a.nine_points()?.mi;
        let neighbours = backend.ranks.as_ref().map(|ranks| ranks.neighbours);
        let [before, after] = neighbours.unwrap_or_default();
        // A row at an edge of the band has the slots of a periodic one.
        let around = EllPattern::NinePoint(LevelSize { periodic: true, ..pattern.size() });
        let column = move |row: usize| row / 2 % mi;
        let elimination = Elimination::new(pattern, schedule);
        let numbered = Csr::from_rows((0..pattern.rows()).map(|row| {
            let edge = before && column(row) == 0 || after && column(row) + 1 == mi;
            let near = move |other| !edge || column(row).abs_diff(column(other)) <= 1;
            let entries = (if edge { around } else { pattern }).row(row);
            entries
                .filter(move |&(_, other)| near(other) && elimination.keeps(row, other))
                .map(move |(at, other)| (other, (at / pattern.rows() * stride + row) as f64))
        }));
        let colours = elimination.colours().map(|numbers| RowSets::by_number(&numbers));
        Self::of_numbered(backend, numbered, colours.as_ref().map(RowSets::rows))
    }

    /// The pattern of a matrix whose values say which values of A its entries are, its rows in this order.
    fn of_numbered(backend: &CudaBackend, a: Csr, order: Option<&[u32]>) -> Result<Self> {
        let a = if let Some(order) = order { a.permuted(order) } else { a };
        let upload = |host: &[u32]| Buffer::from_host(&backend.device, host);
        let source: Vec<u32> = a.values.iter().map(|&at| at as u32).collect();
        let rows = order.map(upload).transpose()?.map(Arc::new);
        Self::of(backend, Arc::new(CsrPattern::new(backend, &a)?), Some(upload(&source)?), rows)
    }

    fn of(
        backend: &CudaBackend,
        pattern: Arc<CsrPattern>,
        source: Option<Buffer<u32>>,
        renumbered: Option<Arc<Buffer<u32>>>,
    ) -> Result<Self> {
        let split = Buffer::zeros(&backend.device, pattern.rows)?;
        launch!(backend => split_rows[f64; pattern.rows](&pattern.row_start, &pattern.columns,
            &split))?;
        Ok(Self { pattern, split, source, renumbered })
    }

    /// The pattern as kernels take it.
    pub(super) fn shared(&self) -> SplitPattern {
        SplitPattern {
            row_start: (&self.pattern.row_start).into(),
            split: (&self.split).into(),
            columns: (&self.pattern.columns).into(),
        }
    }

    /// Whether every entry has a partner across the diagonal.
    pub(super) fn is_matched(&self, backend: &CudaBackend) -> Result<bool> {
        let (rows, missed) = (self.pattern.rows, Buffer::<u32>::zeros(&backend.device, 2)?);
        launch!(backend => match_entries[f64, LaunchShape::threads(rows * LANES)](rows as u64,
            LANES as u32, self.shared(), &missed))?;
        Ok(missed.to_host()? == [0; 2])
    }

    /// The row of A that a row is.
    pub(super) fn row_of_a(&self, row: usize) -> Result<usize> {
        self.renumbered.as_ref().map_or(Ok(row), |rows| Ok(rows.get(row)? as usize))
    }

    /// Rows of A in the place of these rows.
    pub(super) fn rows_of_a(
        &self,
        backend: &CudaBackend,
        rows: &Arc<Buffer<u32>>,
    ) -> Result<Arc<Buffer<u32>>> {
        let Some(renumbered) = &self.renumbered else { return Ok(rows.clone()) };
        Ok(Arc::new(link(backend, rows, renumbered)?))
    }

    /// The rows of a symmetric pattern by colour, as by
    /// [`crate::sparse::colours`], which takes the rows one by one; here each row waits for its neighbours.
    /// `source` is where the entries come from, if not from their own places. None if there are too many
    /// colours.
    fn by_colour(
        &self,
        backend: &CudaBackend,
        source: Option<&Buffer<u32>>,
    ) -> Result<Option<Self>> {
        let (device, a) = (&backend.device, &*self.pattern);
        let rows = a.rows;
        let colours = Buffer::<u64>::zeros(device, rows)?;
        let numbers = Buffer::<u32>::zeros(device, rows)?;
        let marks = Buffer::<u32>::zeros(device, 2)?;
        launch!(backend => colour_rows[f64, slim(rows)](rows as u64, self.shared(), &colours,
            &numbers, &marks, marks.at(1)))?;
        if marks.get(1)? != 0 {
            return Ok(None);
        }
        let most = depth(backend, &numbers)?;
        let order = sorted(backend, &numbers, most)?;
        let place = inverse(backend, &order)?;
        let length = Buffer::zeros(device, rows)?;
        launch!(backend => part_lengths[f64; rows](WHOLE, &order, self.shared(), &length))?;
        let pattern = CsrPattern::of_lengths(backend, &length)?;
        let to_source = Buffer::zeros(device, pattern.entries)?;
        let target = EntryTarget {
            starts: (&pattern.row_start).into(),
            columns: (&pattern.columns).into(),
            source: (&to_source).into(),
        };
        launch!(backend => take_colours[f64; rows](most, &order, &place, &numbers, &a.row_start,
            &a.columns, source, target))?;
        Self::of(backend, Arc::new(pattern), Some(to_source), Some(Arc::new(order))).map(Some)
    }

    /// The entries of `a` that do not couple rows of different tiles.
    fn within_tiles(
        backend: &CudaBackend,
        a: &CsrPattern,
        source: Option<&Buffer<u32>>,
    ) -> Result<Self> {
        let (device, rows) = (&backend.device, a.rows);
        let zeros = || Buffer::<u32>::zeros(device, rows);
        let (begin, end, length) = (zeros()?, zeros()?, zeros()?);
        launch!(backend => cut_rows[f64; rows](ROW_TILE as u32, &a.row_start, &a.columns, &begin,
            &end, &length))?;
        let pattern = CsrPattern::of_lengths(backend, &length)?;
        let to_source = Buffer::zeros(device, pattern.entries)?;
        launch!(backend => take_tiles[f64; rows](&begin, &end, &a.columns, source,
            &pattern.row_start, &pattern.columns, &to_source))?;
        Self::of(backend, Arc::new(pattern), Some(to_source), None)
    }

    fn on_host(
        backend: &CudaBackend,
        a: &CsrPattern,
        symmetric: bool,
        schedule: Schedule,
    ) -> Result<Self> {
        let row_start = a.row_start.to_host()?.into_iter().map(|start| start as usize).collect();
        let values = (0..a.entries).map(|at| at as f64).collect();
        let mut numbered = Csr { row_start, columns: a.columns.to_host()?, values };
        if symmetric {
            numbered = mirrored_on_host(&numbered);
        }
        if schedule == Schedule::Tiles {
            numbered = Csr::from_rows((0..a.rows).map(|row| {
                numbered.row(row).filter(move |(column, _)| column / ROW_TILE == row / ROW_TILE)
            }));
        }
        let colours = (schedule == Schedule::Colours)
            .then(|| RowSets::by_number(&colours(&Graph::new(numbered.pattern()))));
        Self::of_numbered(backend, numbered, colours.as_ref().map(RowSets::rows))
    }
}

/// The source of each entry if only the lower triangle is read; none if one has no partner across the
/// diagonal.
fn mirrored(backend: &CudaBackend, a: &CsrPattern) -> Result<Option<Buffer<u32>>> {
    let source = Buffer::zeros(&backend.device, a.entries)?;
    let missed = Buffer::<u32>::zeros(&backend.device, 1)?;
    launch!(backend => mirror_entries[f64; a.rows](&a.row_start, &a.columns, &source, &missed))?;
    Ok((missed.get(0)? == 0).then_some(source))
}

fn mirrored_on_host(a: &Csr) -> Csr {
    let lower = |row: usize| a.row(row).filter(move |&(column, _)| column <= row);
    let across = |row: usize| {
        let left = lower(row).filter(move |&(column, _)| column < row);
        left.map(move |(column, at)| (column, (row, at)))
    };
    let right = Sorted::new(a.rows(), || (0..a.rows()).flat_map(across));
    Csr::from_rows((0..a.rows()).map(|row| lower(row).chain(right.of(row).iter().copied())))
}
