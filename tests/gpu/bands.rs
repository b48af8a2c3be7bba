//! Bands on the first two GPUs.

use std::time::Duration;

use gridgen::backend::{Backend, DeviceError};
use gridgen::pde::control::Wall;
use gridgen::solver::krylov::Method;
use gridgen::solver::precond::Kind;

use crate::cases::{self, Case};

use support::gpus::{
    a_silent_rank_is_named, can_be_used, halves, runs_come_one_after_another, square, two_gpus,
};

const JACOBI: Case = Case { nodes: (257, 65), ..cases::JACOBI };

/// Two GPUs are compared with the CPU, for every transport.
#[test]
#[ignore = "needs two GPUs: cargo test --features gpu-tests --test gpu -- --include-ignored"]
fn grids_on_two_gpus() {
    let factors = Case { nodes: (129, 33), ..JACOBI };
    let multigrid = Case { kind: Kind::Multigrid, wall: Wall::Coupled, ..JACOBI };
    for case in [
        JACOBI,
        Case { periodic: true, ..JACOBI },
        Case { kind: Kind::Ilu0, method: Method::Gmres, ..factors },
        Case { kind: Kind::Dilu, periodic: true, ..factors },
        multigrid,
        Case { periodic: true, ..multigrid },
    ] {
        let expected = case.on_cpu();
        // By peer memory and by NCCL.
        for mut gpus in two_gpus().take(2) {
            // Some coarse levels are distributed in bands, too.
            gpus.gathered_points = Some(1000);
            let found = case.on_ranks(2, |bands, work| gpus.run(bands, work)).unwrap();

            let _ = cases::check(case, &expected, &found, &format!("{:?}", gpus.transport));
        }
    }
}

#[test]
#[ignore = "needs two GPUs: cargo test --features gpu-tests --test gpu -- --include-ignored"]
fn a_rank_that_aborts_stops_the_other() {
    for gpus in two_gpus() {
        let result = gpus.run(&halves(), |rank, backend| {
            let x = backend.zeros::<f64>(1000)?;
            for turn in 0.. {
                if rank == 1 && turn == 100 {
                    return Err(DeviceError::NoGpu);
                }
                square(backend, &x)?;
            }
            Ok(())
        });

        assert_eq!(result, Err(DeviceError::NoGpu));
        can_be_used(&gpus);
    }
}

#[test]
#[ignore = "needs two GPUs: cargo test --features gpu-tests --test gpu -- --include-ignored"]
fn a_rank_that_goes_silent_is_named() {
    a_silent_rank_is_named(Duration::from_secs(3));
}

#[test]
#[ignore = "needs two GPUs: cargo test --features gpu-tests --test gpu -- --include-ignored"]
fn runs_side_by_side_on_two_gpus_end() {
    runs_come_one_after_another(200, 100_000);
}
