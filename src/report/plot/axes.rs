//! Panels with frames, ticks and captions.

use plotters::prelude::RGBColor;

use super::clip::{Window, simplify};
use super::palette;
use super::picture::{
    Anchor, CAPTION_SIZE, CENTRE_TOP, LABEL_SIZE, LEFT_BOTTOM, Picture, RIGHT, RIGHT_BOTTOM, UPWARD,
};
use crate::grid::vector::along;

/// Length of a tick and its distance from its label, in pixels.
const TICK: f64 = 5.0;
const TICK_GAP: f64 = 4.0;

/// Size and anchor of exponents.
const EXPONENT: (f64, Anchor) = (0.75 * LABEL_SIZE, LEFT_BOTTOM);

/// A part of the picture that shows a window of the plane. The frame is in pixels with y
/// downward, the window in the units of the data with y upward.
#[derive(Debug, Clone, Copy)]
pub struct PlotPanel {
    /// In pixels, y downward.
    pub frame: Window,
    /// In the units of the data, y upward.
    pub window: Window,
}

impl PlotPanel {
    /// A panel with equal scales on both axes: `window` is enlarged about its centre to the
    /// shape of the frame. A window without an extent, as a broken grid has, becomes the unit
    /// square.
    pub fn equal_scales(frame: Window, window: Window) -> Self {
        let drawable = window.size().iter().all(|&side| side > 0.0 && side.is_finite());
        let window = if drawable { window } else { Window { low: [0.0; 2], high: [1.0; 2] } };
        let (size, pixels) = (window.size(), frame.size());
        let unit = (size[0] / pixels[0]).max(size[1] / pixels[1]);
        Self { frame, window: Window::about(window.centre(), pixels.map(|side| unit * side)) }
    }

    /// Pixel of a point of the plane.
    pub fn pixel(&self, point: [f64; 2]) -> [f64; 2] {
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

    /// Frame, linear axes of about this number of ticks, and captions above the frame, left and right.
    pub(super) fn draw_around(&self, picture: &mut Picture, ticks: f64, [left, right]: [&str; 2]) {
        let Window { low, high } = self.window;
        self.draw_frame(picture);
        for d in 0..2 {
            self.draw_axis(picture, d, Ticks::new(low[d], high[d], ticks), false);
        }
        let y = self.frame.low[1] - 7.0;
        let [x_left, x_right] = [self.frame.low[0], self.frame.high[0]];
        picture.text(left, [x_left, y], (CAPTION_SIZE, LEFT_BOTTOM), palette::TEXT);
        picture.text(right, [x_right, y], (LABEL_SIZE, RIGHT_BOTTOM), palette::LABEL);
    }

    /// Ticks and numbers below (`d` = 0) or on the left (1). Labels are 10ⁿ where the axis shows
    /// decimal logarithms; y has faint lines then.
    pub(super) fn draw_axis(
        &self,
        picture: &mut Picture,
        d: usize,
        ticks: Ticks,
        logarithmic: bool,
    ) {
        let Window { low, high } = self.frame;
        let outward = [[0.0, 1.0], [-1.0, 0.0]][d];
        // Ten and exponent apart: the embedded font has no superscript minus sign.
        let (anchor, ten, exponent) =
            [(CENTRE_TOP, [-3.0, 0.0], [6.0, 8.0]), (RIGHT, [-20.0, 0.0], [-19.0, -1.0])][d];
        for value in ticks.values() {
            let mut at = [low[0], high[1]];
            at[d] = self.pixel([value; 2])[d];
            if d == 1 && logarithmic && at[1] > low[1] + 1.0 && at[1] < high[1] - 1.0 {
                picture.line(&[at, [high[0], at[1]]], palette::RULE, 1.0);
            }
            picture.line(&[at, along(at, outward, TICK)], palette::FRAME, 1.0);
            let (label, at) = (ticks.label(value), along(at, outward, TICK + TICK_GAP));
            if logarithmic {
                picture.text("10", along(at, ten, 1.0), (LABEL_SIZE, anchor), palette::LABEL);
                picture.text(&label, along(at, exponent, 1.0), EXPONENT, palette::LABEL);
            } else {
                picture.text(&label, at, (LABEL_SIZE, anchor), palette::LABEL);
            }
        }
    }

    /// Names of the axes, below and on the left.
    pub(super) fn draw_names(&self, picture: &mut Picture, [x, y]: [&str; 2]) {
        let below = [self.frame.centre()[0], self.frame.high[1] + 32.0];
        picture.text(x, below, (LABEL_SIZE + 1.0, CENTRE_TOP), palette::TEXT);
        let left = [self.frame.low[0] - 62.0, self.frame.centre()[1]];
        picture.text(y, left, (LABEL_SIZE + 1.0, UPWARD), palette::TEXT);
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
        picture.polygon(self.polygon(polygon), colour);
    }

    /// The part of a polygon inside the window, in pixels.
    pub(super) fn polygon(&self, polygon: &[[f64; 2]]) -> Vec<[f64; 2]> {
        let inside = self.window.clip_polygon(polygon);
        inside.into_iter().map(|point| self.pixel(point)).collect()
    }
}

/// Round numbers in an interval: multiples of 1, 2 or 5 times a power of ten.
#[derive(Debug, Clone, Copy)]
pub struct Ticks {
    low: f64,
    high: f64,
    step: f64,
}

impl Ticks {
    /// About `count` ticks, seldom more.
    pub fn new(low: f64, high: f64, count: f64) -> Self {
        let rough = ((high - low) / count).max(f64::MIN_POSITIVE);
        let power = 10_f64.powf(rough.log10().floor());
        let factor = [1.0, 2.0, 5.0].into_iter().find(|f| f * power >= rough).unwrap_or(10.0);
        Self { low, high, step: factor * power }
    }

    /// Ticks at whole numbers only.
    pub fn whole(low: f64, high: f64, count: f64) -> Self {
        let ticks = Self::new(low, high, count);
        Self { step: ticks.step.max(1.0), ..ticks }
    }

    /// The ticks, upward.
    pub fn values(self) -> impl Iterator<Item = f64> {
        // A tick may lie on the end of the interval but for rounding.
        let slack = 1e-9;
        let first = (self.low / self.step - slack).ceil() as i64;
        let last = (self.high / self.step + slack).floor() as i64;
        (first..=last).map(move |k| k as f64 * self.step)
    }

    /// The number with the digits the step needs.
    pub fn label(self, value: f64) -> String {
        let digits = (-(self.step * (1.0 + 1e-9)).log10().floor()).max(0.0) as usize;
        // No sign at zero, and a minus sign as long as a plus sign.
        format!("{:.digits$}", value + 0.0).replace('-', "−")
    }
}
