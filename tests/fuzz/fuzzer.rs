//! The fuzzer of the target that the program is named for.
#![no_main]

#[path = "targets.rs"]
mod targets;

/// The repository, from this package's folder.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Name of the target, and where cargo-fuzz keeps its inputs.
const NAME: &str = env!("CARGO_BIN_NAME");
const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/corpus/", env!("CARGO_BIN_NAME"));

libfuzzer_sys::fuzz_target!(
    init: {
        // The files to start from join what earlier runs found.
        let planted = targets::plant(NAME, std::path::Path::new(CORPUS));
        planted.unwrap_or_else(|error| eprintln!("{CORPUS}: {error}"));
    },
    |bytes: &[u8]| targets::run(NAME, bytes)
);
