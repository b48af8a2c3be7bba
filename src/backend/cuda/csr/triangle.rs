//! One triangle of the factors: its order, its slices and its levels' launches.

use super::eliminated::Eliminated;
use super::order::{Order, Side};
use super::slices::{SLICE, Slices};
use super::sort::{drawing, scan, slim};
use crate::backend::cuda::backend::CudaBackend;
use crate::backend::cuda::device::Buffer;
use crate::backend::cuda::launch::shared::LevelRange;
use crate::backend::cuda::launch::{Argument, LaunchShape, Source, arguments};
use crate::backend::{DeviceError, Real};

/// Room for entries a row up to which rows in natural order are drawn by warps one by one; for eight a
/// row drawing them by blocks built DILU of a matrix like cage13 in 16 ms and this in 57.
const SHORT: usize = 7;
/// Entries of a row, on both sides of the diagonal, from which on several lanes take it.
const LONG: usize = 16;
/// Those that solve with it, and those that form its pivot.
const LANES: usize = 4;
pub(super) const PIVOT_LANES: usize = 2;
/// Threads of a block that takes several levels.
const MERGED: u32 = 1024;
/// Threads of the blocks of a level of more rows.
const WIDE: u32 = 256;

/// The entries on one side of the diagonal, in the order in which its rows are worked on.
pub(super) struct Triangle {
    pub(super) order: Order,
    pub(super) slices: Slices,
    /// Places of the columns in the order.
    pub(super) columns: Buffer<u32>,
    /// Lanes that take a row together.
    pub(super) lanes: usize,
    launches: Vec<Launch>,
}

/// Levels `first` to `last` (not included) in so many blocks; several levels in one block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Launch {
    first: u32,
    last: u32,
    blocks: u32,
}

impl Triangle {
    /// One side of the diagonal in this order.
    pub(super) fn new(
        backend: &CudaBackend,
        a: &Eliminated,
        side: Side,
        order: Order,
    ) -> Result<Self, DeviceError> {
        let slices = shaped(backend, a, side, &order)?;
        let columns = Buffer::zeros(&backend.device, slices.capacity)?;
        let arguments = arguments![
            slices.lanes() as u32,
            side.flag(),
            &*order.rows,
            &order.place,
            a.shared(),
            slices.shared(),
            &columns
        ];
        backend.launch::<f64>(
            Source::Order,
            "fill_columns",
            slices.shape_of_teams(),
            &arguments,
        )?;
        let lanes = lanes(a.pattern.entries / a.pattern.rows.max(1));
        Ok(Self { order, slices, columns, lanes, launches: Vec::new() })
    }

    /// Prepares to go through the levels launch by launch.
    pub(super) fn prepare_launches(&mut self) -> Result<(), DeviceError> {
        if let (Some(levels), true) = (&self.order.levels, self.launches.is_empty()) {
            self.launches = launches(&levels.download()?);
        }
        Ok(())
    }

    /// Number of levels; none if the rows are not sorted by them.
    pub(super) fn depth(&self) -> Option<usize> {
        self.order.levels.as_ref().map(|levels| levels.depth)
    }

