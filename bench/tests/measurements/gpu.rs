//! Tests of large problems on the first two GPUs.

use std::time::Duration;

use gridgen::backend::Bands;
use gridgen::backend::EllipticBackend;
use gridgen::backend::cuda::Gpus;
use gridgen::elliptic::{GridPreconditioner, GridProblem};
use gridgen::solver::history::History;
use gridgen::solver::krylov::Method;
use gridgen::solver::linear::{LinearSettings, LinearSolver};
use gridgen::solver::newton::{Forcing, NewtonSettings, solve};
use gridgen::solver::precond::{Kind, MultigridSettings};
use gridgen::solver::{NonlinearProblem, SolverError};
use gridgen_bench::ellipses;

/// There are more lines than resident blocks, and each line waits for its counterpart on the other GPU.
#[test]
#[ignore = "needs two GPUs: cargo test --test measurements -- --ignored"]
fn thousands_of_lines_cross_the_border_of_two_gpus() {
    let data = ellipses(129, 16_001);
    let bands = Bands::new(data.mi, 2, data.periodic).unwrap();
    let mut gpus = Gpus::open(&[0, 1]).unwrap();
    gpus.timeout = Duration::from_secs(20);

    let residuals = gpus.run(&bands, |_, backend| {
        let (state, mut u) = backend.elliptic(&data)?;
        let mut problem = GridProblem::<_, f64>::new(backend, state, Kind::None)?;
        let settings = MultigridSettings::default();
        let preconditioner = GridPreconditioner::new(Kind::Multigrid, settings, problem.jacobian());
        let linear = LinearSettings { method: Method::Bicgstab, max_iterations: 20, restart: 30 };
        let mut linear = LinearSolver::new(linear, problem.unknowns(), preconditioner);
        let forcing = Forcing { initial: 0.1, min: 1e-4, max: 0.1 };
        let newton =
            NewtonSettings { tolerance: 1e-10, max_iterations: 2, forcing, max_halvings: 12 };
        let report = solve(
            backend,
            &mut problem,
            &mut linear,
            &mut u,
            History::default(),
            &newton,
            &mut (),
        )?;
        Ok::<_, SolverError>(report.history.steps.last().map(|step| step.residual.to_bits()))
    });

    let residuals = residuals.unwrap();
    assert_eq!(residuals[0], residuals[1]);
}
