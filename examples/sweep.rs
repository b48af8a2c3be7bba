//! A sweep over sections in memory: `cargo run --release --example sweep`.
//!
//! Nothing is written; each grid is measured and dropped.
#![allow(clippy::print_stdout, reason = "an example shows its result")]

use std::path::Path;

use gridgen::case::Case;
use gridgen::error::Error;
use gridgen::generate::{RunOptions, make_grid};

/// Makes and measures nine grids.
pub fn main() -> Result<(), Error> {
    println!("section  steps  skewness  wall angle");
    for camber in [1, 2, 4] {
        for thickness in [9, 12, 15] {
            let section = format!("{camber}4{thickness:02}");
            let overrides = [("geometry.naca".to_owned(), section.clone())];
            let text = "[grid]\nni = 161\nnj = 65\nfirst_cell = 1e-4\n";
            let case = Case::from_toml(text, Path::new("sweep.toml"), &overrides)?;
            let made = make_grid(&case, &RunOptions::default(), &mut ())?;
            assert!(made.is_good(), "{section}: {}", made.verdict);
            println!(
                "{section:7}  {:5}  {:8.3}  {:9.1e}°",
                made.history.newton_iterations(),
                made.quality.max_skewness,
                made.quality.wall_angle_error_max_deg,
            );
        }
    }
    Ok(())
}
