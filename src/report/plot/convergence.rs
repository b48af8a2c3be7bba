//! The convergence of a solve: residual against Newton steps and against linear iterations.

use plotters::prelude::{DrawingBackend, RGBColor};

use super::axes::{CAPTION_SIZE, LABEL_SIZE, Panel, TITLE_SIZE, Ticks};
use super::canvas::{CENTRE_BOTTOM, CENTRE_TOP, Canvas, DrawError, LEFT, LEFT_BOTTOM};
use super::clip::Window;
use super::{Figure, palette};
use crate::solver::history::History;

/// Size of the picture in pixels.
const SIZE: [u32; 2] = [1280, 600];

/// Decades shown when there is nothing to show.
const EMPTY_DECADES: [f64; 2] = [-1.0, 0.0];

/// Residuals below this are rounding noise even of a perfect solve.
const LEAST_RESIDUAL: f64 = 1e-30;

/// A picture of a convergence history in two panels with a logarithmic residual.
#[derive(Debug, Clone, Copy)]
pub struct ConvergenceFigure<'a> {
    /// Name of the case, the title.
    pub name: &'a str,
    /// The steps.
    pub history: &'a History,
    /// Residual below which the solve has converged, drawn as a dashed line.
    pub tolerance: f64,
}

/// What is drawn in a panel: points with x and decimal logarithm of the residual.
struct Curves {
    /// One point after each Newton step.
    newton: Vec<[f64; 2]>,
    /// The linear residual inside each step, times the Newton residual it started from.
    linear: Vec<Vec<[f64; 2]>>,
}

impl Figure for ConvergenceFigure<'_> {
    fn size(&self) -> [u32; 2] {
        SIZE
    }

    fn draw<DB: DrawingBackend>(&self, canvas: &Canvas<DB>) -> Result<(), DrawError> {
        canvas.text(self.name, [95.0, 44.0], (TITLE_SIZE, LEFT_BOTTOM), palette::TEXT)?;
        let summary = format!(
            "{} Newton steps   ·   {} linear iterations",
            self.history.newton_iterations(),
            self.history.linear_iterations(),
        );
        canvas.text(&summary, [95.0, 70.0], (CAPTION_SIZE - 1.0, LEFT_BOTTOM), palette::LABEL)?;
        let (by_step, by_iteration) = (self.by_step(), self.by_iteration());
        let decades = self.decades(&by_iteration);
        for (k, (curves, label)) in
            [(by_step, "Newton steps"), (by_iteration, "linear iterations, all steps together")]
                .into_iter()
                .enumerate()
        {
            let left = 95.0 + 620.0 * k as f64;
            let frame = Window { low: [left, 92.0], high: [left + 535.0, 535.0] };
            self.draw_panel(canvas, &curves, label, (frame, decades))?;
        }
        Ok(())
    }
}

impl ConvergenceFigure<'_> {
    fn by_step(&self) -> Curves {
        let steps = self.history.steps.iter();
        let newton = steps.filter_map(|s| point(s.step as f64, s.residual)).collect();
        Curves { newton, linear: Vec::new() }
    }

    fn by_iteration(&self) -> Curves {
        let mut curves = Curves { newton: Vec::new(), linear: Vec::new() };
        let mut iterations = 0.0;
        let mut start = f64::NAN;
        for step in &self.history.steps {
            // Methods that check their residual twice an iteration list it twice.
            let spacing = step.linear_iterations / step.linear_residuals.len().max(1) as f64;
            let inner = step.linear_residuals.iter().enumerate().filter_map(|(k, relative)| {
                point(iterations + (k + 1) as f64 * spacing, start * relative)
            });
            let curve: Vec<_> = point(iterations, start).into_iter().chain(inner).collect();
            curves.linear.push(curve);
            iterations += step.linear_iterations;
            curves.newton.extend(point(iterations, step.residual));
            start = step.residual;
        }
        curves
    }

    /// Whole decades around all residuals and the tolerance.
    fn decades(&self, curves: &Curves) -> [f64; 2] {
        let shown = curves.newton.iter().chain(curves.linear.iter().flatten()).copied();
        let all = Window::around(shown.chain(point(0.0, self.tolerance)));
        if curves.newton.is_empty() {
            return EMPTY_DECADES;
        }
        let low = (all.low[1] - 0.15).floor();
        [low, (all.high[1] + 0.15).ceil().max(low + 1.0)]
    }

    fn draw_panel<DB: DrawingBackend>(
        &self,
        canvas: &Canvas<DB>,
        curves: &Curves,
        label: &str,
        (frame, decades): (Window, [f64; 2]),
    ) -> Result<(), DrawError> {
        let last = curves.newton.last().map_or(1.0, |point| point[0]).max(1.0);
        let window = Window { low: [-0.02 * last, decades[0]], high: [1.03 * last, decades[1]] };
        let panel = Panel { frame, window };
        panel.draw_decades(canvas)?;
        panel.draw_x_ticks(canvas, &Ticks::whole(0.0, last, 8.0))?;
        if let Some([_, y]) = point(0.0, self.tolerance) {
            let ends = [window.low[0], window.high[0]].map(|x| panel.pixel([x, y]));
            canvas.dashes(ends, [8.0, 5.0], palette::OUTER, 1.2)?;
        }
        for curve in &curves.linear {
            panel.draw_line(canvas, curve.iter().copied(), palette::LINEAR, 1.2)?;
        }
        panel.draw_line(canvas, curves.newton.iter().copied(), palette::WALL, 1.6)?;
        for &newton in &curves.newton {
            canvas.dot(panel.pixel(newton), 3.6, palette::WALL)?;
        }
        panel.draw_frame(canvas)?;
        let below = [frame.centre()[0], frame.high[1] + 32.0];
        canvas.text(label, below, (LABEL_SIZE + 1.0, CENTRE_TOP), palette::TEXT)?;
        let beside = [frame.low[0] - 62.0, frame.centre()[1]];
        canvas.upward_text("residual", beside, (LABEL_SIZE + 1.0, CENTRE_BOTTOM), palette::TEXT)?;
        draw_legend(canvas, frame, !curves.linear.is_empty())
    }
}

/// Names of the lines, in the upper right corner where a falling curve leaves room.
fn draw_legend<DB: DrawingBackend>(
    canvas: &Canvas<DB>,
    frame: Window,
    linear: bool,
) -> Result<(), DrawError> {
    let x = frame.high[0] - 150.0;
    let mut entries: Vec<(&str, RGBColor)> = vec![("Newton residual", palette::WALL)];
    if linear {
        entries.push(("linear residual", palette::LINEAR));
    }
    entries.push(("tolerance", palette::OUTER));
    for (k, (name, colour)) in entries.into_iter().enumerate() {
        let y = frame.low[1] + 20.0 + 20.0 * k as f64;
        let ends = [[x, y], [x + 26.0, y]];
        if colour == palette::OUTER {
            canvas.dashes(ends, [8.0, 5.0], colour, 1.2)?;
        } else {
            canvas.line(&ends, colour, 1.6)?;
        }
        if colour == palette::WALL {
            canvas.dot([x + 13.0, y], 3.6, colour)?;
        }
        canvas.text(name, [x + 34.0, y], (LABEL_SIZE, LEFT), palette::TEXT)?;
    }
    Ok(())
}

/// A point on a logarithmic axis; none for a residual that has no place there.
fn point(x: f64, residual: f64) -> Option<[f64; 2]> {
    (residual.is_finite() && residual > LEAST_RESIDUAL).then(|| [x, residual.log10()])
}
