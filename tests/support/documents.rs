//! Pages that are written from tables of the program.

use std::path::Path;

/// Asserts that a file of this repository has this text. With `UPDATE_DOCS` set it is written.
pub fn assert_written(file: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(stored == text, "{file} is out of date; UPDATE_DOCS=1 writes it again");
}

/// Asserts that the table that begins with this head on a page is this one.
pub fn assert_table(file: &str, head: &str, table: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file);
    let page = std::fs::read_to_string(path).unwrap();
    let start = page.find(head).unwrap();
    let end = start + page[start..].find("\n\n").unwrap() + 1;
    assert_written(file, &[&page[..start], table, &page[end..]].concat());
}
