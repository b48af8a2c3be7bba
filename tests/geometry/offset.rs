//! Lines at a constant distance from a wall.

use gridgen::geometry::{GeometryError, OffsetLine, first_crossing};
use support::vectors::closed_turns;
use support::walls::distance_from;

/// A unit square with a notch of this width and depth in its upper side.
fn notched(wide: f64, deep: f64) -> Vec<[f64; 2]> {
    let (a, b) = (0.5 - 0.5 * wide, 0.5 + 0.5 * wide);
    let notch = [[a, 1.0], [a, 1.0 - deep], [b, 1.0 - deep], [b, 1.0]];
    [&[[0.0, 0.0], [0.0, 1.0]][..], &notch, &[[1.0, 1.0], [1.0, 0.0], [0.0, 0.0]]].concat()
}

fn circle(radius: f64, count: usize) -> Vec<[f64; 2]> {
    let at = |k: usize| {
        let (sin, cos) = (-std::f64::consts::TAU * k as f64 / count as f64).sin_cos();
        [radius * cos, radius * sin]
    };
    (0..=count).map(|k| at(k % count)).collect()
}

#[test]
fn the_line_around_a_circle_is_a_circle() {
    let line = OffsetLine::around(&circle(0.5, 400), 0.3).unwrap();

    for [x, y] in line.points(1000) {
        assert!((x.hypot(y) - 0.8).abs() < 1e-3, "({x}, {y})");
    }
    assert!((line.length() - std::f64::consts::TAU * 0.8).abs() < 5e-3, "{}", line.length());
}

/// The corners of a square become quarter circles, whose curvature begins smoothly.
#[test]
fn convex_corners_keep_the_distance() {
    let square = &notched(0.3, 0.0);
    for distance in [0.01, 0.1, 1.0, 10.0] {
        let line = OffsetLine::around(square, distance).unwrap();

        for point in line.points(2000) {
            let found = distance_from(square, point);
            assert!((found / distance - 1.0).abs() < 3e-3, "{point:?}: {found} of {distance}");
        }
    }
}

/// Over a notch the line goes down as far as an arc with half the distance as radius allows.
#[test]
fn concave_parts_are_rounded_and_nowhere_too_near() {
    for (wide, deep) in [(0.9, 0.4), (0.5, 0.5), (0.2, 0.6), (0.05, 0.5)] {
        let wall = notched(wide, deep);
        for distance in [0.02, 0.1, 0.4, 2.0] {
            let line = OffsetLine::around(&wall, distance).unwrap();
            let points = line.points(4000);

            let least = points.iter().map(|p| distance_from(&wall, *p)).fold(f64::MAX, f64::min);
            assert!(least > 0.997 * distance, "{wide} {deep} {distance}: {least}");
            let closed = [&points[..], &points[..1]].concat();
            assert_eq!(first_crossing(&closed, false), None, "{wide} {deep} {distance}");
            // The arc has the radius d/2 and is sampled at steps of length/4000.
            let sharpest = (line.length() / 4000.0 / (0.5 * distance)).to_degrees();
            let turns = closed_turns(&closed).into_iter().map(|turn| turn.abs().to_degrees());
            let turn = turns.fold(0.0, f64::max);
            assert!(turn < 1.2 * sharpest, "{wide} {deep} {distance}: {turn} of {sharpest}");
        }
    }
}

#[test]
fn the_line_runs_clockwise() {
    let wall = notched(0.4, 0.3);
    let reversed: Vec<[f64; 2]> = wall.iter().rev().copied().collect();

    for wall in [wall, reversed] {
        let points = OffsetLine::around(&wall, 0.2).unwrap().points(500);

        let next = |k: usize| points[(k + 1) % points.len()];
        let area: f64 =
            (0..500).map(|k| points[k][0] * next(k)[1] - points[k][1] * next(k)[0]).sum();
        assert!(area < -1.0, "{area}");
    }
}

/// The nearest point is the foot of the normal, and neighbours remain neighbours.
#[test]
fn points_are_projected_along_the_normal() {
    let wall = notched(0.5, 0.4);
    let line = OffsetLine::around(&wall, 0.3).unwrap();
    let projection = line.projection();

    for k in 0..1000 {
        let share = f64::from(k) / 1000.0;
        let (at, ahead) = (line.point(share), line.point(share + 1e-6));
        let normal = [at[1] - ahead[1], ahead[0] - at[0]].map(|c| c / (1e-6 * line.length()));
        for off in [-0.02, 0.02] {
            let point = [0, 1].map(|c| at[c] + off * normal[c]);

            let found = projection.nearest(point);

            let far = (found[0] - at[0]).hypot(found[1] - at[1]);
            assert!(far < 1e-6, "share {share}, {off}: {far:e}");
        }
        let found = projection.share(at);
        let apart = (found - share).abs();
        assert!(apart.min(1.0 - apart) < 1e-9, "{found} for {share}");
    }
}

#[test]
fn a_wall_without_an_inside_has_no_line() {
    let flat = [[0.0, 0.0], [1.0, 0.0], [0.0, 0.0]];

    for (wall, distance) in [(&flat[..0], 0.1), (&flat[..1], 0.1), (&flat[..], f64::NAN)] {
        let found = OffsetLine::around(wall, distance);

        assert!(matches!(found, Err(GeometryError::Contour { .. })), "{wall:?}: {found:?}");
    }
}
