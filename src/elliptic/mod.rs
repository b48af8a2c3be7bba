//! The grid equations of one grid as a nonlinear problem: unknowns, Jacobian and preconditioner.

mod preconditioner;

pub use crate::pde::EllipticSettings;
pub use crate::sparse::WalledSides;
pub use preconditioner::GridPreconditioner;

use crate::backend::{
    EllipticBackend, Evaluation, LevelSize, MultigridBackend, Product, Real, Result,
};
use crate::grid::Topology;
use crate::solver::linear::{LinearSettings, LinearSolver};
use crate::solver::precond::{Kind, MultigridSettings};
use crate::solver::{LinearOperator, NonlinearProblem};
use crate::sparse::{Csr, EllPattern, Schedule};

/// The grid equations with their unknowns: the points off the boundaries (and off a held seam),
/// with the points beside walls replaced by the amplitudes (p, q) of the wall terms where
/// height and angle of the first cell are controlled.
pub struct GridProblem<B: EllipticBackend, T: Real> {
    state: B::Elliptic,
    jacobian: GridJacobian<B, T>,
}

impl<B: EllipticBackend, T: Real> GridProblem<B, T> {
    /// The problem of these equations, for solves with this preconditioner: multigrid takes the Jacobian by ten numbers
    /// a point, the others in ELL format.
    ///
    /// # Errors
    /// If the memory of the device does not suffice.
    pub fn new(backend: &B, state: B::Elliptic, kind: Kind) -> Result<Self> {
        let (size, walls) = (backend.size(&state), backend.walls(&state));
        // A point on two walls has no equation, and its row no weight.
        let short = kind == Kind::Multigrid && !walls.has_beside();
        Ok(Self { jacobian: GridJacobian::new(backend, size, walls, short)?, state })
    }

    /// Number of unknown points: those of its own band if the backend is one of several ranks.
    pub fn size(&self) -> LevelSize {
        self.jacobian.size
    }

    /// The equations at the present state.
    pub(crate) fn state(&self) -> &B::Elliptic {
        &self.state
    }

    /// The Jacobian of the last linearisation.
    pub fn jacobian(&self) -> &GridJacobian<B, T> {
        &self.jacobian
    }

    /// The transpose of the Jacobian at the present state.
    ///
    /// # Errors
    /// If the memory of the device does not suffice.
    pub fn transposed(&self, backend: &B) -> Result<GridJacobian<B, T>> {
        let GridJacobian { size, walls, .. } = self.jacobian;
        let mut own = GridJacobian::new(backend, size, walls, false)?;
        backend.jacobian(&self.state, &mut own.field, own.wall.as_mut())?;
        let mut field = backend.matrix(EllPattern::NinePoint(size))?;
        backend.transpose(&own.field, &mut field)?;
        Ok(GridJacobian { field, transposed: true, ..own })
    }

    /// The nodes of the state u where the backend keeps grids; the memory of the problem is given back.
    pub fn nodes(mut self, backend: &B, u: &B::Vector<f64>, topology: Topology) -> Result<B::Grid> {
        backend.load_state(&mut self.state, u)?;
        drop(self.jacobian);
        backend.nodes(self.state, topology)
    }
}

impl<B: EllipticBackend, T: Real> NonlinearProblem<B> for GridProblem<B, T> {
    type Real = T;
    type Jacobian = GridJacobian<B, T>;

    fn unknowns(&self) -> usize {
        self.jacobian.rows()
    }

    fn residual(
        &mut self,
        backend: &B,
        u: &B::Vector<f64>,
        f: &mut B::Vector<f64>,
    ) -> Result<Evaluation> {
        backend.load_state(&mut self.state, u)?;
        backend.residual(&mut self.state, f)
    }

    fn keep_scaling(&mut self, backend: &B) {
        backend.keep_weights(&mut self.state);
    }

    fn linearise(&mut self, backend: &B) -> Result<&Self::Jacobian> {
        let GridJacobian { field, wall, .. } = &mut self.jacobian;
        backend.jacobian(&self.state, field, wall.as_mut())?;
        Ok(&self.jacobian)
    }
}

/// K = J (I − E Eᵀ) + B Eᵀ: the field Jacobian J = ∂R/∂r, whose columns of the points E beside walls
/// are replaced by the wall columns B = ∂R/∂(p, q) where the wall terms are unknowns
/// (theory eq. 6). Both are ELL matrices: 13 slots a row, or the five of ten numbers a point, and 2 for each wall.
///
/// Or its transpose Kᵀ = (I − E Eᵀ) Jᵀ + E Bᵀ: the rows of the points beside walls are the sums along the lines
/// that the wall columns give.
pub struct GridJacobian<B: EllipticBackend, T: Real> {
    /// J, or Jᵀ with the pattern of J.
    field: B::Matrix<T>,
    wall: Option<B::Matrix<T>>,
    walls: WalledSides,
    size: LevelSize,
    transposed: bool,
    /// Whether J is stored by ten numbers a point.
    short: bool,
}

