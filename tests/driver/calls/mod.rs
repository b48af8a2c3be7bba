//! What calls NVIDIA's driver and NCCL, on libraries that stand in for them. Each test is run again in a
//! process of its own, in which they are found.
#![cfg(all(feature = "cuda", target_os = "linux"))]

mod device;
mod gpus;
mod lent;
mod messages;

use std::ffi::CString;
use std::ffi::{c_char, c_int};
use std::process::Command;

use gridgen::backend::DeviceError;
use gridgen::backend::cuda::device::Granted;
use gridgen::backend::cuda::launch::{Kernel, LaunchShape, Source};
use gridgen::backend::cuda::{Buffer, Device};

/// Whether this process has no such libraries; the test that asks has been run in one that has them.
fn elsewhere() -> bool {
    if std::env::var_os("STAND_IN_KERNELS").is_some() {
        return false;
    }
    let thread = std::thread::current();
    let test = thread.name().unwrap();
    let cache = tempfile::tempdir().unwrap();
    let mut command = Command::new(std::env::current_exe().unwrap());
    support::stand_in::equip(command.args(["--exact", test, "--nocapture"]), cache.path());
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
    true
}

/// A function of the library.
#[allow(unsafe_code, reason = "foreign code is loaded")]
fn function<F: Copy>(name: &str) -> F {
    // SAFETY: the library was loaded before; callers name the type of the function.
    unsafe {
        let library = libloading::Library::new("libcuda.so").unwrap();
        let function = *library.get::<F>(name).unwrap();
        std::mem::forget(library);
        function
    }
}

/// How often a function was called, if it counts its calls.
#[allow(unsafe_code, reason = "foreign code is called")]
fn calls(name: &str) -> c_int {
    let name = CString::new(name).unwrap();
    // SAFETY: the name outlives the call.
    unsafe {
        function::<unsafe extern "C" fn(*const c_char) -> c_int>("stand_in_calls")(name.as_ptr())
    }
}

/// Lets the work of a stream wait, or go on; that of all side streams without one.
#[allow(unsafe_code, reason = "foreign code is called")]
fn hold(stream: u64, held: bool) {
    // SAFETY: a stream that is there, or none.
    unsafe { function::<unsafe extern "C" fn(u64, c_int)>("stand_in_hold")(stream, held.into()) };
}

/// For calls of devices whose addresses and arguments are right.
#[allow(unsafe_code, reason = "a device is asked directly")]
fn granted() -> Granted {
    // SAFETY: as required of callers.
    unsafe { Granted::new() }
}

/// Clears memory by a kernel.
fn clear_by_kernel(device: &dyn Device, buffer: &Buffer<f64>) -> Result<(), DeviceError> {
    let (half_words, at) = (2 * buffer.len() as u64, buffer.address());
    let kernel = Kernel::new::<f64>(Source::Vector, "clear_words");
    let shape = LaunchShape::threads(2 * buffer.len());
    device.launch(granted(), kernel, shape, &[half_words.into(), at.into()])
}

/// Lets calls of a function fail: after so many, so many times, with this code.
#[allow(unsafe_code, reason = "foreign code is called")]
fn fail(name: &str, after: i32, times: i32, code: i32) {
    type Fail = unsafe extern "C" fn(*const c_char, c_int, c_int, c_int);
    let name = CString::new(name).unwrap();
    // SAFETY: the name outlives the call.
    unsafe { function::<Fail>("stand_in_fail")(name.as_ptr(), after, times, code) };
}
