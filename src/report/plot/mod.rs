//! Pictures of a section, of a grid, of its quality, and of curves over x and y.

mod axes;
mod clip;
mod picture;
mod quality;
mod raster;
mod views;
mod xy;

use plotters::prelude::RGBColor;

pub(super) use self::picture::DrawError;
pub use self::picture::Picture;
pub(super) use self::quality::QualityFigure;
pub use self::quality::histogram;
pub(super) use self::views::GridFigure;
pub use self::views::airfoil;
pub use self::xy::{Axis, Curve, Line, Rule, RuleAt, Stroke, XyFigure, XyPanel};

/// The colours of all figures.
mod palette {
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
}

/// Colours of the figures by what they are for, as SVG has them: a page that shows the figures on
/// another ground exchanges them.
pub(super) const COLOURS: [(&str, RGBColor); 10] = [
    ("paper", palette::PAPER),
    ("text", palette::TEXT),
    ("label", palette::LABEL),
    ("frame", palette::FRAME),
    ("rule", palette::RULE),
    ("grid", palette::GRID),
    ("body", palette::BODY),
    ("wall", palette::WALL),
    ("folded", palette::FOLDED),
    ("linear", palette::LINEAR),
];

/// A colour as SVG has it.
pub(super) fn hexadecimal(RGBColor(red, green, blue): RGBColor) -> String {
    format!("#{red:02X}{green:02X}{blue:02X}")
}
