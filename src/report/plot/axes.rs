//! Panels with frames, ticks and captions.

use plotters::prelude::RGBColor;

use super::clip::{Window, simplify};
use super::palette;
use super::picture::{
    Anchor, CAPTION_SIZE, CENTRE_BOTTOM, CENTRE_TOP, LABEL_SIZE, LEFT_BOTTOM, Picture, RIGHT,
    RIGHT_BOTTOM,
};

/// Length of a tick and its distance from its label, in pixels.
const TICK: f64 = 5.0;
const TICK_GAP: f64 = 4.0;

/// Size and anchor of exponents.
const EXPONENT: (f64, Anchor) = (0.75 * LABEL_SIZE, LEFT_BOTTOM);

/// A part of the picture that shows a window of the plane. The frame is in pixels with y
/// downward, the window in the units of the data with y upward.
#[derive(Debug, Clone, Copy)]
pub(super) struct Panel {
    pub(super) frame: Window,
    pub(super) window: Window,
}

impl Panel {
    /// A panel with equal scales on both axes: `window` is enlarged about its centre to the
    /// shape of the frame. A window without an extent, as a broken grid has, becomes the unit
    /// square.
    pub(super) fn equal_scales(frame: Window, window: Window) -> Self {
        let drawable = window.size().iter().all(|&side| side > 0.0 && side.is_finite());
        let window = if drawable { window } else { Window { low: [0.0; 2], high: [1.0; 2] } };
        let (size, pixels, centre) = (window.size(), frame.size(), window.centre());
        let unit = (size[0] / pixels[0]).max(size[1] / pixels[1]);
        let half = [0.5 * unit * pixels[0], 0.5 * unit * pixels[1]];
        let window = Window {
            low: [centre[0] - half[0], centre[1] - half[1]],
            high: [centre[0] + half[0], centre[1] + half[1]],
        };
        Self { frame, window }
    }

    /// Pixel of a point of the plane.
    pub(super) fn pixel(&self, point: [f64; 2]) -> [f64; 2] {
        let (size, pixels) = (self.window.size(), self.frame.size());
        [
            self.frame.low[0] + (point[0] - self.window.low[0]) / size[0] * pixels[0],
            self.frame.high[1] - (point[1] - self.window.low[1]) / size[1] * pixels[1],
        ]
    }

    pub(super) fn draw_frame(&self, picture: &mut Picture) {
        let Window { low, high } = self.frame;
        let corners = [low, [high[0], low[1]], high, [low[0], high[1]], low];
        picture.line(&corners, palette::FRAME, 1.0);
    }

    /// Frame, linear axes of about so many ticks, and captions above the frame, left and right.
    pub(super) fn draw_around(&self, picture: &mut Picture, ticks: f64, [left, right]: [&str; 2]) {
        self.draw_frame(picture);
        self.draw_x_axis(
            picture,
            Ticks::new(self.window.low[0], self.window.high[0], ticks),
            false,
        );
        self.draw_y_axis(
            picture,
            Ticks::new(self.window.low[1], self.window.high[1], ticks),
            false,
        );
        let y = self.frame.low[1] - 7.0;
        let [x_left, x_right] = [self.frame.low[0], self.frame.high[0]];
        picture.text(left, [x_left, y], (CAPTION_SIZE, LEFT_BOTTOM), palette::TEXT);
        picture.text(right, [x_right, y], (LABEL_SIZE, RIGHT_BOTTOM), palette::LABEL);
    }

    /// Ticks and numbers below; labels are 10ⁿ where x is a decimal logarithm.
    pub(super) fn draw_x_axis(&self, picture: &mut Picture, ticks: Ticks, logarithmic: bool) {
        let bottom = self.frame.high[1];
        for value in ticks.values() {
            let x = self.pixel([value, self.window.low[1]])[0];
            picture.line(&[[x, bottom], [x, bottom + TICK]], palette::FRAME, 1.0);
            let (label, y) = (ticks.label(value), bottom + TICK + TICK_GAP);
            if logarithmic {
                picture.text("10", [x - 3.0, y], (LABEL_SIZE, CENTRE_TOP), palette::LABEL);
                picture.text(&label, [x + 6.0, y + 8.0], EXPONENT, palette::LABEL);
            } else {
                picture.text(&label, [x, y], (LABEL_SIZE, CENTRE_TOP), palette::LABEL);
            }
        }
    }

