//! Cases of several elements.

use std::path::Path;

use gridgen::case::{Assembly, CaseFile};

/// The case given by a text.
pub fn assembly(text: &str) -> Assembly {
    match CaseFile::from_toml(text, Path::new("elements.toml"), &[]).unwrap() {
        CaseFile::Elements(assembly) => *assembly,
        other => panic!("{other:?}"),
    }
}
