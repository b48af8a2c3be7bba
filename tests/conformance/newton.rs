//! Whole solves.

use gridgen::backend::cpu::CpuBackend;
use gridgen::backend::{EllipticBackend, MultigridBackend, Real};
use gridgen::elliptic::{EllipticSettings, GridProblem};
use gridgen::grid::Grid;
use gridgen::grid::initial::InitialMethod;
use gridgen::pde::control::Wall;
use gridgen::solver::krylov::Method;
use gridgen::solver::newton::NewtonReport;
use gridgen::solver::precond::Kind;

use super::{FIRST_CELL, Subject};
use support::grids::distance;
use support::problems::{TIGHT, newton, settings};
use support::walls::WallPoints;

/// A grid around a NACA 4412.
#[derive(Clone, Copy)]
pub(super) struct Case {
    pub(super) nodes: (usize, usize),
    /// The wall terms of the section, and whether the outer line is a wall with such terms too.
    pub(super) walls: (Wall, bool),
    pub(super) kind: Kind,
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
        let method = (Method::Bicgstab, kind);
        let report = newton(backend, &mut problem, &mut u, method, &TIGHT).unwrap();
        let nodes = problem.nodes(backend, &u, grid.topology).unwrap();
        backend.fetch(&nodes, &mut grid).unwrap();
        (grid, report)
    }
}

pub fn a_frozen_wall_gives_the_grid_of_the_cpu<S: Subject>(subject: &S) {
    for kind in [Kind::Jacobi, Kind::Dilu, Kind::Ilu0] {
        let case = Case { nodes: (33, 17), walls: (Wall::Frozen, false), kind };
        let (expected, on_cpu) = case.solve::<_, f64>(&CpuBackend);
        let (grid, report) = case.solve::<_, f64>(subject);

        assert!(report.stop.converged(), "{kind:?}: {}", report.stop);
        assert_eq!(report.history.steps.len(), on_cpu.history.steps.len(), "{kind:?}");
        let off = distance(&grid, &expected);
        assert!(off < 1e-9, "{kind:?}: {off:e}");
    }
}
