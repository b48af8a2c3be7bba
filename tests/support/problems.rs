//! The grid equations on the walls of these tests.

use gridgen::backend::cpu::CpuBackend;
use gridgen::backend::{EllipticBackend, EllipticData, MultigridBackend, Real};
use gridgen::elliptic::{EllipticSettings, GridJacobian, GridPreconditioner, GridProblem};
use gridgen::grid::Grid;
use gridgen::grid::initial::InitialMethod;
use gridgen::pde::control::{Base, ControlSettings, Wall};
use gridgen::solver::history::History;
use gridgen::solver::krylov::Method;
use gridgen::solver::linear::{LinearSettings, LinearSolver};
use gridgen::solver::newton::{Forcing, NewtonReport, NewtonSettings, solve};
use gridgen::solver::precond::{Kind, MultigridSettings};
use gridgen::solver::{NonlinearProblem, SolverError};

use super::walls::WallPoints;

/// Control functions of the default case, with these wall terms.
pub fn control(wall: Wall) -> ControlSettings {
    let base = Base::Marched;
    ControlSettings {
        base: Some(base),
        wall,
        smoothing: 7e-4,
        smoothing_distance: 1e-3,
        smoothing_columns: Some(1.6),
        clip: 1.0,
        decay: 3.0,
    }
}

/// The grid equations on a hyperbolic march.
pub struct Setup<T: Real> {
    pub initial: Grid,
    pub wall: Wall,
    data: EllipticData,
    pub problem: GridProblem<CpuBackend, T>,
    pub u: Vec<f64>,
}

impl<T: Real> Setup<T> {
    /// The equations of this base and wall control, with the settings of the default case.
    pub fn new(points: &WallPoints, nj: usize, first_cell: f64, base: Base, wall: Wall) -> Self {
        let march = points.initial(InitialMethod::Hyperbolic, nj, first_cell);
        assert_eq!(march.method, InitialMethod::Hyperbolic, "{:?}", march.notes);
        let control = ControlSettings { base: Some(base), ..control(wall) };
        let settings = EllipticSettings { control, first_cell, heights: None, outer_wall: false };
        let data = EllipticData::new(&march.grid, &points.normals, &settings);
        let (state, u) = CpuBackend.elliptic(&data).unwrap();
        let coupled = settings.control.wall == Wall::Coupled;
        let problem = GridProblem::new(&CpuBackend, state, coupled).unwrap();
        Self { initial: march.grid, wall, data, problem, u }
    }

    /// The marched base on a NACA section.
    pub fn naca(code: &str, (ni, nj): (usize, usize), first_cell: f64, wall: Wall) -> Self {
        Self::new(&WallPoints::naca(code, ni), nj, first_cell, Base::Marched, wall)
    }

    /// Number of unknowns.
    pub fn n(&self) -> usize {
        self.problem.unknowns()
    }

    /// A natural step of each unknown: the distance to the nearest node for coordinates, 1 for wall terms.
    pub fn natural_steps(&self) -> Vec<f64> {
        let grid = &self.initial;
        let nearest = |(i, j): (usize, usize)| {
            let at = grid.point(i, j);
            self.beside(i, j)
                .map(|(i, j)| grid.point(i, j))
                .map(|p| (p[0] - at[0]).hypot(p[1] - at[1]))
                .into_iter()
                .fold(f64::INFINITY, f64::min)
        };
        let step = |(i, j): (usize, usize)| match self.wall {
            Wall::Coupled if j == 1 => 1.0,
            _ => nearest((i, j)),
        };
        self.points().flat_map(|at| [step(at); 2]).collect()
    }

    /// The unknown points.
    fn points(&self) -> impl Iterator<Item = (usize, usize)> {
        let mj = self.initial.nj - 2;
        let mi = self.n() / (2 * mj);
        // A periodic seam column is unknown, a held one is not.
        let first = self.initial.ni - 1 - mi;
        (1..=mj).flat_map(move |j| (first..first + mi).map(move |i| (i, j)))
    }

    /// The nodes to the east, west, north and south.
    fn beside(&self, i: usize, j: usize) -> [(usize, usize); 4] {
        let columns = self.initial.ni - 1;
        [(i + 1, j), ((i + columns - 1) % columns, j), (i, j + 1), (i, j - 1)]
    }

    /// The weights w = 1/(2 (g11 + g22)) of the rows of the unknowns at u.
    pub fn row_weights(&self, u: &Vec<f64>) -> Vec<f64> {
        let (mut state, _) = CpuBackend.elliptic(&self.data).unwrap();
        CpuBackend.load_state(&mut state, u).unwrap();
        let grid = CpuBackend.nodes(state, self.initial.topology).unwrap();
        let square = |a: [f64; 2], b: [f64; 2]| {
            let half = [0, 1].map(|k| 0.5 * (a[k] - b[k]));
            half[0] * half[0] + half[1] * half[1]
        };
        let weight = |(i, j)| {
            let [east, west, north, south] = self.beside(i, j).map(|(i, j)| grid.point(i, j));
            0.5 / (square(east, west) + square(north, south))
        };
        self.points().flat_map(|at| [weight(at); 2]).collect()
    }

    /// Solves with `BiCGStab` and this preconditioner.
    pub fn solve(&mut self, kind: Kind, settings: &NewtonSettings) -> NewtonReport {
        let Self { problem, u, .. } = self;
        newton(&CpuBackend, problem, u, (Method::Bicgstab, kind), settings).unwrap()
    }

    /// Solves with this linear solver.
    pub fn solve_with(
        &mut self,
        mut linear: LinearSolver<CpuBackend, T, GridJacobian<CpuBackend, T>>,
        settings: &NewtonSettings,
    ) -> NewtonReport {
        let Self { problem, u, .. } = self;
        solve(&CpuBackend, problem, &mut linear, u, History::default(), settings, &mut ()).unwrap()
    }
}

/// Solves grid equations with this Krylov method and preconditioner.
pub fn newton<B: EllipticBackend + MultigridBackend, T: Real>(
    backend: &B,
    problem: &mut GridProblem<B, T>,
    u: &mut B::Vector<f64>,
    (method, kind): (Method, Kind),
    settings: &NewtonSettings,
) -> Result<NewtonReport, SolverError> {
    let linear = LinearSettings { method, max_iterations: 2000, restart: 30 };
    let preconditioner =
        GridPreconditioner::new(kind, MultigridSettings::default(), problem.jacobian());
    let mut linear = LinearSolver::new(linear, problem.unknowns(), preconditioner);
    solve(backend, problem, &mut linear, u, History::default(), settings, &mut ())
}

/// The forcing terms of the default case.
pub const FORCING: Forcing = Forcing { initial: 0.1, min: 1e-4, max: 0.1 };

/// Newton as in the default case.
pub const NEWTON: NewtonSettings =
    NewtonSettings { tolerance: 1e-10, max_iterations: 20, forcing: FORCING, max_halvings: 12 };

/// The preconditioner of a Jacobian by ILU(0).
pub fn preconditioner<T: Real>(
    jacobian: &GridJacobian<CpuBackend, T>,
) -> GridPreconditioner<CpuBackend, T> {
    GridPreconditioner::new(Kind::Ilu0, MultigridSettings::default(), jacobian)
}
