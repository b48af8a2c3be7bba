//! Whole solves.

use gridgen::backend::cpu::CpuBackend;
use gridgen::backend::{DeviceError, EllipticBackend, MultigridBackend, Real};
use gridgen::elliptic::{EllipticSettings, GridJacobian, GridPreconditioner, GridProblem};
use gridgen::grid::Grid;
use gridgen::grid::initial::Method as InitialMethod;
use gridgen::pde::control::{Base, ControlSettings, Wall};
use gridgen::solver::krylov::Method;
use gridgen::solver::linear::{LinearSettings, LinearSolver};
use gridgen::solver::newton::{NewtonReport, NewtonSettings, solve};
use gridgen::solver::precond::{Classical, Kind, MultigridSettings};
use gridgen::solver::{NonlinearProblem, Preconditioner, SolverError};

use super::Subject;
use crate::support::problems::NEWTON;
use crate::support::walls::WallPoints;

/// A preconditioner from the field part of the Jacobian alone.
struct OfField<B: EllipticBackend, T: Real>(Classical<B, T>);

impl<B: EllipticBackend, T: Real> Preconditioner<B, T, GridJacobian<B, T>> for OfField<B, T> {
    fn update(&mut self, backend: &B, a: &GridJacobian<B, T>) -> Result<(), SolverError> {
        self.0.update(backend, a.field())
    }

    fn apply(
        &mut self,
        backend: &B,
        a: &GridJacobian<B, T>,
        r: &B::Vector<T>,
        z: &mut B::Vector<T>,
    ) -> Result<(), DeviceError> {
        self.0.apply(backend, a.field(), r, z)
    }
}

const FIRST_CELL: f64 = 1e-3;
/// Two grids of a residual of 1e-10 may lie 1e-8 apart at the far field.
const TIGHT: NewtonSettings = NewtonSettings { tolerance: 1e-12, ..NEWTON };

/// The grid around a NACA 4412 with 65 × 33 nodes.
fn frozen<B: EllipticBackend, T: Real>(backend: &B, kind: Kind) -> (Grid, NewtonReport) {
    let points = WallPoints::naca("4412", 65);
    let mut grid = points.initial(InitialMethod::Hyperbolic, 33, FIRST_CELL).grid;
    let control =
        ControlSettings { base: Base::Marched, smoothing: 5, smoothing_distance: 0.05, clip: 1.0 };
    let settings =
        EllipticSettings { control, wall: Wall::Frozen, first_cell: FIRST_CELL, decay: 3.0 };
    let (mut problem, mut u) =
        GridProblem::<B, T>::new(backend, &grid, &points.normals, &settings).unwrap();
    let linear = LinearSettings { method: Method::Bicgstab, max_iterations: 2000, restart: 30 };
    let preconditioner = OfField(Classical::new(kind));
    let mut linear = LinearSolver::new(linear, problem.unknowns(), preconditioner);
    let report = solve(backend, &mut problem, &mut linear, &mut u, &TIGHT, &mut ()).unwrap();
    problem.store(backend, &u, &mut grid).unwrap();
    (grid, report)
}

/// The grid around a NACA 4412 with 65 × 33 nodes, the first cell controlled, by multigrid.
fn coupled<B: EllipticBackend + MultigridBackend, T: Real>(backend: &B) -> (Grid, NewtonReport) {
    let points = WallPoints::naca("4412", 65);
    let mut grid = points.initial(InitialMethod::Hyperbolic, 33, FIRST_CELL).grid;
    let control =
        ControlSettings { base: Base::Marched, smoothing: 5, smoothing_distance: 0.05, clip: 1.0 };
    let settings =
        EllipticSettings { control, wall: Wall::Coupled, first_cell: FIRST_CELL, decay: 3.0 };
    let (mut problem, mut u) =
        GridProblem::<B, T>::new(backend, &grid, &points.normals, &settings).unwrap();
    let linear = LinearSettings { method: Method::Bicgstab, max_iterations: 2000, restart: 30 };
    let preconditioner =
        GridPreconditioner::new(Kind::Multigrid, MultigridSettings::default(), problem.size());
    let mut linear = LinearSolver::new(linear, problem.unknowns(), preconditioner);
    let report = solve(backend, &mut problem, &mut linear, &mut u, &TIGHT, &mut ()).unwrap();
    problem.store(backend, &u, &mut grid).unwrap();
    (grid, report)
}

/// Largest difference of a coordinate.
fn distance(a: &Grid, b: &Grid) -> f64 {
    let pairs = a.x.iter().zip(&b.x).chain(a.y.iter().zip(&b.y));
    pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

pub fn a_frozen_wall_gives_the_grid_of_the_cpu<S: Subject>(subject: &S) {
    let (expected, on_cpu) = frozen::<_, f64>(&CpuBackend, Kind::Jacobi);
    let (grid, report) = frozen::<_, f64>(subject, Kind::Jacobi);

    assert!(report.stop.converged(), "{}", report.stop);
    assert_eq!(report.history.steps.len(), on_cpu.history.steps.len());
    assert!(distance(&grid, &expected) < 1e-9, "{:e}", distance(&grid, &expected));
}

fn check_coupled<S: Subject, T: Real>(subject: &S) {
    let (expected, on_cpu) = coupled::<_, T>(&CpuBackend);
    let (grid, report) = coupled::<_, T>(subject);

    assert!(report.stop.converged(), "{}", report.stop);
    let counts = |report: &NewtonReport| {
        (report.history.newton_iterations(), report.history.linear_iterations())
    };
    let (found, expected_counts) = (counts(&report), counts(&on_cpu));
    assert_eq!(found.0, expected_counts.0);
    assert!((found.1 - expected_counts.1).abs() <= 1.0, "{found:?}, not {expected_counts:?}");
    assert!(distance(&grid, &expected) < 1e-9, "{:e}", distance(&grid, &expected));
}

pub fn a_coupled_wall_with_multigrid_gives_the_grid_of_the_cpu<S: Subject>(subject: &S) {
    check_coupled::<S, f64>(subject);
    check_coupled::<S, f32>(subject);
}
