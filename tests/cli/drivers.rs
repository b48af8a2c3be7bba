//! Drivers that cannot be used: too old, in conflict with the system, or missing.

use std::fs;
use std::process::{Command, Stdio};

use super::{COARSE, Finished, NO_PICTURES, SMALLEST, Scratch};

/// The functions of a driver and of NVRTC that gridgen calls before it opens a GPU.
const LIBRARIES: &str = r#"
extern "C" {
#ifndef FOREIGN
int cuDriverGetVersion(int *version) { *version = VERSION; return 0; }
#endif
int cuInit(unsigned) { return INIT; }
int cuGetErrorString(int, const char **text) { *text = "what the driver says"; return 0; }
#ifndef LACKING
int cuGraphInstantiateWithFlags(void **, void *, unsigned long long) { return INIT; }
#endif
int nvrtcVersion(int *major, int *minor) { *major = 13; *minor = 0; return 0; }
}
"#;

const LARGE: [&str; 8] = [
    "--set",
    "grid.ni=513",
    "--set",
    "grid.nj=405",
    "--set",
    "newton.max_iterations=1",
    "--set",
    "output.report=false",
];

/// A folder with a case, and a driver and an NVRTC compiled with these definitions.
fn machine(definitions: &[&str]) -> Scratch {
    let scratch =
        Scratch::with(&[("wing.toml", SMALLEST.as_bytes()), ("stub.cpp", LIBRARIES.as_bytes())]);
    let library = scratch.path("libcuda.so");
    let compiled = Command::new("c++")
        .args(["-shared", "-fPIC", "-o"])
        .args([&library, &scratch.path("stub.cpp")])
        .args(definitions.iter().map(|definition| format!("-D{definition}")))
        .stderr(Stdio::inherit())
        .status();
    assert!(compiled.unwrap().success());
    fs::copy(library, scratch.path("libnvrtc.so")).unwrap();
    scratch
}

/// Runs gridgen in the folder of [`machine`] with its libraries.
fn run(machine: &Scratch, arguments: &[&str]) -> Finished {
    let mut command = machine.gridgen();
    command.env("LD_LIBRARY_PATH", machine.path("")).args(arguments);
    Finished::from(command.output().unwrap())
}

/// Asserts that the driver made with these definitions is refused with this message if a GPU is requested,
/// that the CPU is used if the choice is automatic, and that the libraries are still listed.
#[track_caller]
fn is_refused(definitions: &[&str], message: &str, hint: &str) {
    let machine = &machine(definitions);
    let case = [&["wing.toml"], &COARSE[..], &NO_PICTURES].concat();
    // The grid is large enough for a GPU; a single step suffices.
    let large = [&["wing.toml"], &LARGE[..], &NO_PICTURES].concat();

    let asked_for = run(machine, &[&case[..], &["--backend", "cuda"]].concat());
    let left_nothing = !machine.path("output").exists();
    let left_open = run(machine, &[&large[..], &["--backend", "auto"]].concat());
    let listed = run(machine, &["devices"]);

    assert_eq!((asked_for.code, asked_for.stdout.as_str()), (3, ""), "{asked_for:?}");
    assert!(asked_for.stderr.contains(message), "{asked_for:?}");
    assert!(asked_for.stderr.contains(hint), "{asked_for:?}");
    assert!(left_nothing, "files of a run that was refused");
    assert_eq!(left_open.code, 1, "{left_open:?}");
    assert!(left_open.stderr.contains("the limit of 1 Newton step was reached"), "{left_open:?}");
    assert!(left_open.stderr.contains("running on the CPU: "), "{left_open:?}");
    assert!(left_open.stderr.contains(message), "{left_open:?}");
    assert_eq!(listed.code, 0, "{listed:?}");
    assert!(listed.stdout.contains("NVRTC     CUDA 13.0"), "{listed:?}");
}

#[test]
fn a_driver_older_than_the_compiler_is_refused() {
    is_refused(
        &["VERSION=12080", "INIT=0"],
        "the NVIDIA driver is for CUDA 12.8, older than NVRTC 13.0",
        "install a newer driver, or an NVRTC of the driver's CUDA version",
    );
}

#[test]
fn a_driver_that_is_too_old_for_any_compiler_is_refused() {
    is_refused(
        &["VERSION=10020", "INIT=0", "LACKING"],
        "the NVIDIA driver is for CUDA 10.2: gridgen needs one for 11.7 or newer",
        "install a newer driver",
    );
}

#[test]
fn a_driver_without_a_required_function_is_refused_at_any_version() {
    is_refused(
        &["VERSION=13000", "INIT=0", "LACKING"],
        "the NVIDIA driver has no cuGraphInstantiateWithFlags",
        "install a newer driver",
    );
}

#[test]
fn a_driver_at_odds_with_the_system_is_refused() {
    // CUDA_ERROR_SYSTEM_DRIVER_MISMATCH.
    is_refused(
        &["VERSION=13000", "INIT=803"],
        "the NVIDIA driver does not start: what the driver says",
        "restart the machine",
    );
}

#[test]
fn a_driver_that_does_not_start_is_refused_with_its_reason() {
    // CUDA_ERROR_UNKNOWN.
    is_refused(&["VERSION=13000", "INIT=999"], "what the driver says", "dmesg");
}

#[test]
fn a_driver_without_gpu_is_refused() {
    // CUDA_ERROR_NO_DEVICE.
    is_refused(
        &["VERSION=13000", "INIT=100"],
        "the NVIDIA driver finds no GPU",
        "--backend cpu needs none",
    );
}

#[test]
fn another_library_of_the_drivers_name_is_no_driver() {
    is_refused(&["FOREIGN", "INIT=0"], "no NVIDIA driver was found", "install NVIDIA's driver");
}

/// The driver's functions are looked up one by one, by a crate that panics if one is missing.
#[test]
fn a_panic_while_a_gpu_is_opened_is_told_as_what_it_is() {
    let machine = &machine(&["VERSION=13000", "INIT=0"]);
    let case = [&["wing.toml"], &COARSE[..], &NO_PICTURES].concat();
    let system = "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 2.0\n";
    fs::write(machine.path("A.mtx"), system).unwrap();

    for arguments in [case.as_slice(), &["solve", "A.mtx"]] {
        let refused = run(machine, &[arguments, &["--backend", "cuda"]].concat());

        assert_eq!((refused.code, refused.stdout.as_str()), (3, ""), "{refused:?}");
        let error = refused.stderr.lines().find(|line| line.starts_with("error: ")).unwrap();
        let told = "error: opening the device ended in a panic: ";
        assert!(error.starts_with(told) && error.contains("cuDeviceGetCount"), "{refused:?}");
        assert!(refused.stderr.contains("hint: this is a fault of gridgen"), "{refused:?}");
    }
}
