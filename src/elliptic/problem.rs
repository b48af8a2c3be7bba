//! The grid equations of one grid as a nonlinear problem.

use super::GridJacobian;
use crate::backend::{
    Backend, CellGuard, DeviceError, EllipticBackend, EllipticData, LevelSize, Real, Scaling,
};
use crate::grid::{Grid, Topology};
use crate::pde::EllipticSettings;
use crate::pde::control::Wall;
use crate::solver::NonlinearProblem;

/// The grid equations with their unknowns: the points off the boundaries (and off a held seam),
/// with the first row's points replaced by the amplitudes (p_i, q_i) of the wall terms where
/// height and angle of the first cell are controlled.
pub struct GridProblem<B: EllipticBackend, T: Real> {
    size: LevelSize,
    state: B::Elliptic,
    jacobian: GridJacobian<B, T>,
}

impl<B: EllipticBackend, T: Real> GridProblem<B, T> {
    /// The problem for an initial grid where the backend keeps it, `ni` × `nj` nodes, and its first
    /// guess: the nodes, wall terms zero. `normals` are the wall normals of all `ni` points of the
    /// line j = 0.
    ///
    /// # Errors
    /// If the device has no room.
    pub fn on_device(
        backend: &B,
        grid: B::Grid,
        (topology, ni, nj): (Topology, usize, usize),
        normals: &[[f64; 2]],
        settings: &EllipticSettings,
    ) -> Result<Guessed<B, T>, DeviceError> {
        let equations = backend.equations(&grid, normals, settings)?;
        // The Jacobian takes its place in memory.
        drop(grid);
        let size = LevelSize::of_grid(topology, ni, nj);
        Self::guessed(backend, equations, size, settings.control.wall == Wall::Coupled)
    }

    /// The same for a grid on the host.
    ///
    /// # Errors
    /// If the device has no room.
    pub fn new(
        backend: &B,
        initial: &Grid,
        normals: &[[f64; 2]],
        settings: &EllipticSettings,
    ) -> Result<Guessed<B, T>, DeviceError> {
        let shape = (initial.topology, initial.ni, initial.nj);
        Self::on_device(backend, backend.take(initial.clone())?, shape, normals, settings)
    }

    /// The problem for fixed data, and its first guess.
    ///
    /// # Errors
    /// If the device has no room.
    pub fn from_data(backend: &B, data: &EllipticData) -> Result<Guessed<B, T>, DeviceError> {
        let size = LevelSize { mi: data.mi, mj: data.mj, periodic: data.periodic };
        Self::guessed(backend, backend.elliptic(data)?, size, data.wall.is_some())
    }

    fn guessed(
        backend: &B,
        (state, guess): (B::Elliptic, B::Vector<f64>),
        size: LevelSize,
        coupled: bool,
    ) -> Result<Guessed<B, T>, DeviceError> {
        let jacobian = GridJacobian::new(backend, size, coupled)?;
        Ok((Self { size, state, jacobian }, guess))
    }

    /// Number of unknown points.
    #[must_use]
    pub fn size(&self) -> LevelSize {
        self.size
    }

    /// The nodes of the state u where the backend keeps grids; the memory of the problem is given back.
    /// Not for one of several ranks.
    ///
    /// # Errors
    /// If the device fails.
    pub fn nodes(
        mut self,
        backend: &B,
        u: &B::Vector<f64>,
        topology: Topology,
    ) -> Result<B::Grid, DeviceError> {
        self.load(backend, u)?;
        drop(self.jacobian);
        backend.nodes(self.state, topology)
    }

    /// Writes the state u into the nodes of `grid`.
    ///
    /// # Errors
    /// If the device fails.
    pub fn store(
        &mut self,
        backend: &B,
        u: &B::Vector<f64>,
        grid: &mut Grid,
    ) -> Result<(), DeviceError> {
        self.load(backend, u)?;
        self.write(backend, grid)
    }

    /// Takes over the state u.
    ///
    /// # Errors
    /// If the device fails.
    pub fn load(&mut self, backend: &B, u: &B::Vector<f64>) -> Result<(), DeviceError> {
        backend.load_state(&mut self.state, u)
    }

    /// Writes the present state into the nodes of `grid`, those of its own columns if the backend
    /// is one of several ranks. No rank waits for another meanwhile.
    ///
    /// # Errors
    /// If the device fails.
    pub fn write(&self, backend: &B, grid: &mut Grid) -> Result<(), DeviceError> {
        backend.store_grid(&self.state, grid)
    }
}

/// A problem and its first guess.
pub type Guessed<B, T> = (GridProblem<B, T>, <B as Backend>::Vector<f64>);

impl<B: EllipticBackend, T: Real> NonlinearProblem<B> for GridProblem<B, T> {
    type Real = T;
    type Jacobian = GridJacobian<B, T>;

    fn unknowns(&self) -> usize {
        2 * self.size.mi * self.size.mj
    }

    fn residual(
        &mut self,
        backend: &B,
        u: &B::Vector<f64>,
        scaling: Scaling,
        f: &mut B::Vector<f64>,
    ) -> Result<f64, DeviceError> {
        backend.load_state(&mut self.state, u)?;
        backend.residual(&mut self.state, scaling, f)
    }

    fn linearise(&mut self, backend: &B) -> Result<&Self::Jacobian, DeviceError> {
        self.jacobian.assemble(backend, &self.state)?;
        Ok(&self.jacobian)
    }

    fn guard(&mut self, backend: &B) -> Result<CellGuard, DeviceError> {
        backend.cell_guard(&self.state)
    }
}
