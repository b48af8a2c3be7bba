//! The notations of airfoil files, one by one, and the corpus of malformed files.

use std::fmt::Write;

use gridgen::geometry::{Airfoil, airfoil_from_file};

use super::reader::surface;
use crate::{assert_noted, data, file};

/// The simple section of these tests, 17 points.
fn contour() -> Vec<[f64; 2]> {
    super::reader::contour(0.001)
}

/// A line for each point, formatted by `write`.
fn table(write: impl Fn(usize, [f64; 2]) -> String) -> String {
    contour().iter().enumerate().map(|(k, &p)| write(k, p) + "\n").collect()
}

/// A line for each of the nine stations: abscissa and ordinate of the upper surface.
fn stations(write: impl Fn(f64, f64) -> String) -> String {
    surface(1.0, 0.001).into_iter().map(|[x, y]| write(x, y) + "\n").collect()
}

/// Reads a text whose section is [`contour`].
#[track_caller]
fn read(text: impl AsRef<[u8]>) -> Airfoil {
    super::reader::read(text, &contour())
}

/// The numbers have various separators, signs, exponents (also Fortran's), parentheses, a typographic minus,
/// a remark, no digit before or behind the point, or a comma for it, which is a decimal point where two words
/// have no point. Line ends and remarks do not matter.
#[test]
fn numbers_and_lines_are_read_in_every_notation() {
    let bare = |v: f64| match v.abs() {
        0.0 | 1.0 => format!("{v:.0}."),
        _ => format!("{v:.7}").replacen("0.", ".", 1),
    };
    assert!(read(table(|_, [x, y]| format!("{} {}", bare(x), bare(y)))).notes.is_empty());
    let plain = table(|_, [x, y]| format!("{x:.7} {y:.7}"));
    for text in [
        plain.replace('\n', "\r\n"),
        plain.replace('\n', "\r"),
        plain.replace('\n', "\n\n"),
        format!("\u{feff}# remark\n! another\n{plain}"),
        format!("\u{feff}{plain}"),
        plain.trim_end().to_owned(),
        table(|_, [x, y]| format!("  {x:11.7} {y:11.7}")),
        table(|_, [x, y]| format!("\t{x:.7}\t{y:.7}\r")),
        table(|_, [x, y]| format!("{x:.7},{y:.7}")),
        table(|_, [x, y]| format!("{x:.7}, {y:.7},")),
        table(|_, [x, y]| format!("{x:+.7e};{y:.7E}")),
        table(|_, [x, y]| format!("{x:.7}D0 {y:.7}d+00")),
        table(|_, [x, y]| format!("{x:.7} ({y:.7})")),
        table(|_, [x, y]| format!("{x:.7} {y:.7}").replace('-', "\u{2212}")),
        table(|_, [x, y]| format!("{x:.7} {y:.7} # nose")),
        table(|_, [x, y]| format!("{x:.7e}{y:+.7E}")),
        table(|_, [x, y]| format!("{x:.7} {y:.7}").replace('.', ",")),
        table(|_, [x, y]| format!("{x}\t{y:.7}").replace('.', ",")),
        table(|_, [x, y]| format!("{:.0},{:.0}", 1e7 * x, 1e7 * y)),
    ] {
        read(&text);
    }
}

#[test]
fn a_first_line_that_is_prose_is_the_name() {
    let points = table(|_, [x, y]| format!("{x:.7} {y:.7}"));
    for name in [
        "NACA 0012",
        "0.0 0.00102 -> 0.00001 0.00102",
        "1.0 ......",
        "E197  (13.49%)",
        "2010-11-21",
    ] {
        let airfoil = read(format!("{name}\n{points}"));

        assert_eq!((airfoil.name.as_str(), airfoil.notes.len()), (name, 0), "{airfoil:?}");
    }
}

