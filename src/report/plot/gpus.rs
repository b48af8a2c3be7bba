//! Times, speed-ups and shares on one and more GPUs.

use plotters::prelude::DrawingBackend;

use super::axes::{CAPTION_SIZE, LABEL_SIZE, Panel, TITLE_SIZE, Ticks};
use super::canvas::{CENTRE_TOP, Canvas, DrawError, LEFT, LEFT_BOTTOM};
use super::cited::LIU_ZHONG_CHEN as CITED;
use super::clip::Window;
use super::scaling::{colour, decades};
use super::{Figure, palette};

/// Size of the picture, of a panel, and the distance from one panel to the next, in pixels.
const SIZE: [u32; 2] = [1500, 1010];
const PANEL: [f64; 2] = [400.0, 350.0];
const NEXT: [f64; 2] = [480.0, 460.0];
/// Upper left corner of the first panel.
const FIRST: [f64; 2] = [70.0, 118.0];
/// Lengths of dashes and gaps.
const DASHES: [f64; 2] = [8.0, 5.0];

/// One solve on so many GPUs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GpusPoint {
    /// Unknowns.
    pub unknowns: usize,
    /// Seconds of a linear iteration.
    pub iteration: f64,
    /// Seconds of a Newton step.
    pub step: f64,
    /// Share of assembly and preconditioner set-up in a step.
    pub share: f64,
    /// How many times as fast as one GPU an iteration is, and a step; NaN if one has not room.
    pub speed_ups: [f64; 2],
}

/// Solves on one and more GPUs.
#[derive(Debug, Clone, PartialEq)]
pub struct GpusFigure {
    /// The title.
    pub name: String,
    /// Numbers of GPUs and their solves by size.
    pub curves: Vec<(usize, Vec<GpusPoint>)>,
    /// Problems that grow with the GPUs: what is measured, and against the number of GPUs the speed of
    /// each in units of that of the only one.
    pub weak: Vec<(String, Vec<[f64; 2]>)>,
}

/// A panel against the unknowns.
struct View {
    caption: &'static str,
    of: fn(&GpusPoint) -> f64,
    logarithmic: bool,
    /// Others' values: number of GPUs, if it is one's, value, and what is said of it.
    cited: Vec<(Option<usize>, f64, String)>,
}

/// The panels, in the order of the figures of the paper that is cited.
fn views() -> [View; 5] {
    let times = |values: [(usize, f64); 2]| {
        let text = |gpus, times| format!("{}: {times} on {gpus} GPUs", CITED.name);
        values.map(|(gpus, times)| (Some(gpus), times, text(gpus, times))).into()
    };
    let share = 100.0 * CITED.share.1;
    let shares = vec![(None, share, format!("{}: {share:.0} %", CITED.name))];
    let view = |caption, of, logarithmic, cited| View { caption, of, logarithmic, cited };
    [
        view("ms a linear iteration", |p| 1e3 * p.iteration, true, Vec::new()),
        view("speed-up of a linear iteration", |p| p.speed_ups[0], false, times(CITED.iteration)),
        view("share of assembly and set-up in a step, %", |p| 100.0 * p.share, false, shares),
        view("ms a Newton step", |p| 1e3 * p.step, true, Vec::new()),
        view("speed-up of a Newton step", |p| p.speed_ups[1], false, times(CITED.step)),
    ]
}

impl Figure for GpusFigure {
    fn size(&self) -> [u32; 2] {
        SIZE
    }

    fn draw<DB: DrawingBackend>(&self, canvas: &Canvas<DB>) -> Result<(), DrawError> {
        canvas.text(&self.name, [FIRST[0], 44.0], (TITLE_SIZE, LEFT_BOTTOM), palette::TEXT)?;
        self.draw_legend(canvas)?;
        let views = views();
        for (k, view) in views.iter().enumerate() {
            self.draw_view(canvas, frame(k), view)?;
        }
        self.draw_weak(canvas, frame(views.len()))
    }
}

/// The frame of panel k, three in a row.
fn frame(k: usize) -> Window {
    let low = [FIRST[0] + NEXT[0] * (k % 3) as f64, FIRST[1] + NEXT[1] * (k / 3) as f64];
    Window { low, high: [low[0] + PANEL[0], low[1] + PANEL[1]] }
}

impl GpusFigure {
    fn draw_legend<DB: DrawingBackend>(&self, canvas: &Canvas<DB>) -> Result<(), DrawError> {
        let mut x = FIRST[0];
        for (k, (gpus, _)) in self.curves.iter().enumerate() {
            canvas.line(&[[x, 68.0], [x + 26.0, 68.0]], colour(k), 1.6)?;
            canvas.dot([x + 13.0, 68.0], 3.6, colour(k))?;
            let name = if *gpus == 1 { "1 GPU".to_owned() } else { format!("{gpus} GPUs") };
            canvas.text(&name, [x + 34.0, 68.0], (LABEL_SIZE, LEFT), palette::TEXT)?;
            x += 114.0;
        }
        canvas.dashes([[x, 68.0], [x + 26.0, 68.0]], DASHES, palette::LABEL, 1.2)?;
        let text = format!(
            "{}, with Jacobi; most unknowns on one GPU, {:.1} million",
            CITED.name,
            CITED.unknowns / 1e6
        );
        canvas.text(&text, [x + 34.0, 68.0], (LABEL_SIZE, LEFT), palette::TEXT)
    }

