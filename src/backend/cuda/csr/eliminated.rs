//! The matrix that is eliminated: A itself, or A renumbered, mirrored or cut into tiles.

use super::pattern::CsrPattern;
use super::patterns::{self, DerivedPattern};
use crate::backend::cuda::backend::CudaBackend;
use crate::backend::cuda::device::Buffer;
use crate::backend::cuda::launch::shared::{ABSENT, SplitPattern};
use crate::backend::cuda::launch::{LaunchShape, Source, arguments};
use crate::backend::{DeviceError, Incomplete, Real};
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
    ) -> Result<Self, DeviceError> {
        let symmetric = kind.symmetric();
        let mut source = None;
        if symmetric {
            source = mirrored(backend, a)?;
            if source.is_none() {
                return Self::on_host(backend, a, symmetric, schedule);
            }
        }
        match schedule {
            Schedule::Tiles => {
                let derived = patterns::within_tiles(backend, a, source.as_ref())?;
                Self::with_derived(backend, derived)
            }
            Schedule::Colours => {
                let plain = Self::with_split(backend, a.clone(), None, None)?;
                let derived = if symmetric || plain.is_matched(backend)? {
                    patterns::by_colour(backend, a, &plain.split, source.as_ref())?
                } else {
                    None
                };
                match derived {
                    Some(derived) => Self::with_derived(backend, derived),
                    None => Self::on_host(backend, a, symmetric, schedule),
                }
            }
            _ => Self::with_split(backend, a.clone(), source, None),
        }
    }

    fn with_derived(backend: &CudaBackend, derived: DerivedPattern) -> Result<Self, DeviceError> {
        Self::with_split(backend, derived.pattern, Some(derived.source), derived.rows)
    }

    fn with_split(
        backend: &CudaBackend,
        pattern: Arc<CsrPattern>,
        source: Option<Buffer<u32>>,
        renumbered: Option<Arc<Buffer<u32>>>,
    ) -> Result<Self, DeviceError> {
        let split = Buffer::zeros(&backend.device, pattern.rows)?;
        let CsrPattern { rows, row_start, columns, .. } = &*pattern;
        let arguments = arguments![*rows as u64, row_start, columns, &split];
        let shape = LaunchShape::threads(*rows);
        backend.launch::<f64>(Source::Order, "split_rows", shape, &arguments)?;
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
    pub(super) fn is_matched(&self, backend: &CudaBackend) -> Result<bool, DeviceError> {
        let CsrPattern { rows, row_start, columns, .. } = &*self.pattern;
        let missed = Buffer::<u32>::zeros(&backend.device, 2)?;
        let arguments =
            arguments![*rows as u64, LANES as u32, row_start, &self.split, columns, &missed];
        let shape = LaunchShape::threads(rows * LANES);
        backend.launch::<f64>(Source::Order, "match_entries", shape, &arguments)?;
        let mut found = [0; 2];
        missed.download(&mut found)?;
        Ok(found == [0; 2])
    }

    /// The pattern made on the host, of matrices whose pattern is not that of their transpose, or with
    /// very many colours.
    fn on_host(
        backend: &CudaBackend,
        a: &CsrPattern,
        symmetric: bool,
        schedule: Schedule,
    ) -> Result<Self, DeviceError> {
        let (row_start, columns) = a.download()?;
        let mut entries = Entries::new(&row_start, &columns, symmetric);
        let mut order = None;
        match schedule {
            Schedule::Colours => {
                let by_colour = entries.colour_order(a.rows);
                entries.renumber(&by_colour);
                order = Some(Arc::new(Buffer::from_host(&backend.device, &by_colour)?));
            }
            Schedule::Tiles => entries
                .0
                .retain(|&(row, column, _)| row as usize / ROW_TILE == column as usize / ROW_TILE),
            _ => {}
        }
        let (row_start, columns, source) = entries.into_rows(a.rows);
        let pattern = Arc::new(CsrPattern::new(backend, &row_start, &columns)?);
        let source = Buffer::from_host(&backend.device, &source)?;
        Self::with_split(backend, pattern, Some(source), order)
    }

    /// The values to eliminate: A's own, or a copy of them in the places of this pattern.
    pub(super) fn values<T: Real>(
        &self,
        backend: &CudaBackend,
        a: &Buffer<T>,
        copy: &Buffer<T>,
    ) -> Result<(), DeviceError> {
        let entries = self.pattern.entries;
        let Some(source) = &self.source else {
            return backend.device.copy(a.address(), copy.address(), entries * size_of::<T>());
        };
        let arguments = arguments![entries as u64, source, a, copy];
        let shape = LaunchShape::threads(entries);
        backend.launch::<T>(Source::Triangular, "take_values", shape, &arguments)
    }

    /// Whether entries stand elsewhere than in A.
    pub(super) fn is_moved(&self) -> bool {
        self.source.is_some()
    }

    /// The row of A that a row is.
    pub(super) fn row_of_a(&self, backend: &CudaBackend, row: usize) -> Result<usize, DeviceError> {
        let Some(renumbered) = &self.renumbered else { return Ok(row) };
        let mut found = [0_u32];
        let at = renumbered.address_of(row);
        backend.device.download(at, bytemuck::cast_slice_mut(&mut found))?;
        Ok(found[0] as usize)
    }

    /// Rows of A in the place of these rows.
    pub(super) fn rows_of_a(
        &self,
        backend: &CudaBackend,
        rows: &Arc<Buffer<u32>>,
    ) -> Result<Arc<Buffer<u32>>, DeviceError> {
        let Some(renumbered) = &self.renumbered else { return Ok(rows.clone()) };
        let found = Buffer::zeros(&backend.device, rows.len())?;
        let arguments = arguments![rows.len() as u64, &**rows, &**renumbered, &found];
        let shape = LaunchShape::threads(rows.len());
        backend.launch::<f64>(Source::Order, "link_rows", shape, &arguments)?;
        Ok(Arc::new(found))
    }
}

