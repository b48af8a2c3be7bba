//! The identity of a case and of its results.

use std::fs;

use crate::backend::LevelSize;
use crate::case::{Case, CaseFile, Problem};
use crate::digest;
use crate::error::Error;
use crate::files::restart::Identity;

/// The sources and libraries that this build was made from, as its build script has them.
const SOURCES: &str = env!("GRIDGEN_SOURCES");

/// Sections whose keys decide on the grid; the others decide how it is solved for and written.
const SECTIONS: [&str; 6] = ["geometry", "grid", "domain", "cascade", "initial", "control"];

/// Keys that name a file of coordinates.
const FILES: [&str; 2] = ["geometry.file", "geometry.section.file"];

/// Unknowns of a problem.
pub(super) fn unknowns(problem: &Problem) -> usize {
    let [ni, nj] = problem.size();
    LevelSize::of_grid(problem.topology, ni, nj).values()
}

/// The keys and values that the grid equations of a settled case depend on; a file of coordinates counts
/// by its contents, wherever it stands.
pub(super) fn identity(case: &Case) -> Result<Identity, Error> {
    let (mut keys, table) = (Identity::new(), toml::Table::try_from(case)?);
    for section in SECTIONS {
        if let Some(value) = table.get(section) {
            flatten(section, value, &mut keys);
        }
    }
    for file in FILES {
        if keys.remove(file).is_some()
            && let Some(digest) = coordinates_digest(case)
        {
            keys.insert(format!("the contents of {file}"), digest);
        }
    }
    Ok(keys)
}

/// The fingerprint of the results of a settled case: of all its keys, of the contents of its files of coordinates
/// wherever those stand, and of the sources that this build was made from. The machine is no part of it: a GPU makes the
/// grid of the CPU to rounding.
///
/// # Errors
/// A path of the case that is not UTF-8.
pub fn fingerprint(case: impl Into<CaseFile>) -> Result<String, Error> {
    let mut case = case.into();
    let mut digests = String::new();
    for element in &mut case.elements {
        digests += &coordinates_digest(&element.case).unwrap_or_default();
        element.case.geometry.contour.forget_file();
    }
    let text = [SOURCES, &case.to_toml_string()?, &digests].concat();
    Ok(format!("{:016x}", digest::of(text.as_bytes())))
}

/// The digest of the file of coordinates of a case, if it has one that can be read.
pub(super) fn coordinates_digest(case: &Case) -> Option<String> {
    let bytes = fs::read(case.geometry.contour.file()?).ok()?;
    Some(format!("{:016x}", digest::of(&bytes)))
}

fn flatten(key: &str, value: &toml::Value, keys: &mut Identity) {
    match value.as_table() {
        None => {
            keys.insert(key.to_owned(), value.to_string());
        }
        Some(table) => {
            for (name, value) in table {
                flatten(&[key, ".", name].concat(), value, keys);
            }
        }
    }
}
