//! Curves of several problems side by side, one panel each.

use plotters::prelude::{DrawingBackend, RGBColor};

use super::axes::{LABEL_SIZE, Panel, TITLE_SIZE, Ticks};
use super::canvas::{CENTRE_TOP, Canvas, DrawError, LEFT, LEFT_BOTTOM};
use super::clip::Window;
use super::{Figure, palette};

/// Panels beside each other, and room for one with its labels in pixels.
const ACROSS: usize = 3;
const ROOM: [f64; 2] = [440.0, 330.0];
/// Above the panels.
const HEAD: f64 = 84.0;
/// Most decades shown of a curve.
const DECADES: f64 = 16.0;

/// Curves over a linear x with a logarithmic y.
#[derive(Debug, Clone, PartialEq)]
pub struct CurvesFigure {
    /// The title.
    pub name: String,
    /// What x counts.
    pub across: &'static str,
    /// Names of the curves of every panel.
    pub curves: Vec<&'static str>,
    /// Panels: their captions, and the points of each curve.
    pub panels: Vec<(String, Vec<Vec<[f64; 2]>>)>,
}

impl Figure for CurvesFigure {
    fn size(&self) -> [u32; 2] {
        let rows = self.panels.len().div_ceil(ACROSS).max(1);
        [(ACROSS as f64 * ROOM[0] + 40.0) as u32, (HEAD + rows as f64 * ROOM[1]) as u32]
    }

    fn draw<DB: DrawingBackend>(&self, canvas: &Canvas<DB>) -> Result<(), DrawError> {
        canvas.text(&self.name, [70.0, 40.0], (TITLE_SIZE, LEFT_BOTTOM), palette::TEXT)?;
        let mut x = 70.0;
        for (k, name) in self.curves.iter().enumerate() {
            canvas.line(&[[x, 58.0], [x + 26.0, 58.0]], colour(k), 1.6)?;
            canvas.text(name, [x + 34.0, 58.0], (LABEL_SIZE, LEFT), palette::TEXT)?;
            x += 64.0 + 9.0 * name.chars().count() as f64;
        }
        for (k, (caption, curves)) in self.panels.iter().enumerate() {
            let (column, row) = ((k % ACROSS) as f64, (k / ACROSS) as f64);
            let low = [70.0 + column * ROOM[0], HEAD + 26.0 + row * ROOM[1]];
            let high = [low[0] + ROOM[0] - 80.0, low[1] + ROOM[1] - 90.0];
            self.draw_panel(canvas, Window { low, high }, caption, curves)?;
        }
        Ok(())
    }
}

impl CurvesFigure {
    fn draw_panel<DB: DrawingBackend>(
        &self,
        canvas: &Canvas<DB>,
        frame: Window,
        caption: &str,
        curves: &[Vec<[f64; 2]>],
    ) -> Result<(), DrawError> {
        let logs: Vec<Vec<[f64; 2]>> =
            curves.iter().map(|curve| curve.iter().filter_map(logarithm).collect()).collect();
        let around = Window::around(logs.iter().flatten().copied());
        let drawable = around.low[0] <= around.high[0];
        let Window { low, high } =
            if drawable { around } else { Window { low: [0.0; 2], high: [1.0; 2] } };
        let top = high[1].ceil();
        let bottom = low[1].floor().clamp(top - DECADES, top - 1.0);
        let window = Window { low: [0.0, bottom], high: [high[0].max(1.0), top] };
        let panel = Panel { frame, window };
        panel.draw_decades(canvas)?;
        panel.draw_x_ticks(canvas, &Ticks::whole(0.0, window.high[0], 5.0))?;
        for (k, curve) in logs.iter().enumerate() {
            panel.draw_line(canvas, curve.iter().copied(), colour(k), 1.4)?;
        }
        panel.draw_frame(canvas)?;
        panel.draw_captions(canvas, caption, "")?;
        let below = [frame.centre()[0], frame.high[1] + 28.0];
        canvas.text(self.across, below, (LABEL_SIZE, CENTRE_TOP), palette::LABEL)
    }
}

fn colour(curve: usize) -> RGBColor {
    [palette::GRID, palette::WALL, palette::FOLDED, palette::LINEAR][curve % 4]
}

/// The point with the decimal logarithm of its y; none if there is no such.
fn logarithm(&[x, y]: &[f64; 2]) -> Option<[f64; 2]> {
    (y.is_finite() && y > 0.0).then(|| [x, y.log10()])
}
