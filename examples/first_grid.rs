//! A mesh in ten lines: `cargo run --release --example first_grid`.
#![allow(clippy::print_stdout, reason = "an example shows its result")]

use gridgen::{Case, Error, formats, generate};

/// Makes, measures and writes a grid.
pub fn main() -> Result<(), Error> {
    let made = generate(&Case::naca("2412")?)?;
    println!("residual {:.1e}, skewness {:.3}", made.residual(), made.quality.max_skewness);
    assert!(made.is_good(), "{}", made.verdict);
    formats::write(&std::env::temp_dir().join("first_grid.vts"), &(&made.grid).into())?;
    Ok(())
}
