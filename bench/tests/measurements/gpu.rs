//! Tests of large problems on the first two GPUs.

use std::time::Duration;

use gridgen::backend::Bands;
use gridgen::backend::EllipticBackend;
use gridgen::backend::cuda::Gpus;
use gridgen::elliptic::GridProblem;
use gridgen::solver::SolverError;
use gridgen::solver::krylov::Method;
use gridgen::solver::newton::NewtonSettings;
use gridgen::solver::precond::Kind;
use gridgen_bench::ellipses;
use support::problems::{NEWTON, newton};

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
        let of = (Method::Bicgstab, Kind::Multigrid);
        let settings = NewtonSettings { max_iterations: 2, ..NEWTON };
        let report = newton(backend, &mut problem, &mut u, of, &settings)?;
        Ok::<_, SolverError>(report.history.steps.last().map(|step| step.residual.to_bits()))
    });

    let residuals = residuals.unwrap();
    assert_eq!(residuals[0], residuals[1]);
}
