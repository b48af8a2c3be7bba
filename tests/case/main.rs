//! Case files: their resolution, and refusals.
#![allow(clippy::unwrap_used, reason = "a failing step fails the test")]
#![allow(clippy::float_cmp, reason = "values that are read or written must be exact")]

mod arguments;
mod elements;
mod files;
mod names;
mod ranges;
mod reference;
mod relations;
mod resolved;
mod sections;
mod template;
mod types;

use std::path::Path;

use gridgen::case::{Case, CaseError};

/// The two lines of the smallest case.
const SMALLEST: &str = "[geometry]\nnaca = \"2412\"\n";

/// Resolves `text` as the case file `wing.toml`.
fn resolve(text: &str) -> Result<Case, CaseError> {
    Case::from_toml(text, Path::new("wing.toml"), &[])
}

/// Resolves the smallest case with `more` below it.
fn resolve_with(more: &str) -> Result<Case, CaseError> {
    resolve(&[SMALLEST, more].concat())
}

/// Resolves `text` with overrides.
fn resolve_set(text: &str, overrides: &[(&str, &str)]) -> Result<Case, CaseError> {
    let overrides: Vec<_> =
        overrides.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    Case::from_toml(text, Path::new("wing.toml"), &overrides)
}

/// Message and hint of an error, as the program shows them.
fn shown<T: std::fmt::Debug>(result: Result<T, CaseError>) -> String {
    let error = result.unwrap_err();
    error.hint().map_or_else(|| error.to_string(), |hint| format!("{error}\nhint: {hint}"))
}
