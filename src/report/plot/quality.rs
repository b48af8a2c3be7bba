//! Pictures of quality: a histogram of skewness, and maps of skewness, non-orthogonality, area and
//! aspect ratio of the cells.

use plotters::prelude::{ColorMap, RGBColor, ViridisRGB};

use super::axes::{Panel, Ticks};
use super::clip::Window;
use super::palette;
use super::picture::{CAPTION_SIZE, CENTRE_TOP, LABEL_SIZE, LEFT_BOTTOM, Picture};
use super::raster::Raster;
use crate::grid::quality::{cell_area, cell_aspect_ratio, cell_corners, cell_skewness};
use crate::report::Artifacts;

/// Sizes of the pictures in pixels.
const HISTOGRAM_SIZE: [u32; 2] = [960, 600];
const MAPS_SIZE: [u32; 2] = [1280, 1660];

/// Pixels of the picture in a side of a square that is painted as one.
const SQUARE: f64 = 0.5;

/// Bands of a map.
pub const BANDS: usize = 10;

/// Colours of the bands from good to bad: samples of viridis.
fn colours() -> [RGBColor; BANDS] {
    std::array::from_fn(|k| ViridisRGB.get_color(k as f64 / (BANDS - 1) as f64))
}

/// Ends of the bands of skewness and of degrees: closer where good grids differ.
const SKEWNESS: [f64; BANDS + 1] = [0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6, 0.8, 1.0];
const DEGREES: [f64; BANDS + 1] = [0.0, 1.0, 2.0, 5.0, 10.0, 15.0, 20.0, 30.0, 45.0, 70.0, 90.0];

/// Views shown of each measure, of those of the picture of the grid.
const SHOWN: [usize; 3] = [0, 1, 3];

/// A histogram of equiangle skewness with a logarithmic count: `counts` of the cells in equal intervals
/// from 0 to 1, and last of those at 1 and above.
pub fn histogram(title: &str, summary: &str, counts: &[usize]) -> Picture {
    let mut picture = Picture::new(HISTOGRAM_SIZE, [95.0, 44.0], title, summary);
    let frame = Window { low: [95.0, 92.0], high: [930.0, 535.0] };
    let bins = counts.len().saturating_sub(1).max(1) as f64;
    let most = counts.iter().copied().max().unwrap_or(0).max(1) as f64;
    // Half a decade below one cell keeps the bar of a single cell visible.
    let window = Window { low: [0.0, -0.5], high: [1.0 + 1.0 / bins, most.log10() + 0.3] };
    let panel = Panel { frame, window };
    panel.draw_axis(&mut picture, 1, Ticks::whole(window.low[1], window.high[1], 9.0), true);
    panel.draw_axis(&mut picture, 0, Ticks::new(0.0, 1.0, 10.0), false);
    for (k, &count) in counts.iter().enumerate().filter(|&(_, &count)| count > 0) {
        let (left, right) = ((k as f64 + 0.06) / bins, (k as f64 + 0.94) / bins);
        let top = (count as f64).log10();
        let bar = [[left, -0.5], [right, -0.5], [right, top], [left, top]];
        let colour = if k + 1 < counts.len() { palette::LINEAR } else { palette::FOLDED };
        picture.polygon(bar.map(|corner| panel.pixel(corner)).to_vec(), colour);
    }
    panel.draw_frame(&mut picture);
    panel.draw_names(&mut picture, ["equiangle skewness, the last bar 1 and above", "cells"]);
    picture
}

/// A measure, its bands and what is written beside them.
pub struct Map {
    pub title: &'static str,
    /// Measure of each cell.
    pub values: Vec<f64>,
    /// Ends of the bands, from good to bad.
    pub ends: [f64; BANDS + 1],
}

impl Map {
    /// The band of a value from 1, the worst for no number.
    pub fn band(&self, value: f64) -> u8 {
        let rising = self.ends[0] < self.ends[BANDS];
        let passed = |end: &&f64| if rising { value >= **end } else { value <= **end };
        if value.is_nan() {
            return BANDS as u8;
        }
        1 + self.ends[1..BANDS].iter().take_while(passed).count() as u8
    }
}

