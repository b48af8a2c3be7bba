//! Cases of tests.

use std::path::Path;

use gridgen::case::Case;

/// The case of a text, with an O-grid unless the text names a topology.
#[track_caller]
pub fn case(text: &str) -> Case {
    let o = ("grid.topology".to_owned(), "O".to_owned());
    let set = if text.contains("topology") { vec![] } else { vec![o] };
    Case::from_toml(text, Path::new("wing.toml"), &set).unwrap()
}