    fn draw_view<DB: DrawingBackend>(
        &self,
        canvas: &Canvas<DB>,
        frame: Window,
        view: &View,
    ) -> Result<(), DrawError> {
        let curves: Vec<Vec<[f64; 2]>> =
            self.curves.iter().map(|(_, points)| view.seen(points)).collect();
        let [low, high] = if view.logarithmic {
            decades(&curves)
        } else {
            let cited = view.cited.iter().map(|(_, value, _)| *value);
            let all = curves.iter().flatten().map(|point| point[1]).chain(cited);
            [0.0, 1.1 * all.fold(0.0, f64::max)]
        };
        let [left, right] = self.unknowns();
        let panel = Panel { frame, window: Window { low: [left, low], high: [right, high] } };
        if view.logarithmic {
            panel.draw_decades(canvas)?;
        } else {
            panel.draw_y_numbers(canvas, 8.0)?;
        }
        panel.draw_x_powers(canvas, &Ticks::whole(left, right, 6.0))?;
        self.draw_cited(canvas, &panel, view)?;
        for (k, curve) in curves.iter().enumerate() {
            panel.draw_line(canvas, curve.iter().copied(), colour(k), 1.6)?;
            for &point in curve {
                canvas.dot(panel.pixel(point), 3.6, colour(k))?;
            }
        }
        surround(canvas, &panel, view.caption, "unknowns")
    }

    /// Others' values as dashed lines, with a ring where they were found.
    fn draw_cited<DB: DrawingBackend>(
        &self,
        canvas: &Canvas<DB>,
        panel: &Panel,
        view: &View,
    ) -> Result<(), DrawError> {
        let Window { low, high } = panel.window;
        let x = CITED.unknowns.log10();
        let upright = [[x, low[1]], [x, high[1]]].map(|point| panel.pixel(point));
        canvas.dashes(upright, DASHES, palette::LABEL, 1.0)?;
        for (gpus, value, text) in &view.cited {
            let curve = gpus.and_then(|gpus| self.curves.iter().position(|(n, _)| *n == gpus));
            let shade = curve.map_or(palette::LABEL, colour);
            let ends = [[low[0], *value], [high[0], *value]].map(|point| panel.pixel(point));
            canvas.dashes(ends, DASHES, shade, 1.2)?;
            canvas.dot(panel.pixel([x, *value]), 5.0, shade)?;
            canvas.dot(panel.pixel([x, *value]), 3.2, palette::PAPER)?;
            let above = [ends[0][0] + 6.0, ends[0][1] - 3.0];
            canvas.text(text, above, (LABEL_SIZE - 2.0, LEFT_BOTTOM), palette::LABEL)?;
        }
        Ok(())
    }

    fn draw_weak<DB: DrawingBackend>(
        &self,
        canvas: &Canvas<DB>,
        frame: Window,
    ) -> Result<(), DrawError> {
        let points = || self.weak.iter().flat_map(|(_, points)| points);
        let most = points().map(|point| point[0]).fold(1.0, f64::max);
        let high = points().map(|point| 100.0 * point[1]).fold(100.0, f64::max);
        let window = Window { low: [0.5, 0.0], high: [most + 0.5, 1.1 * high] };
        let panel = Panel { frame, window };
        panel.draw_y_numbers(canvas, 8.0)?;
        panel.draw_x_ticks(canvas, &Ticks::whole(1.0, most, 8.0))?;
        for (k, (name, points)) in self.weak.iter().enumerate() {
            let shown = points.iter().map(|&[gpus, speed]| [gpus, 100.0 * speed]);
            panel.draw_line(canvas, shown.clone(), colour(k), 1.6)?;
            for point in shown {
                canvas.dot(panel.pixel(point), 3.6, colour(k))?;
            }
            // Speeds are near 100 %: there is room below.
            let y = frame.high[1] - 20.0 * (self.weak.len() - k) as f64;
            let x = frame.low[0] + 12.0;
            canvas.line(&[[x, y], [x + 26.0, y]], colour(k), 1.6)?;
            canvas.text(name, [x + 34.0, y], (LABEL_SIZE - 1.0, LEFT), palette::TEXT)?;
        }
        surround(canvas, &panel, "of the only one's speed a GPU, %", "GPUs")
    }

    /// Decimal logarithms of the unknowns shown.
    fn unknowns(&self) -> [f64; 2] {
        let all = self.curves.iter().flat_map(|(_, points)| points);
        let logs = all.map(|point| (point.unknowns.max(1) as f64).log10());
        let cited = CITED.unknowns.log10();
        let (low, high) = logs.fold((cited, cited), |(low, high), x| (low.min(x), high.max(x)));
        [low - 0.15, high + 0.15]
    }
}

impl View {
    /// Points with logarithmic unknowns, and with logarithmic values where they are shown so.
    fn seen(&self, points: &[GpusPoint]) -> Vec<[f64; 2]> {
        let values = points.iter().map(|point| (point.unknowns, (self.of)(point)));
        let shown = values.filter(|(_, value)| value.is_finite() && *value > 0.0);
        let log = |value: f64| if self.logarithmic { value.log10() } else { value };
        shown.map(|(unknowns, value)| [(unknowns as f64).log10(), log(value)]).collect()
    }
}

/// Frame, caption above and what x counts below.
fn surround<DB: DrawingBackend>(
    canvas: &Canvas<DB>,
    panel: &Panel,
    caption: &str,
    across: &str,
) -> Result<(), DrawError> {
    panel.draw_frame(canvas)?;
    let below = [panel.frame.centre()[0], panel.frame.high[1] + 32.0];
    canvas.text(across, below, (LABEL_SIZE + 1.0, CENTRE_TOP), palette::TEXT)?;
    let above = [panel.frame.low[0], panel.frame.low[1] - 6.0];
    canvas.text(caption, above, (CAPTION_SIZE - 2.0, LEFT_BOTTOM), palette::LABEL)
}
