//! Pictures of quality: a histogram of skewness, and maps of skewness, non-orthogonality, area and
//! aspect ratio of the cells, painted pixel by pixel and gathered to rectangles.
//!
//! A grid has more cells than a picture has pixels: to draw each would swell the file. A pixel shows
//! the worst of the cells that cover its centre or have their own centre in it, so that a bad cell
//! is seen however thin it is.

use std::collections::HashMap;

use plotters::prelude::{ColorMap, RGBColor, ViridisRGB};
use rayon::prelude::*;

use super::axes::{PlotPanel, Ticks, Window};
use super::palette;
use super::picture::{CAPTION_SIZE, CENTRE_TOP, LABEL_SIZE, LEFT_BOTTOM, Picture};
use super::views::{Artifacts, Views};
use crate::grid::quality::{CellMeasure, Corners, cell_area, cell_corners, fill_nonorthogonality};
use crate::grid::vector::along;
use crate::grid::{Grid, crossings};

/// Sizes of the pictures in pixels.
const HISTOGRAM_SIZE: [u32; 2] = [960, 600];
const MAPS_SIZE: [u32; 2] = [1280, 1660];

/// Pixels of the picture in a side of a square that is painted as one.
pub const SQUARE: f64 = 0.5;

/// Rows of cells that are painted one after the other.
const ROWS: usize = 32;

/// Bands of a map.
pub const BANDS: usize = 10;

/// Colours of the bands from good to bad: samples of viridis.
fn colours() -> [RGBColor; BANDS] {
    std::array::from_fn(|k| ViridisRGB.get_color(k as f64 / (BANDS - 1) as f64))
}

/// Ends of the bands of skewness and of degrees, nearly logarithmic: good grids differ at the low end.
const SKEWNESS: [f64; BANDS + 1] = [0.0, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.7, 1.0];
const DEGREES: [f64; BANDS + 1] = [0.0, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 40.0, 70.0, 90.0];

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
    let panel = PlotPanel { frame, window };
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
    /// Its title.
    pub title: &'static str,
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

/// Measures the cells of row j.
type FillRow = fn(&Grid, usize, &mut [f64]);

/// The measures of the maps, in their order.
const MEASURED: [FillRow; 4] = [
    |grid, j, row| CellMeasure::Skewness.fill_row(grid, j, row),
    fill_nonorthogonality,
    |grid, j, row| CellMeasure::Area.fill_row(grid, j, row),
    |grid, j, row| CellMeasure::AspectRatio.fill_row(grid, j, row),
];
const NONORTHOGONALITY: usize = 1;

/// Smallest and largest of the positive areas of the cells, 1 where there is none.
fn range_of_areas(grid: &Grid) -> [f64; 2] {
    let area = |cell| cell_area(&cell_corners(grid, cell % (grid.ni - 1), cell / (grid.ni - 1)));
    let areas = (0..grid.cells()).into_par_iter().map(area);
    let positive = areas.filter(|area| *area > 0.0 && area.is_finite()).map(|area| [area; 2]);
    let range = positive.reduce_with(|[a, b], [c, d]| [a.min(c), b.max(d)]);
    range.unwrap_or([1.0; 2])
}

/// Top of a row of maps, pixels.
fn top(row: usize) -> f64 {
    118.0 + 390.0 * row as f64
}

