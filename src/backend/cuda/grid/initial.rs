//! The initial grid on a GPU by the hyperbolic march (`kernels/march.cu`, `kernels/cyclic.cuh`), and control
//! functions and wall terms of the grid equations from it (`kernels/control.cu`).

use super::elliptic::{CudaElliptic, FixedTerms};
use super::nodes::{Columns, CudaGrid, first_line, unknown_columns};
use crate::backend::LevelSize;
use crate::backend::cuda::algebra::CudaVector;
use crate::backend::cuda::backend::CudaBackend;
use crate::backend::cuda::device::Buffer;
use crate::backend::cuda::launch::constants::CYCLIC_THREADS;
use crate::backend::cuda::launch::shared::{
    CyclicBuffers, EliminatedPoint, KeptRow, March, Pointer, ReducedRow,
};
use crate::backend::cuda::launch::{
    Arguments, KernelName, LaunchShape, MOST_TOGETHER, Result, kernels, launch,
};
use crate::grid::FAR_FIELD_CENTRE;
use crate::grid::initial::hyperbolic::{Scheme, first_layers};
use crate::grid::initial::{InitialSettings, Outer, Outline, ways};
use crate::pde::EllipticSettings;
use crate::pde::control::{
    Base, CURVATURE_LIMIT, CURVATURE_PASSES, FAR_DISTANCE, PSI_REACH, Wall as WallControl,
    decay_lengths, smoothing_widths,
};
use std::ops::Range;
use std::sync::Arc;

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

impl CudaBackend {
    /// The grid equations of this device's part of an initial grid, made where it is.
    pub(super) fn grid_equations(
        &self,
        grid: &CudaGrid,
        normals: &[[f64; 2]],
        settings: &EllipticSettings,
    ) -> Result<CudaElliptic> {
        let part = GridPart::new(self, grid);
        let (topology, size) = (grid.columns.topology, part.size);
        let arc = part.unset(grid.x.len())?;
        let (lines, columns) = (line_shape(grid.columns.count), grid.columns.held());
        launch!(self => arc_lengths[f64, lines](columns, grid.nj as u32, &grid.x, &grid.y, &arc))?;
        let controls = part.control_functions(&arc, settings)?;
        let control = [part.inner(&controls, 0)?, part.inner(&controls, 1)?];
        drop(controls);
        let line = (&grid.line.x[..], &grid.line.y[..]);
        let (mut wall, mut offsets, mut memory) = (None, [Pointer::NULL; 2], None);
        if settings.control.wall == WallControl::Coupled {
            let heights = settings.heights(topology, &grid.line.row(0));
            let lengths = decay_lengths(topology, line, &heights, settings.control.decay);
            let own: Vec<f64> = part.unknown.clone().map(|i| lengths[i]).collect();
            let frame: Vec<usize> = part.frame_columns().distinct().collect();
            let offset = |k: usize| frame.iter().map(|&i| heights[i] * normals[i][k]).collect();
            let [x, y]: [Vec<f64>; 2] = [offset(0), offset(1)];
            let (uploaded, [own, x, y]) = Buffer::from_several(&self.device, [&own, &x, &y])?;
            wall = Some(part.wall_terms(&arc, own)?);
            (offsets, memory) = ([x, y], Some(uploaded));
        }
        drop(arc);
        let frame = part.frame(offsets)?;
        drop(memory);
        let terms = FixedTerms { control, walls: [wall, None, None, None] };
        self.state(size, frame, Arc::new(terms))
    }

    /// A state and its first guess: the unknown nodes of the frame, wall terms zero.
    pub(super) fn with_first_guess(
        &self,
        state: CudaElliptic,
    ) -> Result<(CudaElliptic, CudaVector<f64>)> {
        let u = Buffer::unset(&self.device, 2 * state.points())?;
        launch!(self => first_guess[f64, LaunchShape::threads(state.points())](state.extents(),
            state.shared(), &u))?;
        Ok((state, u))
    }
}

/// A device's part of an initial grid: the columns of its unknown points and those beside them.
pub(super) struct GridPart<'a> {
    backend: &'a CudaBackend,
    grid: &'a CudaGrid,
    /// Size of its unknown points.
    pub(super) size: LevelSize,
    /// Their columns.
    unknown: Range<usize>,
}

impl<'a> GridPart<'a> {
    pub(super) fn new(backend: &'a CudaBackend, grid: &'a CudaGrid) -> Self {
        let Columns { topology, ni, .. } = grid.columns;
        let whole = LevelSize::of_grid(topology, ni, grid.nj);
        let own = backend.ranks.as_ref().map_or(0..whole.mi, |ranks| ranks.bands.of(ranks.rank));
        let unknown = unknown_columns(topology, own);
        // The columns beside those of a band are not its own.
        let periodic = whole.periodic && backend.ranks.is_none();
        let size = LevelSize { mi: unknown.len(), periodic, ..whole };
        Self { backend, grid, size, unknown }
    }

    fn unset(&self, values: usize) -> Result<Buffer<f64>> {
        Buffer::unset(&self.backend.device, values)
    }

