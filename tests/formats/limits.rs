//! Meshes that exceed the numbers of a format or the space on the disk are refused before they are made.

use std::path::Path;

use gridgen::formats::{FORMATS, Format, Sides, Span};

/// The refusal of a mesh of `size` nodes in a plane and `cells` layers, or of a plane mesh.
fn refusal(format: &str, size: [usize; 2], cells: usize) -> String {
    let span = (cells > 0).then_some(Span { length: 1.0, cells, sides: Sides::Symmetry });
    let file = &Format::named(format).unwrap().files[0];
    file.check(Path::new("m"), &[size], span).err().map_or(String::new(), |error| error.to_string())
}

#[test]
fn a_mesh_with_too_many_faces_is_refused_with_their_number() {
    // A layer of 2 × 1 cells has three faces across i, four across j and two across k; at the end there are
    // two more across k.
    let layers = 300_000_000_usize;

    let said = refusal("openfoam", [3, 2], layers);

    let faces = 9 * layers + 2;
    assert_eq!(
        said,
        format!("cannot write m: {faces} faces, the format numbers at most 2147483647")
    );
}

#[test]
fn labels_of_openfoam_have_thirty_one_bits() {
    // A layer of (n − 1)² cells has 2 (n − 1)(2 n − 1) faces: 2 147 441 940 for n = 23 171.
    let [within, beyond] = [23171, 23172].map(|n| refusal("openfoam", [n, n], 0));

    assert_eq!(beyond, "cannot write m: 2147627306 faces, the format numbers at most 2147483647");
    assert!(!within.contains("faces"), "{within}");
}

#[test]
fn files_too_large_for_the_disk_are_refused_before_writing() {
    // There are 2⁵⁰ nodes of three doubles each.
    let refused = refusal("vtk", [1 << 20, 1 << 10], (1 << 20) - 1);

    assert!(refused.starts_with("cannot write m: 24.0 PiB"), "{refused}");
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
