//! The picture of a section: the whole, its leading and its trailing edge.

use plotters::prelude::DrawingBackend;

use super::axes::{CAPTION_SIZE, Panel, TITLE_SIZE};
use super::canvas::{Canvas, DrawError, LEFT_BOTTOM};
use super::clip::Window;
use super::{Draw, palette};

/// Size of the picture in pixels.
const SIZE: [u32; 2] = [1280, 960];

/// Width of the views of the edges, in chords.
const EDGE_VIEW: f64 = 0.08;

/// Largest radius of a point, in pixels; crowded points are drawn smaller.
const DOT: f64 = 2.6;

/// A picture of a section with the points it was read from.
#[derive(Debug, Clone, Copy)]
pub struct AirfoilFigure<'a> {
    /// The title.
    pub name: &'a str,
    /// What is written below the title.
    pub summary: &'a str,
    /// The contour as given, from the upper trailing edge over the nose to the lower one, chords.
    pub points: &'a [[f64; 2]],
    /// A finer line through the points, drawn as the wall.
    pub curve: &'a [[f64; 2]],
    /// Whether it has a leading and a trailing edge, to be seen from near.
    pub edges: bool,
}

impl Draw for AirfoilFigure<'_> {
    fn size(&self) -> [u32; 2] {
        SIZE
    }

    fn draw<DB: DrawingBackend>(&self, canvas: &Canvas<DB>) -> Result<(), DrawError> {
        canvas.text(self.name, [70.0, 50.0], (TITLE_SIZE, LEFT_BOTTOM), palette::TEXT)?;
        let size = CAPTION_SIZE - 1.0;
        canvas.text(self.summary, [70.0, 76.0], (size, LEFT_BOTTOM), palette::LABEL)?;
        let body = Window::around(self.curve.iter().copied());
        if !self.edges {
            let frame = Window { low: [70.0, 125.0], high: [1255.0, 905.0] };
            let side = 1.1 * body.size()[0].max(body.size()[1]);
            let view = around(body.centre(), side);
            return self.draw_panel(canvas, &Panel::equal_scales(frame, view), "Section");
        }
        let nose =
            self.curve.iter().fold([f64::INFINITY, 0.0], |a, &b| if b[0] < a[0] { b } else { a });
        let ends = [self.curve.first(), self.curve.last()].map(|p| p.copied().unwrap_or_default());
        let edge = Window::around(ends);
        let gap = edge.size()[1];
        let whole = Window {
            low: [body.low[0] - 0.04, body.low[1]],
            high: [body.high[0] + 0.04, body.high[1]],
        };
        for (caption, frame, view) in [
            ("Section", [[70.0, 125.0], [1255.0, 475.0]], whole),
            (
                "Leading edge",
                [[70.0, 530.0], [635.0, 905.0]],
                around([nose[0] + 0.3 * EDGE_VIEW, nose[1]], EDGE_VIEW),
            ),
            (
                "Trailing edge",
                [[690.0, 530.0], [1255.0, 905.0]],
                around(edge.centre(), EDGE_VIEW.max(3.0 * gap)),
            ),
        ] {
            let frame = Window { low: frame[0], high: frame[1] };
            self.draw_panel(canvas, &Panel::equal_scales(frame, view), caption)?;
        }
        Ok(())
    }
}

impl AirfoilFigure<'_> {
    fn draw_panel<DB: DrawingBackend>(
        &self,
        canvas: &Canvas<DB>,
        panel: &Panel,
        caption: &str,
    ) -> Result<(), DrawError> {
        let body = panel.window.clip_polygon(self.curve);
        if !body.is_empty() {
            let pixels: Vec<_> = body.into_iter().map(|p| panel.pixel(p)).collect();
            canvas.polygon(&pixels, palette::BODY)?;
        }
        panel.draw_line(canvas, self.curve.iter().copied(), palette::WALL, 1.6)?;
        let shown: Vec<_> = self.points.iter().filter(|&&p| panel.window.contains(p)).collect();
        let radius = (600.0 / shown.len().max(1) as f64).clamp(0.8, DOT);
        for &&point in &shown {
            canvas.dot(panel.pixel(point), radius, palette::GRID)?;
        }
        panel.draw_frame(canvas)?;
        panel.draw_ticks(canvas, 8.0)?;
        panel.draw_captions(canvas, caption, "")
    }
}

/// A square of this side.
fn around(centre: [f64; 2], side: f64) -> Window {
    Window { low: centre.map(|c| c - 0.5 * side), high: centre.map(|c| c + 0.5 * side) }
}
