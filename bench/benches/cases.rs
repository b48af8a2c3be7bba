//! Times of whole runs and of their two large phases, at three sizes. See `bench/README.md`.

#![allow(clippy::expect_used, reason = "a benchmark that cannot run has nothing to measure")]

mod support;

use divan::Bencher;
use divan::counter::ItemsCount;
use gridgen::backend::cpu::CpuBackend;
use gridgen::elliptic::{GridPreconditioner, GridProblem};
use gridgen::generate::{BackendChoice, Progress, RunOptions, run};
use gridgen::solver::history::NewtonStep;
use gridgen::solver::linear::{LinearSettings, LinearSolver, Precision};
use gridgen::solver::newton::{self, Forcing, NewtonSettings};
use gridgen::solver::precond::MultigridSettings;
use support::WallPoints;

/// Points around the body and from wall to far field.
const SIZES: [(usize, usize); 3] = [(65, 33), (129, 65), (257, 129)];

fn main() {
    divan::main();
}

/// The hyperbolic march, wall points given.
#[divan::bench(args = SIZES)]
fn initial_grid(bencher: Bencher, (ni, nj): (usize, usize)) {
    let case = support::case(ni, nj);
    let wall = WallPoints::new(&case);

    bencher.counter(ItemsCount::new(ni * nj)).bench(|| support::initial_grid(&case, &wall));
}

/// The Newton solve from the initial grid with the linear solver of the case, in single precision:
/// control functions, all steps, the solution copied back.
#[divan::bench(args = SIZES)]
fn newton_solve(bencher: Bencher, (ni, nj): (usize, usize)) {
    let case = support::case(ni, nj);
    assert_eq!(case.linear.precision, Precision::Single, "the precision that is timed");
    let wall = WallPoints::new(&case);
    let initial = support::initial_grid(&case, &wall);
    let equations = support::elliptic_settings(&case, case.control.wall);
    let linear_settings = LinearSettings {
        method: case.linear.solver,
        max_iterations: case.linear.max_iterations,
        restart: case.linear.restart,
    };
    let newton_settings = NewtonSettings {
        tolerance: case.newton.tolerance,
        max_iterations: case.newton.max_iterations,
        forcing: Forcing {
            initial: case.newton.forcing_initial,
            min: case.newton.forcing_min,
            max: case.newton.forcing_max,
        },
        max_halvings: case.newton.max_halvings,
    };
    let multigrid = MultigridSettings {
        cycle: case.multigrid.cycle,
        sweeps: case.multigrid.sweeps,
        levels: case.multigrid.levels,
        coarsening: case.multigrid.coarsening,
        precision: Precision::Single,
    };

    bencher.counter(ItemsCount::new(ni * nj)).bench(|| {
        let backend = CpuBackend;
        let (mut problem, mut u) =
            GridProblem::<_, f32>::new(&backend, &initial, &wall.normals, &equations)
                .expect("the CPU has room");
        let preconditioner =
            GridPreconditioner::new(case.linear.preconditioner, multigrid, problem.size());
        let mut linear = LinearSolver::new(linear_settings, u.len(), preconditioner);
        let report =
            newton::solve(&backend, &mut problem, &mut linear, &mut u, &newton_settings, &mut ())
                .expect("the CPU reports no trouble");
        assert!(report.stop.converged(), "{}", report.stop);
        let mut grid = initial.clone();
        problem.store(&backend, &u, &mut grid).expect("the CPU reports no trouble");
        grid
    });
}

/// What a user waits for: from the case to all its files, without the start of the program.
#[divan::bench(args = SIZES)]
fn whole_run(bencher: Bencher, (ni, nj): (usize, usize)) {
    let case = support::case(ni, nj);
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let options =
        RunOptions { backend: BackendChoice::Cpu, ..RunOptions::new(folder.path().join("grid")) };

    bencher.counter(ItemsCount::new(ni * nj)).bench(|| {
        let outcome = run(&case, &options, &mut Silent).expect("the case runs");
        assert!(outcome.verdict.is_good(), "{}", outcome.verdict);
        outcome
    });
}

/// Shows nothing.
struct Silent;

impl Progress for Silent {
    fn phase(&mut self, _name: &str) {}
    fn newton(&mut self, _step: &NewtonStep) {}
    fn linear(&mut self, _iteration: f64, _relative_residual: f64) {}
}
