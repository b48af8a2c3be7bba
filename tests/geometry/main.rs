//! The geometry layer from files and designations to wall points.
#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a failing step fails the test")]
#![allow(clippy::float_cmp)] // The compared numbers must be exactly equal.
#![allow(clippy::unreadable_literal)] // Reference values are as printed in their sources.

mod corners;
mod dialects;
mod enclosure;
mod naca;
mod normals;
mod offset;
mod polygon;
mod reader;
mod refusals;
mod repairs;
mod shapes;
mod spacing;
mod spline;
mod surface;
mod turning;
mod wake;

use std::path::PathBuf;

use gridgen::geometry::{Airfoil, BoundaryPoints, CubicSpline};

/// Path of a data file of these tests.
fn data(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/airfoils").join(name)
}

/// A temporary file that contains `bytes`, deleted with the returned handle.
fn file(bytes: impl AsRef<[u8]>) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), bytes).unwrap();
    file
}

/// Lengths of the cells of a wall.
fn lengths(wall: &BoundaryPoints) -> Vec<f64> {
    let step = |i: usize| (wall.x[i + 1] - wall.x[i]).hypot(wall.y[i + 1] - wall.y[i]);
    (0..wall.x.len() - 1).map(step).collect()
}

/// Turn at each point of a closed wall, radians; positive to the left.
fn turns(wall: &BoundaryPoints) -> Vec<f64> {
    let n = wall.x.len() - 1;
    let step = |i: usize| [wall.x[i + 1] - wall.x[i], wall.y[i + 1] - wall.y[i]];
    let turn = |i: usize| {
        let (a, b) = (step((i + n - 1) % n), step(i));
        (a[0] * b[1] - a[1] * b[0]).atan2(a[0] * b[0] + a[1] * b[1])
    };
    (0..n).map(turn).collect()
}

/// Largest ratio of neighbouring cells.
fn largest_growth(lengths: &[f64]) -> f64 {
    lengths.windows(2).map(|w| (w[1] / w[0]).max(w[0] / w[1])).fold(1.0, f64::max)
}

/// Largest distance of the `points` from the curve through the section's contour.
fn distance_from(airfoil: &Airfoil, points: &[[f64; 2]]) -> f64 {
    let curve = CubicSpline::through(&airfoil.points).unwrap();
    let distance = |s: f64, p: &[f64; 2]| {
        let [x, y] = curve.point(s);
        (x - p[0]).hypot(y - p[1])
    };
    let n = 4000;
    let sample = |k: usize| curve.length() * k as f64 / f64::from(n);
    points.iter().fold(0.0, |worst: f64, p| {
        let best = (0..=n as usize)
            .min_by(|&i, &k| distance(sample(i), p).total_cmp(&distance(sample(k), p)))
            .unwrap();
        // A golden-section search would do; a ternary search is shorter and fast enough.
        let (mut a, mut b) = (sample(best.max(1) - 1), sample(best + 1));
        for _ in 0..60 {
            let (c, d) = (a + (b - a) / 3.0, b - (b - a) / 3.0);
            if distance(c, p) < distance(d, p) { b = d } else { a = c }
        }
        worst.max(distance(0.5 * (a + b), p))
    })
}
