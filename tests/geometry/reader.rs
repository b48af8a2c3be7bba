//! Airfoil files that can be read.

use std::fmt::Write;

use gridgen::geometry::{Airfoil, airfoil_from_file};

use crate::{assert_noted, data, file};

/// Upper surface of a simple section from nose to trailing edge, with the edge at ±`half_gap`.
pub(super) fn surface(sign: f64, half_gap: f64) -> Vec<[f64; 2]> {
    let at = |k: u8| {
        let x = f64::from(k) / 8.0;
        [x, sign * (0.25 * x.sqrt() * (1.0 - x) + half_gap * x)]
    };
    (0..=8).map(at).collect()
}

/// Contour from the upper trailing edge over the nose to the lower one, 17 points.
pub(super) fn contour(half_gap: f64) -> Vec<[f64; 2]> {
    let upper = surface(1.0, half_gap).into_iter().rev();
    upper.chain(surface(-1.0, half_gap).into_iter().skip(1)).collect()
}

/// Rows `x y`.
fn rows(points: &[[f64; 2]]) -> String {
    points.iter().fold(String::new(), |mut text, [x, y]| {
        let _ = writeln!(text, "{x:.7} {y:.7}");
        text
    })
}

/// Reads a section, asserts that its points equal those expected to the seven decimals of the text.
#[track_caller]
pub(super) fn read(text: impl AsRef<[u8]>, expected: &[[f64; 2]]) -> Airfoil {
    let airfoil = airfoil_from_file(file(text).path()).unwrap();
    assert_eq!(airfoil.points.len(), expected.len(), "{airfoil:?}");
    for (a, b) in airfoil.points.iter().zip(expected) {
        assert!((a[0] - b[0]).abs() < 1e-7 && (a[1] - b[1]).abs() < 1e-7, "{a:?} is not {b:?}");
    }
    airfoil
}

#[test]
fn selig_order_is_read_with_or_without_a_name() {
    let points = contour(0.001);

    let named = read(format!("  A section \n{}", rows(&points)), &points);
    let nameless = read(rows(&points), &points);

    assert_eq!(named.name, "A section");
    assert!(!nameless.name.is_empty(), "the file's name stands in");
    for airfoil in [&named, &nameless] {
        assert!(airfoil.notes.is_empty(), "{:?}", airfoil.notes);
    }
}

#[test]
fn lednicer_order_is_joined_at_the_nose() {
    let (upper, lower) = (rows(&surface(1.0, 0.0)), rows(&surface(-1.0, 0.0)));

    for text in [
        format!("name\n 9. 9.\n\n{upper}\n{lower}"),
        format!("name\n9 9\n{lower}\n{upper}"),
        format!("name\n{upper}\n{lower}"),
    ] {
        assert_noted(&read(&text, &contour(0.0)).notes, "joined at the nose");
    }
}

/// A point far away may be counted as the first of the upper surface or the last of the lower one, and may be all that a
/// surface has.
#[test]
fn counted_points_far_away_shift_no_surface() {
    let section = airfoil_from_file(data("hn184m.dat")).unwrap().points;
    let nose = (0..101).min_by(|&a, &b| section[a][0].total_cmp(&section[b][0])).unwrap();
    let upper: Vec<[f64; 2]> = section[..=nose].iter().rev().copied().collect();
    let lower = &section[nose..];
    let [first, last] = [[400.0, 0.0], [400.0, 400.0]];
    for (upper, lower) in [
        ([&[first], &upper[..]].concat(), lower.to_vec()),
        (upper.clone(), [lower, &[last]].concat()),
        ([&upper[..], lower].concat(), vec![first, last]),
    ] {
        let counts = format!("{} {}", upper.len(), lower.len());

        let read = read(format!("name\n{counts}\n{}{}", rows(&upper), rows(&lower)), &section);

        assert_noted(&read.notes, "lies far away");
    }
}

