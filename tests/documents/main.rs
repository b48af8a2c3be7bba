//! The documents about the program: pages, citations of the theory, examples, and the sources that identify
//! results.
#![allow(clippy::unwrap_used, reason = "a failing step fails the test")]

mod answers;
mod examples;
mod fingerprint;
mod gallery;
mod layering;
mod licences;
mod pages;
mod theory;

use std::fs;
use std::path::{Path, PathBuf};

/// The path of a file or folder of the repository.
fn root(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The text of a file of the repository.
fn read(path: impl AsRef<Path>) -> String {
    fs::read_to_string(root("").join(path)).unwrap()
}

/// The files with these extensions below a folder; none if there is no such folder.
fn files_below(folder: &Path, extensions: &[&str]) -> Vec<PathBuf> {
    let paths = support::names_below(folder).into_iter().map(|name| folder.join(name));
    let fits = |path: &PathBuf| extensions.iter().any(|end| path.extension() == Some(end.as_ref()));
    paths.filter(fits).collect()
}
