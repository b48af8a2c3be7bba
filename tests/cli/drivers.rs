//! Drivers that cannot be used: too old, in conflict with the system, or missing.

use std::fs;
use std::process::{Command, Stdio};

use super::{Finished, SMALLEST, Scratch};

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

/// A grid that is large enough for a GPU, with a single step.
const LARGE: &str = "wing.toml --topology O --set grid.ni=513 --set grid.nj=405 --set newton.max_iterations=1 \
                     --set output.report=false --set output.pictures=false";
const SMALL: &str = "wing.toml --set grid.ni=65 --set grid.nj=33 --set output.pictures=false";

/// A folder with a case, and a driver and an NVRTC compiled with these definitions.
fn machine(definitions: &[&str]) -> Scratch {
    let system = "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 2.0\n";
    let scratch =
        Scratch::with(&[("wing.toml", &SMALLEST), ("stub.cpp", &LIBRARIES), ("A.mtx", &system)]);
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
fn run(machine: &Scratch, arguments: &str) -> Finished {
    Finished::from(machine.command(arguments).env("LD_LIBRARY_PATH", machine.path("")))
}

/// A driver made with these definitions is refused with this message if a GPU is requested; if the choice is automatic,
/// the CPU takes its place. The libraries are still listed.
#[test]
fn drivers_that_cannot_be_used_are_refused_with_their_reason() {
    for (definitions, message, hint) in [
        (
            &["VERSION=12080", "INIT=0"][..],
            "the NVIDIA driver is for CUDA 12.8, older than NVRTC 13.0",
            "install a newer driver, or an NVRTC of the driver's CUDA version",
        ),
        (
            &["VERSION=10020", "INIT=0", "LACKING"],
            "the NVIDIA driver is for CUDA 10.2: gridgen needs one for 11.7 or newer",
            "install a newer driver",
        ),
        (
            &["VERSION=13000", "INIT=0", "LACKING"],
            "the NVIDIA driver has no cuGraphInstantiateWithFlags",
            "install a newer driver",
        ),
        // CUDA_ERROR_SYSTEM_DRIVER_MISMATCH.
        (
            &["VERSION=13000", "INIT=803"],
            "the NVIDIA driver does not start: what the driver says",
            "restart the machine",
        ),
        // CUDA_ERROR_UNKNOWN.
        (&["VERSION=13000", "INIT=999"], "what the driver says", "dmesg"),
        // CUDA_ERROR_NO_DEVICE.
        (
            &["VERSION=13000", "INIT=100"],
            "the NVIDIA driver finds no GPU",
            "--backend cpu needs none",
        ),
        // Another library of the driver's name.
        (&["FOREIGN", "INIT=0"], "no NVIDIA driver was found", "install NVIDIA's driver"),
    ] {
        let machine = &machine(definitions);

        let asked_for = run(machine, &format!("{SMALL} --backend cuda"));
        asked_for.fails(3, message);
        asked_for.fails(3, hint);
        assert!(!machine.path("output").exists(), "files of a run that was refused");
        let note = run(machine, "solve A.mtx --backend auto");
        assert!(note.stderr.starts_with("note: running on the CPU: "), "{note:?}");
        note.succeeds_with(message);
        let listed = run(machine, "devices").succeeds();
        assert!(listed.contains("NVRTC     CUDA 13.0"), "{listed}");
    }
}

#[test]
fn a_large_grid_is_made_on_the_cpu_where_the_driver_cannot_be_used() {
    let solved = run(&machine(&["VERSION=13000", "INIT=803"]), &format!("{LARGE} --backend auto"));

    let reason = "note: running on the CPU: the NVIDIA driver does not start";
    for part in ["the limit of 1 Newton step was reached", reason] {
        solved.fails(1, part);
    }
}

/// The driver's functions are looked up one by one, by a crate that panics if one is missing.
#[test]
fn a_panic_while_a_gpu_is_opened_is_told_as_what_it_is() {
    let machine = &machine(&["VERSION=13000", "INIT=0"]);

    for arguments in [SMALL, "solve A.mtx"] {
        let refused = run(machine, &format!("{arguments} --backend cuda"));

        refused.fails(3, "hint: this is a fault of gridgen");
        let error = refused.stderr.lines().find(|line| line.starts_with("error: ")).unwrap();
        let told = "error: opening the device ended in a panic: ";
        assert!(error.starts_with(told) && error.contains("cuDeviceGetCount"), "{refused:?}");
    }
}
