//! A mesh in ten lines: `cargo run --release --example first_grid`.
#![allow(clippy::print_stdout, reason = "an example shows its result")]

use std::path::Path;

use gridgen::case::Case;
use gridgen::error::Error;
use gridgen::formats::{self, MeshData};
use gridgen::generate::{RunOptions, make_grid};

/// Makes, measures and writes a grid.
pub fn main() -> Result<(), Error> {
    let case = Case::from_toml("geometry.naca = '2412'", Path::new("wing.toml"), &[])?;
    let made = make_grid(&case, &RunOptions::default(), &mut ())?;
    println!("residual {:.1e}, skewness {:.3}", made.residual(), made.quality.max_skewness);
    assert!(made.is_good(), "{}", made.verdict);
    formats::write(&std::env::temp_dir().join("first_grid.vts"), &MeshData::from(&made.grid))?;
    Ok(())
}
