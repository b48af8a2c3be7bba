//! What the grid equations of a case, and its results, depend on.

use std::fs;

use crate::case::{Case, Contour};
use crate::digest::Digest;
use crate::error::Error;
use crate::files::restart::Identity;

/// Sections whose keys decide on the grid; the others decide how it is solved for and written.
const SECTIONS: [&str; 4] = ["geometry", "grid", "initial", "control"];

/// Keys that name a file of coordinates.
const FILES: [&str; 2] = ["geometry.file", "geometry.section.file"];

/// Keys and values that decide on the grid; a file of coordinates counts by its contents, wherever
/// it stands.
pub(super) fn identity(case: &Case) -> Result<Identity, Error> {
    let deciding = |key: &str| {
        let name = key.rsplit_once(' ').map_or(key, |(_, name)| name);
        name.split('.').next().is_some_and(|section| SECTIONS.contains(&section))
    };
    Ok(keys(case)?.into_iter().filter(|(key, _)| deciding(key)).collect())
}

/// All keys of a case and their values; in place of a file of coordinates its contents.
pub(super) fn keys(case: &Case) -> Result<Identity, Error> {
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

/// Adds the values below a dotted key.
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

/// The digest of the file of coordinates of a case, if it has one that can be read.
pub(super) fn coordinates_digest(case: &Case) -> Option<String> {
    let path = match &case.geometry.contour {
        Contour::File(path) => path,
        Contour::Section(section) => &section.file,
        Contour::Naca(_) | Contour::WingBody(_) | Contour::Ellipse(_) | Contour::Joukowski(_) => {
            return None;
        }
    };
    fs::read(path).ok().map(|bytes| format!("{:016x}", Digest::of(&bytes).number()))
}
