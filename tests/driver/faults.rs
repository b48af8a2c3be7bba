//! A device that is lost at each single call of a whole run.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::echo::{Answers, Echo, Listening};
use gridgen::backend::DeviceError;
use gridgen::backend::cuda::{
    CudaBackend, Device, MemoryEstimate, PreconditionerStorage, WatchedDevice,
};
use gridgen::error::{Error, ErrorClass};
use gridgen::generate::{GridResult, Machine, RunOptions};
use gridgen::internals::generate::run_on;
use support::cases::with;
use support::fibers::FiberDevice;
use support::names_in;

/// A small grid whose march does not fold: the march along normals that would take its place needs no device, and is
/// repeated for each call.
const SMALL: [(&str, &str); 6] = [
    ("grid.topology", "O"),
    ("grid.ni", "17"),
    ("grid.nj", "9"),
    ("grid.first_cell", "3e-2"),
    ("grid.far_field", "5"),
    ("output.pictures", "false"),
];

fn run(device: Arc<dyn Device>, sets: &[(&str, &str)], output: &Path) -> Result<GridResult, Error> {
    let case = with("geometry.naca = '2412'", sets);
    let backend = CudaBackend::new(device)?;
    let options = RunOptions::new(output.to_path_buf());
    let made = run_on(Machine::Cuda(Box::new(backend)), &case.into(), &options, &mut ())?;
    Ok(made.into_section())
}

/// Whichever call of a solve with multigrid or with incomplete factors fails, the run ends with the device's error.
#[test]
fn a_device_lost_at_any_call_is_an_error_and_leaves_no_file() {
    for preconditioner in ["multigrid", "dilu"] {
        let sets = [&SMALL[..], &[("linear.preconditioner", preconditioner)]].concat();
        let listening = Listening::default();
        let answers: Answers = listening.answers.clone();
        let folder = tempfile::tempdir().unwrap();
        let device = WatchedDevice::new(Arc::new(FiberDevice::default()), listening);
        let whole = run(Arc::new(device), &sets, folder.path()).unwrap();
        assert!(whole.converged(), "{}", whole.stop);
        let never = Echo::new(&answers, usize::MAX);
        let calls = never.calls.clone();
        let folder = tempfile::tempdir().unwrap();
        let repeated = run(Arc::new(never), &sets, folder.path()).unwrap();
        assert_eq!(repeated.residual().to_bits(), whole.residual().to_bits());
        assert!(names_in(&folder).contains(&"mesh.vts".to_owned()));
        let calls = calls.load(Ordering::Relaxed);
        assert!(calls > 250, "{calls}");

        let folder = tempfile::tempdir().unwrap();
        for lost_at in 0..calls {
            let device = Arc::new(Echo::new(&answers, lost_at));

            let error = run(device, &sets, folder.path()).unwrap_err();

            let at = format!("{preconditioner}, lost at call {lost_at} of {calls}: {error}");
            assert!(matches!(error, Error::Device(DeviceError::Call { .. })), "{at}");
            assert_eq!(error.class(), ErrorClass::Device);
            assert!(error.to_string().contains("the device is lost"), "{at}");
            assert!(error.hint().is_some());
            assert_eq!(names_in(&folder), [""; 0], "{at}");
        }
    }
}

#[test]
fn a_case_that_does_not_fit_is_refused_with_what_it_needs_and_what_there_is() {
    let folder = tempfile::tempdir().unwrap();
    let sets = [("grid.ni", "4097"), ("grid.nj", "2049")];

    let mut small = Echo::new(&Answers::default(), usize::MAX);
    small.free = Some(1 << 30);
    let calls = small.calls.clone();
    let error = run(Arc::new(small), &sets, folder.path()).unwrap_err();

    // It is refused before memory for the grid is asked for.
    assert!(calls.load(Ordering::Relaxed) < 20, "{calls:?}");
    let said = error.to_string();
    assert!(said.contains("an echo has no room") && said.contains("1.0 GiB free"), "{said}");
    assert_eq!((error.class(), names_in(&folder)), (ErrorClass::Device, Vec::new()));
}

#[test]
fn a_hundred_million_points_fit_one_large_gpu_and_a_thousand_million_do_not() {
    let preconditioner = PreconditionerStorage::Hierarchy;
    let estimate = |points| MemoryEstimate { points, columns: 1 << 14, value: 4, preconditioner };
    let gib = |points| estimate(points).bytes() >> 30;

    assert!(gib(100_000_000) < 60, "{}", gib(100_000_000));
    assert!(gib(1_000_000_000) > 141, "{}", gib(1_000_000_000));
}
