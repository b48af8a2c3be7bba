//! A drawing surface in pixels with fractions, on top of the plotting library.
//!
//! The library places everything on whole pixels, too coarse for a grid near a wall. Figures are
//! therefore drawn in a larger unit: an SVG is scaled back by its view box, a bitmap is averaged
//! down, which also smooths its edges.

use std::cell::RefCell;
use std::fmt::{Display, Write};
use std::sync::OnceLock;

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{FontTransform, register_font};

/// Family of all text. Viewers of an SVG take their own sans-serif font; bitmaps are set in
/// Ubuntu Light, embedded from `epaint_default_fonts` (Ubuntu font licence 1.0, which allows
/// bundling with any program and puts no condition on pictures made with the font).
const FONT_FAMILY: &str = "sans-serif";

/// Why a figure could not be drawn, in the words of the library.
#[derive(Debug)]
pub(in crate::report) struct DrawError(pub(super) String);

impl DrawError {
    pub(super) fn new(error: impl Display) -> Self {
        Self(error.to_string())
    }
}

/// How a surface draws a line wider than one unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WideLines {
    /// By itself.
    Native,
    /// Not well: as filled segments with round joints.
    Filled,
}

/// Which point of a text its position means.
#[derive(Clone, Copy)]
pub(super) struct Anchor {
    pub(super) h: HPos,
    pub(super) v: VPos,
}

// `CENTRE_TOP`: the point is the middle of the text's top edge; and so on.
pub(super) const CENTRE_TOP: Anchor = Anchor { h: HPos::Center, v: VPos::Top };
pub(super) const CENTRE_BOTTOM: Anchor = Anchor { h: HPos::Center, v: VPos::Bottom };
pub(super) const LEFT_BOTTOM: Anchor = Anchor { h: HPos::Left, v: VPos::Bottom };
pub(super) const LEFT: Anchor = Anchor { h: HPos::Left, v: VPos::Center };
pub(super) const RIGHT_BOTTOM: Anchor = Anchor { h: HPos::Right, v: VPos::Bottom };
pub(super) const RIGHT: Anchor = Anchor { h: HPos::Right, v: VPos::Center };

/// A surface with x to the right and y downward, in pixels of the finished picture.
pub(super) struct Canvas<DB: DrawingBackend> {
    area: DrawingArea<DB, Shift>,
    scale: f64,
    wide_lines: WideLines,
    /// Areas for the end of an SVG, see [`Canvas::area`].
    areas: RefCell<String>,
}

impl<DB: DrawingBackend> Canvas<DB> {
    /// A canvas whose pixel is `scale` units of the backend.
    pub(super) fn new(backend: DB, scale: f64, wide_lines: WideLines) -> Self {
        let areas = RefCell::default();
        Self { area: backend.into_drawing_area(), scale, wide_lines, areas }
    }

    pub(super) fn fill(&self, colour: RGBColor) -> Result<(), DrawError> {
        self.area.fill(&colour).map_err(DrawError::new)
    }

    pub(super) fn present(&self) -> Result<(), DrawError> {
        self.area.present().map_err(DrawError::new)
    }

    /// A line through points, `width` pixels wide.
    pub(super) fn line(
        &self,
        points: &[[f64; 2]],
        colour: RGBColor,
        width: f64,
    ) -> Result<(), DrawError> {
        let units = (width * self.scale).round().max(1.0);
        if units < 2.0 || self.wide_lines == WideLines::Native {
            let mut path: Vec<_> = points.iter().map(|&point| self.units(point)).collect();
            path.dedup();
            let style = colour.stroke_width(units as u32);
            return self.area.draw(&PathElement::new(path, style)).map_err(DrawError::new);
        }
        for pair in points.windows(2) {
            self.wide_segment(pair[0], pair[1], colour, width)?;
        }
        // Joints only: round ends would reach out of a panel.
        for &point in points.iter().skip(1).take(points.len().saturating_sub(2)) {
            self.dot(point, 0.5 * width, colour)?;
        }
        Ok(())
    }

    fn wide_segment(
        &self,
        a: [f64; 2],
        b: [f64; 2],
        colour: RGBColor,
        width: f64,
    ) -> Result<(), DrawError> {
        let (dx, dy) = (b[0] - a[0], b[1] - a[1]);
        let length = dx.hypot(dy);
        if length == 0.0 {
            return Ok(());
        }
        let (nx, ny) = (-0.5 * width * dy / length, 0.5 * width * dx / length);
        let corners = [
            [a[0] + nx, a[1] + ny],
            [b[0] + nx, b[1] + ny],
            [b[0] - nx, b[1] - ny],
            [a[0] - nx, a[1] - ny],
        ];
        self.polygon(&corners, colour)
    }

