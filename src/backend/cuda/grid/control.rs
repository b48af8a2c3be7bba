//! Control functions and wall terms of the grid equations, from an initial grid on the GPU:
//! `kernels/control.cu`.

use super::elliptic::CudaElliptic;
use super::march::line_shape;
use super::nodes::{Columns, CudaGrid};
use crate::backend::LevelSize;
use crate::backend::cuda::algebra::CudaVector;
use crate::backend::cuda::backend::CudaBackend;
use crate::backend::cuda::device::Buffer;
use crate::backend::cuda::launch::{Arguments, KernelName, LaunchShape, Result, kernels, launch};
use crate::pde::EllipticSettings;
use crate::pde::control::{
    Base, CURVATURE_LIMIT, CURVATURE_PASSES, FAR_DISTANCE, PSI_REACH, Wall as WallControl,
    decay_lengths, smoothing_widths,
};
use std::ops::Range;
use std::sync::Arc;

impl CudaBackend {
    /// The grid equations of this device's part of an initial grid, made where it is.
    pub(super) fn grid_equations(
        &self,
        grid: &CudaGrid,
        normals: &[[f64; 2]],
        settings: &EllipticSettings,
    ) -> Result<CudaElliptic> {
        let part = GridPart::new(self, grid);
        let (Columns { topology, .. }, size) = (&grid.columns, part.size);
        let topology = *topology;
        let arc = part.zeros(grid.x.len())?;
        let (lines, columns) = (line_shape(grid.columns.count), grid.columns.held());
        launch!(self => arc_lengths[f64, lines](columns, grid.nj as u32, &grid.x, &grid.y, &arc))?;
        let [p, q] = part.control_functions(&arc, settings)?;
        let (control_p, control_q) = (Arc::new(part.inner(&p)?), Arc::new(part.inner(&q)?));
        drop((p, q));
        let line = (&grid.line.x[..], &grid.line.y[..]);
        let (wall, offsets) = match settings.control.wall {
            WallControl::Frozen => (None, [None, None]),
            WallControl::Coupled => {
                let heights = settings.heights(topology, line.0, line.1);
                let lengths = decay_lengths(topology, line, &heights, settings.control.decay);
                let offset = |k: usize| part.frame_offsets(|i| heights[i] * normals[i][k]);
                let terms = part.wall_terms(&arc, &lengths)?.map(Arc::new);
                (Some(terms), [Some(offset(0)?), Some(offset(1)?)])
            }
        };
        drop(arc);
        let [x, y] = [(&grid.x, &offsets[0]), (&grid.y, &offsets[1])]
            .map(|(nodes, offsets)| part.frame(nodes, offsets.as_ref()));
        let place = (size, part.frame_columns(), grid.line.clone());
        self.state(place, [x?, y?], [control_p, control_q], [wall, None, None, None])
    }

    /// The unknown nodes of the frame, wall terms zero.
    pub(super) fn first_guess(&self, state: &CudaElliptic) -> Result<CudaVector<f64>> {
        let u = Buffer::zeros(&self.device, 2 * state.points())?;
        launch!(self => first_guess[f64, LaunchShape::threads(state.points())](state.extents(),
            state.shared(), &u))?;
        Ok(u)
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
        let unknown = backend.unknown_columns(topology, ni);
        let whole = LevelSize::of_grid(topology, ni, grid.nj);
        // The columns beside those of a band are not its own.
        let periodic = whole.periodic && backend.ranks.is_none();
        let size = LevelSize { mi: unknown.len(), periodic, ..whole };
        Self { backend, grid, size, unknown }
    }

    fn zeros(&self, values: usize) -> Result<Buffer<f64>> {
        Buffer::zeros(&self.backend.device, values)
    }

    fn upload(&self, values: impl Iterator<Item = f64>) -> Result<Buffer<f64>> {
        Buffer::from_host(&self.backend.device, &values.collect::<Vec<_>>())
    }

    /// Launches a kernel with a thread for each node, whose first arguments are columns and lines.
    fn launch(&self, kernel: KernelName, arguments: impl Arguments) -> Result<()> {
        launch!(self.backend => (kernel)[f64, LaunchShape::threads(self.grid.x.len())](
            self.grid.columns.held(), self.grid.nj as u32, arguments))
    }

