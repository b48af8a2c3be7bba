//! Meshes that exceed the numbers of a format or the space on the disk are refused before they are made.

use std::path::Path;

use gridgen::formats::{FORMATS, Format, Sides, Span};

/// The refusal of a mesh of `size` nodes in a plane and `cells` layers, or of a plane mesh.
fn refusal(format: &str, size: [usize; 2], cells: usize) -> String {
    let span = (cells > 0).then_some(Span { length: 1.0, cells, sides: Sides::Symmetry });
    let file = &Format::named(format).unwrap().files[0];
    file.check(Path::new("m"), &[size], span).err().map_or(String::new(), |error| error.to_string())
}

/// A layer of 2 × 1 cells has three faces across i, four across j and two across k; at the end there are two
/// more across k. A layer of (n − 1)² cells has 2 (n − 1)(2 n − 1) faces: 2 147 441 940 for n = 23 171. 2⁵⁰
/// nodes of three doubles each do not fit the disk.
#[test]
fn meshes_with_too_many_faces_or_bytes_are_refused_with_their_number() {
    let layers = 300_000_000_usize;
    let within = refusal("openfoam", [23171, 23171], 0);
    assert!(!within.contains("faces"), "{within}");
    for (format, size, cells, said) in [
        ("openfoam", [3, 2], layers, &*format!("{} faces, the format", 9 * layers + 2)),
        ("openfoam", [23172, 23172], 0, "2147627306 faces, the format numbers at most 2147483647"),
        ("vtk", [1 << 20, 1 << 10], (1 << 20) - 1, "24.0 PiB"),
    ] {
        let refused = refusal(format, size, cells);
        assert!(refused.starts_with(&format!("cannot write m: {said}")), "{refused}");
    }
}

#[test]
fn spans_that_no_format_can_hold_are_refused_without_a_panic() {
    for file in FORMATS.iter().flat_map(|format| format.files) {
        let refused = [2_000_000_000_000_000_000, usize::MAX - 1, 1 << 31].map(|cells| {
            let span = Span { length: 1.0, cells, sides: Sides::Symmetry };
            file.check(Path::new("m"), &[[257, 129]], Some(span)).is_err()
        });

        // A file of the plane has no span.
        assert_eq!(refused, [!file.names[0].contains(".2d."); 3], "{}", file.names[0]);
    }
}