/// There are columns beside the points, the surfaces stand side by side, or three coordinates have names and one is
/// constant.
#[test]
fn columns_of_tables_are_understood_with_a_note() {
    const NAMES: &str = "the heading names";
    const VARY: &str = "coordinates that vary";
    for (heading, rows, noted) in [
        (
            "",
            table(|_, [x, y]| format!("{x:.7}{y:+.7}")),
            "Numbers that ran together were parted at the sign, 17 in all, the first in line 1.",
        ),
        ("", table(|_, [x, y]| format!("{x:.7},{y:.7},0.0")), "constant third column"),
        ("", table(|_, [x, y]| format!("{x:.7} 1.5 {y:.7}")), "constant second column"),
        ("", table(|k, [x, y]| format!("{k}\t{x:.7}\t{y:.7}")), "first column counts"),
        ("", table(|k, [x, y]| format!("{x:.7} {y:.7} {}", k % 5)), "third column was not used"),
        ("# s x y Ue Cp\n", table(|k, [x, y]| format!("{k} {x:.7} {y:.7} 1.1 {}", k % 3)), NAMES),
        ("Cp,Y(mm),X(mm),s\n", table(|k, [x, y]| format!("0.{k},{y:.7},{x:.7},{k}")), NAMES),
        ("Cp;Y [mm];X [mm]\n", table(|k, [x, y]| format!("0.{k};{y:.7};{x:.7}")), NAMES),
        ("", stations(|x, y| format!("{x:.7} {y:.7} {:.7}", -y)), "second and third column"),
        ("", stations(|x, y| format!("{x:.7},{:.7},{y:.7}", -y)), "second and third column"),
        ("", stations(|x, y| format!("{x:.7},{y:.7},{x:.7},{:.7}", -y)), "four columns"),
        (
            "x_upper;y_upper;x_lower;y_lower\n",
            stations(|x, y| format!("{x:.7};{y:.7};{x:.7};{:.7}", -y)),
            NAMES,
        ),
        ("yu yl t x/c\n", stations(|x, y| format!("{y:.7} {:.7} 0.1 {x:.7}", -y)), NAMES),
        ("x,y_lower,y_upper\n", stations(|x, y| format!("{x:.7},{:.7},{y:.7}", -y)), NAMES),
        ("x,y,z\n", table(|_, [x, y]| format!("{x:.7},0.5,{y:.7}")), VARY),
        ("x,y,z\n", table(|_, [x, y]| format!("2.0,{x:.7},{y:.7}")), VARY),
        ("z;y;x;Cp\n", table(|k, [x, y]| format!("{y:.7};0.5;{x:.7};{k}")), VARY),
    ] {
        assert_noted(&read([heading, &rows].concat()).notes[..1], noted);
    }
}

/// The headings have other words, two of three columns cross, and the abscissae of four columns differ; a point within
/// brackets has one number.
#[test]
fn ambiguous_columns_and_broken_points_are_refused() {
    let five = || table(|k, [x, y]| format!("{x:.7} {y:.7} 0.2 7.{k} 8.{k}"));
    let broken =
        table(|k, [x, y]| if k == 7 { format!("[{x:.7}],") } else { format!("[{x:.7}, {y:.7}],") });
    for (text, part) in [
        ("x y\n".to_owned() + &five(), "5 numbers in a line"),
        ("a b c d e\n".to_owned() + &five(), "5 numbers in a line"),
        ("x p q r s\n".to_owned() + &five(), "5 numbers in a line"),
        (
            stations(|x, y| format!("{x:.7} {y:.7} {:.7}", 1.5 * y * (1.0 - 2.0 * x))),
            "3 numbers in a line",
        ),
        (stations(|x, y| format!("{x:.7} {y:.7} {:.7} {:.7}", 5.0 + x, -y)), "4 numbers in a line"),
        (format!("[{broken}]"), ":8: `0.1250000]` is not a point"),
    ] {
        let message = airfoil_from_file(file(&text).path()).unwrap_err().to_string();

        assert!(message.contains(part), "{message}\n{text}");
    }
}

