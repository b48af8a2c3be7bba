//! Control functions and wall terms of the grid equations, from an initial grid on the GPU.

use super::elliptic::{CudaElliptic, Wall};
use super::march::{CudaGrid, line_shape};
use crate::backend::LevelSize;
use crate::backend::cuda::algebra::CudaVector;
use crate::backend::cuda::backend::CudaBackend;
use crate::backend::cuda::device::Buffer;
use crate::backend::cuda::launch::{Argument, LaunchShape, Result, Source, arguments};
use crate::grid::{Seam, Topology};
use crate::pde::EllipticSettings;
use crate::pde::control::{
    Base, CURVATURE_LIMIT, CURVATURE_PASSES, PSI_REACH, Wall as WallControl, decay_lengths,
};

impl CudaBackend {
    /// The grid equations of an initial grid, made where it is.
    pub(crate) fn ring_equations(
        &self,
        grid: &CudaGrid,
        normals: &[[f64; 2]],
        settings: &EllipticSettings,
    ) -> Result<CudaElliptic> {
        let size = LevelSize::of_grid(grid.topology, grid.ni, grid.nj);
        let held = grid.topology == Topology::O(Seam::Held);
        let nodes_of = OpenNodes { backend: self, grid, size, n: grid.ni - 1, held: held.into() };
        let arc = nodes_of.zeros(grid.ni * grid.nj)?;
        let arguments = arguments![nodes_of.n as u32, grid.nj as u32, &grid.x, &grid.y, &arc];
        self.launch::<f64>(Source::Control, "arc_lengths", line_shape(grid.ni), &arguments)?;
        let [p, q] = nodes_of.control_functions(&arc, settings)?;
        let (control_p, control_q) = (nodes_of.inner(&p)?, nodes_of.inner(&q)?);
        drop((p, q));
        let (wall, offsets) = match settings.control.wall {
            WallControl::Frozen => (None, [None, None]),
            WallControl::Coupled => {
                let offset = |component: usize| -> Result<_> {
                    let offsets = normals.iter().map(|n| settings.first_cell * n[component]);
                    Ok(Some(Buffer::from_host(&self.device, &offsets.collect::<Vec<_>>())?))
                };
                (Some(nodes_of.wall_terms(&arc, settings)?), [offset(0)?, offset(1)?])
            }
        };
        drop(arc);
        Ok(CudaElliptic {
            mi: size.mi,
            mj: size.mj,
            periodic: size.periodic,
            x: nodes_of.frame(&grid.x, offsets[0].as_ref())?,
            y: nodes_of.frame(&grid.y, offsets[1].as_ref())?,
            control_p,
            control_q,
            wall,
            row_weights: nodes_of.zeros(size.mi * size.mj)?,
            merit_weights: nodes_of.zeros(size.mi * size.mj)?,
            // A whole grid has no neighbouring bands.
            halo: None,
        })
    }

    /// The unknown nodes of the frame, wall terms zero.
    pub(crate) fn first_guess(&self, state: &CudaElliptic) -> Result<CudaVector<f64>> {
        let u = Buffer::zeros(&self.device, 2 * state.points())?;
        let fixed = u32::from(state.wall.is_some());
        let arguments = arguments![state.size(), fixed, &state.x, &state.y, &u];
        let shape = LaunchShape::threads(state.points());
        self.launch::<f64>(Source::Control, "first_guess", shape, &arguments)?;
        Ok(u)
    }
}

/// The nodes of an O-grid without the repeated column.
struct OpenNodes<'a> {
    backend: &'a CudaBackend,
    grid: &'a CudaGrid,
    size: LevelSize,
    /// In a row.
    n: usize,
    /// 1 with a held seam: the column of the first unknown point.
    held: u32,
}

