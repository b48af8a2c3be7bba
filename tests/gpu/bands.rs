//! Bands on the first two GPUs.

use std::time::Duration;

use gridgen::backend::cuda::{Gpus, Transport};
use gridgen::backend::{Backend, Bands, DeviceError};
use gridgen::pde::control::Wall;
use gridgen::solver::krylov::Method;
use gridgen::solver::precond::Kind;

use crate::cases::{self, Case};

const JACOBI: Case = Case {
    periodic: false,
    nodes: (257, 65),
    wall: Wall::Frozen,
    kind: Kind::Jacobi,
    method: Method::Bicgstab,
};
use support::gpus::{a_silent_rank_is_named, square};
use support::jobs::side_by_side;

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
        for transport in [Transport::PeerMemory, Transport::Nccl] {
            // Some coarse levels are distributed in bands, too.
            let mut gpus = Gpus::open(&[0, 1]).unwrap();
            (gpus.transport, gpus.gathered_points) = (transport, Some(1000));
            let found = case.on_ranks(2, |bands, work| gpus.run(bands, work)).unwrap();

            let _ = cases::check(case, &expected, &found, &format!("{transport:?}"));
        }
    }
}

#[test]
#[ignore = "needs two GPUs: cargo test --features gpu-tests --test gpu -- --include-ignored"]
fn a_rank_that_aborts_stops_the_other() {
    for transport in [Transport::PeerMemory, Transport::Nccl] {
        let mut gpus = Gpus::open(&[0, 1]).unwrap();
        gpus.transport = transport;
        let bands = Bands::new(64, 2, false).unwrap();

        let result = gpus.run(&bands, |rank, backend| {
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
        // The GPUs can be used again.
        let sums = gpus.run(&bands, |_, backend| backend.max_abs(&backend.zeros::<f64>(9)?));
        assert_eq!(sums, Ok(vec![0.0, 0.0]));
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
    let bands = Bands::new(64, 2, false).unwrap();
    let run = |_| {
        let mut gpus = Gpus::open(&[0, 1]).unwrap();
        gpus.timeout = Duration::from_secs(20);
        gpus.run(&bands, |_, backend| {
            let x = backend.zeros::<f64>(100_000)?;
            (0..200).try_for_each(|_| square(backend, &x).map(drop))
        })
    };

    let results = side_by_side(0..4, run);

    assert!(results.iter().all(|result| *result == Ok::<_, DeviceError>(vec![(), ()])));
}
