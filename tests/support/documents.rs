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

/// Asserts that the rows of the table that begins with this head on a page begin like these.
pub fn assert_rows(file: &str, head: &str, rows: &[String]) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file);
    let page = std::fs::read_to_string(path).unwrap();
    let table = page[page.find(head).unwrap()..].split("\n\n").next().unwrap();
    let found: Vec<&str> = table.lines().skip(2).collect();
    assert_eq!(found.len(), rows.len(), "{file}: {rows:#?}");
    for (found, row) in found.iter().zip(rows) {
        assert!(found.starts_with(row), "{file} has {found}, expected {row}");
    }
}
