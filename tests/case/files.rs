//! Files that are not case files.

use std::path::Path;

use gridgen::case::Case;

use super::{refusals, resolve, resolve_with, shown};

#[test]
fn files_that_are_no_case_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("case.toml");
    let of_bytes = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        Case::from_file(&path, &[])
    };
    let refused = vec![
        of_bytes(b""),
        of_bytes(b"# nothing\n\n"),
        of_bytes(&[0x7f, b'E', b'L', b'F', 2, 1, 1, 0]),
        // Latin-1, and UTF-16.
        of_bytes(b"[geometry]\n# Z\xfcrich\n"),
        of_bytes(&[0xff, 0xfe, b'[', 0]),
        of_bytes(&vec![b'\n'; 2_000_000]),
        Case::from_file(Path::new("cases/airfoils/e387.dat"), &[]),
        Case::from_file(Path::new("no/such.toml"), &[]),
        Case::from_file(Path::new("src"), &[]),
        resolve("[geometry]\nnaca = 0012\n"),
        resolve_with("naca = \"0012\""),
    ];

    let said = refusals(refused).replace(&format!("{}/", folder.path().display()), "");
    insta::assert_snapshot!(said, @r#"
    case.toml: geometry.naca or geometry.file is missing
    hint: the smallest case is two lines: [geometry] and naca = "2412"
    case.toml: geometry.naca or geometry.file is missing
    hint: the smallest case is two lines: [geometry] and naca = "2412"
    case.toml: expected a case file in text, found binary data at byte 7
    hint: a case file is a short text in TOML; coordinates go into a file of their own, named by geometry.file
    case.toml:2: expected UTF-8 text, found other bytes
    hint: save the file as UTF-8
    case.toml: expected a case file in text, found binary data at byte 3
    hint: a case file is a short text in TOML; coordinates go into a file of their own, named by geometry.file
    case.toml: expected a case file, found more than 1048576 bytes
    hint: a case file is a short text in TOML; coordinates go into a file of their own, named by geometry.file
    cases/airfoils/e387.dat:1:5: not TOML: key with no value, expected `=`
    hint: if this is a file of coordinates, name it by geometry.file in a case file
    no/such.toml: no such case file
    hint: check the path of the case file
    src: expected a case file, found a folder
    hint: name the case file in the folder
    wing.toml:2:8: not TOML: unexpected leading zero, expected nothing
    hint: put text in quotes, sections in [brackets], and each key once: key = value
    wing.toml:3:1: not TOML: duplicate key
    hint: put text in quotes, sections in [brackets], and each key once: key = value
    "#);
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
