//! The grid equations of one grid as a nonlinear problem: unknowns, Jacobian and preconditioner.

mod preconditioner;
mod transposed;

pub use crate::pde::EllipticSettings;
pub use preconditioner::GridPreconditioner;
pub use transposed::{TransposedJacobian, TransposedPreconditioner};

use crate::backend::{
    Backend, CellGuard, EllipticBackend, EllipticData, LevelSize, MovementBackend,
    MultigridBackend, Product, Real, Result, Scaling,
};
use crate::grid::{Grid, Topology};
use crate::pde::control::Wall;
use crate::solver::linear::{LinearSettings, LinearSolver};
use crate::solver::precond::{Kind, MultigridSettings};
use crate::solver::{LinearOperator, NonlinearProblem};
use crate::sparse::{Csr, EllPattern, Schedule};

/// The grid equations with their unknowns: the points off the boundaries (and off a held seam),
/// with the first row's points replaced by the amplitudes (p_i, q_i) of the wall terms where
/// height and angle of the first cell are controlled.
pub struct GridProblem<B: EllipticBackend, T: Real> {
    size: LevelSize,
    state: B::Elliptic,
    jacobian: GridJacobian<B, T>,
}

impl<B: EllipticBackend, T: Real> GridProblem<B, T> {
    /// The problem for an initial grid where the backend keeps it, and its first guess: the nodes, wall
    /// terms zero. `normals` are the wall normals of all points of the line j = 0.
    ///
    /// # Errors
    /// If the memory of the device does not suffice.
    pub(crate) fn on_device(
        backend: &B,
        grid: B::Grid,
        normals: &[[f64; 2]],
        settings: &EllipticSettings,
    ) -> Result<Guessed<B, T>> {
        let equations = backend.equations(&grid, normals, settings)?;
        // The Jacobian takes its place in memory.
        drop(grid);
        Self::guessed(backend, equations, settings.control.wall == Wall::Coupled)
    }

    /// The same for a grid on the host.
    ///
    /// # Errors
    /// If the memory of the device does not suffice.
    pub fn new(
        backend: &B,
        initial: &Grid,
        normals: &[[f64; 2]],
        settings: &EllipticSettings,
    ) -> Result<Guessed<B, T>> {
        Self::on_device(backend, backend.take(initial.clone())?, normals, settings)
    }

    /// The problem for fixed data of a whole grid, and its first guess.
    ///
    /// # Errors
    /// If the memory of the device does not suffice.
    pub fn from_data(backend: &B, data: &EllipticData) -> Result<Guessed<B, T>> {
        let coupled = data.wall.is_some();
        Self::guessed(backend, backend.elliptic(data)?, coupled)
    }

    /// The problem of others at these nodes, and its first guess: the nodes, wall terms zero.
    ///
    /// # Errors
    /// If the memory of the device does not suffice.
    pub(crate) fn at(
        backend: &B,
        equations: &B::Elliptic,
        nodes: &B::Grid,
        coupled: bool,
    ) -> Result<Guessed<B, T>>
    where
        B: MovementBackend,
    {
        Self::guessed(backend, backend.with_nodes(equations, nodes)?, coupled)
    }

    fn guessed(
        backend: &B,
        (state, guess): (B::Elliptic, B::Vector<f64>),
        coupled: bool,
    ) -> Result<Guessed<B, T>> {
        let size = backend.size(&state);
        let jacobian = GridJacobian::new(backend, size, coupled)?;
        Ok((Self { size, state, jacobian }, guess))
    }

    /// Number of unknown points: those of its own band if the backend is one of several ranks.
    pub fn size(&self) -> LevelSize {
        self.size
    }

    /// The equations at the present state.
    pub(crate) fn state(&self) -> &B::Elliptic {
        &self.state
    }

    /// The Jacobian of the last linearisation.
    pub fn jacobian(&self) -> &GridJacobian<B, T> {
        &self.jacobian
    }

    /// A linear solver for the Jacobian, preconditioned by this kind.
    pub fn linear_solver(
        &self,
        krylov: LinearSettings,
        kind: (Kind, Schedule),
        multigrid: MultigridSettings,
    ) -> LinearSolver<B, T, GridJacobian<B, T>>
    where
        B: MultigridBackend,
    {
        let preconditioner = GridPreconditioner::scheduled(kind, multigrid, self.size);
        LinearSolver::new(krylov, self.unknowns(), preconditioner)
    }

