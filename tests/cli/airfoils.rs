//! Designations and coordinate files that give no section.

use std::fs;

use super::{SMALLEST, Scratch};

/// The message for a coordinate file `section.dat` with this text, without the folder.
fn said_about(section: impl AsRef<[u8]>) -> String {
    let case = b"[geometry]\nfile = \"section.dat\"\n";
    let scratch = Scratch::with(&[("wing.toml", case), ("section.dat", section.as_ref())]);
    said(&scratch)
}

/// The message with which `wing.toml` is refused with exit code 2, without the folder.
#[track_caller]
fn said(scratch: &Scratch) -> String {
    let finished = scratch.run_coarse(&[]);
    assert_eq!((finished.code, finished.stdout.as_str()), (2, ""), "{finished:?}");
    assert!(!scratch.path("output").exists(), "a refused section leaves no folder");
    let folder = format!("{}/", scratch.0.path().display());
    finished.stderr.replace(&folder, "")
}

#[test]
fn a_designation_that_is_none_is_refused() {
    for (designation, reason) in [
        ("24x2", "only digits were expected behind an optional `NACA`"),
        ("241", "four or five digits were expected"),
        ("0000", "the last two digits are the thickness, which cannot be 0"),
        ("29012", "the second of five digits is between 1 and 5"),
        ("643618", "the 6-series is not computed"),
    ] {
        let scratch = Scratch::with_case(SMALLEST.replace("2412", designation));

        assert_eq!(
            said(&scratch),
            format!(
                "error: wing.toml:2: `{designation}` is not a NACA designation that can be \
                 computed: {reason}\n\
                 hint: accepted: four digits (0012, 4412), five digits (23012; second and third \
                 digit 10 to 50, or 11 to 51 reflexed); give other sections, the \
                 6-series among them, as a file of points\n"
            )
        );
    }
}

#[test]
fn a_designation_on_the_command_line_is_refused_there() {
    let finished = Scratch::with_case(SMALLEST).run(&["wing.toml", "--set", "geometry.naca=12"]);

    assert_eq!(finished.code, 2, "{finished:?}");
    let start = "error: --set geometry.naca=12: `12` is not a NACA designation";
    assert!(finished.stderr.starts_with(start), "{finished:?}");
}

#[test]
fn a_coordinate_that_is_not_a_number_is_refused() {
    assert_eq!(
        said_about("wing\n1.0 0.0\n0.5 0.06\n0.0 nan\n0.5 -0.06\n1.0 0.0\n"),
        "error: wing.toml:2: section.dat:4: `0.0 nan` holds a coordinate that is not finite\n\
         hint: correct the line, or put `#` before it to leave the point out\n"
    );
}

#[test]
fn two_points_are_refused() {
    assert_eq!(
        said_about("wing\n1.0 0.0\n0.0 0.0\n"),
        "error: wing.toml:2: section.dat: 2 distinct points, at least 10 are needed\n\
         hint: give the whole contour, from the trailing edge around the nose and back\n"
    );
}

/// Between two stations the upper and the lower surface are exchanged.
#[test]
fn a_section_that_crosses_itself_is_refused() {
    let section = "wing\n1.0 0.0\n0.8 0.02\n0.6 0.04\n0.4 -0.05\n0.2 -0.05\n0.1 -0.04\n0.0 0.0\n\
                   0.1 0.04\n0.2 0.05\n0.4 0.05\n0.6 -0.04\n0.8 -0.02\n1.0 0.0\n";

    assert_eq!(
        said_about(section),
        "error: wing.toml:2: section.dat: the contour crosses itself: the segment of lines 4-5 \
         cuts that of lines 11-12\n\
         hint: look for points out of order, listed twice, or text read as numbers at these \
         lines; geometry.edge_thickness parts surfaces that cross near the trailing edge, geometry.smooth, some three \
         times the scatter, smooths points that scatter\n"
    );
}

#[test]
fn a_broken_row_is_refused() {
    let section = "wing\n1.0 0.0\n0.5 0.06\n0.0\n0.5 -0.06\n1.0 0.0\n";

    assert_eq!(
        said_about(section),
        "error: wing.toml:2: section.dat:4: `0.0` is not a point, two numbers `x y` were \
         expected\n\
         hint: correct the line, or put `#` before it to leave the point out\n"
    );
}

#[test]
fn an_empty_airfoil_file_is_refused() {
    assert_eq!(
        said_about(""),
        "error: wing.toml:2: section.dat: the file is empty\n\
         hint: give the whole contour, from the trailing edge around the nose and back\n"
    );
}

#[test]
fn a_binary_airfoil_file_is_refused() {
    assert_eq!(
        said_about([0x7f, b'E', b'L', b'F', 2, 1, 1, 0]),
        "error: wing.toml:2: section.dat: not a text file, byte 7 is NUL\n\
         hint: an airfoil file is plain text: a name, then one point `x y` a line\n"
    );
}

#[test]
fn a_missing_airfoil_file_is_refused() {
    let case = b"[geometry]\nfile = \"section.dat\"\n";

    assert_eq!(
        said(&Scratch::with(&[("wing.toml", case)])),
        "error: wing.toml:2: geometry.file = \"section.dat\": no such file: section.dat\n\
         hint: a relative path starts at the case file's folder\n"
    );
}

#[test]
fn a_folder_in_place_of_an_airfoil_file_is_refused() {
    let scratch = Scratch::with(&[("wing.toml", b"[geometry]\nfile = \"sections\"\n")]);
    fs::create_dir(scratch.path("sections")).unwrap();

    assert_eq!(
        said(&scratch),
        "error: wing.toml:2: geometry.file = \"sections\": is a folder: sections\n\
         hint: name the file of coordinates in the folder\n"
    );
}
