//! The matrix that is eliminated: A itself, or A renumbered, mirrored or cut into tiles.

use super::pattern::{CsrPattern, depth, inverse, link, scan, slim, sorted};
use crate::backend::cuda::backend::CudaBackend;
use crate::backend::cuda::device::{Buffer, GRANTED};
use crate::backend::cuda::launch::constants::ABSENT;
use crate::backend::cuda::launch::shared::{EntryTarget, SplitPattern};
use crate::backend::cuda::launch::{LaunchShape, Result, Source, arguments};
use crate::backend::{Incomplete, Real};
use crate::sparse::{Graph, Pattern, ROW_TILE, RowSets, Schedule, colours};
use std::sync::Arc;

/// Lanes that look for the partners of a row's entries.
const LANES: usize = 8;

/// The pattern that is eliminated in natural order, and where its entries come from.
pub(super) struct Eliminated {
    pub(super) pattern: Arc<CsrPattern>,
    /// Where each row stops to be left of the diagonal.
    pub(super) split: Buffer<u32>,
    /// Entry of A that each entry comes from, if it is not A's own pattern and values.
    source: Option<Buffer<u32>>,
    /// Row of A that each row is, if they are renumbered.
    renumbered: Option<Arc<Buffer<u32>>>,
}

impl Eliminated {
    /// What is eliminated of matrices with the pattern of A.
    pub(super) fn new(
        backend: &CudaBackend,
        a: &Arc<CsrPattern>,
        kind: Incomplete,
        schedule: Schedule,
    ) -> Result<Self> {
        let symmetric = kind.symmetric();
        let source = if symmetric { mirrored(backend, a)? } else { None };
        let mut derived = None;
        if !symmetric || source.is_some() {
            derived = match schedule {
                Schedule::Tiles => Some(within_tiles(backend, a, source.as_ref())?),
                Schedule::Colours => {
                    let plain = Self::of(backend, Derived::plain(a, None))?;
                    if symmetric || plain.is_matched(backend)? {
                        by_colour(backend, a, &plain.split, source.as_ref())?
                    } else {
                        None
                    }
                }
                _ => Some(Derived::plain(a, source)),
            };
        }
        // The host takes patterns that are not those of their transposes, and those of very many colours.
        let derived = match derived {
            Some(derived) => derived,
            None => on_host(backend, a, symmetric, schedule)?,
        };
        Self::of(backend, derived)
    }

    fn of(backend: &CudaBackend, derived: Derived) -> Result<Self> {
        let Derived { pattern, source, rows: renumbered } = derived;
        let split = Buffer::zeros(&backend.device, pattern.rows)?;
        let arguments = arguments![&pattern.row_start, &pattern.columns, &split];
        backend.for_each::<f64>(Source::Order, "split_rows", pattern.rows, arguments)?;
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
        let CsrPattern { rows, row_start, columns, .. } = &*self.pattern;
        let missed = Buffer::<u32>::zeros(&backend.device, 2)?;
        let arguments =
            arguments![*rows as u64, LANES as u32, row_start, &self.split, columns, &missed];
        let shape = LaunchShape::threads(rows * LANES);
        backend.launch::<f64>(Source::Order, "match_entries", shape, &arguments)?;
        Ok(missed.to_host()? == [0; 2])
    }

    /// The values to eliminate: A's own, or a copy of them in the places of this pattern.
    pub(super) fn values<T: Real>(
        &self,
        backend: &CudaBackend,
        a: &Buffer<T>,
        copy: &Buffer<T>,
    ) -> Result<()> {
        let entries = self.pattern.entries;
        let Some(source) = &self.source else {
            let bytes = entries * size_of::<T>();
            return backend.device.copy(GRANTED, a.address(), copy.address(), bytes);
        };
        let arguments = arguments![source, a, copy];
        backend.for_each::<T>(Source::Triangular, "take_values", entries, arguments)
    }

