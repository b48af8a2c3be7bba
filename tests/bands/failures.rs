//! A rank that fails stops all others.
#![allow(clippy::unwrap_used, reason = "a failing step fails the test")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use gridgen::backend::DeviceError;
use gridgen::backend::cuda::device::{Address, Recording};
use gridgen::backend::cuda::kernel::{Argument, Kernel, Shape};
use gridgen::backend::cuda::{Alarm, Device, run_ranks};
use gridgen::pde::control::Wall;
use gridgen::solver::SolverError;
use gridgen::solver::krylov::Method;
use gridgen::solver::precond::Kind;

use crate::cases::Case;
use crate::fibers::FiberDevice;

/// A device that is lost after so many launches.
struct Mortal {
    device: FiberDevice,
    left: AtomicUsize,
}

fn lost() -> DeviceError {
    DeviceError::Call {
        device: "GPU 1".to_owned(),
        operation: "launching a kernel",
        reason: "the device is lost".to_owned(),
    }
}

impl Device for Mortal {
    fn name(&self) -> &'static str {
        "mortal"
    }

    fn allocate(&self, bytes: usize) -> Result<Address, DeviceError> {
        self.device.allocate(bytes)
    }

    fn free(&self, at: Address) {
        self.device.free(at);
    }

    fn clear(&self, at: Address, bytes: usize) -> Result<(), DeviceError> {
        self.device.clear(at, bytes)
    }

    fn upload(&self, from: &[u8], to: Address) -> Result<(), DeviceError> {
        self.device.upload(from, to)
    }

    fn download(&self, from: Address, to: &mut [u8]) -> Result<(), DeviceError> {
        self.device.download(from, to)
    }

    fn copy(&self, from: Address, to: Address, bytes: usize) -> Result<(), DeviceError> {
        self.device.copy(from, to, bytes)
    }

    fn launch(
        &self,
        kernel: Kernel,
        shape: Shape,
        arguments: &[Argument],
    ) -> Result<(), DeviceError> {
        let left =
            self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |k| k.checked_sub(1));
        left.map_err(|_| lost())?;
        self.device.launch(kernel, shape, arguments)
    }

    fn record(
        &self,
        work: &mut dyn FnMut() -> Result<(), DeviceError>,
    ) -> Result<Recording, DeviceError> {
        self.device.record(work)
    }

    fn replay(&self, recording: &Recording) -> Result<(), DeviceError> {
        self.device.replay(recording)
    }
}

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
    for launches in [0, 5, 100, 400] {
        let mortal = Mortal { device: FiberDevice::default(), left: launches.into() };
        let devices: [Arc<dyn Device>; 3] =
            [Arc::new(FiberDevice::default()), Arc::new(mortal), Arc::new(FiberDevice::default())];
        let started = Instant::now();

        let result = case.on_devices(&devices).map(|_| ());

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
