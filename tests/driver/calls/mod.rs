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
use std::sync::Arc;

use gridgen::backend::DeviceError;
use gridgen::backend::cuda::device::{Granted, Request};
use gridgen::backend::cuda::driver::DriverDevice;
use gridgen::backend::cuda::launch::{KernelFile, Launch, LaunchShape};
use gridgen::backend::cuda::{Buffer, Device};

/// `CUDA_ERROR_OUT_OF_MEMORY`.
const OUT_OF_MEMORY: i32 = 2;

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

/// Declares functions of the stand-in libraries by their symbols.
macro_rules! foreign {
    ($($(#[$doc:meta])* $name:ident $symbol:literal ($($argument:ident: $type:ty),*) $(-> $result:ty)?;)*) => { $(
        $(#[$doc])*
        fn $name($($argument: $type),*) $(-> $result)? {
            type Foreign = unsafe extern "C" fn($($type),*) $(-> $result)?;
            // SAFETY: callers name what exists, and memory that outlives the call and its work.
            unsafe { function::<Foreign>($symbol)($($argument),*) }
        }
    )* };
}
use foreign;

foreign! {
    calls_of "stand_in_calls" (name: *const c_char) -> c_int;
    hold_by "stand_in_hold" (stream: u64, held: c_int);
    fail_by "stand_in_fail" (name: *const c_char, after: c_int, times: c_int, code: c_int);
}

/// Number of calls of a function, if it counts them.
fn calls(name: &str) -> c_int {
    calls_of(CString::new(name).unwrap().as_ptr())
}

/// Pauses or resumes the work of a stream; without a stream, of all side streams.
fn hold(stream: u64, held: bool) {
    hold_by(stream, held.into());
}

/// Lets calls of a function fail with `code`: after `after` calls, `times` times.
fn fail(name: &str, after: i32, times: i32, code: i32) {
    fail_by(CString::new(name).unwrap().as_ptr(), after, times, code);
}

/// The first GPU.
fn open() -> Arc<dyn Device> {
    Arc::new(DriverDevice::open(0, &[]).unwrap())
}

/// The first GPU if this process has the stand-in libraries, as [`with_stand_ins`].
fn opened() -> Option<Arc<dyn Device>> {
    with_stand_ins().map(|()| open())
}

/// The permission for calls of devices whose addresses and arguments are valid.
fn granted() -> Granted {
    // SAFETY: callers keep the requirements.
    unsafe { Granted::new() }
}

fn clear_by_kernel(device: &dyn Device, buffer: &Buffer<f64>) -> Result<(), DeviceError> {
    let half_words = 2 * buffer.len();
    let (kernel, shape) = ((KernelFile::Vector, "clear_words"), LaunchShape::threads(half_words));
    let launch = Launch::new::<f64>(kernel, shape, (half_words as u64, buffer.address()));
    device.ask(granted(), Request::Launch(launch))
}