    /// A line of dashes `on` long with gaps of `off` pixels between two points.
    pub(super) fn dashes(
        &self,
        [a, b]: [[f64; 2]; 2],
        [on, off]: [f64; 2],
        colour: RGBColor,
        width: f64,
    ) -> Result<(), DrawError> {
        let length = (b[0] - a[0]).hypot(b[1] - a[1]);
        let at = |s: f64| {
            let t = (s / length).min(1.0);
            [a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1])]
        };
        let mut start = 0.0;
        while start < length {
            self.line(&[at(start), at(start + on)], colour, width)?;
            start += on + off;
        }
        Ok(())
    }

    pub(super) fn polygon(&self, points: &[[f64; 2]], colour: RGBColor) -> Result<(), DrawError> {
        let mut corners: Vec<_> = points.iter().map(|&point| self.units(point)).collect();
        corners.dedup();
        // The library cannot fill what has shrunk to a point or a line.
        if corners.len() < 3 {
            return Ok(());
        }
        self.area.draw(&Polygon::new(corners, colour.filled())).map_err(DrawError::new)
    }

    /// An area of rectangles, each by its lower and upper corner.
    ///
    /// The library has no element of many parts: an SVG keeps each area as one path, which stands
    /// at its end, above what else is drawn; a bitmap is filled rectangle by rectangle.
    pub(super) fn area(
        &self,
        rectangles: &[[[f64; 2]; 2]],
        colour: RGBColor,
    ) -> Result<(), DrawError> {
        if self.wide_lines == WideLines::Filled {
            for &[low, high] in rectangles {
                let (low, high) = (self.units(low), self.units(high));
                // The library fills the last row and column too.
                let corners = [low, (high.0 - 1, high.1 - 1)];
                let filled = Rectangle::new(corners, colour.filled());
                self.area.draw(&filled).map_err(DrawError::new)?;
            }
            return Ok(());
        }
        let mut path = String::new();
        for &[low, high] in rectangles {
            let ((x, y), (right, top)) = (self.units(low), self.units(high));
            let _ = write!(path, "M{x} {y}h{}v{}h{}z", right - x, top - y, x - right);
        }
        writeln!(
            self.areas.borrow_mut(),
            "<path fill=\"{}\" shape-rendering=\"crispEdges\" d=\"{path}\"/>",
            super::hexadecimal(colour)
        )
        .map_err(DrawError::new)
    }

    /// Ends the drawing; the areas that go to the end of an SVG.
    pub(super) fn into_areas(self) -> String {
        self.areas.into_inner()
    }

    pub(super) fn dot(
        &self,
        centre: [f64; 2],
        radius: f64,
        colour: RGBColor,
    ) -> Result<(), DrawError> {
        let radius = (radius * self.scale).round() as i32;
        let dot = Circle::new(self.units(centre), radius, colour.filled());
        self.area.draw(&dot).map_err(DrawError::new)
    }

    /// Text of `size` pixels from the top of an ascender to the foot of a descender.
    pub(super) fn text(
        &self,
        text: &str,
        position: [f64; 2],
        (size, anchor): (f64, Anchor),
        colour: RGBColor,
    ) -> Result<(), DrawError> {
        self.turned_text(text, position, (size, anchor, FontTransform::None), colour)
    }

    /// Text that reads upward.
    pub(super) fn upward_text(
        &self,
        text: &str,
        position: [f64; 2],
        (size, anchor): (f64, Anchor),
        colour: RGBColor,
    ) -> Result<(), DrawError> {
        self.turned_text(text, position, (size, anchor, FontTransform::Rotate270), colour)
    }

    fn turned_text(
        &self,
        text: &str,
        position: [f64; 2],
        (size, anchor, turn): (f64, Anchor, FontTransform),
        colour: RGBColor,
    ) -> Result<(), DrawError> {
        // Control characters from an airfoil file have no place in XML.
        let text: String = text.chars().filter(|c| !c.is_control()).collect();
        let style = TextStyle::from((FONT_FAMILY, size * self.scale).into_font())
            .transform(turn)
            .color(&colour)
            .pos(Pos::new(anchor.h, anchor.v));
        self.area.draw_text(&text, &style, self.units(position)).map_err(DrawError::new)
    }

    fn units(&self, point: [f64; 2]) -> (i32, i32) {
        ((point[0] * self.scale).round() as i32, (point[1] * self.scale).round() as i32)
    }
}

/// Makes the embedded font known to the library, once in the life of the program.
pub(super) fn register_fonts() -> Result<(), DrawError> {
    static REGISTERED: OnceLock<bool> = OnceLock::new();
    let registered = *REGISTERED.get_or_init(|| {
        register_font(FONT_FAMILY, FontStyle::Normal, epaint_default_fonts::UBUNTU_LIGHT).is_ok()
    });
    if registered { Ok(()) } else { Err(DrawError::new("the embedded font cannot be read")) }
}
