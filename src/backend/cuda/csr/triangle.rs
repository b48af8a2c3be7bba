//! One triangle of the factors: the order of its rows, its slices and its levels' launches.

use super::pattern::{
    DRAWING, EliminationPattern, MOST_DRAWING, SLICE, SlicedRows, depth, inverse, link, slim,
    sorted,
};
use crate::backend::Real;
use crate::backend::cuda::backend::CudaBackend;
use crate::backend::cuda::device::Buffer;
use crate::backend::cuda::launch::shared::LevelRange;
use crate::backend::cuda::launch::{Argument, Arguments, KernelName, LaunchShape, Result, launch};
use crate::sparse::Triangle;
use std::ops::Range;
use std::sync::Arc;

/// Slots per row up to which rows in natural order are drawn by warps one by one; for eight per row
/// drawing them by blocks built DILU of a matrix like cage13 in 16 ms and this in 57.
const SHORT: usize = 7;
/// Entries of a row, on both sides of the diagonal, from which on several lanes take it.
const LONG: usize = 16;
/// Lanes of a long row in solves, and in the factorisation of its pivot.
const LANES: usize = 4;
pub(super) const PIVOT_LANES: usize = 2;
const MERGED: u32 = 1024;
/// Threads of the blocks of a level of more rows.
const WIDE: u32 = 256;
/// Fewest blocks that draw rows where there is work for them.
const FEWEST_DRAWING: usize = 132;
/// Limits the blocks that poll to about this many levels of lookahead: more would only take memory bandwidth from
/// rows whose inputs are almost ready.
const LEVELS_AHEAD: usize = 8;

/// The way in which rows wait for the rows that they need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waiting {
    /// Each for its own entries, which are flagged one by one.
    RowByRow,
    /// A level for the launch of the one before; runs of small levels are one block's.
    Launches,
    /// A warp takes a tile and waits within it, entry by entry.
    WithinTiles,
}

/// Rows in an order in which each comes after those that it waits for.
pub(super) struct RowOrder {
    pub(super) rows: Arc<Buffer<u32>>,
    pub(super) place: Buffer<u32>,
    /// Start of each level, and end of the last one, if the rows are sorted by level.
    pub(super) levels: Option<Buffer<u64>>,
}

impl RowOrder {
    /// First row first for the lower side, last row first for the upper one.
    pub(super) fn natural(
        backend: &CudaBackend,
        a: &EliminationPattern,
        side: Triangle,
    ) -> Result<Self> {
        let rows = a.pattern.rows;
        let order = Buffer::zeros(&backend.device, rows)?;
        let place = Buffer::zeros(&backend.device, rows)?;
        launch!(backend => number_rows[f64; rows](side as u32, &order, &place))?;
        Ok(Self { rows: Arc::new(order), place, levels: None })
    }

    /// By level of one side of the diagonal.
    pub(super) fn by_level(
        backend: &CudaBackend,
        a: &EliminationPattern,
        side: Triangle,
    ) -> Result<Self> {
        let (device, rows) = (&backend.device, a.pattern.rows);
        let levels = Buffer::<u32>::zeros(device, rows)?;
        let ticket = Buffer::<u32>::zeros(device, 1)?;
        launch!(backend => level_rows[f64, slim(rows)](rows as u64, side as u32, a.shared(),
            &levels, &ticket))?;
        let depth = depth(backend, &levels)?;
        let order = sorted(backend, &levels, depth)?;
        let starts = Buffer::zeros(device, depth as usize + 1)?;
        launch!(backend => find_starts[f64; rows](&levels, &order, &starts))?;
        let place = inverse(backend, &order)?;
        Ok(Self { rows: Arc::new(order), place, levels: Some(starts) })
    }

    /// The levels from the last to the first, which are the levels of the other side if every entry has a
    /// partner across the diagonal.
    pub(super) fn turned(&self, backend: &CudaBackend, a: &EliminationPattern) -> Result<Self> {
        let backwards = Self::natural(backend, a, Triangle::Upper)?;
        let order = link(backend, &backwards.rows, &self.rows)?;
        let place = inverse(backend, &order)?;
        let mut levels = None;
        if let (Some(starts), Some(depth)) = (&self.levels, self.depth()) {
            let turned = Buffer::zeros(&backend.device, depth + 1)?;
            launch!(backend => turn_starts[f64, LaunchShape::threads(depth + 1)](order.len() as u64,
                depth as u32, starts, &turned))?;
            levels = Some(turned);
        }
        Ok(Self { rows: Arc::new(order), place, levels })
    }

    /// Number of levels; none if the rows are not sorted by them.
    pub(super) fn depth(&self) -> Option<usize> {
        self.levels.as_ref().map(|starts| starts.len() - 1)
    }

    /// Most blocks that should draw the rows at a time, for a number of lanes per row.
    fn most_drawing(&self, lanes: usize) -> usize {
        let Some(depth) = self.depth() else { return MOST_DRAWING };
        let ahead = LEVELS_AHEAD * self.rows.len() * lanes / depth.max(1);
        (ahead / DRAWING).clamp(FEWEST_DRAWING, MOST_DRAWING)
    }
}

