//! What the grid equations of a case depend on.

use std::fs;

use crate::case::{Case, Contour};
use crate::error::Error;
use crate::io::digest::Digest;
use crate::io::restart::Identity;

/// Sections whose keys decide on the grid; the others decide how it is solved for and written.
const SECTIONS: [&str; 4] = ["geometry", "grid", "initial", "control"];

/// Keys and values that decide on the grid; a file of coordinates counts by its contents, wherever
/// it stands.
pub(super) fn identity(case: &Case) -> Result<Identity, Error> {
    let table = toml::Table::try_from(case)?;
    let mut identity = Identity::new();
    for section in SECTIONS {
        let keys = table.get(section).and_then(toml::Value::as_table).into_iter().flatten();
        let named = keys.map(|(key, value)| ([section, ".", key].concat(), value.to_string()));
        identity.extend(named.filter(|(key, _)| key != "geometry.file"));
    }
    if let Some(digest) = coordinates_digest(case) {
        identity.insert("the contents of geometry.file".to_owned(), digest);
    }
    Ok(identity)
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
