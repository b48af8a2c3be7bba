//! How the skewness of a grid's cells is spread.

use plotters::prelude::DrawingBackend;

use super::axes::{CAPTION_SIZE, LABEL_SIZE, Panel, TITLE_SIZE, Ticks};
use super::canvas::{CENTRE_BOTTOM, CENTRE_TOP, Canvas, DrawError, LEFT_BOTTOM};
use super::clip::Window;
use super::{Draw, palette};

/// Size of the picture in pixels.
const SIZE: [u32; 2] = [960, 600];

/// A histogram of equiangle skewness with a logarithmic count.
#[derive(Debug, Clone, Copy)]
pub struct HistogramFigure<'a> {
    /// The title.
    pub name: &'a str,
    /// What is written below the title.
    pub summary: &'a str,
    /// Cells in equal intervals from 0 to 1, and last those at 1 and above.
    pub counts: &'a [usize],
}

impl Draw for HistogramFigure<'_> {
    fn size(&self) -> [u32; 2] {
        SIZE
    }

    fn draw<DB: DrawingBackend>(&self, canvas: &Canvas<DB>) -> Result<(), DrawError> {
        canvas.text(self.name, [95.0, 44.0], (TITLE_SIZE, LEFT_BOTTOM), palette::TEXT)?;
        let size = CAPTION_SIZE - 1.0;
        canvas.text(self.summary, [95.0, 70.0], (size, LEFT_BOTTOM), palette::LABEL)?;
        let frame = Window { low: [95.0, 92.0], high: [930.0, 535.0] };
        let bins = self.counts.len().saturating_sub(1).max(1) as f64;
        let most = self.counts.iter().copied().max().unwrap_or(0).max(1) as f64;
        // Half a decade below one cell keeps the bar of a single cell visible.
        let window = Window { low: [0.0, -0.5], high: [1.0 + 1.0 / bins, most.log10() + 0.3] };
        let panel = Panel { frame, window };
        panel.draw_decades(canvas)?;
        panel.draw_x_ticks(canvas, &Ticks::new(0.0, 1.0, 10.0))?;
        for (k, &count) in self.counts.iter().enumerate().filter(|&(_, &count)| count > 0) {
            let (left, right) = ((k as f64 + 0.06) / bins, (k as f64 + 0.94) / bins);
            let top = (count as f64).log10();
            let bar = [[left, -0.5], [right, -0.5], [right, top], [left, top]];
            let colour = if k + 1 < self.counts.len() { palette::LINEAR } else { palette::FOLDED };
            canvas.polygon(&bar.map(|corner| panel.pixel(corner)), colour)?;
        }
        panel.draw_frame(canvas)?;
        let below = [frame.centre()[0], frame.high[1] + 32.0];
        let label = (LABEL_SIZE + 1.0, CENTRE_TOP);
        canvas.text("equiangle skewness, the last bar 1 and above", below, label, palette::TEXT)?;
        let beside = [frame.low[0] - 62.0, frame.centre()[1]];
        canvas.upward_text("cells", beside, (LABEL_SIZE + 1.0, CENTRE_BOTTOM), palette::TEXT)
    }
}
