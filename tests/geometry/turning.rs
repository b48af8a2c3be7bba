//! Spacing under a limit on the turn.

use gridgen::internals::turning::Turning;

/// Two straight lines with a quarter circle of radius 0.1 between them, by arc length.
fn direction(s: f64) -> [f64; 2] {
    let angle = ((s - 0.5) / 0.1).clamp(0.0, std::f64::consts::FRAC_PI_2);
    [angle.cos(), angle.sin()]
}

fn bend() -> Turning {
    Turning::along((0..=4000).map(|k| f64::from(k) * 3e-4).collect(), direction)
}

#[test]
fn points_that_keep_the_limit_stay() {
    let s: Vec<f64> = (0..=120).map(|k| f64::from(k) * 0.01).collect();

    // A cell turns by 0.01/0.1 radians, 5.7°.
    assert_eq!(bend().limited(s.clone(), 0.12), s);
}

#[test]
fn points_gather_where_the_limit_is_broken() {
    let s: Vec<f64> = (0..=200).map(|k| f64::from(k) * 0.006).collect();

    let moved = bend().limited(s, 0.04);

    assert_eq!((moved.len(), moved[0]), (201, 0.0));
    assert!((moved[200] - 1.2).abs() < 1e-12);
    for w in moved.windows(2) {
        let (a, b) = (direction(w[0]), direction(w[1]));
        let turn = (a[0] * b[1] - a[1] * b[0]).asin();
        assert!(turn <= 0.0401, "{turn}");
    }
    for w in moved.windows(3) {
        let growth = (w[2] - w[1]) / (w[1] - w[0]);
        assert!((0.8..1.25).contains(&growth), "{growth}");
    }
}

#[test]
fn too_few_cells_around_a_curve_are_reported() {
    let circle = Turning::along((0..=1000).map(|k| f64::from(k) * 1e-3).collect(), |s| {
        [(std::f64::consts::TAU * s).cos(), -(std::f64::consts::TAU * s).sin()]
    });

    // 36 cells of 10° are needed, and more because the longest cell is an eighth of the length.
    assert!(matches!(circle.around(30, 10_f64.to_radians()), Err(44 | 45)));
    let around = circle.around(60, 10_f64.to_radians()).unwrap_or_default();
    assert!(around.windows(2).all(|w| (60.0 * (w[1] - w[0]) - 1.0).abs() < 1e-9));
}
