//! The table of the keys of several elements, in addition to those of a case; all keys and sections by their names,
//! and suggestions for unknown keys.

pub use super::keys::{KEYS, SECTIONS};

use serde::{Deserialize, Serialize};

use super::schema::{Key, KeyKind, Preset, closed, integer, keys, nearest, open, real};

use Preset::{Derived, Integer, Real, Unset, Word};

keys! {
    /// Sections of several elements, in addition to those of a case.
    OVERSET_SECTIONS,
    /// Keys of several elements.
    OVERSET_KEYS, [];
    "element":
        "An element; repeat the table for each, in the order of their priority: where grids overlap, the last wins. \
        Beside its own keys it has `geometry` and `grid`, and any other section of a case except `output`: keys \
        given there apply to this element, keys at the top of the file to all. Lengths of these sections are in \
        chords of the element, lengths of the keys below in reference chords." {
        name = KeyKind::Text, Unset, "";
            "Name of the element, of its zone, patch and family: letters, digits, `_` and `-`, a letter first, at \
            most 24.";
        frame = KeyKind::Word(&["chord", "file"]), Word("chord"), "";
            "Whether the section is scaled to its chord and placed (`chord`), or stands where the coordinates of \
            its file are, in reference chords (`file`).";
        chord = real(closed(1e-4), closed(1e4)), Real(1.0), "reference chords";
            "Chord of the element.";
        angle = real(closed(-180.0), closed(180.0)), Real(0.0), "degrees";
            "Angle by which the element is turned, nose up (trailing edge down) about its nose; with `rigging` it \
            follows from the deflection.";
        at = KeyKind::Point, Derived("`[0, 0]`, or from `rigging`"), "reference chords";
            "Where the element's nose goes: the origin of its frame.";
        reach = real(open(0.0), closed(1e6)),
            Derived("0.4 chords of the element, and at least 4 times the narrowest gap beside it"),
            "reference chords";
            "Distance of the outer line of the element's grid from its wall. Without `[background]` the first \
            element has none: its grid goes to its far field.";
    }
    "element.rigging":
        "Where the element stands, in place of `at` and `angle`, by the gap that it leaves: \
        `rigging = { to = \"main\", gap = 0.018, overlap = 0.005, deflection = 25 }`; docs/overset.md defines the \
        three." {
        to = KeyKind::Text, Unset, ""; "Name of the element that it is rigged to.";
        side = KeyKind::Word(&["behind", "ahead"]), Word("behind"), "";
            "Whether the element lies behind the other, as a flap, or ahead of it, as a slat.";
        gap = real(open(0.0), closed(1.0)), Unset, "reference chords";
            "Smallest distance of the trailing edge of the one ahead from the surface of the one behind.";
        overlap = real(closed(-1.0), closed(1.0)), Unset, "reference chords";
            "How far that trailing edge reaches behind the foremost point of the one behind, along x; negative \
            where it ends ahead of that.";
        deflection = real(closed(-90.0), closed(90.0)), Unset, "degrees";
            "Angle of the element's chord line against x: of an element behind with the trailing edge down, of \
            one ahead with the nose down.";
    }
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    "background" => BackgroundOptions {}:
        "A Cartesian grid around all others, uniform about them and stretched beyond. Without this section the grid \
        of the first element is the background, to its far field." {
        spacing: Option<f64> = real(open(0.0), closed(1e4)),
            Derived("median size of the outermost cells of the elements' grids"), "reference chords";
            "Interval of the lines of its uniform core.";
        margin: f64 = real(closed(0.0), closed(1e4)), Real(0.1), "reference chords";
            "How far the core goes beyond the grids of all elements.";
        growth: f64 = real(open(1.0), closed(2.0)), Real(1.15), "";
            "Ratio of neighbouring intervals beyond the core.";
        far_field: f64 = real(closed(1.0), closed(1e6)), Real(50.0), "reference chords";
            "Distance of the outer boundary from the core.";
    }
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    "overset" => OversetOptions {}: "What is asked of the grids of several elements together." {
        chord: f64 = real(closed(1e-6), closed(1e9)), Real(1.0), "your unit";
            "Length of the reference chord in the files written. All lengths of the case and of the report stay in \
            chords.";
        gap_cells: usize = integer(1, 1000), Integer(10), "cells";
            "Cells of each of two grids that are wanted across the gap between their walls: `grid.nj` is chosen for \
            them where it is not given, and fewer are a finding.";
        size_ratio: f64 = real(closed(1.0), closed(1000.0)), Real(2.5), "";
            "Largest ratio of the sizes of cells that is wanted where grids take values from each other, and of two \
            grids in the middle of a gap; more is a finding.";
    }
}

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

/// Keys of a box around the section, itself and its sides.
pub(super) const BOX_KEYS: &[&str] = &[
    "domain.box",
    "domain.floor",
    "domain.roof",
    "domain.inlet",
    "domain.outlet",
    "domain.floor_curve",
    "domain.roof_curve",
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
