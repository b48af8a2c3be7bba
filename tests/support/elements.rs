//! Cases of several elements.

use std::path::Path;

use gridgen::case::CaseFile;

/// The case given by a text.
pub fn assembly(text: &str) -> CaseFile {
    let case = CaseFile::from_toml(text, Path::new("elements.toml"), &[]).unwrap();
    assert!(case.section().is_none(), "{case:?}");
    case
}

/// A main element and a flap of one section with grids of these keys, further keys of each, and those of the background.
pub fn main_and_flap(grid: &str, [main, flap]: [&str; 2], background: &str) -> CaseFile {
    let element = |name: &str, rest: &str| {
        format!(
            "[[element]]\nname = \"{name}\"\ngeometry = {{ naca = \"2412\" }}\n\
             grid = {{ {grid} }}\n{rest}"
        )
    };
    let background = format!("[background]\n{background}");
    assembly(&[element("main", main), element("flap", flap), background].concat())
}
