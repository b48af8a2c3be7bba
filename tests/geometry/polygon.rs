//! Tests of whether a polygon crosses itself.

use gridgen::geometry::{first_contact, first_crossing};

const SQUARE: [[f64; 2]; 4] = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];

#[test]
fn a_polygon_crosses_itself_where_its_segments_do() {
    let closing = [[1.0, -1.0], [1.0, 1.0], [0.0, 0.0], [2.0, 0.0]];
    let touching = [[1.0, 0.0], [0.9, 0.0], [0.0, 0.1], [0.0, -0.1], [0.9, 0.0], [1.0, 0.0]];
    for (points, closed, crossing) in [
        (&SQUARE[..], true, None),
        (&[SQUARE[0], SQUARE[2], SQUARE[1], SQUARE[3]], false, Some((0, 2))),
        // The closing segment counts only in a closed polygon.
        (&[[0.0, 0.0], [2.0, 0.0], [1.0, -1.0], [1.0, 1.0]], false, Some((0, 2))),
        (&closing[1..], true, None),
        (&[[1.0, -1.0], [0.0, 0.5], [2.0, 0.4], [1.0, 1.0]], true, Some((1, 3))),
        (&touching, false, None),
    ] {
        assert_eq!(first_crossing(points, closed), crossing, "{points:?}");
    }
}

#[test]
fn polygons_that_meet_at_their_points_or_along_sides_are_in_contact() {
    let touching: [&[[f64; 2]]; 5] = [
        // A point touches a side, a point, and another point on which both sides meet.
        &[[0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [1.0, 0.0], [0.0, 2.0]],
        &[[0.0, 0.0], [1.0, 0.3], [2.0, 0.0], [2.0, 1.0], [1.0, 0.3], [0.0, 1.0]],
        &[[0.0, 0.0], [1.0, 0.5], [2.0, 1.0], [2.0, 0.0], [1.0, 0.5], [0.0, 1.0]],
        // One side overlaps another; another turns back on the previous one.
        &[[0.0, 0.0], [3.0, 0.0], [3.0, 1.0], [2.0, 0.0], [1.0, 0.0], [0.0, 1.0]],
        &[[0.0, 0.0], [3.0, 0.0], [1.0, 0.0], [0.0, 2.0]],
    ];
    for points in touching {
        assert!(first_contact(points).is_some(), "{points:?}");
        let turned: Vec<_> =
            points.iter().map(|[x, y]| [0.8 * x - 0.6 * y, 0.6 * x + 0.8 * y]).collect();
        assert!(first_contact(&turned).is_some(), "{turned:?}");
    }
    // A square, and an edge with an angle of 1e-9 radians.
    for points in [&SQUARE[..], &[[0.0, 0.0], [1.0, -1e-9], [2.0, 0.0], [1.0, 1e-9]]] {
        assert_eq!(first_contact(points), None, "{points:?}");
    }
}
