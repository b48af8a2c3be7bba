//! The convergence of one linear solve.

use plotters::prelude::DrawingBackend;

use super::axes::{CAPTION_SIZE, LABEL_SIZE, Panel, TITLE_SIZE, Ticks};
use super::canvas::{CENTRE_BOTTOM, CENTRE_TOP, Canvas, DrawError, LEFT_BOTTOM};
use super::clip::Window;
use super::{Figure, palette};

/// Size of the picture in pixels.
const SIZE: [u32; 2] = [960, 600];

/// Residuals below this are rounding noise even of a perfect solve.
const LEAST_RESIDUAL: f64 = 1e-30;

/// A picture of the relative residual of a linear solve, with a logarithmic axis.
#[derive(Debug, Clone, Copy)]
pub struct ResidualsFigure<'a> {
    /// The title.
    pub name: &'a str,
    /// What is written below the title.
    pub summary: &'a str,
    /// Iterations and the relative residuals after them.
    pub residuals: &'a [[f64; 2]],
    /// Relative residual below which the solve has converged, drawn as a dashed line.
    pub tolerance: f64,
}

impl Figure for ResidualsFigure<'_> {
    fn size(&self) -> [u32; 2] {
        SIZE
    }

    fn draw<DB: DrawingBackend>(&self, canvas: &Canvas<DB>) -> Result<(), DrawError> {
        canvas.text(self.name, [95.0, 44.0], (TITLE_SIZE, LEFT_BOTTOM), palette::TEXT)?;
        let size = CAPTION_SIZE - 1.0;
        canvas.text(self.summary, [95.0, 70.0], (size, LEFT_BOTTOM), palette::LABEL)?;
        let frame = Window { low: [95.0, 92.0], high: [930.0, 535.0] };
        let point = |x: f64, residual: f64| {
            let shown = residual.is_finite() && residual > LEAST_RESIDUAL;
            shown.then(|| [x, residual.log10()])
        };
        let curve: Vec<[f64; 2]> =
            self.residuals.iter().filter_map(|&[x, residual]| point(x, residual)).collect();
        let all = Window::around(curve.iter().copied().chain(point(0.0, self.tolerance)));
        let decades = [(all.low[1] - 0.15).floor(), (all.high[1] + 0.15).ceil()];
        let last = curve.last().map_or(1.0, |point| point[0]).max(1.0);
        let window = Window { low: [-0.02 * last, decades[0]], high: [1.03 * last, decades[1]] };
        let panel = Panel { frame, window };
        panel.draw_decades(canvas)?;
        panel.draw_x_ticks(canvas, &Ticks::whole(0.0, last, 10.0))?;
        if let Some([_, y]) = point(0.0, self.tolerance) {
            let ends = [window.low[0], window.high[0]].map(|x| panel.pixel([x, y]));
            canvas.dashes(ends, [8.0, 5.0], palette::OUTER, 1.2)?;
        }
        panel.draw_line(canvas, curve, palette::WALL, 1.6)?;
        panel.draw_frame(canvas)?;
        let below = [frame.centre()[0], frame.high[1] + 32.0];
        canvas.text("iterations", below, (LABEL_SIZE + 1.0, CENTRE_TOP), palette::TEXT)?;
        let beside = [frame.low[0] - 62.0, frame.centre()[1]];
        let label = (LABEL_SIZE + 1.0, CENTRE_BOTTOM);
        canvas.upward_text("relative residual, dashed: tolerance", beside, label, palette::TEXT)
    }
}
