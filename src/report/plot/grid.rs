//! The picture of a grid: the whole, the body, its leading and its trailing edge.

use plotters::prelude::DrawingBackend;

use super::axes::{CAPTION_SIZE, Panel, TITLE_SIZE};
use super::canvas::{Canvas, DrawError, LEFT_BOTTOM, RIGHT_BOTTOM};
use super::clip::Window;
use super::{Draw, palette};
use crate::grid::quality::{Quality, cell_corners, corner_determinants, is_folded};
use crate::grid::{Grid, Topology};

/// Size of the picture in pixels.
const SIZE: [u32; 2] = [1280, 1200];

/// Lines of one family drawn in a panel: more would run together and swell the file.
const MAX_LINES: usize = 320;

/// Width of the lines in pixels.
const GRID_LINE: f64 = 0.45;
const OUTER_LINE: f64 = 1.2;
const WALL_LINE: f64 = 2.2;

/// Least width of the views of the edges, in chords.
const EDGE_VIEW: f64 = 0.06;

/// A picture of a grid in four panels with equal scales.
#[derive(Debug, Clone, Copy)]
pub struct GridFigure<'a> {
    /// Name of the case, the title.
    pub name: &'a str,
    /// The grid.
    pub grid: &'a Grid,
    /// Its quality, summed up under the title.
    pub quality: &'a Quality,
    /// Whether the grid may be used; if not the picture says so.
    pub good: bool,
}

impl Draw for GridFigure<'_> {
    fn size(&self) -> [u32; 2] {
        SIZE
    }

    fn draw<DB: DrawingBackend>(&self, canvas: &Canvas<DB>) -> Result<(), DrawError> {
        self.draw_title(canvas)?;
        for (k, (caption, view)) in self.views().into_iter().enumerate() {
            let left = 70.0 + 620.0 * (k % 2) as f64;
            let top = 125.0 + 555.0 * (k / 2) as f64;
            let frame = Window { low: [left, top], high: [left + 565.0, top + 495.0] };
            self.draw_panel(canvas, &Panel::equal_scales(frame, view), caption)?;
        }
        Ok(())
    }
}

