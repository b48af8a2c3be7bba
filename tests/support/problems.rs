//! The grid equations on the walls of these tests.

use std::f64::consts::TAU;

use gridgen::backend::cpu::CpuBackend;
use gridgen::backend::{EllipticBackend, EllipticData, MultigridBackend, Real, WallTerms};
use gridgen::elliptic::{EllipticSettings, GridJacobian, GridPreconditioner, GridProblem};
use gridgen::grid::Grid;
use gridgen::grid::initial::InitialMethod;
use gridgen::pde::control::{Base, ControlSettings, Wall};
use gridgen::solver::history::History;
use gridgen::solver::krylov::Method;
use gridgen::solver::linear::{LinearSettings, LinearSolver, Precision};
use gridgen::solver::newton::{Forcing, NewtonReport, NewtonSettings, solve};
use gridgen::solver::precond::{Coarsening, Kind, MultigridSettings};
use gridgen::solver::{NonlinearProblem, SolverError};
use gridgen::sparse::Schedule;

use super::random::Random;
use super::walls::WallPoints;

/// Control functions of the default case, with these wall terms.
pub fn control(wall: Wall) -> ControlSettings {
    ControlSettings {
        base: Some(Base::Marched),
        wall,
        smoothing: 7e-4,
        smoothing_distance: 1e-3,
        smoothing_columns: Some(1.6),
        clip: 1.0,
        decay: 3.0,
    }
}

/// The equations of the default case with these wall terms and first cells.
pub fn settings(wall: Wall, first_cell: f64) -> EllipticSettings<'static> {
    EllipticSettings { control: control(wall), first_cell, heights: None, outer_wall: false }
}

/// The problem of these equations with wall terms where they have them, and its first guess.
pub fn loaded<B: EllipticBackend>(
    backend: &B,
    data: &EllipticData,
) -> (GridProblem<B, f64>, B::Vector<f64>) {
    let (state, u) = backend.elliptic(data).unwrap();
    (GridProblem::new(backend, state, Kind::None).unwrap(), u)
}

/// The problem of these equations for a preconditioner, linearised at these unknowns.
pub fn linearised<T: Real>(
    data: &EllipticData,
    u: &Vec<f64>,
    kind: Kind,
) -> GridProblem<CpuBackend, T> {
    let (state, _) = CpuBackend.elliptic(data).unwrap();
    let mut problem = GridProblem::new(&CpuBackend, state, kind).unwrap();
    problem.residual(&CpuBackend, u, &mut vec![0.0; u.len()]).unwrap();
    problem.linearise(&CpuBackend).unwrap();
    problem
}

