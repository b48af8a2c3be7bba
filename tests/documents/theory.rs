//! The source cites docs/theory.md by the numbers of equations and sections; these numbers exist.

use super::{files_below, read};

/// Folders whose files may cite the theory, and the extensions of those files.
const FOLDERS: [&str; 4] = ["src", "bench", "tests", "kernels"];
const ENDINGS: [&str; 3] = ["rs", "cu", "cuh"];

/// A citation: its file, and its number if there is one.
type Citation = (String, Option<u32>);

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

/// Every place that cites the theory by `kind` ("eq." or "section"), but for this file.
fn citations(kind: &str) -> Vec<Citation> {
    let phrase = format!("theory {kind} ");
    let within = |folder: &'static str| {
        files_below(folder, &ENDINGS).into_iter().map(move |name| format!("{folder}/{name}"))
    };
    let mut citations = Vec::new();
    for path in FOLDERS.into_iter().flat_map(within).filter(|path| path != file!()) {
        let text = words(&read(&path));
        let found = text.split(&phrase).skip(1).map(|after| (path.clone(), number(after)));
        citations.extend(found);
    }
    citations
}

/// The numbers that follow `mark` in docs/theory.md, in the order of the page.
fn numbers_in_theory(mark: &str) -> Vec<u32> {
    read("docs/theory.md").split(mark).skip(1).filter_map(number).collect()
}

#[test]
fn equations_and_sections_are_numbered_without_gaps_and_those_cited_exist() {
    // A citation may be broken at the end of a line.
    let broken = words("/// (see theory\n    /// eq. 12).");
    assert_eq!(broken.split("theory eq. ").nth(1).and_then(number), Some(12));
    // Fewer citations would mean that the search no longer finds them.
    for (kind, mark, least) in [("eq.", "\\tag{", 9), ("section", "\n## ", 2)] {
        let (cited, present) = (citations(kind), numbers_in_theory(mark));
        let missing = |(_, number): &&Citation| number.is_none_or(|n| !present.contains(&n));
        let dangling: Vec<_> = cited.iter().filter(missing).collect();

        assert!(present.iter().copied().eq(1..=present.len() as u32), "{mark}: {present:?}");
        assert!(cited.len() >= least, "{cited:?}");
        assert!(dangling.is_empty(), "{dangling:?}");
    }
}
