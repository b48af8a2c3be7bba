//! The hyperbolic march on a GPU (`kernels/march.cu`, `kernels/cyclic.cuh`), and the grid that it leaves
//! there.

use crate::backend::Backend;
use crate::backend::cuda::algebra::sum;
use crate::backend::cuda::backend::{CudaBackend, CudaRecording};
use crate::backend::cuda::device::Buffer;
use crate::backend::cuda::launch::constants::CYCLIC_THREADS;
use crate::backend::cuda::launch::shared::{
    BlockRow, CyclicBuffers, Eliminated, MarchInput, MarchProgress, MarchStep, ReducedRow,
};
use crate::backend::cuda::launch::{Argument, LaunchShape, Result, Source, arguments};
use crate::grid::initial::hyperbolic::{Scheme, first_layers};
use crate::grid::initial::{InitialSettings, Layers, Outline};
use crate::grid::{FAR_FIELD_CENTRE, Topology};

/// Threads of a block where one follows a whole line: few, so that all multiprocessors have lines.
const LINE_THREADS: u32 = 32;
/// Substeps of a recording, which is repeated: launches that the driver knows beforehand follow each
/// other faster. The host asks after one recording at least how far the march has come.
const SUBSTEPS: usize = 32;

/// Nodes of a grid in a GPU's memory, `[nj][ni]`.
pub struct CudaGrid {
    pub(crate) topology: Topology,
    pub(crate) ni: usize,
    pub(crate) nj: usize,
    pub(crate) x: Buffer<f64>,
    pub(crate) y: Buffer<f64>,
}

impl CudaGrid {
    /// Nodes in i and j.
    pub fn size(&self) -> [usize; 2] {
        [self.ni, self.nj]
    }

    /// x and y of the nodes.
    pub fn nodes(&self) -> [&Buffer<f64>; 2] {
        [&self.x, &self.y]
    }
}

/// A launch with a thread for each of `n` lines.
pub(crate) fn line_shape(n: usize) -> LaunchShape {
    LaunchShape::new(n.div_ceil(LINE_THREADS as usize).max(1), LINE_THREADS)
}

impl CudaGrid {
    /// The first arguments of most kernels, sizes and nodes.
    pub(super) fn arguments(&self) -> Vec<Argument> {
        arguments![self.ni as u32, self.nj as u32, &self.x, &self.y]
    }
}

pub(super) fn layers(outline: &Outline, fronts: &Buffer<f64>) -> Result<Layers> {
    let n = outline.columns();
    let mut points = vec![[0.0; 2]; n * outline.layers.len()];
    fronts.download(bytemuck::cast_slice_mut(&mut points))?;
    Ok(points.chunks(n).map(<[_]>::to_vec).collect())
}

impl CudaBackend {
    /// Cells of a grid with a corner determinant that is not positive.
    #[doc(hidden)]
    pub fn folds(&self, grid: &CudaGrid) -> Result<usize> {
        let (cells, arguments) = ((grid.ni - 1) * (grid.nj - 1), grid.arguments());
        let folds =
            self.reduce::<f64, 1>(Source::Initial, "count_folds", cells, &arguments, sum)?;
        Ok(folds[0] as usize)
    }

