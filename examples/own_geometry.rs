//! A section of one's own: `cargo run --release --example own_geometry`.
//!
//! Points come from a formula, here that of Joukowski; any points from the upper trailing edge over the
//! leading edge to the lower one will do, in chords.
#![allow(clippy::print_stdout, reason = "an example shows its result")]

use gridgen::case::{CaseFile, Value};
use gridgen::error::Error;
use gridgen::generate;

/// Points on the contour.
const POINTS: usize = 201;

/// Makes the grid of a section of its own.
pub fn main() -> Result<(), Error> {
    let keys = [
        ("name", "joukowski".into()),
        ("points", Value::try_from(joukowski(0.1, 0.05))?),
        ("ni", 193.into()),
        ("nj", 97.into()),
        ("first_cell", 1e-4.into()),
    ];
    let keys = keys.map(|(name, value)| (name.to_owned(), value));
    let case = CaseFile::from_arguments(None, &[], &keys)?.into_section()?;

    let made = generate(&case)?;

    println!("{}: {} Newton steps", case.name, made.newton_iterations());
    println!(
        "first cell {:.3e} to {:.3e}",
        made.quality.first_cell_min, made.quality.first_cell_max
    );
    assert!(made.is_good(), "{}", made.verdict);
    Ok(())
}

/// The image of a circle through ζ = 1 under z = ζ + 1/ζ, scaled to the chord; thicker with a centre
/// farther to the left, more cambered with one higher up.
fn joukowski(left: f64, up: f64) -> Vec<[f64; 2]> {
    let radius = (1.0 + left).hypot(up);
    let edge = f64::atan2(-up, 1.0 + left);
    let points: Vec<[f64; 2]> = (0..POINTS)
        .map(|k| {
            let angle = edge + std::f64::consts::TAU * k as f64 / (POINTS - 1) as f64;
            let (x, y) = (radius * angle.cos() - left, radius * angle.sin() + up);
            let square = x * x + y * y;
            [x + x / square, y - y / square]
        })
        .collect();
    let low = points.iter().map(|point| point[0]).fold(f64::INFINITY, f64::min);
    let chord = 2.0 - low;
    // Both ends are the cusp, bit for bit.
    let last = points.len() - 1;
    let place = |k: usize| points[if k == last { 0 } else { k }];
    (0..points.len()).map(place).map(|[x, y]| [(x - low) / chord, y / chord]).collect()
}