    /// The kernel, of two, that draws its rows, its blocks, and the lanes that take a row, at most so many,
    /// if it asks for them: short rows in natural order are drawn warp by warp.
    pub(super) fn drawing(
        &self,
        [sorted, natural]: [&'static str; 2],
        most_lanes: usize,
    ) -> (&'static str, LaunchShape, Option<Argument>) {
        let rows = self.slices.rows;
        let short = self.lanes == 1 && self.slices.capacity <= SHORT * rows;
        if self.order.levels.is_none() && short {
            return (natural, slim(rows), None);
        }
        let lanes = self.lanes.min(most_lanes);
        let threads = rows.div_ceil(SLICE) * SLICE * lanes;
        let shape = drawing(threads, self.order.most_drawing(lanes));
        (sorted, shape, Some(Argument::from(lanes as u32)))
    }

    /// Slices and columns, as kernels take them.
    pub(super) fn arguments(&self) -> Vec<Argument> {
        arguments![self.slices.shared(), &self.columns]
    }

    /// Room for the values of its entries.
    pub(super) fn zeros<T: Real>(&self, backend: &CudaBackend) -> Result<Buffer<T>, DeviceError> {
        Buffer::zeros(&backend.device, self.slices.capacity)
    }

    /// Launches `kernel` for all levels, one after the other; the levels of a launch are its last argument.
    pub(super) fn launch_levels<T: Real>(
        &self,
        backend: &CudaBackend,
        (source, kernel): (Source, &'static str),
        arguments: &[Argument],
    ) -> Result<(), DeviceError> {
        let Some(levels) = &self.order.levels else { return Ok(()) };
        for launch in &self.launches {
            let Launch { first, last, blocks } = *launch;
            let range = LevelRange { starts: (&levels.starts).into(), first, last };
            let arguments = [arguments, &[range.into()]].concat();
            let threads = if blocks == 1 { MERGED } else { WIDE };
            let shape = LaunchShape { grid: [blocks, 1, 1], block: [threads, 1, 1], shared: 0 };
            backend.launch::<T>(source, kernel, shape, &arguments)?;
        }
        Ok(())
    }
}

/// Lanes that take a row together, for so many entries a row on both sides of the diagonal: the same
/// in any order of the rows, so that sums are the same to the last bit.
fn lanes(entries: usize) -> usize {
    if entries < LONG { 1 } else { LANES }
}

/// Where the rows of one side stand in slices, found on the device.
fn shaped(
    backend: &CudaBackend,
    a: &Eliminated,
    side: Side,
    order: &Order,
) -> Result<Slices, DeviceError> {
    let (device, rows) = (&backend.device, a.pattern.rows);
    let count = rows.div_ceil(SLICE);
    let length = Buffer::<u32>::zeros(device, rows)?;
    let width = Buffer::<u32>::zeros(device, count)?;
    let capacity = Buffer::<u32>::zeros(device, count)?;
    let pattern = &a.pattern;
    let arguments = arguments![
        rows as u64,
        side.flag(),
        &*order.rows,
        &pattern.row_start,
        &a.split,
        &pattern.columns,
        &length,
        &width,
        &capacity
    ];
    backend.launch::<f64>(Source::Order, "shape_slices", LaunchShape::threads(rows), &arguments)?;
    let start = scan(backend, &capacity)?;
    let mut total = [0_u64];
    device.download(start.address_of(count), bytemuck::cast_slice_mut(&mut total))?;
    Ok(Slices { rows, capacity: total[0] as usize, width, start, length })
}

/// A launch for each level of many rows, and one for each run of levels that a block takes.
fn launches(starts: &[u64]) -> Vec<Launch> {
    let mut launches: Vec<Launch> = Vec::new();
    for (level, ends) in (0..).zip(starts.windows(2)) {
        let rows = ends[1] - ends[0];
        // A level need not begin where a slice does.
        let wide = (rows + SLICE as u64).div_ceil(u64::from(WIDE)) as u32;
        let blocks = if rows <= u64::from(MERGED) { 1 } else { wide };
        match launches.last_mut() {
            Some(last) if last.blocks == 1 && blocks == 1 => last.last = level + 1,
            _ => launches.push(Launch { first: level, last: level + 1, blocks }),
        }
    }
    launches
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
        let sizes = [1, 1024, 1025, 3, 4000, 1024];
        let starts: Vec<u64> = std::iter::once(0)
            .chain(sizes.iter().scan(0, |sum, size| {
                *sum += size;
                Some(*sum)
            }))
            .collect();

        let found: Vec<_> = launches(&starts).iter().map(|l| (l.first, l.last, l.blocks)).collect();

        assert_eq!(found, [(0, 2, 1), (2, 3, 5), (3, 4, 1), (4, 5, 16), (5, 6, 1)]);
    }
}
