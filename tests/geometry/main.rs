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

use gridgen::geometry::{
    Airfoil, AlongWall, BaseCells, CubicSpline, SurfaceSettings, TrailingEdge,
};

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

/// Asserts that one of these notes has this part.
#[track_caller]
fn assert_noted(notes: &[String], part: &str) {
    assert!(notes.iter().any(|note| note.contains(part)), "`{part}` is not in {notes:?}");
}

/// Largest distance of the `points` from the curve through the section's contour, taken as straight pieces within 1e-7.
fn distance_from(airfoil: &Airfoil, points: &[[f64; 2]]) -> f64 {
    let curve = CubicSpline::through(&airfoil.points).unwrap();
    let place = |k: i32| curve.point(curve.length() * f64::from(k) / 20_000.0);
    let line: Vec<[f64; 2]> = (0..=20_000).map(place).collect();
    points.iter().map(|point| support::walls::distance_from(&line, *point)).fold(0.0, f64::max)
}

/// Settings of a wall of `ni` points with this spacing at the trailing edge.
fn settings(ni: usize, edge: f64, trailing_edge: TrailingEdge) -> SurfaceSettings {
    SurfaceSettings {
        ni,
        leading_edge_spacing: 3e-3,
        trailing_edge_spacing: edge,
        trailing_edge,
        base_cells: BaseCells::MultipleOf(2),
        max_turn_deg: 180.0,
        corners_deg: None,
        along: AlongWall::default(),
    }
}
