//! One triangle of the factors: the order of its rows, its slices and its levels' launches.

use super::eliminated::Eliminated;
use super::pattern::{
    DRAWING, MOST_DRAWING, SLICE, Slices, depth, drawing, inverse, scan, slim, sorted,
};
use crate::backend::Real;
use crate::backend::cuda::backend::CudaBackend;
use crate::backend::cuda::device::Buffer;
use crate::backend::cuda::launch::shared::LevelRange;
use crate::backend::cuda::launch::{
    Argument, LaunchShape, LevelLaunch, Result, Source, arguments, level_launches,
};
use std::sync::Arc;

/// Slots per row up to which rows in natural order are drawn by warps one by one; for eight per row
/// drawing them by blocks built DILU of a matrix like cage13 in 16 ms and this in 57.
const SHORT: usize = 7;
/// Entries of a row, on both sides of the diagonal, from which on several lanes take it.
const LONG: usize = 16;
/// Those that solve with it, and those that form its pivot.
const LANES: usize = 4;
pub(super) const PIVOT_LANES: usize = 2;
const MERGED: u32 = 1024;
/// Threads of the blocks of a level of more rows.
const WIDE: u32 = 256;
/// Fewest blocks that draw rows where there is work for them.
const FEWEST_DRAWING: usize = 132;
/// Levels that are worked on ahead of the one that everybody waits for: rows further ahead would only
/// look in vain, and be in the way of those that look for what is nearly there.
const LEVELS_AHEAD: usize = 8;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Lower,
    Upper,
}

impl Side {
    fn flag(self) -> u32 {
        u32::from(self == Self::Upper)
    }
}

/// How rows wait for those that they need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Waiting {
    /// Each for its own entries, which are flagged one by one.
    RowByRow,
    /// A level for the launch of the one before; runs of small levels are one block's.
    Launches,
    /// As row by row, within tiles that a warp takes each.
    WithinTiles,
}

/// Rows in an order in which each comes after those that it waits for.
pub(super) struct Order {
    pub(super) rows: Arc<Buffer<u32>>,
    pub(super) place: Buffer<u32>,
    /// Where each level starts, and the last one ends, if the rows are sorted by level.
    levels: Option<Buffer<u64>>,
}

impl Order {
    /// First row first for the lower side, last row first for the upper one.
    pub(super) fn natural(backend: &CudaBackend, rows: usize, side: Side) -> Result<Self> {
        let order = Buffer::zeros(&backend.device, rows)?;
        let place = Buffer::zeros(&backend.device, rows)?;
        let arguments = arguments![side.flag(), &order, &place];
        backend.for_each::<f64>(Source::Order, "number_rows", rows, arguments)?;
        Ok(Self { rows: Arc::new(order), place, levels: None })
    }

    /// By level of one side of the diagonal.
    pub(super) fn by_level(backend: &CudaBackend, a: &Eliminated, side: Side) -> Result<Self> {
        let (device, pattern) = (&backend.device, &a.pattern);
        let rows = pattern.rows;
        let levels = Buffer::<u32>::zeros(device, rows)?;
        let ticket = Buffer::<u32>::zeros(device, 1)?;
        let mut arguments = arguments![rows as u64, side.flag(), &pattern.row_start, &a.split];
        arguments.extend(arguments![&pattern.columns, &levels, &ticket]);
        backend.launch::<f64>(Source::Order, "level_rows", slim(rows), &arguments)?;
        let depth = depth(backend, &levels)?;
        let order = sorted(backend, &levels, depth)?;
        let starts = Buffer::zeros(device, depth as usize + 1)?;
        let arguments = arguments![&levels, &order, &starts];
        backend.for_each::<f64>(Source::Order, "find_starts", rows, arguments)?;
        let place = inverse(backend, &order)?;
        Ok(Self { rows: Arc::new(order), place, levels: Some(starts) })
    }

