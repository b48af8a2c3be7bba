//! Files that cannot be read: the place, the text found there, the remedy.

use gridgen::geometry::{FileProblem, GeometryError, airfoil_from_file};

use crate::{data, file};

/// The message without the path, and the hint.
fn refusal(path: &std::path::Path) -> (String, String) {
    let error = airfoil_from_file(path).unwrap_err();
    let message = error.to_string();
    let start = path.display().to_string();
    let rest = message.strip_prefix(&start).expect("the message begins with the path");
    (rest.to_owned(), error.hint().unwrap())
}

#[test]
fn files_that_are_no_airfoil_files_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("none.dat");

    assert_eq!(refusal(&missing).0, ": there is no such file");
    assert_eq!(refusal(folder.path()).0, ": is a directory, an airfoil file was expected");
    assert_eq!(refusal(file("").path()).0, ": the file is empty");
    assert_eq!(refusal(file(" \r\n\n").path()).0, ": the file is empty");
    assert_eq!(refusal(file(b"\x7fELF\x02\0\0").path()).0, ": not a text file, byte 5 is NUL");
    assert_eq!(
        refusal(file("some\nwords\n").path()).0,
        ": none of the 2 lines holds a point `x y`"
    );
}

#[test]
fn broken_rows_are_refused_with_their_line() {
    let (message, hint) = refusal(&data("broken_row.dat"));
    assert_eq!(message, ":4: `0.0` is not a point, two numbers `x y` were expected");
    assert!(hint.contains("correct the line"));

    assert_eq!(refusal(&data("nan.dat")).0, ":4: `0.0 nan` holds a coordinate that is not finite");
    for (row, part) in [
        ("0.5", ":3: `0.5` is not a point"),
        ("0.5 1.2.3", ":3: `0.5 1.2.3` is not a point"),
        ("O.5 0.0123", ":3: `O.5 0.0123` is not a point"),
        ("0.5 0.0x23", ":3: `0.5 0.0x23` is not a point"),
        ("0.5 inf", ":3: `0.5 inf` holds a coordinate that is not finite"),
        ("0.5 1e999", ":3: `0.5 1e999` holds a coordinate that is not finite"),
        ("0.5 0.1 0.5 -0.1", ":3: 4 numbers in a line"),
    ] {
        let (message, _) = refusal(file(format!("name\n1 0\n{row}\n0 0\n0.5 -0.1\n")).path());
        assert!(message.starts_with(part), "{message}");
    }
}

#[test]
fn a_broken_row_behind_the_points_is_no_remark() {
    let (message, _) = refusal(file("name\n1 0\n0 0.1\n0.5 0.\u{b7}1\n").path());

    assert!(message.starts_with(":4: `0.5 0.·1` is not a point"), "{message}");
}

#[test]
fn too_few_points_are_refused_with_their_number() {
    assert_eq!(refusal(&data("two_points.dat")).0, ": 2 distinct points, at least 10 are needed");
    let repeated = "1 0\n".to_owned() + &"0.5 0.1\n".repeat(20) + "0 0\n0.5 -0.1\n1 0\n";
    assert_eq!(refusal(file(repeated).path()).0, ": 4 distinct points, at least 10 are needed");
}

#[test]
fn points_on_a_line_are_refused() {
    let rows = |x: fn(usize) -> usize| {
        (0..20).map(|k| [x(k).to_string(), k.to_string()].join(" ")).collect::<Vec<_>>().join("\n")
    };
    let (line, upright) = (rows(|k| k), rows(|_| 1));

    for text in [line, upright] {
        let error = airfoil_from_file(file(text).path()).unwrap_err();

        assert!(
            matches!(
                error,
                GeometryError::File {
                    problem: FileProblem::NoArea | FileProblem::Truncated { .. },
                    ..
                }
            ),
            "{error}"
        );
    }
}

#[test]
fn a_crossing_contour_is_refused_with_the_lines_of_both_segments() {
    let (message, _) = refusal(&data("crossing.dat"));

    assert_eq!(
        message,
        ": the contour crosses itself: the segment of lines 4-5 cuts that of lines 11-12"
    );
}

#[test]
fn a_surface_that_ends_early_is_refused_with_its_last_line() {
    let (message, hint) = refusal(&data("mh112.dat"));

    assert_eq!(message, ":62: the contour ends at x/c = 0.862, short of the trailing edge");
    assert!(hint.contains("complete the surface"));
}

#[test]
fn wrong_counts_are_refused_with_what_was_found() {
    let (message, hint) =
        refusal(file("name\n9. 8.\n0 0\n0.5 0.1\n1 0\n\n0 0\n0.5 -0.1\n1 0\n").path());

    assert_eq!(
        message,
        ":2: counts 9 points on the upper and 8 on the lower surface, but 6 points follow"
    );
    assert!(hint.contains("correct the counts"));
}

#[test]
fn several_elements_are_refused_at_the_separator() {
    let (message, _) = refusal(file("name\n1 0\n0 0\n999.0 999.0\n1 1\n0 1\n").path());

    assert!(message.starts_with(":4: a second element begins here"), "{message}");
}

#[test]
fn a_stray_point_among_the_others_is_refused() {
    let text = std::fs::read_to_string(data("goe797.dat")).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    lines.insert(10, "0.5 7.25");

    let (message, _) = refusal(file(lines.join("\n")).path());

    assert_eq!(message, ":11: the point (0.5, 7.25) lies far away from all others");
}

proptest::proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(
        text in "((-?[0-9]{0,2}[.,]?[0-9]{0,3}|nan|x|999\\.0|\\(1\\)|1e400)[ \t,;#]{0,2}(-?[0-9.]{0,5})[\r\n]{0,2}){0,40}",
    ) {
        let _ = airfoil_from_file(file(text).path());
    }
}
