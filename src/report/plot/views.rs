//! Pictures of a section and of a grid: the whole, and its edges from near.

use super::axes::{PlotPanel, Window};
use super::palette;
use super::picture::Picture;
use crate::diagnostics::counted;
use crate::grid::boundary::period;
use crate::grid::quality::{Quality, cell_corners, corner_determinants, is_folded, worst_cells};
use crate::grid::vector::distance;
use crate::grid::{Grid, Topology, ordinal};
use crate::solver::history::History;

/// Sizes of the pictures in pixels.
const SECTION_SIZE: [u32; 2] = [1280, 960];
const GRID_SIZE: [u32; 2] = [1280, 1200];

/// Height of a row of panels, in pixels.
const ROW: u32 = 555;

/// Width of the views of a section's edges, in chords.
const SECTION_EDGE_VIEW: f64 = 0.08;

/// Largest radius of a point, in pixels; crowded points are drawn smaller.
const DOT: f64 = 2.6;

/// Lines of one family drawn in a panel: more would run together and swell the file.
const MAX_LINES: usize = 320;

/// Width of the lines in pixels.
pub(super) const GRID_LINE: f64 = 0.45;
pub(super) const OUTER_LINE: f64 = 1.2;
pub(super) const WALL_LINE: f64 = 2.2;

/// Part of the height of the next blade that the view of a passage shows.
const NEXT_BLADE: f64 = 0.4;

/// Least width of the views of the edges, in chords.
const EDGE_VIEW: f64 = 0.06;

/// A picture of a section: the points that it was read from, the contour as given from the upper
/// trailing edge over the nose to the lower one, in chords, and a finer `curve` through them, drawn as
/// the wall. With `edges` it has a leading and a trailing edge, seen from near.
pub fn airfoil(
    title: &str,
    summary: &str,
    points: &[[f64; 2]],
    curve: &[[f64; 2]],
    edges: bool,
) -> Picture {
    let mut picture = Picture::new(SECTION_SIZE, [70.0, 50.0], title, summary);
    let mut draw = |caption: &str, [low, high]: [[f64; 2]; 2], view| {
        let panel = PlotPanel::equal_scales(Window { low, high }, view);
        panel.fill(&mut picture, curve, palette::BODY);
        panel.draw_line(&mut picture, curve.iter().copied(), palette::WALL, 1.6);
        let shown: Vec<_> = points.iter().filter(|&&p| panel.window.contains(p)).collect();
        let radius = (600.0 / shown.len().max(1) as f64).clamp(0.8, DOT);
        for &&point in &shown {
            picture.dot(panel.pixel(point), radius, palette::GRID);
        }
        panel.draw_around(&mut picture, 8.0, [caption, ""]);
    };
    let body = Window::around(curve.iter().copied());
    if !edges {
        let side = 1.1 * body.size()[0].max(body.size()[1]);
        draw("Section", [[70.0, 125.0], [1255.0, 905.0]], square(body.centre(), side));
        return picture;
    }
    let nose = curve.iter().fold([f64::INFINITY, 0.0], |a, &b| if b[0] < a[0] { b } else { a });
    let ends = [curve.first(), curve.last()].map(|p| p.copied().unwrap_or_default());
    let edge = Window::around(ends);
    let whole = Window {
        low: [body.low[0] - 0.04, body.low[1]],
        high: [body.high[0] + 0.04, body.high[1]],
    };
    let leading = square([nose[0] + 0.3 * SECTION_EDGE_VIEW, nose[1]], SECTION_EDGE_VIEW);
    let trailing = square(edge.centre(), SECTION_EDGE_VIEW.max(3.0 * edge.size()[1]));
    draw("Section", [[70.0, 125.0], [1255.0, 475.0]], whole);
    draw("Leading edge", [[70.0, 530.0], [635.0, 905.0]], leading);
    draw("Trailing edge", [[690.0, 530.0], [1255.0, 905.0]], trailing);
    picture
}

