//! The colours of all figures.

use plotters::prelude::RGBColor;

pub(super) const PAPER: RGBColor = RGBColor(255, 255, 255);
pub(super) const TEXT: RGBColor = RGBColor(26, 32, 44);
pub(super) const LABEL: RGBColor = RGBColor(88, 98, 114);
pub(super) const FRAME: RGBColor = RGBColor(140, 150, 164);
pub(super) const RULE: RGBColor = RGBColor(228, 232, 238);
pub(super) const GRID: RGBColor = RGBColor(38, 70, 110);
pub(super) const BODY: RGBColor = RGBColor(242, 240, 236);
pub(super) const WALL: RGBColor = RGBColor(208, 50, 38);
pub(super) const FOLDED: RGBColor = RGBColor(255, 140, 0);
pub(super) const LINEAR: RGBColor = RGBColor(104, 152, 200);
pub(super) const BACKGROUND: RGBColor = RGBColor(168, 176, 186);
/// Colours of the elements after the first, which has [`GRID`].
pub(super) const SECOND: RGBColor = RGBColor(28, 122, 84);
pub(super) const THIRD: RGBColor = RGBColor(124, 70, 164);

/// The colours of the figures, and those that take their place on a page with a dark ground.
pub(crate) const COLOURS: [(RGBColor, &str); 13] = [
    (PAPER, "#171c23"),
    (TEXT, "#e3e8ef"),
    (LABEL, "#9aa6b5"),
    (FRAME, "#66717f"),
    (RULE, "#2b323c"),
    (GRID, "#86b1e0"),
    (BODY, "#262c35"),
    (WALL, "#ff6b57"),
    (FOLDED, "#ffa640"),
    (LINEAR, "#5d8fc0"),
    (BACKGROUND, "#4a545f"),
    (SECOND, "#4cc38a"),
    (THIRD, "#b98be0"),
];

/// A colour as SVG has it.
pub(crate) fn hexadecimal(RGBColor(red, green, blue): RGBColor) -> String {
    format!("#{red:02X}{green:02X}{blue:02X}")
}
