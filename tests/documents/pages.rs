//! The program accepts the examples in the documents, and the links lead to existing files.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use gridgen::case::Case;

use super::{read, root};

/// The documents of the repository.
fn documents() -> Vec<PathBuf> {
    let folders = ["", "docs", "docs/tutorials", "bench", "cases"];
    let files = folders.iter().flat_map(|folder| root(folder).read_dir().unwrap());
    let paths = files.map(|file| file.unwrap().path());
    paths.filter(|path| path.extension().is_some_and(|e| e == "md")).collect()
}

/// The code blocks of a document in the given language.
fn blocks(text: &str, language: &str) -> Vec<String> {
    let opening = format!("```{language}\n");
    text.split(&opening).skip(1).map(|rest| rest.split("```").next().unwrap().to_owned()).collect()
}

/// Targets of the links `[text](target)` to files, without their anchors and without pictures.
fn links(text: &str) -> Vec<String> {
    let pieces: Vec<&str> = text.split("](").collect();
    let mut targets = Vec::new();
    for (before, after) in pieces.iter().zip(&pieces[1..]) {
        let picture = before.rfind('[').is_some_and(|at| before[..at].ends_with('!'));
        let target = after.split([')', '#']).next().unwrap();
        if !picture && !target.is_empty() && !target.contains("://") {
            targets.push(target.to_owned());
        }
    }
    targets
}

#[test]
fn the_cases_in_readme_and_tutorials_are_valid() {
    let elements = read("cases/naca4412-flap.toml");
    for (page, count) in [
        ("README.md", 1),
        ("docs/tutorials/first-grid.md", 1),
        ("docs/tutorials/c-grid.md", 1),
        ("docs/tutorials/flap.md", 2),
    ] {
        let cases = blocks(&read(page), "toml");
        assert_eq!(cases.len(), count, "{page}");
        for case in cases {
            let resolved = Case::from_toml(&case, Path::new("cases/wing.toml"), &[]);
            assert!(resolved.is_ok() || elements.ends_with(&case), "{page}: {resolved:?}");
        }
    }
}

/// The doctests are the documents named in `src/lib.rs`.
#[test]
fn the_rust_blocks_of_every_document_are_doctests() {
    let library = read("src/lib.rs");

    for document in documents() {
        let name = document.strip_prefix(root("")).unwrap().display().to_string();
        if read(&document).contains("```rust") {
            assert!(library.contains(&format!("include_str!(\"../{name}\")")), "{name}");
        }
    }
}

#[test]
fn links_between_files_lead_to_files() {
    let documents = documents();
    let pictures_and_others = "[a](x.md#part), ![b](y.png), [c](https://host/z) and [d](#here)";
    assert_eq!(links(pictures_and_others), ["x.md"]);

    assert!(documents.len() >= 8, "{documents:?}");
    for document in documents {
        for target in links(&read(&document)) {
            let path = document.parent().unwrap().join(&target);
            assert!(path.exists(), "{}: {target}", document.display());
        }
    }
}

/// The files that the page names are there, and the way of a case enters few of them.
#[test]
fn the_way_of_a_case_enters_few_files() {
    let text = read("docs/architecture.md");
    let (table, _) = text.split_once("Beside this way:").unwrap();
    let sources = |text: &str| -> BTreeSet<String> {
        let named = text.split('`').filter(|name| name.starts_with("src/"));
        let named = named.filter(|name| Path::new(name).extension().is_some_and(|end| end == "rs"));
        named.map(str::to_owned).collect()
    };

    let entered = sources(table).len();

    assert!((20..=45).contains(&entered), "{entered}");
    for file in sources(&text) {
        assert!(root(&file).is_file(), "{file}");
    }
}