/// A picture of a grid on the left and of one of its size on the right: the whole, the body if there is one, and the cells
/// around the worst one on the left.
pub fn compared(title: &str, summary: &str, grids: [&Grid; 2]) -> Picture {
    let [left, _] = grids;
    let whole = Window::around(left.points());
    let body = Window::around(wall(left));
    let around =
        |window: Window| square(window.centre(), 1.3 * window.size()[0].max(window.size()[1]));
    let mut views =
        vec![("whole grid", Window::about(whole.centre(), whole.size().map(|side| 1.04 * side)))];
    views.extend((body.size()[0] > 0.0).then(|| ("body", around(body))));
    views.extend(worst_cells(left, 1).first().map(|worst| {
        let cell = Window::around(cell_corners(left, worst.cell[0], worst.cell[1]));
        ("worst cell", square(worst.centre, 12.0 * cell.size()[0].max(cell.size()[1])))
    }));
    let size = [GRID_SIZE[0], 125 + ROW * views.len() as u32];
    let mut picture = Picture::new(size, [70.0, 50.0], title, summary);
    for (row, (caption, view)) in views.into_iter().enumerate() {
        for (column, (grid, name)) in grids.into_iter().zip(["before", "after"]).enumerate() {
            let [x, y] = [70.0 + 620.0 * column as f64, 125.0 + f64::from(ROW) * row as f64];
            let frame = Window { low: [x, y], high: [x + 565.0, y + 495.0] };
            let panel = PlotPanel::equal_scales(frame, view);
            let drawn = stride_caption(draw_lines(&mut picture, &panel, grid));
            panel.draw_around(&mut picture, 5.0, [&[caption, ", ", name].concat(), &drawn]);
        }
    }
    picture
}

