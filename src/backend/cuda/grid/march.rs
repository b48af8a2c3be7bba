//! The hyperbolic march on a GPU: `kernels/march.cu`, `kernels/cyclic.cuh`.

use super::nodes::{Columns, CudaGrid, first_line};
use crate::backend::cuda::backend::CudaBackend;
use crate::backend::cuda::device::Buffer;
use crate::backend::cuda::launch::constants::CYCLIC_THREADS;
use crate::backend::cuda::launch::shared::{
    CyclicBuffers, EliminatedPoint, KeptRow, March, ReducedRow,
};
use crate::backend::cuda::launch::{LaunchShape, MOST_TOGETHER, Result, kernels, launch};
use crate::grid::FAR_FIELD_CENTRE;
use crate::grid::initial::hyperbolic::{Scheme, first_layers};
use crate::grid::initial::{InitialSettings, Outer, Outline, ways};

/// A length that no segment has.
const HUGE: f64 = 1e300;

/// Threads of a block where one follows a whole line: few, so that all multiprocessors have lines.
const LINE_THREADS: u32 = 32;

/// A launch with a thread for each of `n` lines.
pub(crate) fn line_shape(n: usize) -> LaunchShape {
    LaunchShape::new(n.div_ceil(LINE_THREADS as usize).max(1), LINE_THREADS)
}

impl CudaBackend {
    /// Cells of a grid with a corner determinant that is not positive, on all ranks.
    pub fn folds(&self, grid: &CudaGrid) -> Result<usize> {
        let cells = grid.columns.own_cells() * (grid.nj - 1);
        let [folds] =
            self.reduce::<f64, 1>(kernels::count_folds, cells, grid.own(), |_, a, b| a + b)?;
        Ok(folds as usize)
    }

    /// The march of all columns, of which a rank keeps its own and those beside them, with the outer line
    /// on the far field, and its folded cells; none if the march failed.
    pub(super) fn marched(
        &self,
        outline: &Outline,
        settings: &InitialSettings,
        dissipation: f64,
    ) -> Result<Option<(CudaGrid, usize)>> {
        let grid = self.first_rows(outline, settings.margin)?;
        let (n, nj) = (outline.columns(), grid.nj);
        let scheme = Scheme::of(outline);
        let extra = outline.extra_heights();
        let tallest = extra.iter().copied().fold(0.0, f64::max);
        let unset = |values: usize| Buffer::<f64>::unset(&self.device, values);
        let first: Vec<f64> = first_layers(outline).iter().flatten().flatten().copied().collect();
        let given = [&first, &extra, outline.layers, &outline.splay(), &[HUGE; MOST_TOGETHER]];
        let (_memory, [fronts, extra, layers, splay, shortest]) =
            Buffer::from_several(&self.device, given)?;
        let shape = cyclic_shape(n, self.device.room_together());
        let (widths, _widths_memory) = cyclic_buffers::<f64, f64>(self, n, shape)?;
        let (moves, _moves_memory) = cyclic_buffers::<Matrix, Vector>(self, n, shape)?;
        let (segments, smoothed) = (unset(4 * n)?, unset(n)?);
        let flags = Buffer::zeros(&self.device, 2)?;
        let march = March {
            columns: grid.columns.held(),
            layers,
            splay,
            extra,
            fronts,
            segments: (&segments).into(),
            smoothed: (&smoothed).into(),
            shortest,
            x: (&grid.x).into(),
            y: (&grid.y).into(),
            bad: flags.at(0),
            arrived: flags.at(1),
            widths,
            moves,
            tallest,
            implicit: scheme.implicit,
            step_limit: scheme.step_limit,
            inverse_growth: scheme.inverse_growth,
            outflow: scheme.outflow,
            slope: scheme.slope,
            dissipation,
            volume_smoothing: settings.volume_smoothing,
            spread: settings.spread,
            nj: nj as u64,
        };
        launch!(self => march[f64, shape](march))?;
        if flags.to_host()?[0] != 0 {
            return Ok(None);
        }
        self.place_layers(&grid, outline)?;
        let folds = self.folds(&grid)?;
        Ok(Some((grid, folds)))
    }