impl Artifacts<'_> {
    /// Maps of the grid's quality, with the non-orthogonality of each cell at hand: a row for each
    /// measure; the whole, the body and the trailing edge.
    pub(in crate::report) fn quality_picture(&self, nonorthogonality: &[f64]) -> Picture {
        let mut picture = Picture::new(MAPS_SIZE, [70.0, 50.0], self.name, "");
        let views = self.views();
        for (row, map) in self.maps(nonorthogonality).iter().enumerate() {
            let top = 118.0 + 390.0 * row as f64;
            let title = [70.0, top - 28.0];
            picture.text(map.title, title, (CAPTION_SIZE, LEFT_BOTTOM), palette::TEXT);
            draw_scale(&mut picture, map, [470.0, top - 46.0]);
            for (column, &view) in SHOWN.iter().enumerate() {
                let left = 70.0 + 410.0 * column as f64;
                let frame = Window { low: [left, top], high: [left + 360.0, top + 310.0] };
                let (caption, window) = views[view];
                self.draw_map(&mut picture, map, &Panel::equal_scales(frame, window), caption);
            }
        }
        picture
    }

    fn maps(&self, nonorthogonality: &[f64]) -> [Map; 4] {
        let grid = self.grid;
        let measured = |measure: fn(&_) -> f64| -> Vec<f64> {
            let corners = |cell| cell_corners(grid, cell % (grid.ni - 1), cell / (grid.ni - 1));
            (0..grid.cells()).map(|cell| measure(&corners(cell))).collect()
        };
        let (area, aspect_ratio) = (measured(cell_area), measured(cell_aspect_ratio));
        let [smallest, largest] = positive_range(&area);
        let [_, longest] = positive_range(&aspect_ratio);
        let map = |title, values, ends| Map { title, values, ends };
        [
            map("Equiangle skewness", measured(cell_skewness), SKEWNESS),
            map("Non-orthogonality, degrees", nonorthogonality.to_vec(), DEGREES),
            map("Cell area, square chords", area, decades(largest, smallest)),
            map("Aspect ratio", aspect_ratio, decades(1.0, longest)),
        ]
    }

    fn draw_map(&self, picture: &mut Picture, map: &Map, panel: &Panel, caption: &str) {
        let grid = self.grid;
        let mut raster = Raster::over(panel, SQUARE);
        for j in 0..grid.nj - 1 {
            for i in 0..grid.ni - 1 {
                let corners = cell_corners(grid, i, j).map(|corner| panel.pixel(corner));
                raster.paint(&corners, map.band(map.values[j * (grid.ni - 1) + i]));
            }
        }
        for (area, colour) in raster.areas(BANDS as u8).into_iter().zip(colours()) {
            picture.area(area, colour);
        }
        panel.draw_around(picture, 4.0, [caption, ""]);
    }
}

/// The colours of the bands with the ends between them.
fn draw_scale(picture: &mut Picture, map: &Map, [left, top]: [f64; 2]) {
    let width = 78.0;
    for (k, colour) in colours().into_iter().enumerate() {
        let x = left + width * k as f64;
        picture.area(vec![[[x, top], [x + width, top + 10.0]]], colour);
        if k > 0 {
            let place = [x, top + 12.0];
            let label = label(map.ends[k]);
            picture.text(&label, place, (LABEL_SIZE - 2.0, CENTRE_TOP), palette::LABEL);
        }
    }
}

/// Two or three digits.
pub fn label(value: f64) -> String {
    if (0.01..1000.0).contains(&value) {
        let digits = if value < 1.0 { 2 } else { 1 };
        let text = format!("{value:.digits$}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        format!("{value:.1e}").replace('-', "−")
    }
}

/// Ends of bands in equal steps of the logarithm.
pub fn decades(good: f64, bad: f64) -> [f64; BANDS + 1] {
    std::array::from_fn(|k| good * (bad / good).powf(k as f64 / BANDS as f64))
}

/// Smallest and largest of the positive numbers, 1 where there is none.
fn positive_range(values: &[f64]) -> [f64; 2] {
    let positive = || values.iter().copied().filter(|v| *v > 0.0 && v.is_finite());
    let smallest = positive().fold(f64::INFINITY, f64::min);
    if smallest.is_finite() { [smallest, positive().fold(smallest, f64::max)] } else { [1.0; 2] }
}
