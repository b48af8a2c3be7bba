//! Cases of several elements.

use std::path::Path;

use gridgen::case::CaseFile;

/// The case given by a text.
pub fn assembly(text: &str) -> CaseFile {
    let case = CaseFile::from_toml(text, Path::new("elements.toml"), &[]).unwrap();
    assert!(case.section().is_none(), "{case:?}");
    case
}
