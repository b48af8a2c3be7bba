//! Outward normals of the wall.

use gridgen::geometry::wall_normals;
use support::vectors::less;

/// Clockwise points on the unit circle at the given angles in degrees, the first repeated.
fn circle(degrees: &[f64]) -> Vec<[f64; 2]> {
    let closed = degrees.iter().chain(degrees.first());
    closed.map(|a| [a.to_radians().cos(), -a.to_radians().sin()]).collect()
}

#[test]
fn normals_of_a_circle_point_away_from_its_centre_even_for_unequal_spacing() {
    // The tangent of the parabola is exact to second order; the plain bisector would be off by a quarter of
    // the difference of the two arcs, 1.25°.
    let degrees: Vec<f64> = (0..72)
        .map(|k| if k % 2 == 0 { 5.0 * f64::from(k) } else { 5.0 * f64::from(k) + 2.5 })
        .collect();
    let points = circle(&degrees);

    let n = wall_normals(&points);

    assert_eq!(n.len(), points.len());
    assert_eq!(n[0].map(f64::to_bits), n[72].map(f64::to_bits), "the last is a copy of the first");
    for (k, (n, [x, y])) in n.iter().zip(points).enumerate() {
        let off = (n[0] * y - n[1] * x).asin().to_degrees().abs();
        assert!(off < 0.01, "{off} degrees at {k}");
        assert!(n[0] * x + n[1] * y > 0.0);
    }
}

/// A clockwise rectangle from its lower right corner with one point close to each corner, and a wedge of 2 · atan(0.1)
/// with its edge at the origin, with the body to its left; the same lines as a notch follow.
#[test]
fn corners_and_edges_get_their_bisectors_even_with_unequal_segments() {
    let below = [[1.0, 0.0], [0.9, 0.0], [0.0, 0.0], [0.0, 0.1]];
    let above = [[0.0, 1.0], [0.1, 1.0], [1.0, 1.0], [1.0, 0.0]];
    let wedge = |y: f64| [[0.0, 0.0], [-1.0, -y], [-1.5, 0.0], [-1.0, y], [0.0, 0.0]];
    let h = 0.5_f64.sqrt();
    for (points, expected) in [
        (
            &[below, above].concat()[..],
            &[(0, [h, -h]), (2, [-h, -h]), (4, [-h, h]), (6, [h, h]), (1, [0.0, -1.0])][..],
        ),
        (&wedge(0.1), &[(0, [1.0, 0.0])]),
        (&wedge(-0.1), &[(0, [-1.0, 0.0])]),
    ] {
        let n = wall_normals(points);

        for (k, expected) in expected {
            let off = less(n[*k], *expected);
            assert!(off.iter().all(|off| off.abs() < 1e-15), "{k}: {:?}", n[*k]);
        }
    }
}

#[test]
fn coinciding_points_give_no_direction_instead_of_nan() {
    let n = wall_normals(&[[1.0, 0.0], [0.0, 0.0], [0.0, 0.0], [0.0, 1.0], [1.0, 0.0]]);

    assert_eq!(n[1], [0.0, 0.0]);
    assert!(n.iter().flatten().all(|c| c.is_finite()));
}