    /// The marched layers, the distinct points of each line; none if the march failed.
    pub(super) fn fronts(
        &self,
        outline: &Outline,
        settings: &InitialSettings,
        dissipation: f64,
    ) -> Result<Option<Buffer<f64>>> {
        let (n, nj) = (outline.columns(), outline.layers.len());
        let scheme = Scheme::of(outline.topology);
        let extra = outline.extra_heights();
        let tallest = extra.iter().copied().fold(0.0, f64::max);
        let zeros = |values: usize| Buffer::<f64>::zeros(&self.device, values);
        let fronts = zeros(2 * n * nj)?;
        let first: Vec<f64> = first_layers(outline).iter().flatten().flatten().copied().collect();
        fronts.upload_part(&first)?;
        let layers = Buffer::from_host(&self.device, outline.layers)?;
        let splay = Buffer::from_host(&self.device, &outline.splay())?;
        let extra = Buffer::from_host(&self.device, &extra)?;
        let shape = cyclic_shape(n);
        let width_workspace = CyclicWorkspace::new::<f64, f64>(self, n, shape)?;
        let move_workspace = CyclicWorkspace::new::<Matrix, Vector>(self, n, shape)?;
        let step = zeros(size_of::<MarchStep>() / size_of::<f64>())?;
        let (smoothed, shortest) = (zeros(n)?, zeros(MOST_BLOCKS)?);
        let progress = Buffer::<MarchProgress>::zeros(&self.device, 1)?;
        let (points, lines, open) = (n as u32, nj as u32, u32::from(!scheme.closed));
        let input = MarchInput {
            layers: (&layers).into(),
            splay: (&splay).into(),
            tallest,
            implicit: scheme.implicit,
            step_limit: scheme.step_limit,
            dissipation,
            volume_smoothing: settings.volume_smoothing,
            spread: settings.spread,
        };
        let (widths, moves) = (width_workspace.buffers, move_workspace.buffers);
        let widths_of =
            arguments![points, lines, open, input, &fronts, &shortest, &progress, &step, widths];
        let volumes = arguments![points, open, &extra, &fronts, &step, &smoothed, widths, moves];
        let front = arguments![points, open, &fronts, &step, moves, &shortest, &progress];
        let launches =
            [("march_widths", widths_of), ("march_volumes", volumes), ("march_front", front)];
        let begin = arguments![points, open, &fronts, &shortest, &progress];
        self.launch::<f64>(Source::March, "march_begin", shape, &begin)?;
        let mut substeps = CudaRecording::default();
        let mut layer = 1;
        while layer + 1 < nj {
            // Every layer takes a substep, and those beyond the last do nothing.
            for _ in 0..(nj - 1 - layer).div_ceil(SUBSTEPS) {
                self.replay(&mut substeps, || {
                    for (name, arguments) in launches.iter().cycle().take(3 * SUBSTEPS) {
                        self.launch::<f64>(Source::March, name, shape, arguments)?;
                    }
                    Ok(())
                })?;
            }
            let reached = progress.get(0)?;
            if reached.bad != 0 {
                return Ok(None);
            }
            layer = reached.layer as usize;
        }
        Ok(Some(fronts))
    }

    /// The layers of an O-grid as a grid whose outer line lies on the circle.
    pub(super) fn placed(&self, outline: &Outline, fronts: &Buffer<f64>) -> Result<CudaGrid> {
        let (ni, nj) = (outline.x.len(), outline.layers.len());
        let zeros = || Buffer::zeros(&self.device, ni * nj);
        let (x, y) = (zeros()?, zeros()?);
        let (size, [centre_x, centre_y]) =
            (arguments![(ni - 1) as u32, nj as u32], FAR_FIELD_CENTRE);
        let arguments = arguments![size, fronts, outline.far_field, centre_x, centre_y, &x, &y];
        self.launch::<f64>(Source::Initial, "place_layers", line_shape(ni - 1), &arguments)?;
        Ok(CudaGrid { topology: outline.topology, ni, nj, x, y })
    }
}

/// Most blocks. Every block reads what all blocks leave, a thread each: threads and blocks are powers of two.
const MOST_BLOCKS: usize = CYCLIC_THREADS;

/// The launch for a cyclic system of `n` points: a thread for each chunk, chunks a power of two.
fn cyclic_shape(n: usize) -> LaunchShape {
    let chunks = (1 << n.ilog2()).min(MOST_BLOCKS * CYCLIC_THREADS);
    let threads = chunks.min(CYCLIC_THREADS);
    let row = size_of::<ReducedRow<Matrix, Vector>>();
    let shared = (threads * row) as u32;
    LaunchShape { shared, ..LaunchShape::new(chunks / threads, threads as u32) }
}

/// Matrix and vector of a system of two unknowns per point.
type Matrix = [f64; 4];
type Vector = [f64; 2];

/// Intermediate results between the two launches that solve a cyclic system.
struct CyclicWorkspace {
    buffers: CyclicBuffers,
    _memory: [Buffer<f64>; 3],
}

impl CyclicWorkspace {
    /// Memory for a cyclic system of `n` points whose unknowns are V, solved in launches of a shape.
    fn new<M, V>(backend: &CudaBackend, n: usize, shape: LaunchShape) -> Result<Self> {
        let zeros = |bytes: usize| Buffer::zeros(&backend.device, bytes / size_of::<f64>());
        let (blocks, threads) = (shape.grid[0] as usize, shape.block[0] as usize);
        let points = zeros(size_of::<Eliminated<M, V>>() * n)?;
        let chunks = zeros(size_of::<ReducedRow<M, V>>() * blocks * threads)?;
        let block_rows = zeros(size_of::<BlockRow<M, V>>() * blocks)?;
        let buffers = CyclicBuffers {
            points: (&points).into(),
            chunks: (&chunks).into(),
            block_rows: (&block_rows).into(),
        };
        Ok(Self { buffers, _memory: [points, chunks, block_rows] })
    }
}
