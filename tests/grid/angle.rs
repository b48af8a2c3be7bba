//! The distance of an angle from a right angle, in operations that have vector instructions.

use gridgen::grid::quality::{distance_from_right, right_angles_from_right};

/// The distance by the standard library's arc tangent.
fn expected(sine: f64, cosine: f64) -> f64 {
    let degrees = sine.atan2(cosine).to_degrees();
    let degrees = if degrees < 0.0 { degrees + 360.0 } else { degrees };
    ((degrees - 90.0) / 90.0).abs()
}

#[test]
fn all_around_the_circle_the_angle_is_that_of_the_standard_library() {
    for k in 0..100_003 {
        let (sine, cosine) = (f64::from(k) * std::f64::consts::TAU / 100_003.0).sin_cos();
        for size in [1.0, 1e-12, 3e7] {
            let angle = right_angles_from_right(size * sine, size * cosine);

            let expected = expected(sine, cosine);
            assert!((angle - expected).abs() < 1e-15, "{angle}, not {expected}");
        }
    }
}

#[test]
fn small_deviations_keep_their_digits() {
    // |θ − 90°| / 90° for a cosine ε is 2 ε/π.
    for exponent in 1..300 {
        let cosine = 10.0_f64.powi(-exponent - 8);

        let angle = right_angles_from_right(1.0, -cosine);

        let expected = cosine * std::f64::consts::FRAC_2_PI;
        assert!((angle / expected - 1.0).abs() < 1e-15, "{angle}, not {expected}");
    }
}

#[test]
fn the_ends_of_the_ranges_are_exact() {
    for (sine, cosine, expected) in [
        (1.0, 0.0, 0.0),
        (0.0, 1.0, 1.0),
        (-0.0, 1.0, 1.0),
        (0.0, -1.0, 1.0),
        (-0.0, -1.0, 1.0),
        (-1.0, 0.0, 2.0),
        (0.0, 0.0, 1.0),
        (1.0, 1.0, 0.5),
        (1.0, -1.0, 0.5),
        (-1.0, -1.0, 1.5),
        (-1.0, 1.0, 2.5),
    ] {
        assert_eq!(right_angles_from_right(sine, cosine).to_bits(), f64::to_bits(expected));
    }
    assert!(right_angles_from_right(f64::NAN, 1.0).is_nan());
    assert!(right_angles_from_right(1.0, f64::NAN).is_nan());
}

#[test]
fn the_distance_along_the_square_orders_angles_as_the_angle_does() {
    let steps = 10_007;
    let mut all: Vec<(f64, f64)> = (0..steps)
        .map(|k| (f64::from(k) * std::f64::consts::TAU / f64::from(steps)).sin_cos())
        .map(|(s, c)| (distance_from_right(s, c), right_angles_from_right(s, c)))
        .collect();

    all.sort_by(|a, b| a.0.total_cmp(&b.0));

    assert!(all.windows(2).all(|pair| pair[0].1 <= pair[1].1 + 1e-15));
}
