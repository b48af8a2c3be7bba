//! Cases of tests, and their grids.

use std::path::Path;

use gridgen::case::{Case, CaseError};
use gridgen::error::Error;
use gridgen::generate::{BackendChoice, GridResult, RunOptions, make_grid};

/// The case of a text, with an O-grid unless the text names a topology.
#[track_caller]
pub fn case(text: &str) -> Case {
    with(text, if text.contains("topology") { &[] } else { &[("grid.topology", "O")] })
}

/// The case of a text with some keys replaced.
#[track_caller]
pub fn with(text: &str, set: &[(&str, &str)]) -> Case {
    Case::from_toml(text, Path::new("wing.toml"), &owned(set)).unwrap()
}

/// A shipped case with some keys replaced.
pub fn shipped(name: &str, set: &[(&str, &str)]) -> Result<Case, CaseError> {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../cases");
    Case::from_file(&cases.join(name), &owned(set))
}

fn owned(set: &[(&str, &str)]) -> Vec<(String, String)> {
    set.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

/// The grid of a case, made on the CPU without files.
pub fn make(case: &Case) -> Result<GridResult, Error> {
    let mut options = RunOptions::default();
    options.backend = BackendChoice::Cpu;
    make_grid(case, &options, &mut ())
}
