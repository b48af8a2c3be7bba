//! Keys and sections by their names, of a case and of several elements, and suggestions for unknown keys.

pub use super::keys::{KEYS, SECTIONS};
pub use super::overset_keys::{OVERSET_KEYS, OVERSET_SECTIONS};
use super::schema::{Key, nearest};

/// Keys and sections of which each case has one.
pub(super) const SOURCES: [&str; 7] = [
    "geometry.naca",
    "geometry.file",
    "geometry.points",
    "geometry.section",
    "geometry.wing_body",
    "geometry.ellipse",
    "geometry.joukowski",
];

/// Sources whose section has no trailing edge.
pub(super) const SMOOTH: &[&str] = &["geometry.section", "geometry.wing_body", "geometry.ellipse"];

/// Whether a section stands within another.
pub(super) fn is_nested(section: &str) -> bool {
    section.contains('.')
}

/// All keys, those of several elements too.
pub(super) fn keys() -> impl Iterator<Item = &'static Key> + Clone {
    KEYS.iter().chain(OVERSET_KEYS)
}

/// The keys of a section itself, without those of sections within it.
pub(super) fn of_section(section: &str) -> impl Iterator<Item = &'static Key> {
    keys().filter(move |key| key.section() == section)
}

/// The names of all sections, those of several elements too.
pub(super) fn sections() -> impl Iterator<Item = &'static str> + Clone {
    SECTIONS.iter().chain(OVERSET_SECTIONS).map(|(name, _)| *name)
}

pub(super) fn find(path: &str) -> Option<&'static Key> {
    keys().find(|key| key.path == path)
}

/// Whether a path has this name, with or without sections around it.
fn ends_with(path: &str, name: &str) -> bool {
    path.strip_suffix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

/// The keys that a name may mean without some of the sections around it: those with the fewest sections.
pub(super) fn named(name: &str) -> Vec<&'static Key> {
    let ends = |key: &&Key| ends_with(key.path, name);
    let depth = |key: &Key| key.path.matches('.').count();
    let least = KEYS.iter().filter(ends).map(depth).min().unwrap_or_default();
    let named: Vec<_> = KEYS.iter().filter(ends).filter(|key| depth(key) == least).collect();
    // Keys of several elements are named with their section.
    if named.is_empty() {
        OVERSET_KEYS.iter().filter(|key| key.path == name).collect()
    } else {
        named
    }
}

/// The section that a name means which stands without the sections around it.
pub(super) fn section_named(name: &str) -> Option<&'static str> {
    sections().filter(|section| ends_with(section, name)).min_by_key(|section| section.len())
}

/// The key meant by `name` in `section`: one of that name elsewhere, else a similar one there, else one elsewhere.
pub(super) fn nearest_key(section: &str, name: &str) -> Option<&'static str> {
    let elsewhere = keys().find(|key| key.name() == name).map(|key| key.path);
    let near = |keys: &mut dyn Iterator<Item = &'static Key>| {
        let keys: Vec<_> = keys.collect();
        let near = nearest(name, keys.iter().map(|key| key.name()))?;
        keys.into_iter().find(|key| key.name() == near).map(|key| key.path)
    };
    elsewhere.or_else(|| near(&mut of_section(section))).or_else(|| near(&mut keys()))
}