impl Artifacts<'_> {
    /// Maps of the grid's quality: a row for each measure; the whole, the body and the trailing edge. With it
    /// the largest non-orthogonality of a cell in degrees.
    pub(crate) fn quality_picture(&self, shown: &Views) -> (Picture, f64) {
        let mut picture = Picture::new(MAPS_SIZE, [70.0, 50.0], self.name, "");
        let maps = self.maps();
        let cells: Vec<_> = self.blocks.iter().map(|grid| (*grid, bands(&maps, grid))).collect();
        let largest = cells.iter().map(|(_, (_, largest))| *largest).fold(0.0, f64::max);
        for (row, map) in maps.iter().enumerate() {
            let title = [70.0, top(row) - 28.0];
            picture.text(map.title, title, (CAPTION_SIZE, LEFT_BOTTOM), palette::TEXT);
            draw_scale(&mut picture, map, [470.0, top(row) - 46.0]);
        }
        let columns = SHOWN.into_par_iter().enumerate().filter_map(|(column, view)| {
            let (caption, window) = shown.get(view)?;
            let left = 70.0 + 410.0 * column as f64;
            let panels = [0, 1, 2, 3].map(|row| {
                let low = [left, top(row)];
                let frame = Window { low, high: along(low, [360.0, 310.0], 1.0) };
                PlotPanel::equal_scales(frame, *window)
            });
            let rasters = cells.iter().map(|(grid, (bands, _))| painted(&panels[0], grid, bands));
            let raster = rasters.reduce(|all, raster| all.with(&raster))?;
            let area = |row: usize| raster.areas(row, BANDS as u8, panels[row].frame.low);
            Some((caption, panels, [0, 1, 2, 3].map(area)))
        });
        for (caption, panels, areas) in columns.collect::<Vec<_>>() {
            for (panel, areas) in panels.into_iter().zip(areas) {
                for (area, colour) in areas.into_iter().zip(colours()) {
                    picture.area(area, colour);
                }
                panel.draw_around(&mut picture, 4.0, [caption, ""]);
            }
        }
        (picture, largest)
    }

    fn maps(&self) -> [Map; 4] {
        let [smallest, largest] = range_of_areas(self.blocks[0]);
        let map = |title, ends| Map { title, ends };
        [
            map("Equiangle skewness", SKEWNESS),
            map("Non-orthogonality, degrees", DEGREES),
            map("Cell area, square chords", decades(largest, smallest)),
            map("Aspect ratio", decades(1.0, self.quality.max_aspect_ratio)),
        ]
    }
}

/// The cells of a grid, given by their bands, painted over a panel.
pub fn painted(panel: &PlotPanel, grid: &Grid, bands: &[[u8; 4]]) -> Raster<4> {
    let empty = || Raster::over(panel, SQUARE);
    let line =
        |j: usize| -> Vec<_> { grid.row(j).into_iter().map(|node| panel.pixel(node)).collect() };
    let parts = bands.par_chunks(ROWS * (grid.ni - 1)).enumerate();
    let rasters = parts.fold(empty, |mut raster, (part, bands)| {
        let mut next = line(ROWS * part);
        for (j, bands) in bands.chunks(grid.ni - 1).enumerate() {
            let here = std::mem::replace(&mut next, line(ROWS * part + j + 1));
            let sides = here.array_windows().zip(next.array_windows());
            for ((&[a, b], &[d, c]), &bands) in sides.zip(bands) {
                raster.paint(&[a, b, c, d], bands);
            }
        }
        raster
    });
    rasters.reduce(empty, |raster, other| raster.with(&other))
}

