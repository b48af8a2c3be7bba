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

/// Names of the files with these extensions below a folder of the repository, from there on.
fn files_below(folder: &str, extensions: &[&str]) -> Vec<String> {
    let mut names = support::names_below(&root(folder));
    names.retain(|name| name.rsplit_once('.').is_some_and(|(_, end)| extensions.contains(&end)));
    names
}