    /// The same levels from the last to the first: those of the other side, if every entry has a
    /// partner across the diagonal.
    pub(super) fn turned(&self, backend: &CudaBackend) -> Result<Self> {
        let (device, rows) = (&backend.device, self.rows.len());
        let order = Buffer::zeros(device, rows)?;
        backend.for_each::<f64>(
            Source::Order,
            "turn_order",
            rows,
            arguments![&self.rows, &order],
        )?;
        let place = inverse(backend, &order)?;
        let mut levels = None;
        if let (Some(starts), Some(depth)) = (&self.levels, self.depth()) {
            let turned = Buffer::zeros(device, depth + 1)?;
            let arguments = arguments![rows as u64, depth as u32, starts, &turned];
            let shape = LaunchShape::threads(depth + 1);
            backend.launch::<f64>(Source::Order, "turn_starts", shape, &arguments)?;
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
pub(super) struct Triangle<T> {
    pub(super) order: Order,
    /// Rows of A in that order.
    pub(super) rows_of_a: Arc<Buffer<u32>>,
    pub(super) slices: Slices,
    /// Places of the columns in the order.
    columns: Buffer<u32>,
    pub(super) values: Buffer<T>,
    /// Lanes that take a row together.
    pub(super) lanes: usize,
    launches: Vec<LevelLaunch>,
}

impl<T: Real> Triangle<T> {
    /// One side of the diagonal in this order.
    pub(super) fn new(
        backend: &CudaBackend,
        a: &Eliminated,
        side: Side,
        order: Order,
    ) -> Result<Self> {
        let slices = shaped(backend, a, side, &order)?;
        let columns = Buffer::zeros(&backend.device, slices.capacity)?;
        let mut arguments =
            arguments![slices.lanes() as u32, side.flag(), &order.rows, &order.place];
        arguments.extend(arguments![a.shared(), slices.shared(), &columns]);
        let shape = slices.shape_of_teams();
        backend.launch::<f64>(Source::Order, "fill_columns", shape, &arguments)?;
        Ok(Self {
            rows_of_a: a.rows_of_a(backend, &order.rows)?,
            values: Buffer::zeros(&backend.device, slices.capacity)?,
            lanes: lanes(a.pattern.entries / a.pattern.rows.max(1)),
            launches: Vec::new(),
            order,
            slices,
            columns,
        })
    }

    /// Prepares to go through the levels launch by launch.
    pub(super) fn prepare_launches(&mut self) -> Result<()> {
        if let (Some(starts), true) = (&self.order.levels, self.launches.is_empty()) {
            self.launches = launches(&starts.to_host()?);
        }
        Ok(())
    }

    /// Slices, columns, and values of the entries, as kernels take them.
    pub(super) fn arguments(&self, values: &Buffer<T>) -> Vec<Argument> {
        arguments![self.slices.shared(), &self.columns, values]
    }

    /// Goes through the rows by one of three kernels: level after level, or row by row in the order by
    /// level, or in natural order if rows are short, in which case warps draw them one by one. At most
    /// `most_lanes` take a row together.
    pub(super) fn work(
        &self,
        backend: &CudaBackend,
        waiting: Waiting,
        [levels, sorted, natural]: [&'static str; 3],
        mut arguments: Vec<Argument>,
        (tickets, most_lanes): (&Buffer<u32>, usize),
    ) -> Result<()> {
        if waiting == Waiting::Launches {
            return self.launch_levels(backend, (Source::Triangular, levels), &arguments);
        }
        arguments.push(tickets.into());
        let rows = self.slices.rows;
        let short = self.lanes == 1 && self.slices.capacity <= SHORT * rows;
        let (name, shape) = if self.order.levels.is_none() && short {
            (natural, slim(rows))
        } else {
            let lanes = self.lanes.min(most_lanes);
            arguments.push((lanes as u32).into());
            let threads = rows.div_ceil(SLICE) * SLICE * lanes;
            (sorted, drawing(threads, self.order.most_drawing(lanes)))
        };
        backend.launch::<T>(Source::Triangular, name, shape, &arguments)
    }

    /// Launches `kernel` for all levels, one after the other; the levels of a launch are its last argument.
    pub(super) fn launch_levels(
        &self,
        backend: &CudaBackend,
        (source, kernel): (Source, &'static str),
        arguments: &[Argument],
    ) -> Result<()> {
        let Some(starts) = &self.order.levels else { return Ok(()) };
        for &LevelLaunch { first, last, blocks } in &self.launches {
            let range = LevelRange { starts: starts.into(), first, last };
            let arguments = [arguments, &[range.into()]].concat();
            let threads = if blocks == 1 { MERGED } else { WIDE };
            let shape = LaunchShape::new(blocks as usize, threads);
            backend.launch::<T>(source, kernel, shape, &arguments)?;
        }
        Ok(())
    }
}

/// Lanes that take a row together, for a number of entries per row on both sides of the diagonal: the same
/// in any order of the rows, so that sums are the same to the last bit.
fn lanes(entries: usize) -> usize {
    if entries < LONG { 1 } else { LANES }
}

/// Where the rows of one side stand in slices, found on the device.
fn shaped(backend: &CudaBackend, a: &Eliminated, side: Side, order: &Order) -> Result<Slices> {
    let (device, rows) = (&backend.device, a.pattern.rows);
    let count = rows.div_ceil(SLICE);
    let length = Buffer::<u32>::zeros(device, rows)?;
    let width = Buffer::<u32>::zeros(device, count)?;
    let capacity = Buffer::<u32>::zeros(device, count)?;
    let mut arguments = arguments![side.flag(), &order.rows, &a.pattern.row_start, &a.split];
    arguments.extend(arguments![&a.pattern.columns, &length, &width, &capacity]);
    backend.for_each::<f64>(Source::Order, "shape_slices", rows, arguments)?;
    let start = scan(backend, &capacity)?;
    Ok(Slices { rows, capacity: start.get(count)? as usize, width, start, length })
}

/// A launch for each level of many rows, and one for each run of levels that a block takes.
fn launches(starts: &[u64]) -> Vec<LevelLaunch> {
    level_launches(starts.windows(2).map(|ends| {
        let rows = ends[1] - ends[0];
        // A level need not begin where a slice does.
        let wide = (rows + SLICE as u64).div_ceil(u64::from(WIDE)) as u32;
        if rows <= u64::from(MERGED) { 1 } else { wide }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_rows_get_more_lanes() {
        assert_eq!([0, 13, 16, 1000].map(lanes), [1, 1, 4, 4]);
    }

    #[test]
    fn runs_of_small_levels_share_a_launch() {
        // Levels of 1, 1024, 1025, 3, 4000 and 1024 rows.
        let starts = [0, 1, 1025, 2050, 2053, 6053, 7077];

        let found: Vec<_> = launches(&starts).iter().map(|l| (l.first, l.last, l.blocks)).collect();

        assert_eq!(found, [(0, 2, 1), (2, 3, 5), (3, 4, 1), (4, 5, 16), (5, 6, 1)]);
    }
}
