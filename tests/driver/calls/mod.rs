//! What calls NVIDIA's driver and NCCL, on libraries that stand in for them. Each test is run again in a
//! process of its own, in which they are found.
#![cfg(all(feature = "cuda", target_os = "linux"))]

mod device;
mod gpus;
mod messages;

use std::ffi::CString;
use std::ffi::{c_char, c_int};
use std::process::Command;

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

/// Lets calls of a function fail: after so many, so many times, with this code.
#[allow(unsafe_code, reason = "foreign code is called")]
fn fail(name: &str, after: i32, times: i32, code: i32) {
    type Fail = unsafe extern "C" fn(*const c_char, c_int, c_int, c_int);
    let name = CString::new(name).unwrap();
    // SAFETY: the name outlives the call.
    unsafe { function::<Fail>("stand_in_fail")(name.as_ptr(), after, times, code) };
}
