//! Panels with frames, ticks and captions, and windows: lines and polygons are cut to a window, and points that cannot
//! be seen are left out.

use plotters::prelude::RGBColor;

use super::palette;
use super::picture::{
    Anchor, CAPTION_SIZE, CENTRE_TOP, LABEL_SIZE, LEFT_BOTTOM, Picture, RIGHT, RIGHT_BOTTOM, UPWARD,
};
use crate::grid::vector::{along, between, bounds, difference, distance, foot, middle};

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

/// A rectangle with sides along the axes, `low ≤ high` in both.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Window {
    /// The lowest x and y.
    pub low: [f64; 2],
    /// The highest x and y.
    pub high: [f64; 2],
}

impl Window {
    /// The smallest window around points, those with a coordinate that is not finite left out;
    /// empty (`low > high`) without any.
    pub fn around(points: impl IntoIterator<Item = [f64; 2]>) -> Self {
        let is_finite = |point: &[f64; 2]| point.iter().all(|c| c.is_finite());
        let [low, high] = bounds(points.into_iter().filter(is_finite));
        Self { low, high }
    }

    pub(super) fn about(centre: [f64; 2], size: [f64; 2]) -> Self {
        let half = size.map(|side| 0.5 * side);
        Self { low: difference(centre, half), high: along(centre, half, 1.0) }
    }

    pub(super) fn contains(&self, point: [f64; 2]) -> bool {
        (0..2).all(|d| self.low[d] <= point[d] && point[d] <= self.high[d])
    }

    pub(super) fn centre(&self) -> [f64; 2] {
        middle(self.low, self.high)
    }

    pub(super) fn size(&self) -> [f64; 2] {
        difference(self.high, self.low)
    }

    /// The part of a segment inside, after Liang and Barsky (1984),
    /// <https://doi.org/10.1145/357332.357333>: the segment is `a + t (b − a)`, and each side of
    /// the window bounds t from above or below.
    pub fn clip_segment(&self, a: [f64; 2], b: [f64; 2]) -> Option<[[f64; 2]; 2]> {
        if !(a[0] + a[1] + b[0] + b[1]).is_finite() {
            return None;
        }
        let (mut enter, mut leave) = (0.0_f64, 1.0_f64);
        for d in 0..2 {
            let step = b[d] - a[d];
            for (distance, slope) in [(a[d] - self.low[d], -step), (self.high[d] - a[d], step)] {
                if slope < 0.0 {
                    enter = enter.max(distance / slope);
                } else if slope > 0.0 {
                    leave = leave.min(distance / slope);
                } else if distance < 0.0 {
                    return None;
                }
            }
        }
        (enter <= leave).then(|| [enter, leave].map(|t| between(a, b, t)))
    }

    /// The pieces of a line through points that lie inside.
    pub fn clip_line(&self, points: impl IntoIterator<Item = [f64; 2]>) -> Vec<Vec<[f64; 2]>> {
        let mut pieces: Vec<Vec<[f64; 2]>> = Vec::new();
        let mut points = points.into_iter();
        let Some(mut a) = points.next() else { return pieces };
        for b in points {
            if let Some([from, to]) = self.clip_segment(a, b) {
                match pieces.last_mut() {
                    // A piece goes on when it ended at a point of the line, not at the window.
                    Some(piece)
                        if same(from, a) && piece.last().is_some_and(|&end| same(end, a)) =>
                    {
                        piece.push(to);
                    }
                    _ => pieces.push(vec![from, to]),
                }
            }
            a = b;
        }
        pieces
    }

    /// The part of a polygon inside, after Sutherland and Hodgman (1974),
    /// <https://doi.org/10.1145/360767.360802>.
    pub fn clip_polygon(&self, polygon: &[[f64; 2]]) -> Vec<[f64; 2]> {
        let mut kept = polygon.to_vec();
        for d in 0..2 {
            kept = clip_by_side(&kept, |p| p[d] - self.low[d]);
            kept = clip_by_side(&kept, |p| self.high[d] - p[d]);
        }
        kept
    }
}

/// Whether two points are one, bit for bit.
fn same(a: [f64; 2], b: [f64; 2]) -> bool {
    a.map(f64::to_bits) == b.map(f64::to_bits)
}

/// Keeps the side where `distance` is not negative.
fn clip_by_side(polygon: &[[f64; 2]], distance: impl Fn([f64; 2]) -> f64) -> Vec<[f64; 2]> {
    let mut kept = Vec::with_capacity(polygon.len() + 4);
    for (k, &b) in polygon.iter().enumerate() {
        let a = polygon[(k + polygon.len() - 1) % polygon.len()];
        let (distance_a, distance_b) = (distance(a), distance(b));
        if (distance_a < 0.0) != (distance_b < 0.0) {
            let t = distance_a / (distance_a - distance_b);
            kept.push(between(a, b, t));
        }
        if distance_b >= 0.0 {
            kept.push(b);
        }
    }
    kept
}

/// Leaves out points closer than `tolerance` to the line through the rest, after Douglas and
/// Peucker (1973), <https://doi.org/10.3138/FM57-6770-U75U-7727>. The ends stay.
pub fn simplify(points: &[[f64; 2]], tolerance: f64) -> Vec<[f64; 2]> {
    if points.len() < 3 {
        return points.to_vec();
    }
    let mut keep = vec![false; points.len()];
    keep[0] = true;
    keep[points.len() - 1] = true;
    let mut open = vec![(0, points.len() - 1)];
    while let Some((first, last)) = open.pop() {
        let farthest = (first + 1..last)
            .map(|k| (k, distance(points[k], foot(points[k], [points[first], points[last]]))))
            .max_by(|a, b| a.1.total_cmp(&b.1));
        if let Some((k, distance)) = farthest
            && distance > tolerance
        {
            keep[k] = true;
            open.push((first, k));
            open.push((k, last));
        }
    }
    points.iter().zip(keep).filter_map(|(&point, keep)| keep.then_some(point)).collect()
}
