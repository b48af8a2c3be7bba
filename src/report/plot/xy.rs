//! Curves over x and y, in panels beside each other.

use plotters::prelude::RGBColor;

use super::axes::{PlotPanel, Ticks, Window};
use super::palette;
use super::picture::{CAPTION_SIZE, LABEL_SIZE, LEFT, LEFT_BOTTOM, Picture};

/// Pixels left of the first panel, and on the right of and below the last.
const MARGIN: f64 = 95.0;
const END: [f64; 2] = [30.0, 65.0];
/// Pixels between panels.
const GAP: [f64; 2] = [85.0, 110.0];
/// Pixels above the first panel, without captions and with them.
const TOP: [f64; 2] = [92.0, 118.0];
/// Height of the line with summary and legend.
const LEGEND: f64 = 68.0;
/// Lengths of dashes and gaps.
const DASHES: [f64; 2] = [8.0, 5.0];
/// Most decades shown of a logarithmic y.
const DECADES: f64 = 32.0;

/// Panels with curves.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct XyFigure {
    /// The title.
    pub name: String,
    /// Text below the title, before the legend.
    pub summary: String,
    /// Names of lines that all panels share.
    pub legend: Vec<(XyLine, String)>,
    /// Panels in a row.
    pub across: usize,
    /// Width and height of a panel in pixels.
    pub panel: [f64; 2],
    /// The panels, row by row.
    pub panels: Vec<XyPanel>,
    /// Whether all panels show the same y.
    pub same_y: bool,
}

/// Curves with their axes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct XyPanel {
    /// Text above the panel.
    pub caption: String,
    /// The axes x and y.
    pub axes: [Axis; 2],
    /// The curves. Points that have no place on an axis are left out.
    pub curves: Vec<XyCurve>,
    /// Straight lines across the panel.
    pub rules: Vec<Rule>,
}

/// A horizontal or vertical axis, as long as the curves and rules need.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Axis {
    /// Name in the legend.
    pub name: String,
    /// Whether it shows decimal logarithms; else it begins at zero, and x counts.
    pub logarithmic: bool,
}

/// Style of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct XyLine {
    /// Number of its colour, of four; none for grey.
    pub colour: Option<usize>,
    /// Its stroke.
    pub stroke: Stroke,
}

/// Strokes of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stroke {
    /// A thin line.
    Thin,
    /// A line.
    Plain,
    /// A line with a dot at each point.
    Dotted,
    /// Dashes, of a rule.
    Dashed,
}

/// A line through points.
#[derive(Debug, Clone, PartialEq)]
pub struct XyCurve {
    /// Style of the curve.
    pub line: XyLine,
    /// Name within the panel, for what the figure's legend does not have.
    pub name: Option<String>,
    /// Points x, y.
    pub points: Vec<[f64; 2]>,
}

/// A level dashed line across a panel.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    /// Its place on the axis y.
    pub y: f64,
    /// Number of its colour, of four; none for grey.
    pub colour: Option<usize>,
    /// Text on the rule.
    pub text: String,
}

impl XyFigure {
    /// The picture of the figure.
    pub fn picture(&self) -> Picture {
        let Window { high, .. } = self.frame(self.panels.len().max(self.across()) - 1);
        let row = MARGIN + self.across() as f64 * (self.panel[0] + GAP[0]) - GAP[0];
        let size = [(row + END[0]) as u32, (high[1] + END[1]) as u32];
        let mut picture = Picture::new(size, [MARGIN, 44.0], &self.name, &self.summary);
        let width = |text: &str| 9.0 * text.chars().count() as f64;
        let mut x =
            MARGIN + if self.summary.is_empty() { 0.0 } else { 40.0 + width(&self.summary) };
        for (line, name) in &self.legend {
            line.draw_key(&mut picture, [x, LEGEND], name);
            x += 64.0 + width(name);
        }
        let curves: Vec<_> = self.panels.iter().map(XyPanel::shown).collect();
        let windows = self.panels.iter().zip(&curves).map(|(panel, shown)| panel.window(shown));
        let mut windows: Vec<Window> = windows.collect();
        if self.same_y {
            let low = windows.iter().map(|window| window.low[1]).fold(f64::INFINITY, f64::min);
            let high = windows.iter().map(|window| window.high[1]).fold(low, f64::max);
            for window in &mut windows {
                (window.low[1], window.high[1]) = (low, high);
            }
        }
        for (k, panel) in self.panels.iter().enumerate() {
            let place = PlotPanel { frame: self.frame(k), window: windows[k] };
            panel.draw(&mut picture, &place, &curves[k]);
        }
        picture
    }

    fn across(&self) -> usize {
        self.across.max(1)
    }

    fn frame(&self, k: usize) -> Window {
        let captions = self.panels.iter().any(|panel| !panel.caption.is_empty());
        let place = [k % self.across(), k / self.across()].map(|n| n as f64);
        let from = [MARGIN, TOP[usize::from(captions)]];
        let low = std::array::from_fn(|d| from[d] + place[d] * (self.panel[d] + GAP[d]));
        Window { low, high: std::array::from_fn(|d| low[d] + self.panel[d]) }
    }
}