    /// Whether entries stand elsewhere than in A.
    pub(super) fn is_moved(&self) -> bool {
        self.source.is_some()
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
}

/// A pattern made from that of a matrix, and what its entries and rows are in the matrix.
struct Derived {
    pattern: Arc<CsrPattern>,
    /// Entries of the matrix, if they are not in their own places.
    source: Option<Buffer<u32>>,
    /// Rows of the matrix in their new order, if it is another.
    rows: Option<Arc<Buffer<u32>>>,
}

impl Derived {
    fn plain(a: &Arc<CsrPattern>, source: Option<Buffer<u32>>) -> Self {
        Self { pattern: a.clone(), source, rows: None }
    }
}

/// Where each entry comes from if only the lower triangle is read; none if one has no partner across the
/// diagonal.
fn mirrored(backend: &CudaBackend, a: &CsrPattern) -> Result<Option<Buffer<u32>>> {
    let source = Buffer::zeros(&backend.device, a.entries)?;
    let missed = Buffer::<u32>::zeros(&backend.device, 1)?;
    let arguments = arguments![&a.row_start, &a.columns, &source, &missed];
    backend.for_each::<f64>(Source::Triangular, "mirror_entries", a.rows, arguments)?;
    Ok((missed.get(0)? == 0).then_some(source))
}

/// Where rows of these lengths start, and how many entries they have.
fn starts(backend: &CudaBackend, length: &Buffer<u32>) -> Result<(Buffer<u32>, usize)> {
    let (wide, rows) = (scan(backend, length)?, length.len());
    let narrow = Buffer::zeros(&backend.device, rows + 1)?;
    backend.for_each::<f64>(
        Source::Patterns,
        "take_starts",
        rows + 1,
        arguments![&wide, &narrow],
    )?;
    Ok((narrow, wide.get(rows)? as usize))
}

/// The rows of `a`, whose pattern is that of its transpose, by colour: those of
/// [`crate::sparse::colours`], which looks at the rows one by one as each waits here for its neighbours.
/// `split` is where each row stops to be left of the diagonal, `source` where the entries of `a` come
/// from, if not from their own places. None if there are too many colours.
fn by_colour(
    backend: &CudaBackend,
    a: &CsrPattern,
    split: &Buffer<u32>,
    source: Option<&Buffer<u32>>,
) -> Result<Option<Derived>> {
    let (device, rows) = (&backend.device, a.rows);
    let colours = Buffer::<u64>::zeros(device, rows)?;
    let numbers = Buffer::<u32>::zeros(device, rows)?;
    let marks = Buffer::<u32>::zeros(device, 2)?;
    let mut arguments = arguments![rows as u64, &a.row_start, split, &a.columns];
    arguments.extend(arguments![&colours, &numbers, &marks, marks.address_of(1)]);
    backend.launch::<f64>(Source::Patterns, "colour_rows", slim(rows), &arguments)?;
    if marks.to_host()?[1] != 0 {
        return Ok(None);
    }
    let most = depth(backend, &numbers)?;
    let order = sorted(backend, &numbers, most)?;
    let place = inverse(backend, &order)?;
    let length = Buffer::zeros(device, rows)?;
    let arguments = arguments![&order, &a.row_start, &length];
    backend.for_each::<f64>(Source::Patterns, "order_lengths", rows, arguments)?;
    let (row_start, entries) = starts(backend, &length)?;
    let columns = Buffer::zeros(device, entries)?;
    let to_source = Buffer::zeros(device, entries)?;
    let target = EntryTarget {
        starts: (&row_start).into(),
        columns: (&columns).into(),
        source: (&to_source).into(),
    };
    let mut arguments = arguments![most, &order, &place, &numbers, &a.row_start, &a.columns];
    arguments.extend(arguments![source.map_or(0, Buffer::address), target]);
    backend.for_each::<f64>(Source::Patterns, "take_colours", rows, arguments)?;
    let pattern = Arc::new(CsrPattern { rows, entries, row_start, columns });
    Ok(Some(Derived { pattern, source: Some(to_source), rows: Some(Arc::new(order)) }))
}

/// The entries of `a` that do not couple rows of different tiles.
fn within_tiles(
    backend: &CudaBackend,
    a: &CsrPattern,
    source: Option<&Buffer<u32>>,
) -> Result<Derived> {
    let (device, rows) = (&backend.device, a.rows);
    let (begin, end) = (Buffer::<u32>::zeros(device, rows)?, Buffer::<u32>::zeros(device, rows)?);
    let length = Buffer::<u32>::zeros(device, rows)?;
    let arguments = arguments![ROW_TILE as u32, &a.row_start, &a.columns, &begin, &end, &length];
    backend.for_each::<f64>(Source::Patterns, "cut_rows", rows, arguments)?;
    let (row_start, entries) = starts(backend, &length)?;
    let columns = Buffer::zeros(device, entries)?;
    let to_source = Buffer::zeros(device, entries)?;
    let mut arguments = arguments![&begin, &end, &a.columns, source.map_or(0, Buffer::address)];
    arguments.extend(arguments![&row_start, &columns, &to_source]);
    backend.for_each::<f64>(Source::Patterns, "take_tiles", rows, arguments)?;
    let pattern = Arc::new(CsrPattern { rows, entries, row_start, columns });
    Ok(Derived { pattern, source: Some(to_source), rows: None })
}

/// The pattern made on the host.
fn on_host(
    backend: &CudaBackend,
    a: &CsrPattern,
    symmetric: bool,
    schedule: Schedule,
) -> Result<Derived> {
    let mut entries = Entries::new(&a.row_start.to_host()?, &a.columns.to_host()?, symmetric);
    let mut rows = None;
    match schedule {
        Schedule::Colours => {
            let (row_start, columns) = entries.rows(a.rows);
            let graph = Graph::new(Pattern { row_start: &row_start, columns: &columns });
            let by_colour = RowSets::by_number(&colours(&graph)).rows().to_vec();
            entries.renumber(&by_colour);
            rows = Some(Arc::new(Buffer::from_host(&backend.device, &by_colour)?));
        }
        Schedule::Tiles => entries
            .0
            .retain(|&(row, column, _)| row as usize / ROW_TILE == column as usize / ROW_TILE),
        _ => {}
    }
    let (row_start, columns) = entries.rows(a.rows);
    let row_start: Vec<u32> = row_start.into_iter().map(|start| start as u32).collect();
    let source: Vec<u32> = entries.0.iter().map(|&(.., source)| source).collect();
    let pattern = Arc::new(CsrPattern::new(backend, &row_start, &columns)?);
    Ok(Derived { pattern, source: Some(Buffer::from_host(&backend.device, &source)?), rows })
}

/// Entries of a pattern on the host: row, column, and the entry of A that each comes from.
struct Entries(Vec<(u32, u32, u32)>);

impl Entries {
    /// Those of A, or those of its lower triangle and their mirror images.
    fn new(row_start: &[u32], columns: &[u32], symmetric: bool) -> Self {
        let mut entries = Vec::with_capacity(columns.len());
        for (row, ends) in (0_u32..).zip(row_start.windows(2)) {
            for at in ends[0]..ends[1] {
                let column = columns[at as usize];
                if !symmetric || column <= row {
                    entries.push((row, column, at));
                }
                if symmetric && column < row {
                    entries.push((column, row, at));
                }
            }
        }
        entries.sort_unstable();
        Self(entries)
    }

    /// Row starts and columns of the sorted entries.
    fn rows(&self, rows: usize) -> (Vec<usize>, Vec<u32>) {
        let mut row_start = vec![0; rows + 1];
        for &(row, ..) in &self.0 {
            row_start[row as usize + 1] += 1;
        }
        for row in 0..rows {
            row_start[row + 1] += row_start[row];
        }
        (row_start, self.0.iter().map(|&(_, column, _)| column).collect())
    }

    /// Row `order[k]` becomes row k.
    fn renumber(&mut self, order: &[u32]) {
        let mut place = vec![ABSENT; order.len()];
        for (k, &row) in (0_u32..).zip(order) {
            place[row as usize] = k;
        }
        for (row, column, _) in &mut self.0 {
            (*row, *column) = (place[*row as usize], place[*column as usize]);
        }
        self.0.sort_unstable();
    }
}