/// The entries on one side of the diagonal, in the order in which its rows are worked on.
pub(super) struct FactorTriangle<T> {
    side: Triangle,
    pub(super) order: RowOrder,
    /// Rows of A in that order.
    pub(super) rows_of_a: Arc<Buffer<u32>>,
    pub(super) slices: SlicedRows,
    /// Places of the columns in the order.
    columns: Buffer<u32>,
    pub(super) values: Buffer<T>,
    /// Lanes that take a row together.
    pub(super) lanes: usize,
    pub(super) launches: Vec<(Range<u32>, u32)>,
}

impl<T: Real> FactorTriangle<T> {
    /// One side of the diagonal in this order.
    pub(super) fn new(
        backend: &CudaBackend,
        a: &EliminationPattern,
        side: Triangle,
        order: RowOrder,
    ) -> Result<Self> {
        let (device, rows) = (&backend.device, a.pattern.rows);
        let length = Buffer::zeros(device, rows)?;
        launch!(backend => part_lengths[f64; rows](side as u32, &order.rows, a.shared(), &length))?;
        // Twice the mean of one side of the diagonal, in any order of the rows.
        let mean = a.pattern.entries / rows.max(1);
        let slices = SlicedRows::new(backend, length, mean)?;
        let columns = Buffer::zeros(device, slices.capacity)?;
        let (lanes, shape) = slices.teams();
        launch!(backend => fill_columns[f64, shape](lanes, side as u32, &order.rows, &order.place,
            a.shared(), slices.shared(), &columns))?;
        Ok(Self {
            rows_of_a: a.rows_of_a(backend, &order.rows)?,
            values: Buffer::zeros(device, slices.capacity)?,
            lanes: row_lanes(mean),
            launches: Vec::new(),
            side,
            order,
            slices,
            columns,
        })
    }

    /// Takes the entries of this side from the values of `a`, and their products with those across the
    /// diagonal if they are wanted.
    pub(super) fn take(
        &self,
        backend: &CudaBackend,
        a: &EliminationPattern,
        values: &Buffer<T>,
        products: Option<&Buffer<T>>,
    ) -> Result<()> {
        let (lanes, shape) = self.slices.teams();
        launch!(backend => take_side[T, shape](lanes, self.side as u32, &self.order.rows,
            a.shared(), values, self.slices.shared(), &self.values, products))
    }

    /// Slices, columns, and values of the entries, as kernels take them.
    pub(super) fn arguments(&self, values: &Buffer<T>) -> impl Arguments {
        (self.slices.shared(), &self.columns, values)
    }

    /// Goes through the rows by one of three kernels: level after level, or row by row in the order by
    /// level, or in natural order if rows are short, in which case warps draw them one by one. At most
    /// `most_lanes` take a row together.
    pub(super) fn work(
        &self,
        backend: &CudaBackend,
        waiting: Waiting,
        [levels, sorted, natural]: [KernelName; 3],
        arguments: impl Arguments,
        (tickets, most_lanes): (&Buffer<u32>, usize),
    ) -> Result<()> {
        if waiting == Waiting::Launches {
            return self.launch_levels(backend, levels, &arguments.list());
        }
        let mut arguments = (arguments, tickets).list();
        let rows = self.slices.rows();
        let short = self.lanes == 1 && self.slices.capacity <= SHORT * rows;
        let (name, shape) = if self.order.levels.is_none() && short {
            (natural, slim(rows))
        } else {
            let lanes = self.lanes.min(most_lanes);
            arguments.push((lanes as u32).into());
            let threads = rows.div_ceil(SLICE) * SLICE * lanes;
            let blocks = threads.div_ceil(DRAWING).clamp(1, self.order.most_drawing(lanes));
            (sorted, LaunchShape::blocks(blocks))
        };
        launch!(backend => (name)[T, shape](arguments))
    }

    /// Launches `kernel` for all levels, one after the other; the levels of a launch are its last argument.
    pub(super) fn launch_levels(
        &self,
        backend: &CudaBackend,
        kernel: KernelName,
        arguments: &[Argument],
    ) -> Result<()> {
        let Some(starts) = &self.order.levels else { return Ok(()) };
        for (levels, blocks) in &self.launches {
            let range = LevelRange { starts: starts.into(), first: levels.start, last: levels.end };
            let threads = if *blocks == 1 { MERGED } else { WIDE };
            let shape = LaunchShape::new(*blocks as usize, threads);
            launch!(backend => (kernel)[T, shape](arguments.to_vec(), range))?;
        }
        Ok(())
    }
}

/// Lanes that take a row together, for a number of entries per row on both sides of the diagonal: the same
/// in any order of the rows, so that sums are the same to the last bit.
pub fn row_lanes(entries: usize) -> usize {
    if entries < LONG { 1 } else { LANES }
}

/// A launch for each level of many rows, and one for each run of levels of few, which one block does faster
/// than launches follow each other: its levels, and its number of blocks. `starts` is where each level starts, and the
/// number of rows.
pub fn level_launches(starts: &[u64]) -> Vec<(Range<u32>, u32)> {
    let mut launches: Vec<(Range<u32>, u32)> = Vec::new();
    for (level, ends) in (0..).zip(starts.windows(2)) {
        let rows = ends[1] - ends[0];
        // A level need not begin where a slice does.
        let wide = (rows + SLICE as u64).div_ceil(u64::from(WIDE)) as u32;
        let blocks = if rows <= u64::from(MERGED) { 1 } else { wide };
        match launches.last_mut() {
            Some((levels, 1)) if blocks == 1 => levels.end = level + 1,
            _ => launches.push((level..level + 1, blocks)),
        }
    }
    launches
}
