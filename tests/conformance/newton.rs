//! Whole solves.

use gridgen::backend::cpu::CpuBackend;
use gridgen::backend::{EllipticBackend, MultigridBackend, Real};
use gridgen::elliptic::{EllipticSettings, GridProblem};
use gridgen::grid::Grid;
use gridgen::grid::initial::InitialMethod;
use gridgen::pde::control::Wall;
use gridgen::solver::history::History;
use gridgen::solver::krylov::Method;
use gridgen::solver::newton::NewtonReport;
use gridgen::solver::precond::Kind;

use super::{FIRST_CELL, Subject};
use support::grids::distance;
use support::problems::{TIGHT, newton, settings};
use support::walls::WallPoints;

/// A grid around a NACA 4412.
#[derive(Debug, Clone, Copy)]
struct Case {
    nodes: (usize, usize),
    /// The wall terms of the section, and whether the outer line is a wall with such terms too.
    walls: (Wall, bool),
    kind: Kind,
}

impl Case {
    fn solve<B: EllipticBackend + MultigridBackend, T: Real>(
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
        let method = (Method::Bicgstab, kind);
        let report = newton(backend, &mut problem, &mut u, method, &TIGHT).unwrap();
        let nodes = problem.nodes(backend, &u, grid.topology).unwrap();
        backend.fetch(&nodes, &mut grid).unwrap();
        (grid, report)
    }

    /// Asserts that the subject takes the steps of the CPU to the same grid.
    fn check<S: Subject, T: Real>(self, subject: &S) {
        let (expected, on_cpu) = self.solve::<_, T>(&CpuBackend);
        let (grid, report) = self.solve::<_, T>(subject);

        assert!(report.stop.converged(), "{self:?}: {}", report.stop);
        let [found, of_cpu] = [report.history, on_cpu.history];
        let [steps, steps_of_cpu] = [&found, &of_cpu].map(History::newton_iterations);
        // The CPU keeps its levels from one step to the next, and may take one step more.
        let most = steps + usize::from(self.walls.1);
        assert!((steps..=most).contains(&steps_of_cpu), "{self:?}: {steps}, not {steps_of_cpu}");
        let more = found.linear_iterations() - of_cpu.linear_iterations();
        assert!(self.kind != Kind::Multigrid || more.abs() <= 1.0, "{self:?}: {more} more");
        let off = distance(&grid, &expected);
        assert!(off < 1e-9, "{self:?}: {off:e}");
    }
}

pub fn frozen_and_coupled_walls_give_the_grid_of_the_cpu<S: Subject>(subject: &S) {
    for kind in [Kind::Jacobi, Kind::Dilu, Kind::Ilu0] {
        Case { nodes: (33, 17), walls: (Wall::Frozen, false), kind }.check::<S, f64>(subject);
    }
    for outer_wall in [false, true] {
        let walls = (Wall::Coupled, outer_wall);
        let case = Case { nodes: (65, 33), walls, kind: Kind::Multigrid };
        case.check::<S, f64>(subject);
        case.check::<S, f32>(subject);
    }
}
