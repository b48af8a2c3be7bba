//! The parts of the program and of the case that the fingerprint of results covers.

#[allow(dead_code, reason = "its main is run before the build")]
#[path = "../../build.rs"]
mod build;

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use build::digest;
use gridgen::internals::digest;
use gridgen::internals::generate::fingerprint;
use support::cases::case;

#[test]
fn the_build_knows_its_sources() {
    let sources = digest(Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap();

    assert_eq!(format!("{sources:016x}"), env!("GRIDGEN_SOURCES"));
}

#[test]
fn inputs_of_a_result_and_nothing_else_change_the_fingerprint() {
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
    let mut numbers = HashSet::from([before]);
    for (name, text) in [
        ("src/pde/point.rs", "2.0"),
        ("src/pde/wall.rs", ""),
        ("kernels/elliptic.cu", "2.0f"),
        ("Cargo.lock", "nalgebra 2"),
        ("src/formats/su2.rs", "NDIME"),
    ] {
        assert!(numbers.insert(file(name, text)), "{name}");
    }
    // Moving a part from one file to the next is a change, too.
    file("src/pde/point.rs", "2.");
    assert!(numbers.insert(file("src/pde/wall.rs", "0")));
}

#[test]
fn digests_agree_with_the_draft() {
    // Appendix C of the draft gives the 64-bit FNV-1a of "", "a" and "foobar".
    assert_eq!(digest::of(b""), 0xcbf2_9ce4_8422_2325);
    assert_eq!(digest::of(b"a"), 0xaf63_dc4c_8601_ec8c);
    assert_eq!(digest::of(b"foobar"), 0x8594_4171_f739_67e8);
}

#[test]
fn every_key_is_part_of_the_fingerprint() {
    let print = |more: &str| {
        let case = case(&["geometry.naca = '2412'\ngrid.ni = 65\ngrid.nj = 33\n", more].concat());
        fingerprint(case.settle().unwrap().case).unwrap()
    };
    let base = print("");

    assert_eq!(print("grid.far_field = 15.0\n"), base, "a default that is given");
    for other in [
        "grid.far_field = 15.1\n",
        "newton.tolerance = 1e-9\n",
        "linear.precision = 'double'\n",
        "output.formats = ['vts']\n",
        "quality.max_skewness = 0.95\n",
        "geometry.chord = 2.0\n",
        "name = 'other'\n",
    ] {
        assert_ne!(print(other), base, "{other}");
    }
}