impl XyPanel {
    fn draw(&self, picture: &mut Picture, panel: &PlotPanel, curves: &[Vec<[f64; 2]>]) {
        let frame = panel.frame;
        self.draw_axes(picture, panel);
        for rule in &self.rules {
            self.draw_rule(picture, panel, rule);
        }
        for (XyCurve { line, .. }, points) in self.curves.iter().zip(curves) {
            panel.draw_line(picture, points.iter().copied(), line.shade(), line.width());
            for &point in points.iter().filter(|_| line.stroke == Stroke::Dotted) {
                picture.dot(panel.pixel(point), 3.6, line.shade());
            }
        }
        let named = || self.curves.iter().filter_map(|c| Some((c.line, c.name.as_ref()?)));
        for (k, (line, name)) in named().enumerate() {
            let y = frame.high[1] - 20.0 * (named().count() - k) as f64;
            line.draw_key(picture, [frame.low[0] + 12.0, y], name);
        }
        panel.draw_frame(picture);
        let above = [frame.low[0], frame.low[1] - 6.0];
        picture.text(&self.caption, above, (CAPTION_SIZE - 2.0, LEFT_BOTTOM), palette::LABEL);
    }

    /// Points of the curves in the scales of the axes.
    fn shown(&self) -> Vec<Vec<[f64; 2]>> {
        let [x, y] = &self.axes;
        let point = |&[a, b]: &[f64; 2]| Some([x.place(a)?, y.place(b)?]);
        self.curves.iter().map(|curve| curve.points.iter().filter_map(point).collect()).collect()
    }

    /// The range shown by the panel, in the scales of the axes.
    fn window(&self, curves: &[Vec<[f64; 2]>]) -> Window {
        let extent = |d: usize| {
            let rules = self.rules.iter().filter(|_| d == 1);
            let rules = rules.filter_map(|rule| self.axes[1].place(rule.y));
            let points = curves.iter().flatten().map(|point| point[d]);
            points.chain(rules).fold(None, |extent: Option<[f64; 2]>, at| {
                Some(extent.map_or([at; 2], |[low, high]| [low.min(at), high.max(at)]))
            })
        };
        let x = match (self.axes[0].logarithmic, extent(0)) {
            (true, None) => [0.0, 1.0],
            (true, Some([low, high])) => [low - 0.15, high + 0.15],
            // The largest x, at least 1.
            (false, found) => {
                let last = found.map_or(1.0, |[_, high]| high.max(1.0));
                [-0.02 * last, 1.03 * last]
            }
        };
        let y = match (self.axes[1].logarithmic, extent(1)) {
            (true, None) => [-1.0, 0.0],
            (true, Some([low, high])) => {
                let high = (high + 0.15).ceil();
                [(low - 0.15).floor().clamp(high - DECADES, high - 1.0), high]
            }
            (false, found) => [0.0, found.map_or(1.0, |[_, high]| 1.1 * high.max(1e-9))],
        };
        Window { low: [x[0], y[0]], high: [x[1], y[1]] }
    }

    fn draw_axes(&self, picture: &mut Picture, panel: &PlotPanel) {
        let (Window { low, high }, [x, y]) = (panel.window, &self.axes);
        let y_ticks = if y.logarithmic { Ticks::whole } else { Ticks::new };
        let y_count = if y.logarithmic { 9.0 } else { 8.0 };
        panel.draw_axis(picture, 1, y_ticks(low[1], high[1], y_count), y.logarithmic);
        let (x_start, x_count) = if x.logarithmic { (low[0], 6.0) } else { (0.0, 8.0) };
        panel.draw_axis(picture, 0, Ticks::whole(x_start, high[0], x_count), x.logarithmic);
        panel.draw_names(picture, [&x.name, &y.name]);
    }

    fn draw_rule(&self, picture: &mut Picture, panel: &PlotPanel, rule: &Rule) {
        let Some(y) = self.axes[1].place(rule.y) else { return };
        let ends = [panel.window.low, panel.window.high].map(|[x, _]| panel.pixel([x, y]));
        picture.dashes(ends, DASHES, shade(rule.colour), 1.2);
        let above = [ends[0][0] + 6.0, ends[0][1] - 3.0];
        picture.text(&rule.text, above, (LABEL_SIZE - 2.0, LEFT_BOTTOM), palette::LABEL);
    }
}

impl Axis {
    /// Place of a value on the axis; none for one that has none there.
    fn place(&self, value: f64) -> Option<f64> {
        let place = if self.logarithmic { value.log10() } else { value };
        place.is_finite().then_some(place)
    }
}

impl XyLine {
    fn shade(self) -> RGBColor {
        shade(self.colour)
    }

    fn width(self) -> f64 {
        if matches!(self.stroke, Stroke::Thin | Stroke::Dashed) { 1.2 } else { 1.6 }
    }

    /// A piece of the line, and its name beside it.
    fn draw_key(self, picture: &mut Picture, [x, y]: [f64; 2], name: &str) {
        let ends = [[x, y], [x + 26.0, y]];
        if self.stroke == Stroke::Dashed {
            picture.dashes(ends, DASHES, self.shade(), self.width());
        } else {
            picture.line(&ends, self.shade(), self.width());
        }
        if self.stroke == Stroke::Dotted {
            picture.dot([x + 13.0, y], 3.6, self.shade());
        }
        picture.text(name, [x + 34.0, y], (LABEL_SIZE, LEFT), palette::TEXT);
    }
}

fn shade(colour: Option<usize>) -> RGBColor {
    let colours = [palette::WALL, palette::LINEAR, palette::FOLDED, palette::GRID];
    colour.map_or(palette::LABEL, |colour| colours[colour % colours.len()])
}