impl<B: EllipticBackend, T: Real> GridJacobian<B, T> {
    fn new(backend: &B, size: LevelSize, walls: WalledSides, short: bool) -> Result<Self> {
        let pattern = if short { EllPattern::TenNumbers } else { EllPattern::NinePoint };
        let field = backend.matrix(pattern(size))?;
        let columns = || backend.matrix(EllPattern::WallColumns(size, walls));
        let wall = (!walls.is_empty()).then(columns).transpose()?;
        Ok(Self { field, wall, walls, size, transposed: false, short })
    }

    /// The Jacobian of equations without wall terms, from its matrix.
    pub fn of_field(field: B::Matrix<T>, size: LevelSize) -> Self {
        let walls = WalledSides::default();
        Self { field, wall: None, walls, size, transposed: false, short: false }
    }

    /// Copies the whole operator to the host, by rows. A point on two walls has the rows of the unit matrix.
    pub fn to_csr(&self, backend: &B) -> Result<Csr> {
        let LevelSize { mi, mj, .. } = self.size;
        let pattern = EllPattern::NinePoint(self.size);
        let field = if self.short {
            let mut entries = backend.matrix(pattern)?;
            backend.entries(&self.field, &mut entries)?;
            backend.matrix_values(&entries)?
        } else {
            backend.matrix_values(&self.field)?
        };
        let columns = self.wall.as_ref().map(|wall| backend.matrix_values(wall)).transpose()?;
        let (columns, walls) = (columns.unwrap_or_default(), self.walls);
        let of_walls = EllPattern::WallColumns(self.size, walls);
        let entries = |row| pattern.row(row).map(|(at, column)| (column, field[at].widen()));
        let point = |row: usize| (row / 2 % mi, row / 2 / mi);
        let wall = |row| of_walls.row(row).map(|(at, column)| (column, columns[at].widen()));
        Ok(Csr::from_rows((0..pattern.rows()).map(|row| {
            let (i, j) = point(row);
            let corner = |&(column, _): &(usize, f64)| walls.corner(point(column), mi, mj);
            if walls.corner((i, j), mi, mj) {
                vec![(row, 1.0)]
            } else if !self.transposed {
                let kept = entries(row).filter(|&(column, _)| !walls.holds(point(column), mi, mj));
                kept.chain(wall(row).filter(|entry| !corner(entry))).collect()
            } else if !walls.holds((i, j), mi, mj) {
                entries(row).filter(|entry| !corner(entry)).collect()
            } else {
                // The sum runs along the eta-line or the xi-line that ends at the point.
                let of_j = (walls.0[0] && j == 0) || (walls.0[1] && j + 1 == mj);
                let (points, step) =
                    if of_j { (i..mi * mj, mi) } else { (mi * j..mi * (j + 1), 1) };
                let along = points.step_by(step).flat_map(|at| [2 * at, 2 * at + 1]);
                along
                    .flat_map(|at| wall(at).filter(|&(to, _)| to == row).map(move |(_, b)| (at, b)))
                    .collect()
            }
        })))
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.size.values()
    }

    /// A linear solver for operators like this one, preconditioned by this kind.
    pub fn linear_solver(
        &self,
        krylov: LinearSettings,
        kind: (Kind, Schedule),
        multigrid: MultigridSettings,
    ) -> LinearSolver<B, T, Self>
    where
        B: MultigridBackend,
    {
        let preconditioner = GridPreconditioner::new(kind, multigrid, self);
        LinearSolver::new(krylov, self.rows(), preconditioner)
    }

    /// The field Jacobian J in ELL format, by ten numbers a point where the problem was made so.
    pub fn field(&self) -> &B::Matrix<T> {
        &self.field
    }
}

impl<B: EllipticBackend, T: Real> LinearOperator<B, T> for GridJacobian<B, T> {
    fn apply(&self, backend: &B, x: &B::Vector<T>, y: &mut B::Vector<T>) -> Result<()> {
        match &self.wall {
            None => self.field.apply(backend, x, y),
            Some(wall) if self.transposed => {
                self.field.apply(backend, x, y)?;
                backend.wall_sums(wall, x, y)
            }
            Some(wall) if self.walls.has_beside() => {
                let mut inside = backend.zeros(self.rows())?;
                backend.lincomb(None, &mut inside, 0.0, &[(1.0, x)])?;
                backend.clear_walls(self.walls, self.size, &mut inside)?;
                self.field.apply(backend, &inside, y)?;
                backend.multiply(wall, x, Product { skipped: [0; 2], add: true }, y)
            }
            Some(wall) => {
                let WalledSides([below, above, ..]) = self.walls;
                let skipped = [below, above].map(|wall| if wall { 2 * self.size.mi } else { 0 });
                backend.multiply_with_walls(&self.field, wall, x, skipped, y)
            }
        }
    }
}