impl Artifacts<'_> {
    /// A picture of the grid in panels with equal scales, two in a row.
    pub(crate) fn grid_picture(&self, views: &Views) -> Picture {
        let (grid, quality) = (self.blocks[0], self.quality);
        let folded = match quality.folded_cells {
            0 => "no folded cells".to_owned(),
            several => counted(several as f64, "folded cell"),
        };
        let behind = match &self.blocks[1..] {
            [] => String::new(),
            [block] => format!(" and {} × {} behind the base", block.ni, block.nj),
            others => format!(" and {} blocks around it", others.len()),
        };
        let summary = format!(
            "{}-grid {} × {}{behind}   ·   {folded}   ·   skewness at most {:.3}, mean {:.3}   ·   \
             wall angle error at most {:.2}°   ·   first cell {:.2e}",
            if grid.topology.half().is_some() { "Half O" } else { grid.topology.name() },
            grid.ni,
            grid.nj,
            quality.max_skewness,
            quality.mean_skewness,
            quality.wall_angle_error_max_deg,
            quality.first_cell_min,
        );
        let more = (views.len() as u32).div_ceil(2).saturating_sub(2);
        let size = [GRID_SIZE[0], GRID_SIZE[1] + more * ROW];
        let mut picture = Picture::new(size, [70.0, 50.0], self.name, &summary);
        picture.mark(self.good);
        for (k, (caption, view)) in views.iter().enumerate() {
            let left = 70.0 + 620.0 * (k % 2) as f64;
            let top = 125.0 + f64::from(ROW) * (k / 2) as f64;
            let frame = Window { low: [left, top], high: [left + 565.0, top + 495.0] };
            self.draw_panel(&mut picture, &PlotPanel::equal_scales(frame, *view), caption);
        }
        picture
    }

    /// Captions and windows of the panels.
    pub(crate) fn views(&self) -> Views {
        let grid = self.blocks[0];
        let wall = || wall(grid).into_iter();
        let next = self.next_blade();
        let others = self.blocks[1..].iter().copied().chain(&next);
        let outer = grid.row(grid.nj - 1).into_iter().chain(others.flat_map(Grid::points));
        let outer = Window::around(outer);
        let body = Window::around(wall());
        let chord = body.size()[0];
        let leading = wall().fold([f64::INFINITY, 0.0], |a, b| if b[0] < a[0] { b } else { a });
        // A blunt trailing edge is seen whole, with room around it.
        let ends = grid.topology.wall(grid.ni);
        let base = [*ends.start(), *ends.end()].map(|i| grid.point(i, 0));
        let base = base.into_iter().filter(|_| matches!(grid.topology, Topology::Blunt { .. }));
        let aft = wall().filter(|point| point[0] > body.high[0] - 0.005 * chord);
        let edge = Window::around(aft.chain(base));
        let trailing = [body.high[0], edge.centre()[1]];
        let trailing_view = (4.0 * edge.size()[1]).max(EDGE_VIEW * chord);
        let near = match &next {
            None => ("Body", square(body.centre(), 1.35 * chord)),
            Some(next) => {
                let shift = next.y[0] - grid.y[0];
                let top = body.high[1].max(body.low[1] + shift + NEXT_BLADE * body.size()[1]);
                let shown = Window { low: body.low, high: [body.high[0], top] };
                let side = 1.1 * shown.size()[0].max(shown.size()[1]);
                ("Blade and passage", square(shown.centre(), side))
            }
        };
        let whole = 1.04 * outer.size()[0].max(outer.size()[1]);
        let mut views = vec![
            ("Whole grid", square(outer.centre(), whole)),
            near,
            ("Leading edge", square(leading, EDGE_VIEW * chord)),
            ("Trailing edge", square(trailing, trailing_view)),
        ];
        let wake = grid.topology.wake();
        if wake > 0 {
            let far = |i: &usize| distance(grid.point(*i, 0), grid.point(wake, 0)) >= chord;
            let behind = (0..wake).rev().find(far).unwrap_or(0);
            views.push(("Wake", square(grid.point(behind, 0), 2.2 * chord)));
            // Two cells along the upper surface at mid-chord: wide enough for a boundary layer.
            let upper = (3 * (grid.ni - 1) - 2 * wake) / 4;
            let [[x, y], next] = [upper, upper + 1].map(|i| grid.point(i, 0));
            let side = (2.0 * distance([x, y], next)).max(0.02 * chord);
            views.push(("Upper surface, boundary layer", square([x, y + 0.45 * side], side)));
        }
        views
    }

    /// The O-grid of the next blade of a cascade, a pitch above.
    fn next_blade(&self) -> Option<Grid> {
        let (_, vector) = period(&self.blocks).filter(|_| self.blocks.len() > 1)?;
        let mut next = self.blocks[0].clone();
        next.place(vector, 1.0);
        Some(next)
    }

    fn draw_panel(&self, picture: &mut Picture, panel: &PlotPanel, caption: &str) {
        let grid = self.blocks[0];
        let (ni, last) = (grid.ni, grid.nj - 1);
        let wall = wall(grid);
        panel.fill(picture, &wall, palette::BODY);
        let strides = self::strides(grid, &panel.window, MAX_LINES);
        self.draw_folded_cells(picture, panel);
        for block in &self.blocks[1..] {
            draw_lines(picture, panel, block);
        }
        if let Some(next) = self.next_blade() {
            let wall = self::wall(&next);
            panel.fill(picture, &wall, palette::BODY);
            draw_lines(picture, panel, &next);
            panel.draw_line(picture, wall, palette::WALL, WALL_LINE);
        }
        let mut draw = |points: Vec<[f64; 2]>, width: f64| {
            panel.draw_line(picture, points, palette::GRID, width);
        };
        (0..ni - 1).step_by(strides[0]).for_each(|i| draw(grid.column(i), GRID_LINE));
        (strides[1]..last).step_by(strides[1]).for_each(|j| draw(grid.row(j), GRID_LINE));
        draw(grid.row(last), OUTER_LINE);
        if !grid.topology.closed() {
            let cut = 0..=*grid.topology.wall(ni).start();
            draw(cut.map(|i| grid.point(i, 0)).collect(), GRID_LINE);
            for i in [0, ni - 1] {
                draw(grid.column(i), OUTER_LINE);
            }
        }
        panel.draw_line(picture, wall, palette::WALL, WALL_LINE);
        panel.draw_around(picture, 5.0, [caption, &stride_caption(strides)]);
    }

    /// Fills the folded cells, so that the eye finds them.
    fn draw_folded_cells(&self, picture: &mut Picture, panel: &PlotPanel) {
        let grid = self.blocks[0];
        let rows = if self.quality.folded_cells == 0 { 0..0 } else { 0..grid.nj - 1 };
        // A grid folded all over needs no exact account, and the file stays small.
        let most = MAX_LINES * 8;
        rows.flat_map(|j| (0..grid.ni - 1).map(move |i| cell_corners(grid, i, j)))
            .filter(|corners| is_folded(&corner_determinants(corners)))
            .map(|corners| panel.polygon(&corners))
            .filter(|polygon| !polygon.is_empty())
            .take(most)
            .for_each(|polygon| picture.polygon(polygon, palette::FOLDED));
    }
}