#[test]
fn a_plotters_table_is_read_up_to_its_camber_line() {
    let points = table(|_, [x, y]| format!("{:.5},{:.5}", 100.0 * x, 100.0 * y));
    let text = format!(
        "Name,SIMPLE\nChord(mm),100\nRadius(mm),0\n\nAirfoil surface,\nX(mm),Y(mm)\n{points}\n\
         Camber line,\nX(mm),Y(mm)\n0,0\n50,0\n100,0\n\nChord line,\nX(mm),Y(mm)\n0,0\n100,0\n"
    );

    let notes = read(text).notes;

    assert_noted(&notes, "From line 25 on the file holds another curve");
    assert_noted(&notes, "moved and scaled");
}

/// A NACA 2412 of 81 points in the notations of programs, JSON, YAML, gmsh, numpy and OpenFAST.
#[test]
fn files_of_other_programs_are_read() {
    let expected = airfoil_from_file(data("dialects/pylist.txt")).unwrap();
    let files: Vec<_> = std::fs::read_dir(data("dialects")).unwrap().collect();
    assert_eq!(files.len(), 9);
    for file in files {
        let read = airfoil_from_file(file.unwrap().path()).unwrap();

        assert_eq!(read.points.len(), 81, "{}", read.name);
        for (a, b) in read.points.iter().zip(&expected.points) {
            assert!((a[0] - b[0]).hypot(a[1] - b[1]) < 2e-6, "{}: {a:?} {b:?}", read.name);
        }
        assert!(!read.notes.is_empty(), "{}", read.name);
    }
}

/// Points and lists within brackets, with other text around them.
#[test]
fn points_within_brackets_are_read_in_whatever_language() {
    let apart = |by: &str, write: &dyn Fn([f64; 2]) -> String| {
        contour().iter().map(|&p| write(p)).collect::<Vec<_>>().join(by)
    };
    let joined = |write: &dyn Fn([f64; 2]) -> String| apart(", ", write);
    let lines = |write: &dyn Fn([f64; 2]) -> String| apart("\n", write);
    let list = |c: usize| joined(&|p| format!("{:.7}", p[c]));
    let (x, y) = (list(0), list(1));
    let items = |c: usize| lines(&|p| format!("  - {:.7}", p[c]));
    for text in [
        format!("airfoil:\n  name: n\n  coordinates:\n   x:\n{}\n   y:\n{}\n", items(0), items(1)),
        lines(&|[x, y]| format!("- - {x:.7}\n  - {y:.7}")),
        format!("points:\n{}\nchord: 1.0", lines(&|[x, y]| format!("  - - {x:.7}\n    - {y:.7}"))),
        format!("coords = [{}];", lines(&|[x, y]| format!("{x:.7} {y:.7};"))),
        format!(
            "A = [\n{}\n];\nplot(A(:,1), A(:,2))",
            lines(&|[x, y]| format!("  {x:.7}  {y:.7}"))
        ),
        format!("x = [{}]';\ny = [{}]';", list(0).replace(", ", "; "), list(1).replace(", ", "; ")),
        format!("double x[17] = {{{x}}};\ndouble y[17] = {{{y}}};\n"),
        format!("import numpy as np\nx = np.array([{x}])\ny = np.array([{y}])\n"),
        format!("{{\"chord\": [1.5], \"y\": [{y}],\n \"x\": [{x}]}}"),
        format!(
            "{{\"points\": [{}]}}",
            joined(&|[x, y]| format!("{{\"x\": {x:.7}, \"y\": {y:.7}}}"))
        ),
        format!("{{\"outline\": [{}]}}", joined(&|[x, y]| format!("[\n  {x:.7},\n  {y:.7}\n]"))),
        format!(
            "static const float foil[17][2] = {{{}}};",
            joined(&|[x, y]| format!("{{{x:.7}f, {y:.7}f}}"))
        ),
        format!("points = [{}]", joined(&|[x, y]| format!("({x:.7}, {y:.7})"))),
        table(|k, [x, y]| format!("Point({k}) = {{{x:.7}, {y:.7}, 0, lc}};"))
            + &(1..17).fold(String::new(), |mut text, k| {
                let _ = writeln!(text, "Line({k}) = {{{k}, {}}};", k + 1);
                text
            }),
    ] {
        let airfoil = read(&text);

        assert!(airfoil.notes[0].contains("within brackets"), "{:?}", airfoil.notes);
    }
}

