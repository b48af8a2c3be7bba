//! A rank that fails stops all others.
#![allow(clippy::unwrap_used, reason = "a failing step fails the test")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use gridgen::backend::DeviceError;
use gridgen::backend::cuda::{Alarm, Device, run_ranks};
use gridgen::pde::control::Wall;
use gridgen::solver::SolverError;
use gridgen::solver::krylov::Method;
use gridgen::solver::precond::Kind;

use crate::cases::Case;
use crate::fibers::{FiberDevice, Messages, lost, mortal};

#[test]
fn a_lost_device_stops_all_with_its_own_message() {
    let case = Case {
        periodic: false,
        nodes: (65, 17),
        wall: Wall::Frozen,
        kind: Kind::Jacobi,
        method: Method::Bicgstab,
    };
    // At the start, within the linear solve, and later.
    for (launches, messages) in [
        (0, Messages::Memory),
        (5, Messages::Memory),
        (100, Messages::Host),
        (400, Messages::Memory),
    ] {
        let devices: [Arc<dyn Device>; 3] =
            [Arc::new(FiberDevice::default()), mortal(launches), Arc::new(FiberDevice::default())];
        let started = Instant::now();

        let result = case.on_devices(&devices, messages).map(|_| ());

        assert_eq!(result, Err(SolverError::Device(lost())), "after {launches} launches");
        assert!(started.elapsed() < Duration::from_secs(30), "after {launches} launches");
    }
}

#[test]
fn a_rank_that_gives_up_raises_the_alarm() {
    let alarm = Arc::new(Alarm::default());

    let result = run_ranks(2, &alarm, |rank| match rank {
        0 => Err(lost()),
        _ => loop {
            alarm.check()?;
            std::thread::yield_now();
        },
    });

    assert_eq!(result, Err::<Vec<()>, _>(lost()));
}

#[test]
#[should_panic(expected = "a rank panics")]
fn a_panic_of_a_rank_is_not_swallowed() {
    let alarm = Arc::new(Alarm::default());

    let _: Result<Vec<()>, DeviceError> = run_ranks(2, &alarm, |rank| match rank {
        0 => panic!("a rank panics"),
        _ => loop {
            alarm.check()?;
            std::thread::yield_now();
        },
    });
}