/// Draws the lines of a grid in a panel; returns the strides in i and j between those drawn.
fn draw_lines(picture: &mut Picture, panel: &PlotPanel, grid: &Grid) -> [usize; 2] {
    let [i, j] = strides(grid, &panel.window, MAX_LINES);
    for i in (0..grid.ni).step_by(i) {
        panel.draw_line(picture, grid.column(i), palette::GRID, GRID_LINE);
    }
    for j in (0..grid.nj).step_by(j) {
        panel.draw_line(picture, grid.row(j), palette::GRID, GRID_LINE);
    }
    [i, j]
}

/// Strides in i and j, powers of two, that leave at most `most` lines of each family with a node in the window.
pub(super) fn strides(grid: &Grid, window: &Window, most: usize) -> [usize; 2] {
    let (mut seen_i, mut seen_j) = (vec![false; grid.ni], vec![false; grid.nj]);
    for (j, seen_j) in seen_j.iter_mut().enumerate() {
        for (i, seen_i) in seen_i.iter_mut().enumerate() {
            if window.contains(grid.point(i, j)) {
                (*seen_i, *seen_j) = (true, true);
            }
        }
    }
    [seen_i, seen_j].map(|seen| {
        let lines = seen.into_iter().filter(|seen| *seen).count();
        lines.div_ceil(most).max(1).next_power_of_two()
    })
}

/// The points of the wall of a grid, with a base back to the first of them.
pub(super) fn wall(grid: &Grid) -> Vec<[f64; 2]> {
    let mut wall = grid.wall();
    if matches!(grid.topology, Topology::Blunt { .. }) {
        wall.push(wall[0]);
    }
    wall
}

/// Captions and windows of the panels of a grid's picture.
pub(crate) type Views = Vec<(&'static str, Window)>;

fn square(centre: [f64; 2], side: f64) -> Window {
    Window::about(centre, [side; 2])
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

/// The data of a run's report on its grid.
#[doc(hidden)]
#[derive(Debug, Clone)]
pub struct Artifacts<'a> {
    /// Name of the case, the title of the pictures.
    pub name: &'a str,
    /// The grid, then the block behind the base of a C-grid around one, or those of a cascade.
    pub blocks: Vec<&'a Grid>,
    /// Its quality.
    pub quality: &'a Quality,
    /// The Newton steps.
    pub history: &'a History,
    /// Newton residual below which the solve has converged.
    pub tolerance: f64,
    /// Whether the grid converged and passed the quality gate.
    pub good: bool,
}