/// A perturbed polar grid with control functions, and unknowns on it.
pub fn polar(mi: usize, mj: usize, periodic: bool, walls: [bool; 4]) -> (EllipticData, Vec<f64>) {
    let points = mi * mj;
    let random = |seed: u64, n: usize| Random::new(seed).vector(n);
    let terms = |side: usize| {
        let seed = [3, 6, 8, 10][side];
        WallTerms { phi: random(seed, points), psi: random(seed + 1, points) }
    };
    let sweep = if periodic { TAU / mi as f64 } else { 5.0 / (mi + 1) as f64 };
    let place = |i: usize, j: usize| {
        let (sin, cos) = (-sweep * i as f64).sin_cos();
        let radius = 0.5 + 0.05 * (1.2_f64.powf(j as f64) - 1.0);
        [radius * cos, radius * sin]
    };
    let nodes = (0..mj + 2).flat_map(|j| (0..mi + 2).map(move |i| (i, j)));
    let (x, y) = nodes.map(|(i, j)| <(f64, f64)>::from(place(i, j))).unzip();
    let data = EllipticData {
        mi,
        mj,
        periodic,
        shift: 0.0,
        x,
        y,
        control_p: random(1, points),
        control_q: random(2, points),
        walls: [0, 1, 2, 3].map(|side| walls[side].then(|| terms(side))),
    };
    let noise = random(5, 2 * points);
    let u = (0..2 * points)
        .map(|k| {
            let (i, j) = (k / 2 % mi, k / 2 / mi);
            let at = [j == 0, j + 1 == mj, i == 0, i + 1 == mi];
            let on = |sides: [usize; 2]| sides.into_iter().any(|side| at[side] && walls[side]);
            match [on([0, 1]), on([2, 3])] {
                [true, true] => return 0.0,
                [false, false] => {}
                _ => return noise[k],
            }
            place(i + 1, j + 1)[k % 2] + 0.2 * sweep.min(0.01) * noise[k]
        })
        .collect();
    (data, u)
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
        let settings = EllipticSettings { control, ..settings(wall, first_cell) };
        let data = EllipticData::new(&march.grid, &points.normals, &settings);
        let (state, u) = CpuBackend.elliptic(&data).unwrap();
        let problem = GridProblem::new(&CpuBackend, state, Kind::None).unwrap();
        Self { initial: march.grid, wall, data, problem, u }
    }

    /// The marched base on a NACA section.
    pub fn naca(code: &str, (ni, nj): (usize, usize), first_cell: f64, wall: Wall) -> Self {
        Self::new(&WallPoints::naca(code, ni), nj, first_cell, Base::Marched, wall)
    }

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

    pub fn solve(&mut self, kind: Kind, settings: &NewtonSettings) -> NewtonReport {
        let Self { problem, u, .. } = self;
        newton(&CpuBackend, problem, u, (Method::Bicgstab, kind), settings).unwrap()
    }

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
    let kind = (kind, Schedule::Levels);
    let mut linear = problem.jacobian().linear_solver(linear, kind, MultigridSettings::default());
    solve(backend, problem, &mut linear, u, History::default(), settings, &mut ())
}

/// A preconditioner of the Jacobian and its fall-backs; multigrid is coarsened so, and in double precision.
pub fn preconditioner(
    (kind, coarsening): (Kind, Coarsening),
    jacobian: &GridJacobian<CpuBackend, f64>,
) -> GridPreconditioner<CpuBackend, f64> {
    let precision = Precision::Double;
    let settings = MultigridSettings { coarsening, precision, ..MultigridSettings::default() };
    GridPreconditioner::new((kind, Schedule::Levels), settings, jacobian)
}

/// M⁻¹ r with the present form of a preconditioner of the Jacobian.
pub fn applied(
    all: &mut GridPreconditioner<CpuBackend, f64>,
    jacobian: &GridJacobian<CpuBackend, f64>,
    r: &Vec<f64>,
) -> Vec<f64> {
    let preconditioner = all.current(&CpuBackend, jacobian).unwrap();
    preconditioner.update(&CpuBackend, jacobian).unwrap();
    let mut z = vec![0.0; r.len()];
    preconditioner.apply(&CpuBackend, jacobian, r, &mut z).unwrap();
    z
}

/// M⁻¹ r with this preconditioner of the Jacobian.
pub fn preconditioned(
    way: (Kind, Coarsening),
    jacobian: &GridJacobian<CpuBackend, f64>,
    r: &Vec<f64>,
) -> Vec<f64> {
    applied(&mut preconditioner(way, jacobian), jacobian, r)
}

/// The forcing terms of the default case.
pub const FORCING: Forcing = Forcing { initial: 0.1, min: 1e-4, max: 0.1 };

/// Newton as in the default case.
pub const NEWTON: NewtonSettings =
    NewtonSettings { tolerance: 1e-10, max_iterations: 20, forcing: FORCING, max_halvings: 12 };

/// Two grids with a residual of 1e-10 may differ by 1e-8 at the far field: the tests that compare grids converge further.
pub const TIGHT: NewtonSettings = NewtonSettings { tolerance: 1e-12, ..NEWTON };
