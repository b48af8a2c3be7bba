//! What the fingerprint of results has of the program.

#[allow(dead_code, reason = "its main is run before the build")]
#[path = "../../build.rs"]
mod build;

use std::fs;
use std::path::Path;

use build::digest;

/// The number that this build has is that of these sources.
#[test]
fn the_build_knows_its_sources() {
    let sources = digest(Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap();

    assert_eq!(format!("{sources:016x}"), env!("GRIDGEN_SOURCES"));
}

#[test]
fn what_a_result_may_depend_on_changes_the_number_and_nothing_else_does() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let file = |name: &str, text: &str| {
        write(name, text);
        digest(folder.path()).unwrap()
    };
    write("Cargo.lock", "nalgebra 1");
    write("src/cli.rs", "//! Messages.");
    write("src/pde/point.rs", "1.0");
    let before = file("kernels/elliptic.cu", "1.0f");

    for (name, text) in [
        ("src/cli.rs", "//! Other messages."),
        ("src/cli/table.rs", "//! A table."),
        ("bench/src/lib.rs", "//! A benchmark."),
        ("tests/pde.rs", "//! A test."),
        ("docs/theory.md", "# Theory"),
    ] {
        assert_eq!(file(name, text), before, "{name}");
    }
    let mut numbers = vec![before];
    for (name, text) in [
        ("src/pde/point.rs", "2.0"),
        ("src/pde/wall.rs", ""),
        ("kernels/elliptic.cu", "2.0f"),
        ("Cargo.lock", "nalgebra 2"),
        ("src/formats/su2.rs", "NDIME"),
    ] {
        numbers.push(file(name, text));
    }
    // A part that moves from one file to the next is a change, too.
    file("src/pde/point.rs", "2.");
    numbers.push(file("src/pde/wall.rs", "0"));
    let all = numbers.len();
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len(), all);
}
