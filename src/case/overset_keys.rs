//! The table of the keys of several elements, in addition to those of a case.

use serde::{Deserialize, Serialize};

use super::declare::{closed, integer, keys, open, real};
use super::schema::{Key, KeyKind, Preset};

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
