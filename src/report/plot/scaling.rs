//! Time of Newton steps and linear iterations against the number of unknowns.

use plotters::prelude::{DrawingBackend, RGBColor};

use super::axes::{CAPTION_SIZE, LABEL_SIZE, Panel, TITLE_SIZE, Ticks};
use super::canvas::{CENTRE_TOP, Canvas, DrawError, LEFT, LEFT_BOTTOM};
use super::cited::LIU_ZHONG_CHEN as REFERENCE;
use super::clip::Window;
use super::{Figure, palette};

/// Size of the picture in pixels.
const SIZE: [u32; 2] = [1500, 560];

/// One solve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScalingPoint {
    /// Unknowns.
    pub unknowns: usize,
    /// Seconds of a Newton step.
    pub step: f64,
    /// Seconds of a linear iteration.
    pub iteration: f64,
    /// Share of assembly and preconditioner set-up in a step.
    pub share: f64,
}

/// Solves of growing size on one device.
#[derive(Debug, Clone, PartialEq)]
pub struct ScalingFigure {
    /// Where they ran, the title.
    pub name: String,
    /// Preconditioners and their solves.
    pub curves: Vec<(String, Vec<ScalingPoint>)>,
}

/// A panel: its caption, and what it shows of a solve.
type View = (&'static str, fn(&ScalingPoint) -> f64);

const TIMES: [View; 2] =
    [("ms a Newton step", |p| 1e3 * p.step), ("ms a linear iteration", |p| 1e3 * p.iteration)];
const SHARE: View = ("share of assembly and set-up in a step, %", |p| 100.0 * p.share);

impl Figure for ScalingFigure {
    fn size(&self) -> [u32; 2] {
        SIZE
    }

    fn draw<DB: DrawingBackend>(&self, canvas: &Canvas<DB>) -> Result<(), DrawError> {
        canvas.text(&self.name, [70.0, 44.0], (TITLE_SIZE, LEFT_BOTTOM), palette::TEXT)?;
        for (k, view) in TIMES.into_iter().chain([SHARE]).enumerate() {
            let left = 70.0 + 480.0 * k as f64;
            let frame = Window { low: [left, 108.0], high: [left + 400.0, 500.0] };
            let curves = self.seen(view, k < TIMES.len());
            let y = if k < TIMES.len() { decades(&curves) } else { percents(&curves) };
            let [low, high] = self.unknowns();
            let panel = Panel { frame, window: Window { low: [low, y[0]], high: [high, y[1]] } };
            if k < TIMES.len() {
                panel.draw_decades(canvas)?;
            } else {
                panel.draw_y_numbers(canvas, 8.0)?;
            }
            draw_reference(canvas, &panel, k >= TIMES.len())?;
            draw_panel(canvas, &panel, &curves, view.0)?;
        }
        self.draw_legend(canvas)
    }
}

impl ScalingFigure {
    /// Points of a view with logarithmic unknowns, and with logarithmic values if `log`.
    fn seen(&self, view: View, log: bool) -> Vec<Vec<[f64; 2]>> {
        let point = |p: &ScalingPoint| {
            let value = (view.1)(p);
            let shown = value.is_finite() && (value > 0.0 || !log);
            shown.then(|| [(p.unknowns as f64).log10(), if log { value.log10() } else { value }])
        };
        self.curves.iter().map(|(_, points)| points.iter().filter_map(point).collect()).collect()
    }

    /// Decimal logarithms of the unknowns shown.
    fn unknowns(&self) -> [f64; 2] {
        let all = self.curves.iter().flat_map(|(_, points)| points);
        let logs =
            all.map(|p| (p.unknowns.max(1) as f64).log10()).chain([REFERENCE.unknowns.log10()]);
        let (low, high) =
            logs.fold((f64::INFINITY, 0.0_f64), |(low, high), x| (low.min(x), high.max(x)));
        [low - 0.15, high + 0.15]
    }

    fn draw_legend<DB: DrawingBackend>(&self, canvas: &Canvas<DB>) -> Result<(), DrawError> {
        let mut x = 70.0;
        for (k, (name, _)) in self.curves.iter().enumerate() {
            canvas.line(&[[x, 68.0], [x + 26.0, 68.0]], colour(k), 1.6)?;
            canvas.dot([x + 13.0, 68.0], 3.6, colour(k))?;
            canvas.text(name, [x + 34.0, 68.0], (LABEL_SIZE, LEFT), palette::TEXT)?;
            x += 70.0 + 9.0 * name.chars().count() as f64;
        }
        canvas.dashes([[x, 68.0], [x + 26.0, 68.0]], [8.0, 5.0], palette::OUTER, 1.2)?;
        let text = format!(
            "{}: most unknowns on one GPU, {:.1} million; share with Jacobi, {:.0} %",
            REFERENCE.name,
            REFERENCE.unknowns / 1e6,
            100.0 * REFERENCE.share.1
        );
        canvas.text(&text, [x + 34.0, 68.0], (LABEL_SIZE, LEFT), palette::TEXT)
    }
}

pub(super) fn colour(curve: usize) -> RGBColor {
    [palette::WALL, palette::LINEAR, palette::FOLDED, palette::GRID][curve % 4]
}

/// Whole decades around the points.
pub(super) fn decades(curves: &[Vec<[f64; 2]>]) -> [f64; 2] {
    let ys = curves.iter().flatten().map(|point| point[1]);
    let (low, high) =
        ys.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), y| (low.min(y), high.max(y)));
    if low.is_finite() { [low.floor(), high.ceil().max(low.floor() + 1.0)] } else { [-1.0, 0.0] }
}

