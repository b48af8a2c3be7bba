//! Whole solves.

use gridgen::backend::cpu::CpuBackend;
use gridgen::backend::{DeviceError, EllipticBackend, Real, SparseBackend, SparseMatrix};
use gridgen::elliptic::{EllipticSettings, GridJacobian, GridProblem};
use gridgen::grid::Grid;
use gridgen::grid::initial::InitialMethod;
use gridgen::pde::control::Wall;
use gridgen::solver::history::History;
use gridgen::solver::krylov::Method;
use gridgen::solver::linear::{LinearSettings, LinearSolver};
use gridgen::solver::newton::{NewtonReport, NewtonSettings, solve};
use gridgen::solver::precond::{Kind, Preconditioners};
use gridgen::solver::{LinearOperator, NonlinearProblem, Preconditioner, SolverError};

use nalgebra::{DMatrix, DVector, Dyn, LU};

use gridgen::sparse::{Schedule, WalledSides};

use super::Subject;
use support::grids::distance;
use support::problems::{NEWTON, control};
use support::walls::WallPoints;

/// A preconditioner of the field part.
type FieldPreconditioner<B> = Box<dyn Preconditioner<B, f64, <B as SparseBackend>::Matrix<f64>>>;

/// A preconditioner of the Jacobian.
enum Approximate<B: EllipticBackend> {
    /// Made from the field part alone.
    OfField(Kind, Option<FieldPreconditioner<B>>),
    /// The exact inverse, by dense factors on the host.
    Exact(Option<LU<f64, Dyn, Dyn>>),
}

impl<B: EllipticBackend> Preconditioner<B, f64, GridJacobian<B, f64>> for Approximate<B> {
    fn update(&mut self, backend: &B, a: &GridJacobian<B, f64>) -> Result<(), SolverError> {
        match self {
            Self::OfField(kind, classical) => {
                let made = a.field().preconditioner(backend, kind.algebraic(Schedule::Levels))?;
                classical.insert(made).update(backend, a.field())
            }
            Self::Exact(factors) => {
                let n = a.rows();
                let mut dense = DMatrix::<f64>::identity(n, n);
                let (mut x, mut y) = (backend.zeros(n)?, backend.zeros(n)?);
                for mut column in dense.column_iter_mut() {
                    backend.upload(column.as_slice(), &mut x)?;
                    a.apply(backend, &x, &mut y)?;
                    backend.download(&y, column.as_mut_slice())?;
                }
                *factors = Some(dense.lu());
                Ok(())
            }
        }
    }

    fn apply(
        &mut self,
        backend: &B,
        a: &GridJacobian<B, f64>,
        r: &B::Vector<f64>,
        z: &mut B::Vector<f64>,
    ) -> Result<(), DeviceError> {
        match self {
            Self::OfField(_, classical) => {
                classical.as_mut().unwrap().apply(backend, a.field(), r, z)
            }
            Self::Exact(factors) => {
                let mut host = DVector::zeros(a.rows());
                backend.download(r, host.as_mut_slice())?;
                assert!(factors.as_ref().unwrap().solve_mut(&mut host));
                backend.upload(host.as_slice(), z)
            }
        }
    }
}

const FIRST_CELL: f64 = 1e-3;
/// Two grids with a residual of 1e-10 may differ by 1e-8 at the far field, so the tests converge further.
pub(super) const TIGHT: NewtonSettings = NewtonSettings { tolerance: 1e-12, ..NEWTON };

/// A grid around a NACA 4412, its equations with these wall terms and those of the outer line, if it is a wall, and
/// their first guess.
pub(super) fn start<B: EllipticBackend, T: Real>(
    backend: &B,
    (ni, nj): (usize, usize),
    (wall, outer_wall): (Wall, bool),
) -> (Grid, GridProblem<B, T>, B::Vector<f64>) {
    let points = WallPoints::naca("4412", ni);
    let grid = points.initial(InitialMethod::Hyperbolic, nj, FIRST_CELL).grid;
    let settings = EllipticSettings {
        control: control(wall),
        first_cell: FIRST_CELL,
        heights: None,
        outer_wall,
    };
    let nodes = backend.take(grid.clone()).unwrap();
    let (state, u) = backend.equations(&nodes, &points.normals, &settings).unwrap();
    let coupled = wall == Wall::Coupled;
    let walls = WalledSides([coupled, coupled && outer_wall, false, false]);
    let problem = GridProblem::new(backend, state, walls).unwrap();
    (grid, problem, u)
}

/// A grid around a NACA 4412.
#[derive(Clone, Copy)]
struct Case {
    nodes: (usize, usize),
    wall: Wall,
    /// The preconditioner of the field part; `None` for the exact inverse of the whole.
    kind: Option<Kind>,
}

impl Case {
    fn solve<B: EllipticBackend>(self, backend: &B) -> (Grid, NewtonReport) {
        let (mut grid, mut problem, mut u) =
            start::<B, f64>(backend, self.nodes, (self.wall, false));
        let n = problem.unknowns();
        let linear = LinearSettings { method: Method::Bicgstab, max_iterations: 2000, restart: 30 };
        let inverse = Preconditioners::one(move |_, _| {
            Ok(Box::new(match self.kind {
                Some(kind) => Approximate::OfField(kind, None),
                None => Approximate::Exact(None),
            }))
        });
        let mut linear = LinearSolver::new(linear, n, inverse);
        let report =
            solve(backend, &mut problem, &mut linear, &mut u, History::default(), &TIGHT, &mut ())
                .unwrap();
        problem.store(backend, &u, &mut grid).unwrap();
        (grid, report)
    }

    /// Asserts the same steps and coordinates as on the CPU.
    fn check<S: Subject>(self, subject: &S) {
        let (expected, on_cpu) = self.solve(&CpuBackend);
        let (grid, report) = self.solve(subject);

        assert!(report.stop.converged(), "{}", report.stop);
        assert_eq!(report.history.steps.len(), on_cpu.history.steps.len());
        let off = distance(&grid, &expected);
        assert!(off < 1e-9, "{off:e}");
    }
}

pub fn a_frozen_wall_gives_the_grid_of_the_cpu<S: Subject>(subject: &S) {
    Case { nodes: (49, 25), wall: Wall::Frozen, kind: Some(Kind::Jacobi) }.check(subject);
}

pub fn incomplete_factors_give_the_grid_of_the_cpu<S: Subject>(subject: &S) {
    let wall = Wall::Frozen;
    Case { nodes: (33, 17), wall, kind: Some(Kind::Dilu) }.check(subject);
    Case { nodes: (33, 17), wall, kind: Some(Kind::Ilu0) }.check(subject);
}

pub fn a_coupled_wall_gives_the_grid_of_the_cpu<S: Subject>(subject: &S) {
    Case { nodes: (33, 17), wall: Wall::Coupled, kind: None }.check(subject);
}
