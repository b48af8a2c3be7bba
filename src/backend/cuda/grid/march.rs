//! The hyperbolic march on a GPU, and the grid that it leaves there.

use super::cyclic::{CyclicWorkspace, MOST_BLOCKS, cyclic_shape};
use crate::backend::cuda::algebra::sum;
use crate::backend::cuda::backend::CudaBackend;
use crate::backend::cuda::device::Buffer;
use crate::backend::cuda::launch::shared::{MarchInput, MarchProgress, MarchStep};
use crate::backend::cuda::launch::{LaunchShape, Source, arguments};
use crate::backend::cuda::recording::CudaRecording;
use crate::backend::{Backend, DeviceError, GridBackend};
use crate::grid::initial::hyperbolic::{Scheme, first_layers};
use crate::grid::initial::{Fronts, InitialSettings, Outline};
use crate::grid::{FAR_FIELD_CENTRE, Grid, Topology};

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

/// A launch with a thread for each of `n` lines.
pub(crate) fn line_shape(n: usize) -> LaunchShape {
    let blocks = n.div_ceil(LINE_THREADS as usize).max(1) as u32;
    LaunchShape { grid: [blocks, 1, 1], block: [LINE_THREADS, 1, 1], shared: 0 }
}

impl CudaGrid {
    /// The grid on the host.
    pub(crate) fn to_host(&self) -> Result<Grid, DeviceError> {
        let mut host = Grid::new(self.topology, self.ni, self.nj);
        self.x.download(&mut host.x)?;
        self.y.download(&mut host.y)?;
        Ok(host)
    }
}

/// Marched layers on the host.
fn layers(outline: &Outline, fronts: &Buffer<f64>) -> Result<Fronts, DeviceError> {
    let n = outline.columns();
    let mut points = vec![[0.0; 2]; n * outline.layers.len()];
    fronts.download(bytemuck::cast_slice_mut(&mut points))?;
    Ok(Fronts { layers: points.chunks(n).map(<[_]>::to_vec).collect() })
}

impl CudaBackend {
    /// The hyperbolic march; none if it failed.
    pub(super) fn marched(
        &self,
        outline: &Outline,
        settings: &InitialSettings,
        dissipation: f64,
    ) -> Result<Option<CudaGrid>, DeviceError> {
        match self.fronts(outline, settings, dissipation)? {
            Some(fronts) if outline.topology.closed() => Ok(Some(self.placed(outline, &fronts)?)),
            // The outer line of a C-grid is put in place on the host.
            Some(fronts) => Ok(Some(self.take(layers(outline, &fronts)?.grid(outline))?)),
            None => Ok(None),
        }
    }

    /// Cells of a grid with a corner determinant that is not positive.
    ///
    /// # Errors
    /// If the device fails.
    pub fn folds(&self, grid: &CudaGrid) -> Result<usize, DeviceError> {
        let arguments = arguments![grid.ni as u32, grid.nj as u32, &grid.x, &grid.y];
        let cells = (grid.ni - 1) * (grid.nj - 1);
        let [folds] =
            self.reduce::<f64, 1>(Source::Initial, "count_folds", cells, &arguments, sum)?;
        Ok(folds as usize)
    }

    /// The marched layers, the distinct points of each line; none if the march failed.
    fn fronts(
        &self,
        outline: &Outline,
        settings: &InitialSettings,
        dissipation: f64,
    ) -> Result<Option<Buffer<f64>>, DeviceError> {
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
        let width_workspace = CyclicWorkspace::scalar(self, n, shape)?;
        let move_workspace = CyclicWorkspace::pair(self, n, shape)?;
        let step = zeros(size_of::<MarchStep>() / size_of::<f64>())?;
        let (smoothed, shortest) = (zeros(n)?, zeros(MOST_BLOCKS)?);
        let progress = Buffer::<MarchProgress>::zeros(&self.device, 1)?;
        let (points, lines, open) = (n as u32, nj as u32, u32::from(!scheme.closed));
        let begin = arguments![points, open, &fronts, &shortest, &progress];
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
        let (widths, moves) = (width_workspace.shared(), move_workspace.shared());
        let launches = [
            (
                "march_widths",
                arguments![
                    points, lines, open, input, &fronts, &shortest, &progress, &step, widths
                ],
            ),
            (
                "march_volumes",
                arguments![points, open, &extra, &fronts, &step, &smoothed, widths, moves],
            ),
            ("march_front", arguments![points, open, &fronts, &step, moves, &shortest, &progress]),
        ];
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
            let mut reached: [MarchProgress; 1] = bytemuck::Zeroable::zeroed();
            progress.download(&mut reached)?;
            let [MarchProgress { layer: reached, bad, .. }] = reached;
            if bad != 0 {
                return Ok(None);
            }
            layer = reached as usize;
        }
        Ok(Some(fronts))
    }

    /// The layers of an O-grid as a grid whose outer line lies on the circle.
    fn placed(&self, outline: &Outline, fronts: &Buffer<f64>) -> Result<CudaGrid, DeviceError> {
        let (ni, nj) = (outline.x.len(), outline.layers.len());
        let grid = CudaGrid {
            topology: outline.topology,
            ni,
            nj,
            x: Buffer::zeros(&self.device, ni * nj)?,
            y: Buffer::zeros(&self.device, ni * nj)?,
        };
        let [centre_x, centre_y] = FAR_FIELD_CENTRE;
        let arguments = arguments![
            (ni - 1) as u32,
            nj as u32,
            fronts,
            outline.far_field,
            centre_x,
            centre_y,
            &grid.x,
            &grid.y,
        ];
        self.launch::<f64>(Source::Initial, "place_layers", line_shape(ni - 1), &arguments)?;
        Ok(grid)
    }
}
