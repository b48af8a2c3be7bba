//! Whole solves.

use gridgen::backend::cpu::CpuBackend;
use gridgen::backend::{EllipticBackend, MultigridBackend, Real};
use gridgen::elliptic::{EllipticSettings, GridPreconditioner, GridProblem};
use gridgen::grid::Grid;
use gridgen::grid::initial::InitialMethod;
use gridgen::pde::control::Wall;
use gridgen::solver::NonlinearProblem;
use gridgen::solver::history::History;
use gridgen::solver::krylov::Method;
use gridgen::solver::linear::{LinearSettings, LinearSolver};
use gridgen::solver::newton::{NewtonReport, solve};
use gridgen::solver::precond::{Kind, MultigridSettings, Preconditioners};

use super::{FIRST_CELL, Subject};
use support::grids::distance;
use support::linear::ExactInverse;
use support::problems::{TIGHT, settings};
use support::walls::WallPoints;

/// A grid around a NACA 4412.
#[derive(Clone, Copy)]
pub(super) struct Case {
    pub(super) nodes: (usize, usize),
    /// The wall terms of the section, and whether the outer line is a wall with such terms too.
    pub(super) walls: (Wall, bool),
    /// The preconditioner; `None` for the exact inverse.
    pub(super) kind: Option<Kind>,
}

impl Case {
    pub(super) fn solve<B: EllipticBackend + MultigridBackend, T: Real>(
        self,
        backend: &B,
    ) -> (Grid, NewtonReport) {
        let Self { nodes: (ni, nj), walls: (wall, outer_wall), kind } = self;
        let points = WallPoints::naca("4412", ni);
        let mut grid = points.initial(InitialMethod::Hyperbolic, nj, FIRST_CELL).grid;
        let settings = EllipticSettings { outer_wall, ..settings(wall, FIRST_CELL) };
        let nodes = backend.take(grid.clone()).unwrap();
        let (state, mut u) = backend.equations(&nodes, &points.normals, &settings).unwrap();
        let mut problem = GridProblem::<B, T>::new(backend, state, Kind::None).unwrap();
        let n = problem.unknowns();
        let linear = LinearSettings { method: Method::Bicgstab, max_iterations: 2000, restart: 30 };
        let inverse = match kind {
            Some(kind) => {
                GridPreconditioner::new(kind, MultigridSettings::default(), problem.jacobian())
            }
            None => Preconditioners::one(move |_, _| Ok(Box::new(ExactInverse::new(n)))),
        };
        let mut linear = LinearSolver::new(linear, n, inverse);
        let report =
            solve(backend, &mut problem, &mut linear, &mut u, History::default(), &TIGHT, &mut ())
                .unwrap();
        let nodes = problem.nodes(backend, &u, grid.topology).unwrap();
        backend.fetch(&nodes, &mut grid).unwrap();
        (grid, report)
    }

    /// Asserts the same steps and coordinates as on the CPU.
    fn check<S: Subject>(self, subject: &S) {
        let (expected, on_cpu) = self.solve::<_, f64>(&CpuBackend);
        let (grid, report) = self.solve::<_, f64>(subject);

        assert!(report.stop.converged(), "{}", report.stop);
        assert_eq!(report.history.steps.len(), on_cpu.history.steps.len());
        let off = distance(&grid, &expected);
        assert!(off < 1e-9, "{off:e}");
    }
}

pub fn a_frozen_wall_gives_the_grid_of_the_cpu<S: Subject>(subject: &S) {
    Case { nodes: (49, 25), walls: (Wall::Frozen, false), kind: Some(Kind::Jacobi) }.check(subject);
}

pub fn incomplete_factors_give_the_grid_of_the_cpu<S: Subject>(subject: &S) {
    for kind in [Kind::Dilu, Kind::Ilu0] {
        Case { nodes: (33, 17), walls: (Wall::Frozen, false), kind: Some(kind) }.check(subject);
    }
}

pub fn a_coupled_wall_gives_the_grid_of_the_cpu<S: Subject>(subject: &S) {
    Case { nodes: (33, 17), walls: (Wall::Coupled, false), kind: None }.check(subject);
}
