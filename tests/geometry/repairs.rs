//! Sections as they occur in practice: bases with points, pitched, rounded, scattered, and edges that overlap
//! or cross.

use std::fmt::Write;

use gridgen::case::{BodyContour, Case};
use gridgen::geometry::{Airfoil, CubicSpline, airfoil_from_file, points_from_file};

use support::cases;
use support::vectors::{distance, turns};
use support::walls::half_thickness;

use crate::{assert_noted, data, distance_from};

/// A NACA 0012 with a base of this width and slant, from the upper to the lower corner: each surface is
/// extended or cut to reach the base.
fn with_base(width: f64, slant: f64) -> Vec<[f64; 2]> {
    let shape = |x: f64| half_thickness(x, 0.12) + 0.5 * width * x;
    let station = |k: i32| 0.5 - 0.5 * (std::f64::consts::PI * f64::from(k) / 40.0).cos();
    let sheared = |[x, y]: [f64; 2]| [x + slant * y * x * x, y];
    let upper = (1..=40).rev().map(|k| sheared([station(k), shape(station(k))]));
    let lower = (0..=40).map(|k| sheared([station(k), -shape(station(k))]));
    upper.chain(lower).collect()
}

/// The section of a file with these points.
fn section_of(points: &[[f64; 2]]) -> Airfoil {
    let rows: Vec<String> = points.iter().map(|[x, y]| format!("{x:?} {y:?}")).collect();
    airfoil_from_file(crate::file(rows.join("\n")).path()).unwrap()
}

/// The open contour closed by a base of `cells` equal pieces, beginning at the point `start` of the closed
/// contour.
fn closed_by_base(open: &[[f64; 2]], cells: usize, start: usize) -> Vec<[f64; 2]> {
    let (from, to) = (open[open.len() - 1], open[0]);
    let on = |k: usize| [0, 1].map(|c| from[c] + (to[c] - from[c]) * k as f64 / cells as f64);
    let mut closed: Vec<[f64; 2]> = open.iter().copied().chain((1..cells).map(on)).collect();
    closed.rotate_left(start);
    closed.push(closed[0]);
    closed
}

#[test]
fn points_on_a_base_make_no_other_section() {
    for (width, slant) in
        [(0.002, 0.0), (0.01, 0.0), (0.05, 0.3), (0.1, -0.5), (0.3, 0.0), (0.3, 0.5)]
    {
        let open = with_base(width, slant);
        let expected = section_of(&open);
        for cells in [1, 2, 3, 8, 31] {
            // The contours begin at a corner, within the base, and at the nose.
            for start in [0, open.len() - 1, open.len() - 1 + cells / 2, 40] {
                let closed = closed_by_base(&open, cells, start);
                for points in [closed.clone(), closed.into_iter().rev().collect()] {
                    let read = section_of(&points);

                    let what = format!("{width} {slant} {cells} {start}: {:?}", read.notes);
                    assert_eq!(read.points.len(), expected.points.len(), "{what}");
                    let mut pairs = read.points.iter().zip(&expected.points);
                    assert!(pairs.all(|(a, b)| distance(*a, *b) < 1e-12), "{what}");
                    let noted = read.notes.iter().any(|note| note.starts_with("The base, "));
                    assert_eq!(noted, cells > 1 || start != 40, "{what}");
                }
            }
        }
    }
}

/// Half circles of few and of many pieces behind a section, and a sharp edge.
#[test]
fn rounded_and_sharp_edges_have_no_base() {
    for pieces in [2, 3, 4, 6, 12, 40] {
        let open = with_base(0.04, 0.0);
        let radius = open[0][1];
        let on = |k: i32| {
            let (sin, cos) = (std::f64::consts::PI * f64::from(k) / f64::from(pieces)).sin_cos();
            [1.0 + radius * sin, -radius * cos]
        };
        let mut points: Vec<[f64; 2]> = open.iter().copied().chain((1..pieces).map(on)).collect();
        points.push(points[0]);

        let read = section_of(&points);

        assert!(!read.notes.iter().any(|n| n.contains("base")), "{pieces}: {:?}", read.notes);
    }
    for name in ["goe797.dat", "tasopt-b.dat", "kc135winglet.dat", "edge-gap.dat"] {
        let read = airfoil_from_file(data(name)).unwrap();

        assert!(!read.notes.iter().any(|note| note.contains("base")), "{name}: {:?}", read.notes);
    }
}

