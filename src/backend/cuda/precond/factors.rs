//! Incomplete factors of ELL matrices: by rows for any pattern, and within tiles for DILU of the nine-point
//! pattern.

use crate::backend::cuda::algebra::{CudaMatrix, CudaVector};
use crate::backend::cuda::backend::CudaBackend;
use crate::backend::cuda::device::{Address, Buffer, Device};
use crate::backend::cuda::launch::constants::TILE_ENTRIES;
use crate::backend::cuda::launch::shared::{EllFactors, LevelRows};
use crate::backend::cuda::launch::{
    Argument, BLOCK, LaunchShape, LevelLaunch, Result, Source, arguments, level_launches,
};
use crate::backend::{Incomplete, Preconditioner, PreconditionerFailure, Real, SolverError};
use crate::sparse::{Elimination, EllPattern, Schedule, Structure, TILE};
use std::sync::Arc;

/// A slot that no entry of A fills.
const ABSENT: u8 = u8::MAX;

/// M = (I + L)(D + U) by rows on the pattern of A, level after level.
pub(super) struct RowFactors<T> {
    kind: Incomplete,
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
        kind: Incomplete,
        schedule: Schedule,
    ) -> Result<Self> {
        let elimination = Elimination::new(pattern, schedule);
        let neighbours = backend.ranks.as_ref().map_or([false; 2], |ranks| ranks.neighbours);
        let entries_of = RowEntries::new(pattern, neighbours, &elimination);
        let (device, rows) = (&backend.device, entries_of.rows);
        let order = elimination.order();
        let first_to_last = order.iter().copied();
        let last_to_first = first_to_last.clone().rev();
        Ok(Self {
            kind,
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

    /// Goes through all levels with a kernel whose last arguments are `own`.
    fn sweep(
        &self,
        backend: &CudaBackend,
        kernel: &'static str,
        levels: &LevelSets,
        own: &[Argument],
    ) -> Result<()> {
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

impl<T: Real> Preconditioner<CudaBackend, T, CudaMatrix<T>> for RowFactors<T> {
    fn update(&mut self, backend: &CudaBackend, a: &CudaMatrix<T>) -> Result<(), SolverError> {
        let entries = self.values.len();
        let mut arguments = arguments![self.rows as u64, entries as u64, &self.source];
        arguments.extend(arguments![a.stride as u64, &a.values, &self.values]);
        let shape = LaunchShape::threads(entries);
        backend.launch::<T>(Source::Factors, "take_entries", shape, &arguments)?;
        let kernel = if self.kind.diagonal_only() { "factor_dilu" } else { "factor_ilu0" };
        let sweep = |first: Address| self.sweep(backend, kernel, &self.forward, &[first.into()]);
        checked(self.kind, backend.first_index(2, sweep)?)
    }

    fn apply(
        &mut self,
        backend: &CudaBackend,
        _: &CudaMatrix<T>,
        r: &CudaVector<T>,
        z: &mut CudaVector<T>,
    ) -> Result<()> {
        self.sweep(backend, "solve_lower", &self.forward, &[r.into(), (&*z).into()])?;
        self.sweep(backend, "solve_upper", &self.backward, &[(&*z).into()])
    }
}

/// The error of factors with a pivot that is zero or not finite, if there is one.
fn checked(kind: Incomplete, bad: Option<usize>) -> Result<(), SolverError> {
    let preconditioner = kind.name();
    bad.map_or(Ok(()), |row| Err(PreconditionerFailure::Pivot { preconditioner, row }.into()))
}

/// Values of a tile with a frame of one point, two a point.
const FRAME_VALUES: usize = 2 * (TILE + 2) * (TILE + 2);

/// DILU of the nine-point pattern within tiles of `mi` × `mj` points: one launch, one warp per tile.
pub(super) struct TileFactors<T> {
    mi: usize,
    mj: usize,
    periodic: bool,
    tiles: usize,
    values: Buffer<T>,
}

impl<T: Real> TileFactors<T> {
    /// Memory for the factors of matrices on `mi` × `mj` points.
    pub(super) fn new(
        backend: &CudaBackend,
        (mi, mj): (usize, usize),
        periodic: bool,
    ) -> Result<Self> {
        let tiles = mi.div_ceil(TILE) * mj.div_ceil(TILE);
        let values = Buffer::zeros(&backend.device, tiles * 2 * TILE * TILE * TILE_ENTRIES)?;
        Ok(Self { mi, mj, periodic, tiles, values })
    }

    fn shape(&self) -> LaunchShape {
        let shared = (FRAME_VALUES * size_of::<T>()) as u32;
        LaunchShape { shared, ..LaunchShape::new(self.tiles, 32) }
    }
}

impl<T: Real> Preconditioner<CudaBackend, T, CudaMatrix<T>> for TileFactors<T> {
    fn update(&mut self, backend: &CudaBackend, a: &CudaMatrix<T>) -> Result<(), SolverError> {
        let mut arguments = backend.grid_arguments(self.mi, self.mj, self.periodic);
        arguments.extend(arguments![self.tiles as u64, &a.values, &self.values]);
        let shape = self.shape();
        let bad = backend.find_first::<T>(Source::Tiles, "factor_tiles", shape, &arguments, 2)?;
        checked(Incomplete::Dilu, bad)
    }

    fn apply(
        &mut self,
        backend: &CudaBackend,
        _: &CudaMatrix<T>,
        r: &CudaVector<T>,
        z: &mut CudaVector<T>,
    ) -> Result<()> {
        let (mi, mj) = (self.mi as u32, self.mj as u32);
        let arguments = arguments![mi, mj, self.tiles as u64, &self.values, r, &*z];
        backend.launch::<T>(Source::Tiles, "solve_tiles", self.shape(), &arguments)
    }
}

/// Rows by level, and the launches that do one level after the other.
pub(super) struct LevelSets {
    order: Buffer<u32>,
    starts: Buffer<u32>,
    launches: Vec<LevelLaunch>,
}

impl LevelSets {
    /// Level sets of rows that come in this order; `waits_for(row)` yields rows that came before it.
    pub(super) fn new<I: Iterator<Item = u32>>(
        device: &Arc<dyn Device>,
        order: impl Iterator<Item = u32> + Clone,
        rows: usize,
        waits_for: impl Fn(u32) -> I,
    ) -> Result<Self> {
        let mut level = vec![0_u32; rows];
        let mut starts = vec![0_u32];
        for row in order.clone() {
            let own = waits_for(row).map(|other| level[other as usize] + 1).max().unwrap_or(0);
            level[row as usize] = own;
            if starts.len() < own as usize + 2 {
                starts.resize(own as usize + 2, 0);
            }
            starts[own as usize + 1] += 1;
        }
        for k in 1..starts.len() {
            starts[k] += starts[k - 1];
        }
        let mut next = starts.clone();
        let mut sorted = vec![0_u32; rows];
        for row in order {
            let at = &mut next[level[row as usize] as usize];
            sorted[*at as usize] = row;
            *at += 1;
        }
        Ok(Self {
            order: Buffer::from_host(device, &sorted)?,
            starts: Buffer::from_host(device, &starts)?,
            launches: launches(&starts),
        })
    }

    /// Shape and levels of each launch.
    pub(super) fn launches(&self) -> impl Iterator<Item = (LaunchShape, LevelRows)> + '_ {
        self.launches.iter().map(|launch| {
            let levels = LevelRows {
                order: (&self.order).into(),
                starts: (&self.starts).into(),
                first: launch.first,
                last: launch.last,
            };
            (LaunchShape::blocks(launch.blocks as usize), levels)
        })
    }
}

/// A launch for each level of many rows, and one for each run of levels that a block takes.
fn launches(starts: &[u32]) -> Vec<LevelLaunch> {
    level_launches(starts.windows(2).map(|ends| (ends[1] - ends[0]).div_ceil(BLOCK)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_small_levels_share_a_launch() {
        // Levels of 1, 256, 257, 3, 1000, 2000 and 256 rows.
        let starts = [0, 1, 257, 514, 517, 1517, 3517, 3773];

        let found: Vec<_> = launches(&starts).iter().map(|l| (l.first, l.last, l.blocks)).collect();

        assert_eq!(found, [(0, 2, 1), (2, 3, 2), (3, 4, 1), (4, 5, 4), (5, 6, 8), (6, 7, 1)]);
    }
}
