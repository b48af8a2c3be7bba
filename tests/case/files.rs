//! Files that are not case files.

use std::path::Path;

use gridgen::case::Case;

use super::{resolve, resolve_with, shown};

/// The message for a file `case.toml` with these bytes, without the folder.
fn shown_for_bytes(bytes: &[u8]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("case.toml");
    std::fs::write(&path, bytes).unwrap();
    shown(Case::from_file(&path, &[])).replace(&format!("{}/", folder.path().display()), "")
}

#[test]
fn a_missing_file_is_refused() {
    let message = shown(Case::from_file(Path::new("no/such.toml"), &[]));

    assert_eq!(
        message,
        "no/such.toml: no such case file\n\
         hint: check the path of the case file"
    );
}

#[test]
fn a_folder_is_refused() {
    let message = shown(Case::from_file(Path::new("src"), &[]));

    assert_eq!(
        message,
        "src: expected a case file, found a folder\n\
         hint: name the case file in the folder"
    );
}

#[test]
fn an_empty_file_is_refused() {
    let message = shown_for_bytes(b"");

    assert_eq!(
        message,
        "case.toml: geometry.naca or geometry.file is missing\n\
         hint: the smallest case is two lines: [geometry] and naca = \"2412\""
    );
}

#[test]
fn a_file_of_comments_is_refused() {
    let message = shown_for_bytes(b"# nothing\n\n");

    assert_eq!(
        message,
        "case.toml: geometry.naca or geometry.file is missing\n\
         hint: the smallest case is two lines: [geometry] and naca = \"2412\""
    );
}

#[test]
fn a_binary_file_is_refused() {
    let message = shown_for_bytes(&[0x7f, b'E', b'L', b'F', 2, 1, 1, 0]);

    assert_eq!(
        message,
        "case.toml: expected a case file in text, found binary data at byte 7\n\
         hint: a case file is a short text in TOML; coordinates go into a file of their own, \
         named by geometry.file"
    );
}

#[test]
fn a_file_in_latin_1_is_refused() {
    let message = shown_for_bytes(b"[geometry]\n# Z\xfcrich\n");

    assert_eq!(
        message,
        "case.toml:2: expected UTF-8 text, found other bytes\n\
         hint: save the file as UTF-8"
    );
}

#[test]
fn a_file_of_utf_16_is_refused() {
    let message = shown_for_bytes(&[0xff, 0xfe, b'[', 0]);

    assert_eq!(
        message,
        "case.toml: expected a case file in text, found binary data at byte 3\n\
         hint: a case file is a short text in TOML; coordinates go into a file of their own, \
         named by geometry.file"
    );
}

#[test]
fn a_huge_file_is_refused() {
    let message = shown_for_bytes(&vec![b'\n'; 2_000_000]);

    assert_eq!(
        message,
        "case.toml: expected a case file, found more than 1048576 bytes\n\
         hint: a case file is a short text in TOML; coordinates go into a file of their own, \
         named by geometry.file"
    );
}

#[test]
fn a_syntax_error_is_refused() {
    let message = shown(resolve("[geometry]\nnaca = 0012\n"));

    assert_eq!(
        message,
        "wing.toml:2:8: not TOML: unexpected leading zero, expected nothing\n\
         hint: put text in quotes, sections in [brackets], and each key once: key = value"
    );
}

#[test]
fn a_key_given_twice_is_refused() {
    let message = shown(resolve_with("naca = \"0012\""));

    assert_eq!(
        message,
        "wing.toml:3:1: not TOML: duplicate key\n\
         hint: put text in quotes, sections in [brackets], and each key once: key = value"
    );
}

#[test]
fn coordinates_in_place_of_a_case_is_refused() {
    let message = shown(Case::from_file(Path::new("cases/airfoils/e387.dat"), &[]));

    assert_eq!(
        message,
        "cases/airfoils/e387.dat:1:5: not TOML: key with no value, expected `=`\n\
         hint: if this is a file of coordinates, name it by geometry.file in a case file"
    );
}

#[cfg(not(windows))]
#[test]
fn backslashes_in_a_path_are_named_as_such() {
    let with = |file: &str| shown(resolve(&format!("[geometry]\nfile = {file}\n")));

    for (file, slashed) in
        [(r"'no\such\a.dat'", "no/such/a.dat"), (r#""no\\such.dat""#, "no/such.dat")]
    {
        let said = with(file);
        let hint = format!("hint: the path has backslashes; write \"{slashed}\"");
        assert!(said.contains("no such file: ") && said.ends_with(&hint), "{said}");
    }
    // One is not an escape sequence of TOML, the others are.
    for file in [r#""data\such.dat""#, r#""data\naca.dat""#, r#""data\bell.dat""#] {
        let said = with(file);
        let hint =
            "hint: a backslash between double quotes begins an escape: separate folders by /";
        assert!(said.ends_with(hint), "{said}");
    }
}
