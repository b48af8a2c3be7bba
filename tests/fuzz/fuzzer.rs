//! The fuzzer of the target that the program is named for.
#![no_main]

#[path = "targets.rs"]
mod targets;

/// The repository, from this package's folder.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| targets::run(env!("CARGO_BIN_NAME"), bytes));
