//! Control functions and wall terms of the grid equations, from an initial grid on the GPU:
//! `kernels/control.cu`.

use super::elliptic::{CudaElliptic, FixedTerms};
use super::march::line_shape;
use super::nodes::{Columns, CudaGrid, unknown_columns};
use crate::backend::LevelSize;
use crate::backend::cuda::algebra::CudaVector;
use crate::backend::cuda::backend::CudaBackend;
use crate::backend::cuda::device::Buffer;
use crate::backend::cuda::launch::shared::Pointer;
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