    /// Ticks and numbers on the left; faint lines and labels 10ⁿ where y is a decimal logarithm.
    pub(super) fn draw_y_axis(&self, picture: &mut Picture, ticks: Ticks, logarithmic: bool) {
        let Window { low, high } = self.frame;
        for value in ticks.values() {
            let y = self.pixel([self.window.low[0], value])[1];
            if logarithmic && y > low[1] + 1.0 && y < high[1] - 1.0 {
                picture.line(&[[low[0], y], [high[0], y]], palette::RULE, 1.0);
            }
            picture.line(&[[low[0] - TICK, y], [low[0], y]], palette::FRAME, 1.0);
            let (label, x) = (ticks.label(value), low[0] - TICK - TICK_GAP);
            if logarithmic {
                // Ten and exponent apart: the embedded font has no superscript minus sign.
                picture.text("10", [x - 20.0, y], (LABEL_SIZE, RIGHT), palette::LABEL);
                picture.text(&label, [x - 19.0, y - 1.0], EXPONENT, palette::LABEL);
            } else {
                picture.text(&label, [x, y], (LABEL_SIZE, RIGHT), palette::LABEL);
            }
        }
    }

    /// Names of the axes, below and on the left.
    pub(super) fn draw_names(&self, picture: &mut Picture, [x, y]: [&str; 2]) {
        let below = [self.frame.centre()[0], self.frame.high[1] + 32.0];
        picture.text(x, below, (LABEL_SIZE + 1.0, CENTRE_TOP), palette::TEXT);
        let left = [self.frame.low[0] - 62.0, self.frame.centre()[1]];
        picture.upward_text(y, left, (LABEL_SIZE + 1.0, CENTRE_BOTTOM), palette::TEXT);
    }

    /// Draws the part of a line inside the window, leaving out points below a tenth of a pixel.
    pub(super) fn draw_line(
        &self,
        picture: &mut Picture,
        points: impl IntoIterator<Item = [f64; 2]>,
        colour: RGBColor,
        width: f64,
    ) {
        for piece in self.window.clip_line(points) {
            let pixels: Vec<_> = piece.into_iter().map(|point| self.pixel(point)).collect();
            picture.line(&simplify(&pixels, 0.1), colour, width);
        }
    }

    /// Fills the part of a polygon inside the window.
    pub(super) fn fill(&self, picture: &mut Picture, polygon: &[[f64; 2]], colour: RGBColor) {
        let inside = self.window.clip_polygon(polygon);
        if !inside.is_empty() {
            picture.polygon(inside.into_iter().map(|point| self.pixel(point)).collect(), colour);
        }
    }
}

/// Round numbers in an interval: multiples of 1, 2 or 5 times a power of ten.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ticks {
    low: f64,
    high: f64,
    step: f64,
}

impl Ticks {
    /// About `count` ticks, seldom more.
    pub(super) fn new(low: f64, high: f64, count: f64) -> Self {
        let rough = ((high - low) / count).max(f64::MIN_POSITIVE);
        let power = 10_f64.powf(rough.log10().floor());
        let factor = [1.0, 2.0, 5.0].into_iter().find(|f| f * power >= rough).unwrap_or(10.0);
        Self { low, high, step: factor * power }
    }

    /// The same with whole numbers only.
    pub(super) fn whole(low: f64, high: f64, count: f64) -> Self {
        let ticks = Self::new(low, high, count);
        Self { step: ticks.step.max(1.0), ..ticks }
    }

    pub(super) fn values(self) -> impl Iterator<Item = f64> {
        // A tick may lie on the end of the interval but for rounding.
        let slack = 1e-9;
        let first = (self.low / self.step - slack).ceil() as i64;
        let last = (self.high / self.step + slack).floor() as i64;
        (first..=last).map(move |k| k as f64 * self.step)
    }

    /// The number with the digits the step needs.
    pub(super) fn label(self, value: f64) -> String {
        let digits = (-(self.step * (1.0 + 1e-9)).log10().floor()).max(0.0) as usize;
        // No sign at zero, and a minus sign as long as a plus sign.
        format!("{:.digits$}", value + 0.0).replace('-', "−")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        let ticks = Ticks::new(-0.31, 0.52, 5.0);
        let labels: Vec<_> = ticks.values().map(|v| ticks.label(v)).collect();
        assert_eq!(labels, ["−0.2", "0.0", "0.2", "0.4"]);
    }

    #[test]
    fn whole_ticks_never_split_a_unit() {
        let ticks = Ticks::whole(0.0, 3.0, 9.0);
        assert_eq!(ticks.values().collect::<Vec<_>>(), [0.0, 1.0, 2.0, 3.0]);
    }

    #[test]
    fn equal_scales_keep_circles_round() {
        let frame = Window { low: [10.0, 10.0], high: [410.0, 210.0] };
        let panel = Panel::equal_scales(frame, Window { low: [0.0, 0.0], high: [1.0, 1.0] });
        let [a, b, c] = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]].map(|p| panel.pixel(p));
        assert!((b[0] - a[0] - 200.0).abs() < 1e-9 && (a[1] - c[1] - 200.0).abs() < 1e-9);
    }
}