#[test]
fn a_file_with_points_on_its_base_is_read_with_both_corners() {
    let read = airfoil_from_file(data("base-points.dat")).unwrap();

    assert_eq!((read.points[0], read.points[80]), ([1.0, 0.005], [1.0, -0.005]));
    assert_eq!(
        read.notes,
        [
            "The base, 1.000e-2 chord wide between lines 5 and 85, is kept straight with both corners; its other points, \
          8 in all, were left out."
        ]
    );
}

/// Points rotated nose up by an angle about (30, 20) and scaled by 23.7.
fn pitched(points: &[[f64; 2]], degrees: f64) -> Vec<[f64; 2]> {
    let (sin, cos) = f64::to_radians(degrees).sin_cos();
    let place = |[x, y]: &[f64; 2]| {
        let (x, y) = (23.7 * (x - 0.3), 23.7 * y);
        [30.0 + cos * x + sin * y, 20.0 + cos * y - sin * x]
    };
    points.iter().map(place).collect()
}

#[test]
fn a_pitched_section_is_scaled_by_its_chord() {
    let plain = with_base(0.01, 0.0);
    for degrees in [5.5, 38.0, -24.8, 90.0, -120.0, 179.0] {
        let read = section_of(&pitched(&plain, degrees));

        assert_eq!(read.points.len(), plain.len());
        for (a, b) in read.points.iter().zip(&plain) {
            assert!((a[0] - b[0]).hypot(a[1] - b[1]) < 1e-12, "{degrees}: {a:?} {b:?}");
        }
        let said = format!("23.700000 long at {degrees:.2} degrees, nose up");
        assert!(read.notes[0].contains(&said), "{:?}", read.notes);
    }
    let notes = section_of(&pitched(&plain, 4.0)).notes;
    assert_eq!(notes.len(), 1, "its extent along x is its chord: {notes:?}");
}

/// A case with these keys of `[geometry]` and a data file of the tests.
fn case(file: &str, keys: &str) -> Case {
    let path = data(file).display().to_string();
    cases::case(&format!("[geometry]\nfile = '{path}'\n{keys}\n[grid]\nni = 203\n"))
}

fn section(case: &Case) -> Airfoil {
    match case.body().unwrap() {
        BodyContour::Airfoil(airfoil) => airfoil,
        BodyContour::Smooth(_) => unreachable!("it has an edge"),
    }
}

/// Number of changes in the sense of a line's bend.
fn changes(line: &[[f64; 2]]) -> usize {
    turns(line).windows(2).filter(|pair| pair[0] * pair[1] < 0.0).count()
}

/// The formula has no changes. `most` of them remain of 83, of a wall that crosses itself, and of a contour
/// that does.
#[test]
fn smoothed_points_give_a_wall_without_waves_within_the_tolerance() {
    for (file, smooth, most) in [
        ("rounded-4-decimals.dat", 7.1e-5, 2),
        ("rounded-3-decimals.dat", 7.1e-4, 2),
        ("noise-1e-3.dat", 3e-3, 6),
    ] {
        let smoothed = case(file, &format!("smooth = {smooth}"));

        let changes = changes(&smoothed.settle().unwrap().points.line);
        assert!(changes <= most, "{file}: {changes}");

        let smooth_section = section(&smoothed);
        let points: Vec<[f64; 2]> = points_of(file);
        let off = distance_from(&smooth_section, &points);
        assert!(off <= 1.001 * smooth, "{file}: {off:e}");
        let (first, last) = (points[0], points[points.len() - 1]);
        assert_eq!(smooth_section.points[0], first, "the edge stays");
        assert_eq!(smooth_section.points.last(), Some(&last));
        let foremost = smooth_section.points.iter().map(|p| p[0]).fold(1.0, f64::min);
        assert!(foremost.abs() <= smooth, "{file}: the nose is at {foremost:e}");
    }
    let waves = case("rounded-4-decimals.dat", "").settle().unwrap();
    assert!(changes(&waves.points.line) > 60);
    assert_noted(&waves.notices, "rounded to steps of 1.0e-4 chord");
    assert_noted(&waves.notices, "geometry.smooth = 7.1e-5");
}

/// The unmodified points of a file, scaled to its extent along x.
fn points_of(file: &str) -> Vec<[f64; 2]> {
    let points = points_from_file(data(file)).unwrap();
    let left = points.iter().map(|p| p[0]).fold(1.0, f64::min);
    points.iter().map(|[x, y]| [(x - left) / (1.0 - left), y / (1.0 - left)]).collect()
}