impl OpenNodes<'_> {
    fn zeros(&self, values: usize) -> Result<Buffer<f64>> {
        Buffer::zeros(&self.backend.device, values)
    }

    /// Launches a kernel with a thread for each node, whose first arguments are the size of the O-grid.
    fn launch(&self, name: &'static str, arguments: Vec<Argument>) -> Result<()> {
        let all = arguments![self.n as u32, self.grid.nj as u32, arguments];
        let shape = LaunchShape::threads(self.n * self.grid.nj);
        self.backend.launch::<f64>(Source::Control, name, shape, &all)
    }

    /// P0 and Q0 at the nodes, with the distances `arc` from the wall.
    fn control_functions(
        &self,
        arc: &Buffer<f64>,
        settings: &EllipticSettings,
    ) -> Result<[Buffer<f64>; 2]> {
        let (x, y) = (&self.grid.x, &self.grid.y);
        let nodes = self.n * self.grid.nj;
        let (mut p, mut q) = (self.zeros(nodes)?, self.zeros(nodes)?);
        let control = &settings.control;
        match control.base {
            Base::Laplace => {}
            Base::ThomasMiddlecoff => {
                self.launch("curvature_control", arguments![x, y, &q])?;
                self.repeat(CURVATURE_PASSES, &mut q, |from, to| {
                    self.launch("smooth_along_xi", arguments![from, to])
                })?;
                let limit = CURVATURE_LIMIT;
                self.launch("boundary_control", arguments![limit, x, y, &p, &q])?;
            }
            Base::Marched => {
                let arguments = arguments![self.held, control.clip, x, y, &p, &q];
                self.launch("marched_control", arguments)?;
                for f in [&mut p, &mut q] {
                    self.repeat(control.smoothing, f, |from, to| {
                        let distance = control.smoothing_distance;
                        self.launch("smooth_control", arguments![distance, arc, from, to])
                    })?;
                }
            }
        }
        Ok([p, q])
    }

    /// f ← f after `passes` of `pass` from one place to another.
    fn repeat(
        &self,
        passes: usize,
        f: &mut Buffer<f64>,
        pass: impl Fn(&Buffer<f64>, &Buffer<f64>) -> Result<()>,
    ) -> Result<()> {
        if passes == 0 {
            return Ok(());
        }
        let mut other = self.zeros(f.len())?;
        for _ in 0..passes {
            pass(f, &other)?;
            std::mem::swap(f, &mut other);
        }
        Ok(())
    }

    /// Launches a kernel with a thread for each unknown point, whose first arguments are the sizes.
    fn launch_inner(&self, name: &'static str, arguments: Vec<Argument>) -> Result<()> {
        let LevelSize { mi, mj, .. } = self.size;
        let all = arguments![self.n as u32, mi as u32, mj as u32, self.held, arguments];
        self.backend.launch::<f64>(Source::Control, name, LaunchShape::threads(mi * mj), &all)
    }

    /// The values of f at the unknown points.
    fn inner(&self, f: &Buffer<f64>) -> Result<Buffer<f64>> {
        let inner = self.zeros(self.size.mi * self.size.mj)?;
        self.launch_inner("inner_points", arguments![f, &inner])?;
        Ok(inner)
    }

    fn wall_terms(&self, arc: &Buffer<f64>, settings: &EllipticSettings) -> Result<Wall> {
        let LevelSize { mi, mj, .. } = self.size;
        let (mut x, mut y) = (vec![0.0; self.grid.ni], vec![0.0; self.grid.ni]);
        self.grid.x.download(&mut x)?;
        self.grid.y.download(&mut y)?;
        let heights = vec![settings.first_cell; self.grid.ni];
        let lengths = decay_lengths(self.grid.topology, (&x, &y), &heights, settings.control.decay);
        let lengths = Buffer::from_host(&self.backend.device, &lengths)?;
        let (phi, psi) = (self.zeros(mi * mj)?, self.zeros(mi * mj)?);
        self.launch_inner("decay", arguments![PSI_REACH, arc, &lengths, &phi, &psi])?;
        Ok(Wall { phi, psi, amplitudes: self.zeros(2 * mi)? })
    }

    /// One coordinate of the nodes as a frame, the row next to the wall at `offsets` from it.
    fn frame(&self, nodes: &Buffer<f64>, offsets: Option<&Buffer<f64>>) -> Result<Buffer<f64>> {
        let stride = self.size.mi + 2;
        let frame = self.zeros(stride * self.grid.nj)?;
        // A periodic frame has a column before the O-grid's first and one after its last; the ends of
        // a held one are the seam and stay as they are.
        let (before, ends) = (1 - self.held, self.held);
        let size = arguments![self.n as u32, self.grid.nj as u32, stride as u32];
        let arguments = arguments![size, before, ends, nodes, offsets, &frame];
        let shape = LaunchShape::threads(stride * self.grid.nj);
        self.backend.launch::<f64>(Source::Control, "frame_nodes", shape, &arguments)?;
        Ok(frame)
    }
}