/// The bands of the cells of a grid in the maps, row by row, and the largest non-orthogonality of a cell in degrees.
fn bands(maps: &[Map; 4], grid: &Grid) -> (Vec<[u8; 4]>, f64) {
    let mut cells = vec![[0; 4]; grid.cells()];
    let rows = cells.par_chunks_mut(grid.ni - 1).enumerate().map(|(j, row)| {
        let (mut values, mut largest) = (vec![0.0; row.len()], 0.0);
        for (k, (map, measured)) in maps.iter().zip(MEASURED).enumerate() {
            measured(grid, j, &mut values);
            for (bands, value) in row.iter_mut().zip(&values) {
                bands[k] = map.band(*value);
            }
            if k == NONORTHOGONALITY {
                largest = values.iter().copied().fold(0.0, f64::max);
            }
        }
        largest
    });
    let largest = rows.reduce(|| 0.0, f64::max);
    (cells, largest)
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
    if (0.001..1000.0).contains(&value) {
        let digits = if value < 0.01 { 3 } else { 1 + usize::from(value < 1.0) };
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

/// Squares of a panel with the bands of N measures painted there, 0 for none, row by row from the top.
pub struct Raster<const N: usize> {
    size: [usize; 2],
    bands: Vec<[u8; N]>,
    /// Pixels of the picture in a side of a square.
    side: f64,
    origin: [f64; 2],
}

/// A rectangle by its lower and upper corner, in pixels.
pub type Rectangle = [[f64; 2]; 2];

impl<const N: usize> Raster<N> {
    /// An empty raster over the frame of a panel, squares of `side` pixels.
    pub fn over(panel: &PlotPanel, side: f64) -> Self {
        let size = panel.frame.size().map(|pixels| (pixels / side).floor() as usize);
        Self { size, bands: vec![[0; N]; size[0] * size[1]], side, origin: panel.frame.low }
    }

    /// Paints a cell, given by its corners in pixels, in its bands; of each measure the higher one stays.
    pub fn paint(&mut self, corners: &Corners, bands: [u8; N]) {
        let corners = corners.map(|c| [0, 1].map(|d| (c[d] - self.origin[d]) / self.side));
        let Window { low, high } = Window::around(corners);
        let mut range = [(0, 0); 2];
        for d in 0..2 {
            if !(high[d] >= 0.0 && low[d] < self.size[d] as f64) {
                return;
            }
            // Squares whose centre lies between the bounds.
            let first = (low[d] - 0.5).ceil().max(0.0) as usize;
            let end = ((high[d] - 0.5).floor() + 1.0).clamp(0.0, self.size[d] as f64) as usize;
            range[d] = (first, end);
        }
        for row in range[1].0..range[1].1 {
            // The crossings of a row serve all of its squares.
            let mut sides = [f64::NEG_INFINITY; 4];
            for (side, at) in sides.iter_mut().zip(crossings(&corners, row as f64 + 0.5)) {
                *side = at;
            }
            for column in range[0].0..range[0].1 {
                let x = column as f64 + 0.5;
                if sides.iter().filter(|&&at| at > x).count() % 2 == 1 {
                    self.raise(column, row, bands);
                }
            }
        }
        let centre = [0, 1].map(|d| 0.25 * corners.iter().map(|corner| corner[d]).sum::<f64>());
        if (0..2).all(|d| centre[d] >= 0.0 && centre[d] < self.size[d] as f64) {
            self.raise(centre[0] as usize, centre[1] as usize, bands);
        }
    }

    /// This raster with what is painted in another one of its size, the higher band of each measure.
    #[must_use]
    pub fn with(mut self, other: &Self) -> Self {
        let bands = self.bands.as_flattened_mut().iter_mut().zip(other.bands.as_flattened());
        bands.for_each(|(band, other)| *band = (*band).max(*other));
        self
    }

    fn raise(&mut self, column: usize, row: usize, bands: [u8; N]) {
        let place = &mut self.bands[row * self.size[0] + column];
        for (there, band) in place.iter_mut().zip(bands) {
            *there = band.max(*there);
        }
    }

    /// The area of each band from 1 to `bands` of a measure as rectangles in a panel of this size whose corner is
    /// `origin`: runs of a row, joined with the same run of the rows below.
    pub fn areas(&self, measure: usize, bands: u8, origin: [f64; 2]) -> Vec<Vec<Rectangle>> {
        let mut areas: Vec<Vec<Rectangle>> = vec![Vec::new(); bands.into()];
        let corner = |column: usize, row: usize| {
            along(origin, [column, row].map(|number| number as f64), self.side)
        };
        // Rectangles that end above the present row: columns, band, and number in the area.
        let mut open = HashMap::new();
        for (row, line) in self.bands.chunks(self.size[0].max(1)).enumerate() {
            let mut reached = HashMap::new();
            let mut end = 0;
            for run in line.chunk_by(|a, b| a[measure] == b[measure]) {
                let (first, band) = (end, usize::from(run[0][measure]));
                end += run.len();
                if !(1..=areas.len()).contains(&band) {
                    continue;
                }
                let area = &mut areas[band - 1];
                let number = open.remove(&(first, end, band)).unwrap_or(area.len());
                if number == area.len() {
                    area.push([corner(first, row); 2]);
                }
                area[number][1] = corner(end, row + 1);
                reached.insert((first, end, band), number);
            }
            open = reached;
        }
        areas
    }
}