impl GridFigure<'_> {
    fn draw_title<DB: DrawingBackend>(&self, canvas: &Canvas<DB>) -> Result<(), DrawError> {
        let Self { grid, quality, .. } = self;
        canvas.text(self.name, [70.0, 50.0], (TITLE_SIZE, LEFT_BOTTOM), palette::TEXT)?;
        if !self.good {
            let place = [f64::from(SIZE[0]) - 25.0, 50.0];
            canvas.text("not a good grid", place, (TITLE_SIZE, RIGHT_BOTTOM), palette::WALL)?;
        }
        let folded = match quality.folded_cells {
            0 => "no folded cells".to_owned(),
            1 => "1 folded cell".to_owned(),
            n => format!("{n} folded cells"),
        };
        let summary = format!(
            "{}-grid {} × {}   ·   {folded}   ·   skewness at most {:.3}, mean {:.3}   ·   \
             wall angle error at most {:.2}°   ·   first cell {:.2e}",
            match grid.topology {
                Topology::O(_) => "O",
                Topology::C { .. } => "C",
                Topology::Half(_) => "Half O",
            },
            grid.ni,
            grid.nj,
            quality.max_skewness,
            quality.mean_skewness,
            quality.wall_angle_error_max_deg,
            quality.first_cell_min,
        );
        canvas.text(&summary, [70.0, 76.0], (CAPTION_SIZE - 1.0, LEFT_BOTTOM), palette::LABEL)
    }

    /// Captions and windows of the panels.
    pub(super) fn views(&self) -> [(&'static str, Window); 4] {
        let grid = self.grid;
        let wall = || grid.topology.wall(grid.ni).map(|i| grid.point(i, 0));
        let outer = Window::around((0..grid.ni).map(|i| grid.point(i, grid.nj - 1)));
        let body = Window::around(wall());
        let chord = body.size()[0];
        let leading = wall().fold([f64::INFINITY, 0.0], |a, b| if b[0] < a[0] { b } else { a });
        // A blunt trailing edge is seen whole, with room around it.
        let edge = Window::around(wall().filter(|point| point[0] > body.high[0] - 0.005 * chord));
        let trailing = [body.high[0], edge.centre()[1]];
        let trailing_view = (4.0 * edge.size()[1]).max(EDGE_VIEW * chord);
        [
            ("Whole grid", square(outer.centre(), 1.04 * outer.size()[0].max(outer.size()[1]))),
            ("Body", square(body.centre(), 1.35 * chord)),
            ("Leading edge", square(leading, EDGE_VIEW * chord)),
            ("Trailing edge", square(trailing, trailing_view)),
        ]
    }

    fn draw_panel<DB: DrawingBackend>(
        &self,
        canvas: &Canvas<DB>,
        panel: &Panel,
        caption: &str,
    ) -> Result<(), DrawError> {
        let grid = self.grid;
        let wall: Vec<_> = grid.topology.wall(grid.ni).map(|i| grid.point(i, 0)).collect();
        let body: Vec<_> =
            panel.window.clip_polygon(&wall).into_iter().map(|p| panel.pixel(p)).collect();
        if !body.is_empty() {
            canvas.polygon(&body, palette::BODY)?;
        }
        let strides = self.strides(&panel.window);
        self.draw_folded_cells(canvas, panel)?;
        self.draw_grid_lines(canvas, panel, strides)?;
        let outer = (0..grid.ni).map(|i| grid.point(i, grid.nj - 1));
        panel.draw_line(canvas, outer, palette::OUTER, OUTER_LINE)?;
        if !grid.topology.closed() {
            let cut = (0..=*grid.topology.wall(grid.ni).start()).map(|i| grid.point(i, 0));
            panel.draw_line(canvas, cut, palette::GRID, GRID_LINE)?;
            for i in [0, grid.ni - 1] {
                let outflow = (0..grid.nj).map(|j| grid.point(i, j));
                panel.draw_line(canvas, outflow, palette::OUTER, OUTER_LINE)?;
            }
        }
        panel.draw_line(canvas, wall, palette::WALL, WALL_LINE)?;
        panel.draw_frame(canvas)?;
        panel.draw_ticks(canvas, 5.0)?;
        panel.draw_captions(canvas, caption, &stride_caption(strides))
    }

    fn draw_grid_lines<DB: DrawingBackend>(
        &self,
        canvas: &Canvas<DB>,
        panel: &Panel,
        [stride_i, stride_j]: [usize; 2],
    ) -> Result<(), DrawError> {
        let grid = self.grid;
        for i in (0..grid.ni - 1).step_by(stride_i) {
            let line = (0..grid.nj).map(|j| grid.point(i, j));
            panel.draw_line(canvas, line, palette::GRID, GRID_LINE)?;
        }
        for j in (stride_j..grid.nj - 1).step_by(stride_j) {
            let line = (0..grid.ni).map(|i| grid.point(i, j));
            panel.draw_line(canvas, line, palette::GRID, GRID_LINE)?;
        }
        Ok(())
    }

    /// Fills the folded cells, so that the eye finds them.
    fn draw_folded_cells<DB: DrawingBackend>(
        &self,
        canvas: &Canvas<DB>,
        panel: &Panel,
    ) -> Result<(), DrawError> {
        if self.quality.folded_cells == 0 {
            return Ok(());
        }
        let cells_i = self.grid.ni - 1;
        let folded = (0..self.grid.cells())
            .map(|cell| cell_corners(self.grid, cell % cells_i, cell / cells_i))
            .filter(|corners| is_folded(&corner_determinants(corners)))
            .map(|corners| panel.window.clip_polygon(&corners))
            .filter(|polygon| !polygon.is_empty())
            // A grid folded all over needs no exact account, and the file stays small.
            .take(MAX_LINES * 8);
        for polygon in folded {
            let pixels: Vec<_> = polygon.into_iter().map(|point| panel.pixel(point)).collect();
            canvas.polygon(&pixels, palette::FOLDED)?;
        }
        Ok(())
    }

    /// Strides in i and j, powers of two, that leave at most [`MAX_LINES`] lines of each family
    /// with a node in the window.
    fn strides(&self, window: &Window) -> [usize; 2] {
        let grid = self.grid;
        let mut seen_i = vec![false; grid.ni];
        let mut seen_j = vec![false; grid.nj];
        for (j, seen_j) in seen_j.iter_mut().enumerate() {
            for (i, seen_i) in seen_i.iter_mut().enumerate() {
                if window.contains(grid.point(i, j)) {
                    *seen_i = true;
                    *seen_j = true;
                }
            }
        }
        [seen_i, seen_j].map(|seen| {
            let lines = seen.into_iter().filter(|&seen| seen).count();
            lines.div_ceil(MAX_LINES).max(1).next_power_of_two()
        })
    }
}

fn square(centre: [f64; 2], side: f64) -> Window {
    Window {
        low: [centre[0] - 0.5 * side, centre[1] - 0.5 * side],
        high: [centre[0] + 0.5 * side, centre[1] + 0.5 * side],
    }
}

fn stride_caption(strides: [usize; 2]) -> String {
    match strides {
        [1, 1] => String::new(),
        [i, 1] => format!("every {} line in i", ordinal(i)),
        [1, j] => format!("every {} line in j", ordinal(j)),
        [i, j] if i == j => format!("every {} line", ordinal(i)),
        [i, j] => format!("every {} line in i, {} in j", ordinal(i), ordinal(j)),
    }
}

/// English ordinal of a power of two.
fn ordinal(n: usize) -> String {
    match (n % 10, n % 100) {
        (2, 2 | 22 | 32) => format!("{n}nd"),
        (2, tens) if tens != 12 => format!("{n}nd"),
        _ => format!("{n}th"),
    }
}
