//! Calls of NVIDIA's driver and of NCCL, on stand-in libraries. Each test is run again in a separate process
//! that finds these libraries.
#![cfg(all(feature = "cuda", target_os = "linux"))]
#![allow(unsafe_code, reason = "foreign code is loaded and called")]

mod device;
mod gpus;
mod lent;
mod messages;

use std::ffi::{CString, c_char, c_int};
use std::process::Command;

use gridgen::backend::DeviceError;
use gridgen::backend::cuda::device::{Granted, Request};
use gridgen::backend::cuda::launch::{DeviceKernel, KernelFile, Launch, LaunchShape};
use gridgen::backend::cuda::{Buffer, Device};

/// Nothing if this process does not have the stand-in libraries; then the calling test has been run in a process that has
/// them.
fn with_stand_ins() -> Option<()> {
    if std::env::var_os("STAND_IN_KERNELS").is_some() {
        return Some(());
    }
    let thread = std::thread::current();
    let test = thread.name().unwrap();
    let cache = tempfile::tempdir().unwrap();
    let mut command = Command::new(std::env::current_exe().unwrap());
    support::stand_in::equip(command.args(["--exact", test, "--nocapture"]), cache.path());
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
    None
}

fn function<F: Copy>(name: &str) -> F {
    // SAFETY: the library is loaded already; callers give the type of the function.
    unsafe {
        let library = libloading::Library::new("libcuda.so").unwrap();
        let function = *library.get::<F>(name).unwrap();
        std::mem::forget(library);
        function
    }
}

/// Number of calls of a function, if it counts them.
fn calls(name: &str) -> c_int {
    let name = CString::new(name).unwrap();
    // SAFETY: the name outlives the call.
    unsafe {
        function::<unsafe extern "C" fn(*const c_char) -> c_int>("stand_in_calls")(name.as_ptr())
    }
}

/// Pauses or resumes the work of a stream; without a stream, of all side streams.
fn hold(stream: u64, held: bool) {
    // SAFETY: the stream exists or is null.
    unsafe { function::<unsafe extern "C" fn(u64, c_int)>("stand_in_hold")(stream, held.into()) };
}

/// The permission for calls of devices whose addresses and arguments are valid.
fn granted() -> Granted {
    // SAFETY: callers keep the requirements.
    unsafe { Granted::new() }
}

fn clear_by_kernel(device: &dyn Device, buffer: &Buffer<f64>) -> Result<(), DeviceError> {
    let (half_words, at) = (2 * buffer.len() as u64, buffer.address());
    let kernel = DeviceKernel::new::<f64>(KernelFile::Vector, "clear_words");
    let shape = LaunchShape::threads(2 * buffer.len());
    let arguments = vec![half_words.into(), at.into()];
    device.ask(granted(), Request::Launch(Launch { kernel, shape, arguments }))
}

/// Lets calls of a function fail with `code`: after `after` calls, `times` times.
fn fail(name: &str, after: i32, times: i32, code: i32) {
    type Fail = unsafe extern "C" fn(*const c_char, c_int, c_int, c_int);
    let name = CString::new(name).unwrap();
    // SAFETY: the name outlives the call.
    unsafe { function::<Fail>("stand_in_fail")(name.as_ptr(), after, times, code) };
}
