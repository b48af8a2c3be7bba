//! The parametric cubic spline.

use gridgen::geometry::CubicSpline;

#[test]
fn values_and_slopes_agree_with_an_independent_construction() {
    // SciPy 1.17: CubicSpline(s, P) with s the accumulated chord length, not-a-knot, at 0, 0.1, 0.37, 0.5,
    // 0.93 and 1 of the length.
    let points = [[1.0, 0.0], [0.6, 0.3], [0.1, 0.2], [0.0, 0.0], [0.3, -0.2], [0.9, -0.1]];
    let curve = CubicSpline::through(&points).unwrap();

    for (fraction, expected, slope) in [
        (0.0, [1.000000000000000, 0.000000000000000], [-0.416396008147261, 0.827601366326677]),
        (0.1, [0.863177553928512, 0.164663045535930], [-0.797863496780275, 0.651746508680158]),
        (0.37, [0.273074028969115, 0.303165654050312], [-0.980895917845723, -0.302530953664050]),
        (0.5, [0.037983691759191, 0.121631486596536], [-0.559522088605608, -0.922429296200606]),
        (0.93, [0.856099545194619, -0.171307539508545], [0.669419624225205, 0.368692202131395]),
        (1.0, [0.900000000000000, -0.100000000000000], [-0.149611464984807, 0.553895897885430]),
    ] {
        let s = fraction * curve.length();
        let (r, dr) = (curve.point(s), curve.derivative(s));

        for c in 0..2 {
            assert!((r[c] - expected[c]).abs() < 1e-13, "r({fraction}) = {r:?}");
            assert!((dr[c] - slope[c]).abs() < 1e-12, "r'({fraction}) = {dr:?}");
        }
    }
}

#[test]
fn knots_are_met_to_the_last_bit() {
    let points = [[1.0, 0.1], [0.3, 0.2], [0.0, 0.0], [0.7, -0.1], [1.1, 0.05]];
    let curve = CubicSpline::through(&points).unwrap();

    let mut s = 0.0;
    for (k, p) in points.iter().enumerate() {
        if k > 0 {
            s += (p[0] - points[k - 1][0]).hypot(p[1] - points[k - 1][1]);
        }
        assert_eq!(curve.point(s).map(f64::to_bits), p.map(f64::to_bits));
    }
}

#[test]
fn the_error_falls_with_the_fourth_power_of_the_interval() {
    let error = |n: usize| {
        let at = |k: usize| {
            let a = std::f64::consts::PI * k as f64 / n as f64;
            [a.cos(), a.sin()]
        };
        let points: Vec<[f64; 2]> = (0..=n).map(at).collect();
        let curve = CubicSpline::through(&points).unwrap();
        (0..1000).fold(0.0, |worst: f64, k| {
            let [x, y] = curve.point(curve.length() * f64::from(k) / 999.0);
            worst.max((x.hypot(y) - 1.0).abs())
        })
    };

    let order = (error(20) / error(40)).log2();

    assert!((3.7..4.4).contains(&order), "order {order}");
}

#[test]
fn points_without_a_curve_through_them_are_refused() {
    let short = [[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]];
    let repeated = [[0.0, 0.0], [1.0, 0.0], [1.0, 0.0], [2.0, 1.0]];
    let broken = [[0.0, 0.0], [1.0, f64::NAN], [1.5, 0.0], [2.0, 1.0]];

    for points in [&short[..], &repeated, &broken] {
        assert!(CubicSpline::through(points).is_err());
    }
}
