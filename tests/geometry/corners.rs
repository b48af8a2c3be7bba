//! Walls with corners between nose and trailing edge.

use gridgen::geometry::{Airfoil, BoundaryPoints, SurfaceSettings, TrailingEdge, distribute};
use support::vectors::{distance, largest_growth, lengths};

use crate::settings;

/// A section with a step of this height in its lower surface at x = 0.6, between arcs.
fn stepped(step: f64, points_a_piece: usize) -> Airfoil {
    let shares = || (0..=points_a_piece).map(|k| k as f64 / points_a_piece as f64);
    let upper = |x: f64| 0.4 * x.sqrt() * (1.0 - x);
    let lower = |x: f64| -0.25 * x.sqrt() * (1.0 - x);
    // The points are denser at the nose.
    let above = shares().map(|s| (1.0 - s).powi(2)).map(|x| [x, upper(x)]);
    let below = shares().map(|s| 0.6 * s.powi(2)).map(|x| [x, lower(x)]);
    let behind = shares().map(|s| [0.6 + 0.4 * s, (lower(0.6) + step) * (1.0 - s)]);
    let mut points: Vec<[f64; 2]> = above.chain(below).chain(behind).collect();
    points.dedup();
    Airfoil { name: "stepped".to_owned(), points, notes: Vec::new() }
}

fn wall(airfoil: &Airfoil, ni: usize, corners_deg: Option<f64>) -> BoundaryPoints {
    let settings = settings(ni, 1e-3, TrailingEdge::AsGiven);
    let settings = SurfaceSettings { max_turn_deg: 15.0, corners_deg, ..settings };
    distribute(airfoil, &settings).unwrap()
}

#[test]
fn points_of_the_wall_lie_on_corners() {
    let airfoil = stepped(0.03, 40);
    for ni in [65, 129, 257, 1025] {
        let found = wall(&airfoil, ni, Some(30.0));

        for corner in [airfoil.points[80], airfoil.points[81]] {
            let on = |i: usize| distance(found.line[i], corner) < 1e-12;
            assert!((0..ni).any(on), "{ni} points, none on {corner:?}");
        }
        assert_eq!(found.line.len(), ni);
    }
}

/// From cell to cell the spacing grows by at most 15 %, up to the rounding of the number of cells, also
/// across corners.
#[test]
fn spacing_grows_evenly_away_from_corners() {
    let found = wall(&stepped(0.03, 40), 513, Some(30.0));

    let growth = largest_growth(&lengths(&found.line));
    assert!(growth < 1.35, "{growth}");
}

/// Between corners the wall follows straight pieces, from which a spline through all points would deviate.
#[test]
fn a_straight_piece_between_corners_stays_straight() {
    let airfoil = stepped(0.03, 40);
    let off = |found: &BoundaryPoints| {
        let [a, b] = [airfoil.points[81], airfoil.points[121]];
        let line = |x: f64| a[1] + (b[1] - a[1]) * (x - a[0]) / (b[0] - a[0]);
        let lower = found.line[..found.line.len() / 2].iter();
        let behind = lower.filter(|[x, _]| *x > 0.6001);
        behind.map(|[x, y]| (y - line(*x)).abs()).fold(0.0, f64::max)
    };

    assert!(off(&wall(&airfoil, 257, Some(30.0))) < 1e-9);
    assert!(off(&wall(&airfoil, 257, None)) > 1e-4, "a spline through all of it overshoots");
}

#[test]
fn a_coarse_bend_is_no_corner() {
    let smooth = stepped(0.0, 6);

    assert_eq!(wall(&smooth, 129, Some(20.0)), wall(&smooth, 129, None));
}
