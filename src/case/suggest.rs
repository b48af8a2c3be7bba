//! The nearest known name to one that is not known.

use super::schema::{KEYS, Key};

/// Similarity (Jaro–Winkler, 1 for equal names) from which a name counts as a misspelling.
const SIMILAR: f64 = 0.8;

/// The candidate most similar to `name`, if one is similar enough. Case and hyphens do not count.
pub(super) fn nearest<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let plain = |text: &str| text.to_lowercase().replace('-', "_");
    let name = plain(name);
    candidates
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(&name, &plain(candidate)), candidate))
        .filter(|(similarity, _)| *similarity >= SIMILAR)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

/// The key meant by `name` in `section`: the same name elsewhere, a similar one in the section,
/// a similar one elsewhere, in this order.
pub(super) fn nearest_key(section: &str, name: &str) -> Option<&'static str> {
    let elsewhere = KEYS.iter().find(|key| key.name() == name).map(|key| key.path);
    let here = || {
        let names = KEYS.iter().filter(|key| key.section() == section).map(Key::name);
        let near = nearest(name, names)?;
        KEYS.iter().find(|key| key.section() == section && key.name() == near).map(|key| key.path)
    };
    let anywhere = || {
        let near = nearest(name, KEYS.iter().map(Key::name))?;
        KEYS.iter().find(|key| key.name() == near).map(|key| key.path)
    };
    elsewhere.or_else(here).or_else(anywhere)
}