    /// Moves every line so that its last point lies on the outer line. The ways to an offset line, a number of
    /// points that does not grow with the layers, are found by the host.
    fn place_layers(&self, grid: &CudaGrid, outline: &Outline) -> Result<()> {
        let Columns { topology, count, .. } = grid.columns;
        let size = (count as u32, grid.nj as u32);
        if let Outer::Circle(radius) = outline.outer {
            let open = u32::from(!topology.closed());
            let [centre_x, centre_y] = FAR_FIELD_CENTRE;
            return launch!(self => place_layers[f64, line_shape(count)](size, open, radius, centre_x,
                centre_y, &grid.x, &grid.y));
        }
        let last = grid.x.len() - count..grid.x.len();
        let (x, y) = (grid.x.part(last.clone())?, grid.y.part(last)?);
        let last: Vec<[f64; 2]> = x.into_iter().zip(y).map(|(x, y)| [x, y]).collect();
        let ways = Buffer::from_host(&self.device, &ways(outline, &last).concat())?;
        launch!(self => move_layers[f64, line_shape(count)](size, &ways, &grid.x, &grid.y))
    }

    /// A grid of the columns that this device keeps of a march, with the wall and the layer next to it.
    fn first_rows(&self, outline: &Outline, margin: usize) -> Result<CudaGrid> {
        let (topology, ni, nj) = (outline.topology, outline.points.len(), outline.layers.len());
        let columns = match &self.ranks {
            Some(ranks) => Columns::band(topology, ni, ranks, margin),
            None => Columns::all(topology, ni, None),
        };
        let first = first_layers(outline);
        let rows = |component: usize| -> Result<Buffer<f64>> {
            let nodes = Buffer::unset(&self.device, columns.count * nj)?;
            let rows = first.iter().flat_map(|row| columns.distinct().map(|i| row[i][component]));
            nodes.upload_part(&rows.collect::<Vec<_>>())?;
            Ok(nodes)
        };
        let (x, y): (Vec<f64>, Vec<f64>) = outline.points.iter().map(|[x, y]| (*x, *y)).unzip();
        let line = first_line(topology, &x, &y);
        Ok(CudaGrid { nj, line, x: rows(0)?, y: rows(1)?, columns })
    }
}

/// Threads of one of several blocks, if there are enough for all: fewer gain nothing.
const SEVERAL_THREADS: usize = 128;

/// The shape of the launch of a march of `n` points, in which at most `room` blocks run together. Each chunk has a
/// thread. The numbers of chunks, threads and blocks are powers of two.
fn cyclic_shape(n: usize, room: Option<usize>) -> LaunchShape {
    let most = room.map_or(MOST_TOGETHER, |room| (1 << room.max(1).ilog2()).min(MOST_TOGETHER));
    let chunks = (1 << n.ilog2()).min(most * CYCLIC_THREADS);
    let several = (chunks / SEVERAL_THREADS).clamp(1, most);
    let blocks = if chunks > CYCLIC_THREADS { several } else { 1 };
    let threads = chunks / blocks;
    let shared = (threads * size_of::<ReducedRow<Matrix, Vector>>()) as u32;
    LaunchShape { shared, together: true, ..LaunchShape::new(blocks, threads as u32) }
}

/// Matrix and vector of a system of two unknowns per point.
type Matrix = [f64; 4];
type Vector = [f64; 2];

/// Intermediate results between the two parts of the solution of a cyclic system of `n` points whose unknowns are V,
/// in a launch of a shape; and their memory.
fn cyclic_buffers<M, V>(
    backend: &CudaBackend,
    n: usize,
    shape: LaunchShape,
) -> Result<(CyclicBuffers, [Buffer<f64>; 2])> {
    let unset = |bytes: usize| Buffer::unset(&backend.device, bytes / size_of::<f64>());
    let points = unset(size_of::<EliminatedPoint<M, V>>() * n)?;
    let block_rows = unset(size_of::<KeptRow<M, V>>() * shape.grid[0] as usize)?;
    let buffers = CyclicBuffers { points: (&points).into(), block_rows: (&block_rows).into() };
    Ok((buffers, [points, block_rows]))
}
