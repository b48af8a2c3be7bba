//! Factors by rows, for any pattern and order of elimination: level sets and colours.

use super::level_sets::LevelSets;
use crate::backend::cuda::algebra::{CudaMatrix, CudaVector};
use crate::backend::cuda::backend::CudaBackend;
use crate::backend::cuda::comm::RankContext;
use crate::backend::cuda::device::Buffer;
use crate::backend::cuda::launch::shared::EllFactors;
use crate::backend::cuda::launch::{Argument, LaunchShape, Source, arguments};
use crate::backend::{DeviceError, Real};
use crate::sparse::{Elimination, EllPattern, Schedule, Structure};

/// A slot that no entry of A fills.
const ABSENT: u8 = u8::MAX;

/// L, D and U on the pattern of A.
pub(super) struct RowFactors<T> {
    rows: usize,
    columns: Buffer<u32>,
    /// Slot of A that each entry comes from.
    source: Buffer<u8>,
    lower: Buffer<u8>,
    length: Buffer<u8>,
    values: Buffer<T>,
    inverse: Buffer<T>,
    forward: LevelSets,
    backward: LevelSets,
}

/// The entries of the rows in their order of elimination, as the kernels read them.
struct RowEntries {
    rows: usize,
    columns: Vec<u32>,
    source: Vec<u8>,
    lower: Vec<u8>,
    length: Vec<u8>,
}

impl RowEntries {
    fn new(pattern: &EllPattern, neighbours: [bool; 2], elimination: &Elimination) -> Self {
        let rows = pattern.rows();
        // One more than A has: a row without a diagonal entry gets one, a zero.
        let width = pattern.width() + 1;
        let mut entries_of = Self {
            rows,
            columns: vec![0; rows * width],
            source: vec![ABSENT; rows * width],
            lower: vec![0; rows],
            length: vec![0; rows],
        };
        let mut entries: Vec<(u32, u8)> = Vec::with_capacity(width);
        for row in 0..rows {
            entries.clear();
            let slots = (0_u8..).zip(columns(pattern, neighbours, row));
            let kept = slots
                .filter_map(|(slot, column)| Some((slot, column?)))
                .filter(|&(_, column)| elimination.keeps(row, column));
            entries.extend(kept.map(|(slot, column)| (column as u32, slot)));
            if !entries.iter().any(|&(column, _)| column as usize == row) {
                entries.push((row as u32, ABSENT));
            }
            entries.sort_unstable_by_key(|&(column, _)| elimination.key(column as usize));
            for (k, &(column, slot)) in entries.iter().enumerate() {
                entries_of.columns[k * rows + row] = column;
                entries_of.source[k * rows + row] = slot;
                if column as usize == row {
                    entries_of.lower[row] = k as u8;
                }
            }
            entries_of.length[row] = entries.len() as u8;
        }
        entries_of
    }

    /// Columns of the entries of a row before its pivot, or after it.
    fn lower(&self, row: u32) -> impl Iterator<Item = u32> + '_ {
        self.between(row, 0, self.lower[row as usize])
    }

    fn upper(&self, row: u32) -> impl Iterator<Item = u32> + '_ {
        self.between(row, self.lower[row as usize] + 1, self.length[row as usize])
    }

    fn between(&self, row: u32, first: u8, last: u8) -> impl Iterator<Item = u32> + '_ {
        let columns = &self.columns;
        (first..last).map(move |k| columns[usize::from(k) * self.rows + row as usize])
    }
}

/// Column of each slot of a row, none where it belongs to the band before or after this one, whose
/// couplings are dropped.
fn columns(
    pattern: &EllPattern,
    [before, after]: [bool; 2],
    row: usize,
) -> impl Iterator<Item = Option<usize>> + '_ {
    let (mut own, mut across) = (None, None);
    match pattern.structure() {
        Structure::NinePoint { mi, mj, .. } if before || after => {
            let i = row / 2 % mi;
            let edges = (before && i == 0) || (after && i + 1 == mi);
            // A row at an edge of the band has the slots of a periodic one.
            let near = move |column: usize| i.abs_diff(column / 2 % mi) <= 1;
            let entries = EllPattern::nine_point_row(mi, mj, edges, row);
            across = Some(entries.map(move |column| near(column).then_some(column)));
        }
        _ => own = Some(pattern.row(row).map(|(_, column)| Some(column))),
    }
    own.into_iter().flatten().chain(across.into_iter().flatten())
}

impl<T: Real> RowFactors<T> {
    /// Memory for the factors of matrices with this pattern, in this order of elimination.
    pub(super) fn new(
        backend: &CudaBackend,
        pattern: &EllPattern,
        schedule: Schedule,
    ) -> Result<Self, DeviceError> {
        let elimination = Elimination::new(pattern, schedule);
        let neighbours = backend.ranks.as_ref().map_or([false; 2], RankContext::neighbours);
        let entries_of = RowEntries::new(pattern, neighbours, &elimination);
        let (device, rows) = (&backend.device, entries_of.rows);
        let order = elimination.order();
        let first_to_last = order.iter().copied();
        let last_to_first = first_to_last.clone().rev();
        Ok(Self {
            rows,
            columns: Buffer::from_host(device, &entries_of.columns)?,
            source: Buffer::from_host(device, &entries_of.source)?,
            lower: Buffer::from_host(device, &entries_of.lower)?,
            length: Buffer::from_host(device, &entries_of.length)?,
            values: Buffer::zeros(device, entries_of.columns.len())?,
            inverse: Buffer::zeros(device, rows)?,
            forward: LevelSets::new(device, first_to_last, rows, |row| entries_of.lower(row))?,
            backward: LevelSets::new(device, last_to_first, rows, |row| entries_of.upper(row))?,
        })
    }

    /// Factors `a` by the kernel of this name; the first row with a pivot that is zero or not
    /// finite.
    pub(super) fn factor(
        &mut self,
        backend: &CudaBackend,
        a: &CudaMatrix<T>,
        kernel: &'static str,
    ) -> Result<Option<usize>, DeviceError> {
        let entries = self.values.len();
        let mut arguments = arguments![self.rows as u64, entries as u64, &self.source];
        arguments.extend(arguments![a.stride() as u64, a.values(), &self.values]);
        let shape = LaunchShape::threads(entries);
        backend.launch::<T>(Source::Factors, "take_entries", shape, &arguments)?;
        backend.first_index(2, |first| self.sweep(backend, kernel, &self.forward, &[first.into()]))
    }

    /// z ← M⁻¹ r.
    pub(super) fn solve(
        &self,
        backend: &CudaBackend,
        r: &CudaVector<T>,
        z: &mut CudaVector<T>,
    ) -> Result<(), DeviceError> {
        self.sweep(backend, "solve_lower", &self.forward, &[r.into(), (&*z).into()])?;
        self.sweep(backend, "solve_upper", &self.backward, &[(&*z).into()])
    }

    /// Goes through all levels with a kernel whose last arguments are `own`.
    fn sweep(
        &self,
        backend: &CudaBackend,
        kernel: &'static str,
        levels: &LevelSets,
        own: &[Argument],
    ) -> Result<(), DeviceError> {
        let factors = EllFactors {
            rows: self.rows as u64,
            columns: (&self.columns).into(),
            lower: (&self.lower).into(),
            length: (&self.length).into(),
            values: (&self.values).into(),
            inverse: (&self.inverse).into(),
        };
        for (shape, levels) in levels.launches() {
            let mut arguments = arguments![factors, levels];
            arguments.extend_from_slice(own);
            backend.launch::<T>(Source::Factors, kernel, shape, &arguments)?;
        }
        Ok(())
    }
}
