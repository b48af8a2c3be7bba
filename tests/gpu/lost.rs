//! A GPU that is lost during its work.
#![allow(unsafe_code, reason = "a device is lost by what safe code cannot do")]

use std::process::Command;
use std::sync::Arc;

use gridgen::backend::cuda::device::{Granted, Request};
use gridgen::backend::cuda::driver::DriverDevice;
use gridgen::backend::cuda::launch::{KernelFile, Launch, LaunchShape};
use gridgen::backend::cuda::{CudaBackend, Device};
use gridgen::backend::{Backend, DeviceError};
use support::gpus::square;

/// Marks the process that loses its GPU.
const OWN: &str = "GRIDGEN_TEST_LOSES_ITS_GPU";

/// This needs a separate process, since the driver gives up the context permanently.
#[test]
fn an_illegal_address_is_an_error_of_every_later_call() {
    if std::env::var_os(OWN).is_none() {
        let test = "lost::an_illegal_address_is_an_error_of_every_later_call";
        let mut own = Command::new(std::env::current_exe().unwrap());
        let output = own.args(["--exact", test, "--include-ignored"]).env(OWN, "1").output();
        let said = String::from_utf8(output.unwrap().stdout).unwrap();
        assert!(said.contains("1 passed"), "{said}");
        return;
    }
    let device = Arc::new(DriverDevice::open(0, &[]).unwrap());
    let backend = CudaBackend::new(device.clone()).unwrap();
    let mut x = backend.zeros::<f64>(1000).unwrap();
    backend.upload(&[1.0; 1000], &mut x).unwrap();
    assert!((square(&backend, &x).unwrap() - 1000.0).abs() < 1e-9);

    // z <- d o r where no memory is.
    let (kernel, shape) = ((KernelFile::Vector, "scale"), LaunchShape::elementwise(1000));
    let launch = Launch::new::<f64>(kernel, shape, [1000_u64, 4096, 4096, 4096]);
    // SAFETY: none; losing the device is the purpose of this test.
    let granted = unsafe { Granted::new() };
    let launched = device.ask(granted, Request::Launch(launch));
    let waited = launched.and_then(|()| device.synchronise());

    let said = waited.unwrap_err().to_string();
    assert!(said.contains("illegal memory access"), "{said}");
    for error in [
        square(&backend, &x).map(|_| ()).unwrap_err(),
        backend.zeros::<f64>(10).map(|_| ()).unwrap_err(),
        backend.download(&x, &mut [0.0; 1000]).unwrap_err(),
    ] {
        assert!(matches!(error, DeviceError::Call { .. }), "{error}");
        assert!(error.hint().unwrap().contains("--backend cpu"));
    }
    // Dropping these objects must neither hang nor fail.
}