    /// Launches a kernel with a thread for each node, whose first arguments are columns and lines.
    fn launch(&self, kernel: KernelName, arguments: impl Arguments) -> Result<()> {
        launch!(self.backend => (kernel)[f64, LaunchShape::threads(self.grid.x.len())](
            self.grid.columns.held(), self.grid.nj as u32, arguments))
    }

    /// P0 at all nodes, then Q0, with the distances `arc` from the wall. The values of a rank are right at
    /// its unknown points and wrong near the ends of the columns that it holds.
    fn control_functions(
        &self,
        arc: &Buffer<f64>,
        settings: &EllipticSettings,
    ) -> Result<Buffer<f64>> {
        let CudaGrid { columns, line, x, y, .. } = self.grid;
        let mut controls = self.unset(2 * x.len())?;
        let control = &settings.control;
        match control.base.unwrap_or_default() {
            Base::Laplace => controls.clear()?,
            Base::ThomasMiddlecoff => {
                let mut curvature = self.unset(x.len())?;
                self.launch(kernels::curvature_control, (x, y, &curvature))?;
                self.repeat(0..CURVATURE_PASSES, &mut curvature, |_, from, to| {
                    self.launch(kernels::smooth_along_xi, (from, to))
                })?;
                let limit = CURVATURE_LIMIT;
                self.launch(kernels::boundary_control, (limit, x, y, &curvature, &controls))?;
            }
            Base::Marched => {
                self.launch(kernels::marched_control, (control.clip, x, y, &controls))?;
                let widths = smoothing_widths(line, control);
                let widths: Vec<f64> = columns.distinct().flat_map(|i| widths[i]).collect();
                let widths = Buffer::from_host(&self.backend.device, &widths)?;
                let variances = self.unset(x.len())?;
                let distances = (control.smoothing_distance, FAR_DISTANCE);
                self.launch(kernels::smoothing_variances, (distances, &widths, arc, &variances))?;
                let strides = control.strides(columns.around());
                self.repeat(strides, &mut controls, |stride, from, to| {
                    let stride = stride as u32;
                    self.launch(kernels::smooth_control, (&variances, stride, from, to))
                })?;
            }
        }
        Ok(controls)
    }

    /// f ← f after a `pass` for each of `passes` from one place to another.
    fn repeat(
        &self,
        passes: impl Iterator<Item = usize>,
        f: &mut Buffer<f64>,
        pass: impl Fn(usize, &Buffer<f64>, &Buffer<f64>) -> Result<()>,
    ) -> Result<()> {
        let mut other = self.unset(f.len())?;
        for each in passes {
            pass(each, f, &other)?;
            std::mem::swap(f, &mut other);
        }
        Ok(())
    }

    /// Place of the first unknown column among the held ones.
    fn first(&self) -> u32 {
        self.grid.columns.place(self.unknown.start) as u32
    }

    /// The values of the k-th of several fields at the unknown points.
    fn inner(&self, fields: &Buffer<f64>, k: usize) -> Result<Buffer<f64>> {
        let (columns, first) = ((self.first() as usize, self.size.mi), k * self.grid.nj + 1);
        self.backend.cut(fields, self.grid.columns.count, columns, first..first + self.size.mj)
    }

    /// The decay φ, ψ of the wall terms with the decay lengths of the unknown columns.
    fn wall_terms(&self, arc: &Buffer<f64>, lengths: Pointer<f64>) -> Result<[Buffer<f64>; 2]> {
        let LevelSize { mi, mj, .. } = self.size;
        let (phi, psi) = (self.unset(mi * mj)?, self.unset(mi * mj)?);
        let (count, shape) = (self.grid.columns.count as u32, LaunchShape::threads(mi * mj));
        launch!(self.backend => decay[f64, shape](count, self.first(), mi as u32, mj as u32, PSI_REACH,
            arc, lengths, &phi, &psi))?;
        Ok([phi, psi])
    }

    /// The columns of the frame: those of the unknown points and one on either side.
    fn frame_columns(&self) -> Columns {
        let (first, count) = (self.unknown.start.cast_signed() - 1, self.size.mi + 2);
        Columns { first, count, ..self.grid.columns.clone() }
    }

    /// The nodes as a frame, the row next to the wall at the offsets in x and y from it, if they are not null.
    pub(super) fn frame(&self, offsets: [Pointer<f64>; 2]) -> Result<CudaGrid> {
        let CudaGrid { columns, nj, line, x, y } = self.grid;
        let (mi, nj, line) = (self.size.mi, *nj, line.clone());
        let size = (columns.held(), self.first(), mi as u32, nj as u32);
        let frame = |nodes: &Buffer<f64>, offsets: Pointer<f64>| -> Result<_> {
            let frame = self.unset((mi + 2) * nj)?;
            launch!(self.backend => frame_nodes[f64, LaunchShape::threads(frame.len())](size, nodes,
                offsets, &frame))?;
            Ok(frame)
        };
        let (x, y) = (frame(x, offsets[0])?, frame(y, offsets[1])?);
        Ok(CudaGrid { columns: self.frame_columns(), nj, line, x, y })
    }
}