/// The other direction, another chord, decimal commas, another encoding of the name, a repeated point, and a
/// contour that starts at the nose.
#[test]
fn what_is_changed_in_a_section_is_noted() {
    let points = contour(0.001);
    let plain = rows(&points);
    let reversed: Vec<[f64; 2]> = points.iter().rev().copied().collect();
    let scaled: Vec<[f64; 2]> = points.iter().map(|[x, y]| [250.0 * x - 20.0, 250.0 * y]).collect();
    let lines: Vec<&str> = plain.lines().collect();
    let doubled = [&lines[..5], &[lines[4]], &lines[5..]].concat().join("\n");
    for (text, note) in [
        (rows(&reversed), "The lower surface came first; the order was reversed."),
        (
            rows(&scaled),
            "The section reached from x = -20 to 230; it was moved and scaled to 0 and 1.",
        ),
        (plain.replace('.', ","), "Commas were read as decimal points, 17 in all"),
        (doubled, "The repeated point in line 6 was dropped."),
    ] {
        let airfoil = read(text, &points);

        assert!(airfoil.notes.len() == 1 && airfoil.notes[0].starts_with(note), "{airfoil:?}");
    }

    let latin = read([b"G\xf6ttingen\n", plain.as_bytes()].concat(), &points);
    assert_eq!(latin.name, "Göttingen");
    assert!(latin.notes[0].contains("not UTF-8"));

    let mut from_nose = contour(0.0);
    from_nose.pop();
    from_nose.rotate_left(8);
    from_nose.push(from_nose[0]);
    let mirrored: Vec<[f64; 2]> = contour(0.0).iter().rev().map(|[x, y]| [*x, -y]).collect();
    let airfoil = read(rows(&from_nose), &mirrored);
    assert!(airfoil.notes[0].contains("starts at line 1"));
}

/// An edge too thin to be found as a base.
#[test]
fn a_contour_from_the_nose_keeps_a_thin_edge_open() {
    let points = contour(1e-4);
    let mut from_nose = points.clone();
    from_nose.rotate_left(8);
    from_nose.push(from_nose[0]);

    assert_noted(&read(rows(&from_nose), &points).notes, "starts at line 1");
}

#[test]
fn points_on_the_base_are_dropped_so_that_it_stays_a_gap() {
    let points = contour(0.01);
    let with = |start: &[[f64; 2]], end: &[[f64; 2]]| [start, &points[..], end].concat();
    let (first, last) = (points[0], points[16]);

    for (closed, dropped) in
        [(with(&[], &[first]), 1), (with(&[last], &[]), 1), (with(&[[1.0, 0.0]], &[[1.0, 0.0]]), 2)]
    {
        let airfoil = read(rows(&closed), &points);

        let said = format!("its other points, {dropped} in all, were left out.");
        assert_eq!(airfoil.notes.len(), 1, "{:?}", airfoil.notes);
        assert!(airfoil.notes[0].ends_with(&said), "{:?}", airfoil.notes);
    }
}

#[test]
fn remarks_and_stray_rows_around_the_points_are_skipped_with_a_note() {
    let points = contour(0.0);
    let many = rows(&airfoil_from_file(data("hn184m.dat")).unwrap().points);

    let remark =
        read(format!("name\n{}source: a book\n1.0 0.1 -> 1.0 0.0\n", rows(&points)), &points);
    let stray = airfoil_from_file(file(format!("name\n{many}400 0\n")).path()).unwrap();

    assert_eq!(
        remark.notes,
        ["Lines 19 to 20 are not points and were skipped, beginning with `source: a book`."]
    );
    assert!(stray.notes.iter().any(|n| n.contains("far away") && n.contains("(400, 0)")));
}

#[test]
fn files_from_the_field_are_read_with_notes() {
    // The counts of distinct rows were taken with a text editor.
    for (name, points, noted) in [
        ("s1223.dat", 300, "moved and scaled"),
        ("goe797.dat", 27, ""),
        ("hn184m.dat", 101, "Profilbeiwerte"),
        ("naca23021.dat", 35, "Numbers in parentheses"),
        ("tasopt-b.dat", 160, "grid extents"),
    ] {
        let airfoil = airfoil_from_file(data(name)).unwrap();

        assert_eq!(airfoil.points.len(), points, "{name}");
        if !noted.is_empty() {
            assert_noted(&airfoil.notes, noted);
        }
        assert!(airfoil.points[0][1] >= airfoil.points[points - 1][1], "{name}");
    }
}