/// Points in millimetres, 100 for the chord, with two decimals; and a plain table with six decimals.
#[test]
fn the_step_of_rounding_is_told_in_chords_where_it_waves_the_contour() {
    let dense = |scale: f64, decimals: usize| {
        let curve = CubicSpline::through(&with_base(0.002, 0.0)).unwrap();
        let place = |k: usize| curve.point(curve.length() * k as f64 / 800.0);
        let mut text = String::new();
        for [x, y] in (0..=800).map(place) {
            let _ = writeln!(text, "{:.decimals$} {:.decimals$}", scale * x, scale * y);
        }
        airfoil_from_file(crate::file(text).path()).unwrap().notes
    };

    assert_noted(&dense(100.0, 2), "steps of 1.0e-4 chord");
    assert!(!dense(1.0, 7).iter().any(|note| note.contains("rounded")), "{:?}", dense(1.0, 7));
}

#[test]
fn scattered_and_rounded_points_are_refused_with_the_key_that_mends_them() {
    for file in ["rounded-3-decimals.dat", "noise-1e-3.dat"] {
        let error = case(file, "").settle().unwrap_err();

        assert!(error.error.hint().unwrap().contains("geometry.smooth"), "{error}");
    }
}

#[test]
fn an_overlap_of_the_edge_is_closed_as_a_gap_is() {
    for (file, noted) in [
        ("edge-overlap.dat", "overlap by 8.0e-4 chord at the trailing edge"),
        ("edge-gap.dat", "The trailing edge, open by 8.0e-4 chord, was closed."),
    ] {
        let problem = case(file, "").settle().unwrap();

        assert_noted(&problem.notices, noted);
        assert_eq!(problem.points.base_cells, 0);
    }
}

#[test]
fn an_edge_thickness_parts_surfaces_that_cross() {
    let error = case("crossing-edge.dat", "").body().unwrap_err();
    assert!(error.error.hint().unwrap().contains("geometry.edge_thickness"), "{error}");

    for thickness in [0.0, 0.002] {
        let parted = case("crossing-edge.dat", &format!("edge_thickness = {thickness}"));
        let points = section(&parted).points;

        let (first, last) = (points[0], points[points.len() - 1]);
        assert!((first[1] - last[1] - thickness).abs() < 1e-12, "{first:?} {last:?}");
        parted.settle().unwrap();
    }
}

#[test]
fn a_section_keeps_the_frame_of_its_file() {
    let case = case("pitched-38deg-mm.csv", "frame = 'file'\nchord = 0.001");
    let problem = case.settle().unwrap();
    let noted = problem.notices.iter().any(|note| note.contains("nose up"));
    assert!(!noted, "its place is that of the file: {:?}", problem.notices);

    let line = &problem.points.line;
    let mut grid = gridgen::grid::Grid::new(problem.topology, line.len(), 1);
    (grid.x, grid.y) = line.iter().map(|[x, y]| (*x, *y)).unzip();
    problem.place(&mut grid);

    // The extents of the file, in millimetres, were taken with a spreadsheet.
    let extent =
        |v: &[f64]| [v.iter().copied().fold(9.0, f64::min), v.iter().copied().fold(-9.0, f64::max)];
    let ([left, right], [low, _]) = (extent(&grid.x), extent(&grid.y));
    assert!((right - 0.01407985).abs() < 1e-6, "{right}");
    assert!((left + 0.00469925).abs() < 5e-6, "{left}");
    assert!((low + 0.01099648).abs() < 2e-4, "{low}");
    let again = cases::case(&problem.case.to_toml_string().unwrap());
    assert_eq!(again.settle().unwrap().points, problem.points);
}

/// In the chord's frame the nose is at the origin and the chord is 1; the pitch is kept.
#[test]
fn a_pitched_section_keeps_its_angle() {
    let problem = case("pitched-38deg-mm.csv", "").settle().unwrap();

    let edge = problem.points.line[0];
    assert!((edge[0].hypot(edge[1]) - 1.0).abs() < 1e-6, "{edge:?}");
    assert!(((-edge[1]).atan2(edge[0]).to_degrees() - 38.25).abs() < 0.01, "{edge:?}");
    assert_noted(&problem.notices, "geometry.angle = -38.25");
}

#[test]
fn a_half_grid_takes_a_section_that_is_symmetric_but_for_rounding() {
    let half = |file: &str| {
        let path = data(file);
        cases::case(&format!("geometry.file = {path:?}\ngrid.topology = 'half'")).settle()
    };

    let problem = half("symmetric-1e-5.dat").unwrap();

    assert!(problem.half.is_some());
    assert_noted(&problem.notices, "off mirrored pairs by up to 1.0e-5");
    assert!(half("edge-gap.dat").unwrap_err().to_string().contains("not symmetric"));
}
