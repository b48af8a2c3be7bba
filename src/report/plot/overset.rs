//! Pictures of overset grids: the whole, and each gap from near.

use plotters::prelude::RGBColor;

use super::axes::{PlotPanel, Window};
use super::palette;
use super::picture::Picture;
use super::views::{GRID_LINE, OUTER_LINE, WALL_LINE, strides, wall};
use crate::diagnostics::counted;
use crate::grid::vector::middle;
use crate::overset::{CellType, Checks, Gap, Rim, Zone, ZoneTypes};

/// Sizes of the pictures in pixels.
const WHOLE_SIZE: [u32; 2] = [1280, 1200];
const GAP_SIZE: [u32; 2] = [1280, 960];

/// Width of the view of a gap, in gaps.
const GAP_VIEW: f64 = 8.0;

/// Lines of one family of a zone drawn in a panel: more would run together and swell the file.
const MAX_LINES: usize = 240;

/// Data of the pictures of overset grids; holes are not drawn.
#[derive(Debug, Clone, Copy)]
pub struct OversetPictures<'a> {
    /// Name of the case, the title.
    pub name: &'a str,
    /// The zones, the background first, if there is one.
    pub zones: &'a [Zone<'a>],
    /// Gaps, counts, and types of the cells; lengths in reference chords.
    pub checks: &'a Checks,
    /// Length of the reference chord in the unit of the zones.
    pub unit: f64,
    /// Whether all grids are good.
    pub good: bool,
}

impl OversetPictures<'_> {
    /// All elements with their grids, and the whole to the far field.
    pub fn whole(&self) -> Picture {
        let sum = |count: fn(&crate::overset::ZoneReport) -> usize| {
            self.checks.zones.iter().map(count).sum::<usize>()
        };
        let findings = counted(self.checks.findings.len() as f64, "finding");
        let summary = format!(
            "{} zones   ·   {} cells solved for, {} interpolated, {} holes   ·   {} orphans   ·   {findings}",
            self.zones.len(),
            sum(|zone| zone.calculated),
            sum(|zone| zone.interpolated),
            sum(|zone| zone.holes),
            sum(|zone| zone.orphans),
        );
        let mut picture = self.titled(WHOLE_SIZE, &summary);
        let rims = self.zones.iter().filter(|zone| zone.rim == Rim::Overset);
        let rims = rims.flat_map(|zone| zone.grid.row(zone.grid.nj - 1));
        let walls =
            self.zones.iter().filter(|zone| zone.has_wall()).flat_map(|zone| wall(zone.grid));
        let near = Window::around(rims.chain(walls));
        let all = Window::around(self.zones.iter().flat_map(|zone| zone.grid.points()));
        let enlarged =
            |window: Window| Window::about(window.centre(), window.size().map(|c| 1.04 * c));
        let frame = |low: [f64; 2], high: [f64; 2]| Window { low, high };
        let panels = [
            ("Elements", near, frame([70.0, 125.0], [1255.0, 700.0])),
            ("Whole", all, frame([70.0, 760.0], [1255.0, 1150.0])),
        ];
        for (caption, window, frame) in panels {
            let panel = PlotPanel::equal_scales(frame, enlarged(window));
            self.draw(&mut picture, &panel);
            panel.draw_around(&mut picture, 8.0, [caption, ""]);
        }
        picture
    }

    /// A gap with the grids on both sides of it.
    pub fn gap(&self, gap: &Gap) -> Picture {
        let [a, b] = &gap.elements;
        let [cells_a, cells_b] = gap.cells;
        let summary = format!(
            "gap between {a} and {b}: {:.5}   ·   {cells_a} cells of {a} and {cells_b} of {b} across",
            gap.distance
        );
        let mut picture = self.titled(GAP_SIZE, &summary);
        let ends = gap.ends.map(|end| end.map(|c| c * self.unit));
        let side = GAP_VIEW * gap.distance * self.unit;
        let window = Window::about(middle(ends[0], ends[1]), [side; 2]);
        let frame = Window { low: [70.0, 125.0], high: [1255.0, 905.0] };
        let panel = PlotPanel::equal_scales(frame, window);
        self.draw(&mut picture, &panel);
        panel.draw_line(&mut picture, ends, palette::FOLDED, WALL_LINE);
        panel.draw_around(&mut picture, 8.0, ["", ""]);
        picture
    }

    fn titled(&self, size: [u32; 2], summary: &str) -> Picture {
        let mut picture = Picture::new(size, [70.0, 50.0], self.name, summary);
        picture.mark(self.good);
        picture
    }

    fn draw(&self, picture: &mut Picture, panel: &PlotPanel) {
        for zone in self.zones.iter().filter(|zone| zone.has_wall()) {
            panel.fill(picture, &wall(zone.grid), palette::BODY);
        }
        let mut colours = [palette::GRID, palette::SECOND, palette::THIRD].into_iter().cycle();
        for (zone, types) in self.zones.iter().zip(&self.checks.types) {
            let mut next = || colours.next().unwrap_or(palette::GRID);
            let colour = if zone.has_wall() { next() } else { palette::BACKGROUND };
            draw_zone(picture, panel, (zone, types), colour);
        }
        for zone in self.zones.iter().filter(|zone| zone.has_wall()) {
            panel.draw_line(picture, wall(zone.grid), palette::WALL, WALL_LINE);
        }
    }
}

/// Draws the lines of a zone beside which a cell is no hole, and its rim.
fn draw_zone(
    picture: &mut Picture,
    panel: &PlotPanel,
    (zone, types): (&Zone<'_>, &ZoneTypes),
    colour: RGBColor,
) {
    let grid = zone.grid;
    let (ni, nj) = (grid.ni, grid.nj);
    let kept = |i: usize, j: usize| {
        i + 1 < ni && j + 1 < nj && types.types[j * (ni - 1) + i] != CellType::Hole
    };
    let [across, along] = strides(grid, &panel.window, MAX_LINES);
    for i in (0..ni).step_by(across) {
        let shown = |j: usize| kept(i, j) || (i > 0 && kept(i - 1, j));
        lines(picture, panel, colour, nj, shown, |j| grid.point(i, j));
    }
    for j in (0..nj - 1).step_by(along) {
        let shown = |i: usize| kept(i, j) || (j > 0 && kept(i, j - 1));
        lines(picture, panel, colour, ni, shown, |i| grid.point(i, j));
    }
    panel.draw_line(picture, grid.row(nj - 1), colour, OUTER_LINE);
}

/// Draws the pieces of a line of `count` points that are shown; piece k leads from point k to the next.
fn lines(
    picture: &mut Picture,
    panel: &PlotPanel,
    colour: RGBColor,
    count: usize,
    shown: impl Fn(usize) -> bool,
    point: impl Fn(usize) -> [f64; 2],
) {
    let shown: Vec<usize> = (0..count - 1).filter(|&k| shown(k)).collect();
    for run in shown.chunk_by(|a, b| a + 1 == *b) {
        let nodes = run[0]..=run[run.len() - 1] + 1;
        panel.draw_line(picture, nodes.map(&point), colour, GRID_LINE);
    }
}
