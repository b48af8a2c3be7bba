//! The source cites docs/theory.md by the numbers of equations and sections; these numbers exist.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Folders whose files may cite the theory, and the extensions of those files.
const FOLDERS: [&str; 4] = ["src", "bench", "tests", "kernels"];
const ENDINGS: [&str; 3] = ["rs", "cu", "cuh"];

/// A citation: its file, and its number if there is one.
type Citation = (PathBuf, Option<u32>);

fn root(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The files below `folder` that may contain citations, except this one; none if there is no such folder.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = folder.read_dir() else { return Vec::new() };
    let mut files = Vec::new();
    for path in entries.map(|entry| entry.unwrap().path()) {
        let cites = path.extension().is_some_and(|e| ENDINGS.iter().any(|ending| e == *ending));
        if path.is_dir() {
            files.extend(sources(&path));
        } else if cites && !path.ends_with(file!()) {
            files.push(path);
        }
    }
    files
}

/// The words of a source without comment markers, since a citation may be broken at the end of a line.
fn words(text: &str) -> String {
    let lines = text.lines().map(|line| line.trim_start().trim_start_matches(['/', '!', '*']));
    let words: Vec<&str> = lines.flat_map(str::split_whitespace).collect();
    words.join(" ")
}

/// The number at the start of `text`.
fn number(text: &str) -> Option<u32> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text[..digits].parse().ok()
}

/// Every place that cites the theory by `kind` ("eq." or "section").
fn citations(kind: &str) -> Vec<Citation> {
    let phrase = format!("theory {kind} ");
    let mut citations = Vec::new();
    for path in FOLDERS.iter().flat_map(|folder| sources(&root(folder))) {
        let text = words(&std::fs::read_to_string(&path).unwrap());
        let found = text.split(&phrase).skip(1).map(|after| (path.clone(), number(after)));
        citations.extend(found);
    }
    citations
}

/// The numbers that follow `mark` in docs/theory.md, in the order of the page.
fn numbers_in_theory(mark: &str) -> Vec<u32> {
    let page = std::fs::read_to_string(root("docs/theory.md")).unwrap();
    page.split(mark).skip(1).filter_map(number).collect()
}

/// Citations whose number is not among those in the theory.
fn dangling(citations: &[Citation], present: &[u32]) -> Vec<Citation> {
    let known: BTreeSet<u32> = present.iter().copied().collect();
    let missing = |(_, number): &&Citation| number.is_none_or(|n| !known.contains(&n));
    citations.iter().filter(missing).cloned().collect()
}

#[test]
fn every_equation_cited_is_in_the_theory() {
    let cited = citations("eq.");

    let dangling = dangling(&cited, &numbers_in_theory("\\tag{"));

    // Fewer would mean that the search no longer finds the citations.
    assert!(cited.len() >= 9, "{cited:?}");
    assert!(dangling.is_empty(), "{dangling:?}");
}

#[test]
fn every_section_cited_is_in_the_theory() {
    let cited = citations("section");

    let dangling = dangling(&cited, &numbers_in_theory("\n## "));

    assert!(cited.len() >= 2, "{cited:?}");
    assert!(dangling.is_empty(), "{dangling:?}");
}

#[test]
fn equations_and_sections_are_numbered_without_gaps() {
    for mark in ["\\tag{", "\n## "] {
        let numbers = numbers_in_theory(mark);
        let consecutive: Vec<u32> = (1..).take(numbers.len()).collect();

        assert!(!numbers.is_empty(), "{mark}");
        assert_eq!(numbers, consecutive, "{mark}");
    }
}

#[test]
fn a_citation_broken_at_the_end_of_a_line_is_found() {
    let text = words("/// (see theory\n    /// eq. 12).");

    assert_eq!(text.split("theory eq. ").nth(1).and_then(number), Some(12));
}