    /// The nodes of the state u where the backend keeps grids; the memory of the problem is given back.
    pub fn nodes(mut self, backend: &B, u: &B::Vector<f64>, topology: Topology) -> Result<B::Grid> {
        backend.load_state(&mut self.state, u)?;
        drop(self.jacobian);
        backend.nodes(self.state, topology)
    }

    /// Writes the state u into the nodes of `grid`, those of its own columns if the backend is one of
    /// several ranks.
    pub fn store(self, backend: &B, u: &B::Vector<f64>, grid: &mut Grid) -> Result<()> {
        let nodes = self.nodes(backend, u, grid.topology)?;
        backend.fetch(&nodes, grid)
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
    ) -> Result<f64> {
        backend.load_state(&mut self.state, u)?;
        backend.residual(&mut self.state, scaling, f)
    }

    fn linearise(&mut self, backend: &B) -> Result<&Self::Jacobian> {
        let GridJacobian { field, wall, .. } = &mut self.jacobian;
        backend.jacobian(&self.state, field, wall.as_mut())?;
        Ok(&self.jacobian)
    }

    fn guard(&mut self, backend: &B) -> Result<CellGuard> {
        backend.cell_guard(&self.state)
    }
}

/// K = J (I − E Eᵀ) + B Eᵀ: the field Jacobian J = ∂R/∂r, whose columns of the first row of
/// points E are replaced by the wall columns B = ∂R/∂(p, q) where the wall terms are unknowns
/// (theory eq. 6). Both are ELL matrices: 13 and 2 slots a row.
pub struct GridJacobian<B: EllipticBackend, T: Real> {
    field: B::Matrix<T>,
    wall: Option<B::Matrix<T>>,
    size: LevelSize,
}

impl<B: EllipticBackend, T: Real> GridJacobian<B, T> {
    fn new(backend: &B, size: LevelSize, coupled: bool) -> Result<Self> {
        let LevelSize { mi, mj, periodic } = size;
        let field = backend.matrix(&EllPattern::nine_point(mi, mj, periodic))?;
        let columns = || backend.matrix(&EllPattern::wall_columns(mi, mj));
        Ok(Self { field, wall: coupled.then(columns).transpose()?, size })
    }

    /// The whole operator K by rows, on the host.
    pub fn to_csr(&self, backend: &B) -> Result<Csr> {
        let LevelSize { mi, mj, periodic } = self.size;
        let pattern = EllPattern::nine_point(mi, mj, periodic);
        let field = backend.matrix_values(&self.field)?;
        let columns = self.wall.as_ref().map(|wall| backend.matrix_values(wall)).transpose()?;
        let (rows, replaced) = (pattern.rows(), if columns.is_some() { 2 * mi } else { 0 });
        Ok(Csr::from_rows((0..rows).map(|row| {
            let kept = pattern.row(row).filter(|&(_, column)| column >= replaced);
            let kept = kept.map(|(at, column)| (column, field[at].widen()));
            let line = 2 * (row / 2 % mi);
            let wall =
                columns.iter().flat_map(|b| [0, 1].map(|k| (line + k, b[k * rows + row].widen())));
            kept.chain(wall).collect::<Vec<_>>()
        })))
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        2 * self.size.mi * self.size.mj
    }

    /// The field Jacobian J in ELL format.
    pub fn field(&self) -> &B::Matrix<T> {
        &self.field
    }
}

impl<B: EllipticBackend, T: Real> LinearOperator<B, T> for GridJacobian<B, T> {
    fn apply(&self, backend: &B, x: &B::Vector<T>, y: &mut B::Vector<T>) -> Result<()> {
        match &self.wall {
            None => self.field.apply(backend, x, y),
            Some(wall) => {
                let kept = Product { skip_columns: 2 * self.size.mi, add: false };
                backend.multiply(&self.field, x, kept, y)?;
                backend.multiply(wall, x, Product { skip_columns: 0, add: true }, y)
            }
        }
    }
}