/// Where each entry comes from if only the lower triangle is read; none if one has no partner across the
/// diagonal.
fn mirrored(backend: &CudaBackend, a: &CsrPattern) -> Result<Option<Buffer<u32>>, DeviceError> {
    let source = Buffer::zeros(&backend.device, a.entries)?;
    let missed = Buffer::<u32>::zeros(&backend.device, 1)?;
    let arguments = arguments![a.rows as u64, &a.row_start, &a.columns, &source, &missed];
    let shape = LaunchShape::threads(a.rows);
    backend.launch::<f64>(Source::Triangular, "mirror_entries", shape, &arguments)?;
    let mut found = [0];
    missed.download(&mut found)?;
    Ok((found[0] == 0).then_some(source))
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

    /// Rows by colour.
    fn colour_order(&self, rows: usize) -> Vec<u32> {
        let mut row_start = vec![0; rows + 1];
        for &(row, ..) in &self.0 {
            row_start[row as usize + 1] += 1;
        }
        for row in 0..rows {
            row_start[row + 1] += row_start[row];
        }
        let columns: Vec<u32> = self.0.iter().map(|&(_, column, _)| column).collect();
        let graph = Graph::new(Pattern { row_start: &row_start, columns: &columns });
        RowSets::by_number(&colours(&graph)).rows().to_vec()
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

    /// Row starts, columns and sources of the sorted entries.
    fn into_rows(self, rows: usize) -> (Vec<u32>, Vec<u32>, Vec<u32>) {
        let mut row_start = vec![0; rows + 1];
        for &(row, ..) in &self.0 {
            row_start[row as usize + 1] += 1;
        }
        for row in 0..rows {
            row_start[row + 1] += row_start[row];
        }
        let columns = self.0.iter().map(|&(_, column, _)| column).collect();
        let source = self.0.iter().map(|&(.., source)| source).collect();
        (row_start, columns, source)
    }
}