/// From zero to above all points and the reference.
fn percents(curves: &[Vec<[f64; 2]>]) -> [f64; 2] {
    let highest = curves.iter().flatten().map(|point| point[1]).fold(0.0, f64::max);
    [0.0, 1.1 * highest.max(100.0 * REFERENCE.share.1)]
}

/// The values of the reference as dashed lines.
fn draw_reference<DB: DrawingBackend>(
    canvas: &Canvas<DB>,
    panel: &Panel,
    share: bool,
) -> Result<(), DrawError> {
    let Window { low, high } = panel.window;
    let x = REFERENCE.unknowns.log10();
    let mut lines = vec![[[x, low[1]], [x, high[1]]]];
    if share {
        let y = 100.0 * REFERENCE.share.1;
        lines.push([[low[0], y], [high[0], y]]);
    }
    for line in lines {
        canvas.dashes(line.map(|point| panel.pixel(point)), [8.0, 5.0], palette::OUTER, 1.2)?;
    }
    Ok(())
}

fn draw_panel<DB: DrawingBackend>(
    canvas: &Canvas<DB>,
    panel: &Panel,
    curves: &[Vec<[f64; 2]>],
    caption: &str,
) -> Result<(), DrawError> {
    let Window { low, high } = panel.window;
    let powers = Ticks::whole(low[0], high[0], 6.0);
    panel.draw_x_powers(canvas, &powers)?;
    for (k, curve) in curves.iter().enumerate() {
        panel.draw_line(canvas, curve.iter().copied(), colour(k), 1.6)?;
        for &point in curve {
            canvas.dot(panel.pixel(point), 3.6, colour(k))?;
        }
    }
    panel.draw_frame(canvas)?;
    let below = [panel.frame.centre()[0], panel.frame.high[1] + 32.0];
    canvas.text("unknowns", below, (LABEL_SIZE + 1.0, CENTRE_TOP), palette::TEXT)?;
    let above = [panel.frame.low[0], panel.frame.low[1] - 6.0];
    canvas.text(caption, above, (CAPTION_SIZE - 2.0, LEFT_BOTTOM), palette::LABEL)
}
