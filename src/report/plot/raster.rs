//! Areas of cells, painted pixel by pixel and gathered to rectangles.
//!
//! A grid has more cells than a picture has pixels: to draw each would swell the file. A pixel shows
//! the worst of the cells that cover its centre or have their own centre in it, so that a bad cell
//! is seen however thin it is.

use std::collections::HashMap;

use super::axes::PlotPanel;
use super::clip::Window;
use crate::grid::crossings;
use crate::grid::quality::Corners;
use crate::grid::vector::along;

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
