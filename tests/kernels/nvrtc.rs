//! All kernels compile without a warning for current GPUs, those for lines into registers. Needs NVRTC, no GPU: `LD_LIBRARY_PATH=… cargo test
//! --test kernels nvrtc -- --ignored`, as `.ci/run` does.
#![cfg(feature = "cuda")]
#![allow(unsafe_code, reason = "NVRTC's interface is C")]

use std::ffi::{CStr, CString};

use cudarc::nvrtc::{result, sys};
use gridgen::backend::cuda::launch::{KernelFile, ModuleKey, Width};
use rayon::prelude::*;

/// A100, and B200 with the kernels of groups, whose text includes the others; H100 and H200 are in between.
const CAPABILITIES: [(bool, u32); 2] = [(false, 80), (true, 100)];

/// Most bytes that a thread of a kernel for lines loads back of values for which it had no register.
const MOST_SPILLED: u32 = 64;

/// Compiles a text; the error is the compiler's output, warnings included.
fn compile(text: &str, width: Width, capability: u32) -> Result<(), String> {
    // The front end alone warns, so that optimised code would only take time.
    let (compiled, log) = compiled(text, width, capability, &["--Ofast-compile=max"]);
    if compiled && log.is_empty() { Ok(()) } else { Err(log) }
}

/// Whether a text compiles, and the compiler's output. The options, but for these `more`, match those of the driver's
/// device.
fn compiled(text: &str, width: Width, capability: u32, more: &[&str]) -> (bool, String) {
    // SAFETY: only looks for the library.
    assert!(unsafe { sys::is_culib_present() }, "NVRTC is not in LD_LIBRARY_PATH");
    let program = result::create_program(&CString::new(text).unwrap(), None).unwrap();
    let options = [
        format!("--gpu-architecture=sm_{capability}"),
        format!("-DREAL={}", width.c_type()),
        "--std=c++17".to_owned(),
        "-default-device".to_owned(),
        "--minimal".to_owned(),
    ];
    let options: Vec<_> = options.into_iter().chain(more.iter().map(|&more| more.into())).collect();
    // SAFETY: the program is valid and is destroyed last.
    let (compiled, log) = unsafe {
        let compiled = result::compile_program(program, &options);
        let log = result::get_program_log(program).unwrap();
        result::destroy_program(program).unwrap();
        (compiled, log)
    };
    let log: Vec<u8> = log.iter().map(|c| c.to_ne_bytes()[0]).chain([0]).collect();
    let log = CStr::from_bytes_until_nul(&log).unwrap().to_string_lossy().trim().to_owned();
    (compiled.is_ok(), log)
}

#[test]
#[ignore = "needs NVRTC: see .ci/run"]
fn every_kernel_compiles_without_a_warning() {
    let all = CAPABILITIES.map(|(grouped, capability)| {
        ModuleKey::all(grouped).into_iter().map(move |key| (key, capability))
    });
    let all: Vec<_> = all.into_iter().flatten().collect();

    // NVRTC can compile on several threads at once.
    let warned = all.into_par_iter().with_max_len(1).filter_map(|(key, capability)| {
        let log = compile(&key.text(), key.width, capability).err()?;
        Some(format!("{key:?} sm_{capability}:\n{log}"))
    });

    let said: Vec<String> = warned.collect();
    assert!(said.is_empty(), "{}", said.join("\n"));
}

#[test]
#[ignore = "needs NVRTC: see .ci/run"]
fn a_warning_is_a_failure() {
    let text = "__global__ void kernel() { int unused; }";

    let said = compile(text, Width::Double, 90).unwrap_err();

    assert!(said.contains("warning"), "{said}");
}

/// Loads on their way together take registers. Where these run out, a half-sweep takes a tenth to a fifth longer.
#[test]
#[ignore = "needs NVRTC: see .ci/run"]
fn lines_keep_their_values_in_registers() {
    for source in [KernelFile::Lines, KernelFile::XiLines] {
        let key = ModuleKey { source, width: Width::Single, grouped: false };

        let (_, log) = compiled(&key.text(), key.width, 90, &["--ptxas-options=-v"]);

        let before = log.split(" bytes spill loads").map(|text| text.rsplit(' ').next());
        let spilled: Vec<u32> = before.filter_map(|count| count?.parse().ok()).collect();
        assert_eq!(spilled.len(), source.kernels().len(), "{log}");
        assert!(spilled.iter().all(|bytes| *bytes <= MOST_SPILLED), "{spilled:?}: {log}");
    }
}
