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
const SECTIONS: [&str; 4] = ["geometry", "grid", "initial", "control"];

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
    let deciding = |key: &str| {
        let name = key.rsplit_once(' ').map_or(key, |(_, name)| name);
        name.split('.').next().is_some_and(|section| SECTIONS.contains(&section))
    };
    Ok(keys(case)?.into_iter().filter(|(key, _)| deciding(key)).collect())
}

/// The fingerprint of the results of a settled case: of all its keys, of the contents of its file of
/// coordinates wherever that stands, and of the sources that this build was made from. The machine is no
/// part of it: a GPU makes the grid of the CPU to rounding.
///
/// # Errors
/// A path of the case that is not UTF-8.
pub fn fingerprint(case: &Case) -> Result<String, Error> {
    let keys = keys(case)?;
    let parts = keys.iter().map(|(key, value)| [key, "\0", value, "\0"].concat());
    let text: String = std::iter::once(SOURCES.to_owned()).chain(parts).collect();
    Ok(format!("{:016x}", digest::of(text.as_bytes())))
}

/// The fingerprint of the results of a settled case, of several elements that of its text, of the contents of their
/// files of coordinates, and of the sources.
///
/// # Errors
/// A path of the case that is not UTF-8.
pub(super) fn fingerprint_of(case: &CaseFile) -> Result<String, Error> {
    if let Some(section) = case.section() {
        return fingerprint(section);
    }
    let digests = case.elements.iter().map(|element| coordinates_digest(&element.case));
    let digests: Vec<String> = digests.map(Option::unwrap_or_default).collect();
    let mut bare = case.clone();
    for element in &mut bare.elements {
        // A file counts by its contents, wherever it stands.
        element.case.geometry.contour.forget_file();
    }
    let text = [SOURCES, &bare.to_toml_string()?, &digests.concat()].concat();
    Ok(format!("{:016x}", digest::of(text.as_bytes())))
}

/// The digest of the file of coordinates of a case, if it has one that can be read.
pub(super) fn coordinates_digest(case: &Case) -> Option<String> {
    let bytes = fs::read(case.geometry.contour.file()?).ok()?;
    Some(format!("{:016x}", digest::of(&bytes)))
}

/// All keys of a case and their values; in place of a file of coordinates its contents.
fn keys(case: &Case) -> Result<Identity, Error> {
    let mut keys = Identity::new();
    flatten("", &toml::Value::try_from(case)?, &mut keys);
    for file in FILES {
        if keys.remove(file).is_some()
            && let Some(digest) = coordinates_digest(case)
        {
            keys.insert(format!("the contents of {file}"), digest);
        }
    }
    Ok(keys)
}

fn flatten(key: &str, value: &toml::Value, keys: &mut Identity) {
    match value.as_table() {
        None => {
            keys.insert(key.to_owned(), value.to_string());
        }
        Some(table) => {
            for (name, value) in table {
                let key = if key.is_empty() { name.clone() } else { [key, ".", name].concat() };
                flatten(&key, value, keys);
            }
        }
    }
}