/// With a byte order mark, in both byte orders, and without one.
#[test]
fn text_of_two_bytes_a_letter_is_read() {
    let text = table(|_, [x, y]| format!("{x:.7} {y:.7}"));
    for mark in ["\u{feff}", ""] {
        let units: Vec<u16> = [mark, &text].concat().encode_utf16().collect();
        for bytes in [u16::to_le_bytes, u16::to_be_bytes] {
            let read = read(units.iter().flat_map(|unit| bytes(*unit)).collect::<Vec<u8>>());
            assert_eq!(read.notes, ["The file was read as UTF-16."]);
        }
    }
}

#[test]
fn lines_that_count_the_points_are_skipped_with_a_note() {
    let points = table(|_, [x, y]| format!("{x:.7} {y:.7}"));
    let extents = read(format!("SIMPLE\n -2.0 3.0 -2.5 3.5\n{points}"));
    assert!(extents.notes[0].starts_with("Line 2 holds grid extents"), "{:?}", extents.notes);
    for (above, noted) in [
        ("17 2\n", "Line 1 says how many rows and columns follow."),
        ("SIMPLE\n17 2\n", "Line 2 says how many rows and columns follow."),
        ("SIMPLE\n17\n", "Line 2 is not a point and was skipped: `17`."),
        ("SIMPLE\n0.25 0.0\n", "Line 2 holds a reference point and was skipped: (0.25, 0)."),
    ] {
        let airfoil = read([above, &points].concat());

        assert_eq!(airfoil.notes, [noted], "{above}");
    }
}

/// The files in `tests/data/airfoils/malformed`, each with its message. The first line or the name of a file
/// says what is wrong with it.
#[test]
fn malformed_files_are_refused_with_line_and_reason() {
    let mut files: Vec<_> =
        std::fs::read_dir(data("malformed")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut said = String::new();
    for path in files {
        let folder = format!("{}/", path.parent().unwrap().display());
        let outcome = match airfoil_from_file(&path) {
            Ok(airfoil) => format!("{}: read: {:?}", path.display(), airfoil.notes),
            Err(error) => error.to_string(),
        };
        let _ = writeln!(said, "{}", outcome.replace(&folder, ""));
    }

    insta::assert_snapshot!(said, @"
    cut_short.dat:14: the contour ends at x/c = 0.500, short of the trailing edge
    figure_of_eight.dat: the contour crosses itself: the segment of lines 6-7 cuts that of lines 13-14
    five_columns.dat:2: 5 numbers in a line, two (`x y`) were expected
    html.dat: none of the 3 lines holds a point `x y`
    letter_o.dat:6: `0.5 O.0893` is not a point, two numbers `x y` were expected
    letter_o_first.dat:6: `O.5 0.0893` is not a point, two numbers `x y` were expected
    lonely_number.dat:19: `0.5` is not a point, two numbers `x y` were expected
    overflow.dat:7: `0.375 1e400` holds a coordinate that is not finite
    ragged_columns.dat:2: 4 numbers in a line, two (`x y`) were expected
    shuffled.dat:18: the contour ends at x/c = 0.500, short of the trailing edge
    two_elements.dat:19: a second element begins here, only one is meshed
    upper_only.dat:2: the contour ends at x/c = 0.000, short of the trailing edge
    wrong_counts.dat:2: counts 12 points on the upper and 9 on the lower surface, but 18 points follow
    ");
}