    /// P0 and Q0 at the nodes, with the distances `arc` from the wall. The values of a rank are right at
    /// its unknown points and wrong near the ends of the columns that it holds.
    fn control_functions(
        &self,
        arc: &Buffer<f64>,
        settings: &EllipticSettings,
    ) -> Result<[Buffer<f64>; 2]> {
        let CudaGrid { columns, line, x, y, .. } = self.grid;
        let (mut p, mut q) = (self.zeros(x.len())?, self.zeros(x.len())?);
        let control = &settings.control;
        match control.base.unwrap_or_default() {
            Base::Laplace => {}
            Base::ThomasMiddlecoff => {
                self.launch(kernels::curvature_control, (x, y, &q))?;
                self.repeat(0..CURVATURE_PASSES, &mut q, |_, from, to| {
                    self.launch(kernels::smooth_along_xi, (from, to))
                })?;
                let limit = CURVATURE_LIMIT;
                self.launch(kernels::boundary_control, (limit, x, y, &p, &q))?;
            }
            Base::Marched => {
                self.launch(kernels::marched_control, (control.clip, x, y, &p, &q))?;
                let widths = smoothing_widths(line, control);
                let widths = self.upload(columns.distinct().flat_map(|i| widths[i]))?;
                let variances = self.zeros(x.len())?;
                let distances = (control.smoothing_distance, FAR_DISTANCE);
                self.launch(kernels::smoothing_variances, (distances, &widths, arc, &variances))?;
                for f in [&mut p, &mut q] {
                    self.repeat(control.strides(columns.around()), f, |stride, from, to| {
                        let stride = stride as u32;
                        self.launch(kernels::smooth_control, (&variances, stride, from, to))
                    })?;
                }
            }
        }
        Ok([p, q])
    }

    /// f ← f after a `pass` for each of `passes` from one place to another.
    fn repeat(
        &self,
        passes: impl Iterator<Item = usize>,
        f: &mut Buffer<f64>,
        pass: impl Fn(usize, &Buffer<f64>, &Buffer<f64>) -> Result<()>,
    ) -> Result<()> {
        let mut other = self.zeros(f.len())?;
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

    /// The values of f at the unknown points.
    fn inner(&self, f: &Buffer<f64>) -> Result<Buffer<f64>> {
        let columns = (self.first() as usize, self.size.mi);
        self.backend.cut(f, self.grid.columns.count, columns, 1..self.size.mj + 1)
    }

    /// The decay φ, ψ of the wall terms with the decay lengths of all distinct columns.
    fn wall_terms(&self, arc: &Buffer<f64>, lengths: &[f64]) -> Result<[Buffer<f64>; 2]> {
        let LevelSize { mi, mj, .. } = self.size;
        let own = self.upload(self.unknown.clone().map(|i| lengths[i]))?;
        let (phi, psi) = (self.zeros(mi * mj)?, self.zeros(mi * mj)?);
        let (count, shape) = (self.grid.columns.count as u32, LaunchShape::threads(mi * mj));
        launch!(self.backend => decay[f64, shape](count, self.first(), mi as u32, mj as u32, PSI_REACH,
            arc, &own, &phi, &psi))?;
        Ok([phi, psi])
    }

    /// The columns of the frame: those of the unknown points and one on either side.
    pub(super) fn frame_columns(&self) -> Columns {
        let (first, count) = (self.unknown.start.cast_signed() - 1, self.size.mi + 2);
        Columns { first, count, ..self.grid.columns.clone() }
    }

    /// Offsets of the points next to the wall in a coordinate, for the columns of the frame.
    fn frame_offsets(&self, offset: impl Fn(usize) -> f64) -> Result<Buffer<f64>> {
        self.upload(self.frame_columns().distinct().map(offset))
    }

    /// One coordinate of the nodes as a frame, the row next to the wall at `offsets` from it.
    pub(super) fn frame(
        &self,
        nodes: &Buffer<f64>,
        offsets: Option<&Buffer<f64>>,
    ) -> Result<Buffer<f64>> {
        let (columns, mi, nj) = (&self.grid.columns, self.size.mi, self.grid.nj);
        let frame = self.zeros((mi + 2) * nj)?;
        let size = (columns.held(), self.first(), mi as u32, nj as u32);
        launch!(self.backend => frame_nodes[f64, LaunchShape::threads(frame.len())](size, nodes,
            offsets, &frame))?;
        Ok(frame)
    }
}
