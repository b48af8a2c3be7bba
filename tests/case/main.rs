//! Case files: their resolution, and refusals.
#![allow(clippy::unwrap_used, reason = "a failing step fails the test")]
#![allow(clippy::float_cmp, reason = "values that are read or written must be exact")]

mod arguments;
mod elements;
mod files;
mod pieces;
mod ranges;
mod reference;
mod relations;
mod resolved;
mod sections;
mod template;
mod topology;
mod types;

use std::path::Path;

use gridgen::case::{Case, CaseError, CaseFile};
use gridgen::error::Error;
use gridgen::internals::schema::{KEYS, Key};

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
    resolve_file(text, overrides)?.into_section()
}

/// Resolves `text`, of one section or of several elements, with overrides.
fn resolve_file(text: &str, overrides: &[(&str, &str)]) -> Result<CaseFile, CaseError> {
    let overrides: Vec<_> =
        overrides.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    CaseFile::from_toml(text, Path::new("wing.toml"), &overrides)
}

/// The case of `text` with the defaults that its section decides.
#[track_caller]
fn settled(text: &str) -> Case {
    resolve(text).unwrap().settle().unwrap().case
}

/// The messages and hints of these, without the working folder, from which relative paths start. A hint that is the
/// meaning or the default of a key is left out.
fn refusals<T>(refused: impl IntoIterator<Item = Result<T, impl Into<Error>>>) -> String {
    let here = format!("{}/", std::env::current_dir().unwrap().display());
    let usual = |key: &Key| {
        let default = format!("leave {} out for the default: {}", key.path, key.default);
        [key.meaning, &default].map(|hint| hint.replace('`', ""))
    };
    let line = |refused| {
        let shown = shown(refused);
        let (message, hint) = shown.split_once("\nhint: ").unwrap();
        let mut own = KEYS.iter().filter(|key| message.contains(key.path)).flat_map(usual);
        if own.any(|usual| usual == hint) { message.to_owned() } else { shown }
    };
    let lines: Vec<String> = refused.into_iter().map(line).collect();
    lines.join("\n").replace(&here, "")
}

/// Message and hint of an error, as the program shows them.
fn shown<T>(result: Result<T, impl Into<Error>>) -> String {
    let error: Error = result.err().unwrap().into();
    error.hint().map_or_else(|| error.to_string(), |hint| format!("{error}\nhint: {hint}"))
}
