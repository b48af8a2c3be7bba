//! The fuzzer of the target after which the program is named.
#![no_main]

#[path = "targets.rs"]
mod targets;

/// The repository, relative to this package's folder.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Name of the target, and the folder of its inputs in cargo-fuzz.
const NAME: &str = env!("CARGO_BIN_NAME");
const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/corpus/", env!("CARGO_BIN_NAME"));

libfuzzer_sys::fuzz_target!(
    init: {
        // The initial inputs are added to those found in earlier runs.
        let planted = targets::plant(NAME, std::path::Path::new(CORPUS));
        planted.unwrap_or_else(|error| eprintln!("{CORPUS}: {error}"));
    },
    |bytes: &[u8]| targets::run(NAME, bytes)
);
