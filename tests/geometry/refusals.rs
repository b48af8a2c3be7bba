//! Files that cannot be read: the place, the text found there, the remedy.

use gridgen::geometry::airfoil_from_file;

use crate::{data, file};

/// The message without the path, and the hint.
fn refusal(path: &std::path::Path) -> (String, String) {
    let error = airfoil_from_file(path).unwrap_err();
    let message = error.to_string();
    let start = path.display().to_string();
    let rest = message.strip_prefix(&start).expect("the message begins with the path");
    (rest.to_owned(), error.hint().unwrap())
}

/// Whole messages, and parts of hints.
#[test]
fn files_that_are_no_airfoil_files_are_refused_with_place_and_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("none.dat");
    assert_eq!(refusal(&missing).0, ": there is no such file");
    assert_eq!(refusal(folder.path()).0, ": is a directory, an airfoil file was expected");

    let stray = std::fs::read_to_string(data("goe797.dat")).unwrap();
    let mut stray: Vec<&str> = stray.lines().collect();
    stray.insert(10, "0.5 7.25");
    let repeated = "1 0\n".to_owned() + &"0.5 0.1\n".repeat(20) + "0 0\n0.5 -0.1\n1 0\n";
    let of = |name: &str| std::fs::read_to_string(data(name)).unwrap();
    let with = |row: &str| format!("name\n1 0\n{row}\n0 0\n0.5 -0.1\n");
    let on_line = |x: fn(usize) -> usize| {
        (0..20).map(|k| [x(k).to_string(), k.to_string()].join(" ")).collect::<Vec<_>>().join("\n")
    };
    for (text, message, hint) in [
        (String::new(), ": the file is empty", "the whole contour"),
        (" \r\n\n".to_owned(), ": the file is empty", "the whole contour"),
        (
            "\x7fELF\x02\0\0".to_owned(),
            ": not a text file, byte 5 is NUL",
            "an airfoil file is plain text: a name, then one point `x y` a line",
        ),
        (
            of("broken_row.dat"),
            ":4: `0.0` is not a point, two numbers `x y` were expected",
            "correct the line",
        ),
        (
            of("nan.dat"),
            ":4: `0.0 nan` holds a coordinate that is not finite",
            "correct the line, or put `#` before it to leave the point out",
        ),
        (repeated, ": 4 distinct points, at least 10 are needed", "the whole contour"),
        (
            of("mh112.dat"),
            ":62: the contour ends at x/c = 0.862, short of the trailing edge",
            "complete the surface",
        ),
        (
            "name\n9. 8.\n0 0\n0.5 0.1\n1 0\n\n0 0\n0.5 -0.1\n1 0\n".to_owned(),
            ":2: counts 9 points on the upper and 8 on the lower surface, but 6 points follow",
            "correct the counts",
        ),
        (stray.join("\n"), ":11: the point (0.5, 7.25) lies far away from all others", ""),
        (with("0.5 1.2.3"), ":3: `0.5 1.2.3` is not a point, two numbers `x y` were expected", ""),
        (
            with("0.5 0.0x23"),
            ":3: `0.5 0.0x23` is not a point, two numbers `x y` were expected",
            "",
        ),
        (with("0.5 inf"), ":3: `0.5 inf` holds a coordinate that is not finite", ""),
        // A row that follows the points is no remark.
        (
            "name\n1 0\n0 0.1\n0.5 0.\u{b7}1\n".to_owned(),
            ":4: `0.5 0.·1` is not a point, two numbers `x y` were expected",
            "",
        ),
        (
            on_line(|k| k),
            ":1: the contour ends at x/c = 0.000, short of the trailing edge",
            "complete the surface",
        ),
        (on_line(|_| 1), ": the points enclose no area", "check that the columns are x and y"),
    ] {
        let found = refusal(file(&text).path());
        assert!(found.0 == message && found.1.contains(hint), "{found:?}\n{text}");
    }
}
