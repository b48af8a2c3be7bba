//! Bands on the first two GPUs.

use std::time::Duration;

use gridgen::backend::cuda::driver::{Gpus, Way};
use gridgen::backend::{Backend, Bands, DeviceError};
use gridgen::bench::ellipses;
use gridgen::elliptic::{GridPreconditioner, GridProblem};
use gridgen::pde::control::Wall;
use gridgen::solver::krylov::Method;
use gridgen::solver::linear::{LinearSettings, LinearSolver};
use gridgen::solver::newton::{NewtonSettings, solve};
use gridgen::solver::precond::{Kind, MultigridSettings};
use gridgen::solver::{NonlinearProblem, SolverError};

use crate::cases::{self, Case};
use support::problems::NEWTON;

const JACOBI: Case = Case {
    periodic: false,
    nodes: (257, 65),
    wall: Wall::Frozen,
    kind: Kind::Jacobi,
    method: Method::Bicgstab,
};

/// The grid of the CPU on two GPUs, whichever way their messages go.
fn check(case: Case) {
    let expected = case.on_cpu();
    for way in [Way::Memory, Way::Nccl] {
        // Some coarse levels are in bands too.
        let gpus = Gpus::open(&[0, 1]).unwrap().with_way(way).with_gathered_points(Some(1000));
        let found = case.on_ranks(2, |bands, work| gpus.run(bands, work)).unwrap();

        let _ = cases::check(case, &expected, &found, &format!("{way:?}"));
    }
}

#[test]
#[ignore = "needs two GPUs: cargo test --test gpu -- --ignored bands"]
fn jacobi_on_two_gpus() {
    check(JACOBI);
    check(Case { periodic: true, ..JACOBI });
}

#[test]
#[ignore = "needs two GPUs: cargo test --test gpu -- --ignored bands"]
fn incomplete_factors_on_two_gpus() {
    let case = Case { nodes: (129, 33), kind: Kind::Ilu0, ..JACOBI };
    check(Case { method: Method::Gmres, ..case });
    check(Case { kind: Kind::Dilu, periodic: true, ..case });
}

#[test]
#[ignore = "needs two GPUs: cargo test --test gpu -- --ignored bands"]
fn multigrid_on_two_gpus() {
    let case = Case { kind: Kind::Multigrid, wall: Wall::Coupled, ..JACOBI };
    check(case);
    check(Case { periodic: true, ..case });
}

#[test]
#[ignore = "needs two GPUs: cargo test --test gpu -- --ignored bands"]
fn a_rank_that_gives_up_stops_the_other() {
    for way in [Way::Memory, Way::Nccl] {
        gives_up(&Gpus::open(&[0, 1]).unwrap().with_way(way));
    }
}

fn gives_up(gpus: &Gpus) {
    let bands = Bands::new(64, 2, false).unwrap();

    let result = gpus.run(&bands, |rank, backend| {
        let x = backend.zeros::<f64>(1000)?;
        for turn in 0.. {
            if rank == 1 && turn == 100 {
                return Err(DeviceError::NoGpu);
            }
            let _ = backend.dots([(&x, &x)])?;
        }
        Ok(())
    });

    assert_eq!(result, Err(DeviceError::NoGpu));
    // The GPUs can be used again.
    let sums = gpus.run(&bands, |_, backend| backend.max_abs(&backend.zeros::<f64>(9)?));
    assert_eq!(sums, Ok(vec![0.0, 0.0]));
}

#[test]
#[ignore = "needs two GPUs: cargo test --test gpu -- --ignored bands"]
fn a_rank_that_goes_silent_is_named() {
    let (patience, bands) = (Duration::from_secs(1), Bands::new(64, 2, false).unwrap());
    for way in [Way::Memory, Way::Nccl, Way::Host] {
        let gpus = Gpus::open(&[0, 1]).unwrap().with_way(way).with_patience(patience);

        let result = gpus.run(&bands, |rank, backend| {
            let x = backend.zeros::<f64>(1000)?;
            let _ = backend.dots([(&x, &x)])?;
            if rank == 1 {
                std::thread::sleep(2 * patience);
                return Ok(());
            }
            backend.dots([(&x, &x)]).map(drop)
        });

        let silent = DeviceError::Silent { rank: 0, other: Some(1), waited: patience };
        assert_eq!(result, Err(silent), "{way:?}");
        // The GPUs can be used again.
        let sums = gpus.run(&bands, |_, backend| backend.max_abs(&backend.zeros::<f64>(9)?));
        assert_eq!(sums, Ok(vec![0.0, 0.0]), "{way:?}");
    }
}

#[test]
#[ignore = "needs two GPUs: cargo test --test gpu -- --ignored bands"]
fn runs_side_by_side_on_two_gpus_end() {
    let bands = Bands::new(64, 2, false).unwrap();
    let run = || {
        let gpus = Gpus::open(&[0, 1]).unwrap().with_patience(Duration::from_secs(20));
        gpus.run(&bands, |_, backend| {
            let x = backend.zeros::<f64>(100_000)?;
            (0..200).try_for_each(|_| backend.dots([(&x, &x)]).map(drop))
        })
    };

    let results: Vec<_> = std::thread::scope(|scope| {
        let runs: Vec<_> = (0..4).map(|_| scope.spawn(run)).collect();
        runs.into_iter().map(|run| run.join().unwrap()).collect()
    });

    assert!(results.iter().all(|result| *result == Ok::<_, DeviceError>(vec![(), ()])));
}

/// More lines than blocks are at work at a time, each of which waits for its counterpart.
#[test]
#[ignore = "needs two GPUs: cargo test --test gpu -- --ignored bands"]
fn thousands_of_lines_cross_the_border_of_two_gpus() {
    let data = ellipses(129, 16_001);
    let bands = Bands::new(data.mi, 2, data.periodic).unwrap();
    let gpus = Gpus::open(&[0, 1]).unwrap().with_patience(Duration::from_secs(20));

    let residuals = gpus.run(&bands, |rank, backend| {
        let (mut problem, mut u) =
            GridProblem::<_, f64>::from_data(backend, &bands.part(rank, &data))?;
        let settings = MultigridSettings::default();
        let preconditioner = GridPreconditioner::new(Kind::Multigrid, settings, problem.size());
        let linear = LinearSettings { method: Method::Bicgstab, max_iterations: 20, restart: 30 };
        let mut linear = LinearSolver::new(linear, problem.unknowns(), preconditioner);
        let newton = NewtonSettings { tolerance: 1e-10, ..NEWTON };
        let newton = NewtonSettings { max_iterations: 2, ..newton };
        let report = solve(backend, &mut problem, &mut linear, &mut u, &newton, &mut ())?;
        Ok::<_, SolverError>(report.history.steps.last().map(|step| step.residual.to_bits()))
    });

    let residuals = residuals.unwrap();
    assert_eq!(residuals[0], residuals[1]);
}
