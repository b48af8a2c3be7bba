//! Quality maps: skewness, non-orthogonality, area and aspect ratio of the cells.

use plotters::prelude::{DrawingBackend, RGBColor};

use super::axes::{CAPTION_SIZE, LABEL_SIZE, Panel, TITLE_SIZE};
use super::canvas::{CENTRE_TOP, Canvas, DrawError, LEFT_BOTTOM};
use super::clip::Window;
use super::raster::Raster;
use super::{Draw, GridFigure, palette};
use crate::grid::quality::{cell_area, cell_aspect_ratio, cell_corners, cell_skewness};

/// Size of the picture in pixels.
const SIZE: [u32; 2] = [1280, 1660];

/// Pixels of the picture in a side of a square that is painted as one.
const SQUARE: f64 = 0.5;

/// Bands of a map.
const BANDS: usize = 10;

/// Colours of the bands from good to bad: samples of viridis (S. van der Walt, N. Smith, CC0),
/// <https://bids.github.io/colormap/>.
const COLOURS: [RGBColor; BANDS] = [
    RGBColor(68, 1, 84),
    RGBColor(72, 40, 120),
    RGBColor(62, 74, 137),
    RGBColor(49, 104, 142),
    RGBColor(38, 130, 142),
    RGBColor(31, 158, 137),
    RGBColor(53, 183, 121),
    RGBColor(110, 206, 88),
    RGBColor(181, 222, 43),
    RGBColor(253, 231, 37),
];

/// Ends of the bands of skewness and of degrees: closer where good grids differ.
const SKEWNESS: [f64; BANDS + 1] = [0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6, 0.8, 1.0];
const DEGREES: [f64; BANDS + 1] = [0.0, 1.0, 2.0, 5.0, 10.0, 15.0, 20.0, 30.0, 45.0, 70.0, 90.0];

/// Views shown of each measure, of those of the picture of the grid.
const SHOWN: [usize; 3] = [0, 1, 3];

/// Maps of a grid's quality: a row for each measure; the whole, the body and the trailing edge.
#[derive(Debug, Clone, Copy)]
pub struct QualityFigure<'a> {
    /// The picture of the grid: title and views are its.
    pub grid: GridFigure<'a>,
    /// The non-orthogonality of each cell, `[nj − 1][ni − 1]`, in degrees.
    pub nonorthogonality: &'a [f64],
}

/// A measure, its bands and what is written beside them.
struct Map {
    title: &'static str,
    /// Measure of each cell.
    values: Vec<f64>,
    /// Ends of the bands, from good to bad.
    ends: [f64; BANDS + 1],
    /// Whether larger is worse.
    rising: bool,
}

impl Map {
    /// The band of a value from 1, the worst for no number.
    fn band(&self, value: f64) -> u8 {
        let passed = |end: &&f64| if self.rising { value >= **end } else { value <= **end };
        if value.is_nan() {
            return BANDS as u8;
        }
        1 + self.ends[1..BANDS].iter().take_while(passed).count() as u8
    }
}

impl Draw for QualityFigure<'_> {
    fn size(&self) -> [u32; 2] {
        SIZE
    }

    fn draw<DB: DrawingBackend>(&self, canvas: &Canvas<DB>) -> Result<(), DrawError> {
        canvas.text(self.grid.name, [70.0, 50.0], (TITLE_SIZE, LEFT_BOTTOM), palette::TEXT)?;
        let views = self.grid.views();
        for (row, map) in self.maps().iter().enumerate() {
            let top = 118.0 + 390.0 * row as f64;
            let title = [70.0, top - 28.0];
            canvas.text(map.title, title, (CAPTION_SIZE, LEFT_BOTTOM), palette::TEXT)?;
            draw_scale(canvas, map, [470.0, top - 46.0])?;
            for (column, &view) in SHOWN.iter().enumerate() {
                let left = 70.0 + 410.0 * column as f64;
                let frame = Window { low: [left, top], high: [left + 360.0, top + 310.0] };
                let (caption, window) = views[view];
                self.draw_panel(canvas, map, &Panel::equal_scales(frame, window), caption)?;
            }
        }
        Ok(())
    }
}

impl QualityFigure<'_> {
    fn maps(&self) -> [Map; 4] {
        let grid = self.grid.grid;
        let measured = |measure: fn(&_) -> f64| -> Vec<f64> {
            let corners = |cell| cell_corners(grid, cell % (grid.ni - 1), cell / (grid.ni - 1));
            (0..grid.cells()).map(|cell| measure(&corners(cell))).collect()
        };
        let (area, aspect_ratio) = (measured(cell_area), measured(cell_aspect_ratio));
        let [smallest, largest] = positive_range(&area);
        let [_, longest] = positive_range(&aspect_ratio);
        [
            Map {
                title: "Equiangle skewness",
                values: measured(cell_skewness),
                ends: SKEWNESS,
                rising: true,
            },
            Map {
                title: "Non-orthogonality, degrees",
                values: self.nonorthogonality.to_vec(),
                ends: DEGREES,
                rising: true,
            },
            Map {
                title: "Cell area, square chords",
                values: area,
                ends: decades(largest, smallest),
                rising: false,
            },
            Map {
                title: "Aspect ratio",
                values: aspect_ratio,
                ends: decades(1.0, longest),
                rising: true,
            },
        ]
    }

    fn draw_panel<DB: DrawingBackend>(
        &self,
        canvas: &Canvas<DB>,
        map: &Map,
        panel: &Panel,
        caption: &str,
    ) -> Result<(), DrawError> {
        let grid = self.grid.grid;
        let mut raster = Raster::over(panel, SQUARE);
        for j in 0..grid.nj - 1 {
            for i in 0..grid.ni - 1 {
                let corners = cell_corners(grid, i, j).map(|corner| panel.pixel(corner));
                raster.paint(&corners, map.band(map.values[j * (grid.ni - 1) + i]));
            }
        }
        for (area, colour) in raster.areas(BANDS as u8).iter().zip(COLOURS) {
            canvas.area(area, colour)?;
        }
        panel.draw_frame(canvas)?;
        panel.draw_ticks(canvas, 4.0)?;
        panel.draw_captions(canvas, caption, "")
    }
}

/// The colours of the bands with the ends between them.
fn draw_scale<DB: DrawingBackend>(
    canvas: &Canvas<DB>,
    map: &Map,
    [left, top]: [f64; 2],
) -> Result<(), DrawError> {
    let width = 78.0;
    for (k, colour) in COLOURS.into_iter().enumerate() {
        let x = left + width * k as f64;
        canvas.area(&[[[x, top], [x + width, top + 10.0]]], colour)?;
        if k > 0 {
            let place = [x, top + 12.0];
            let label = label(map.ends[k]);
            canvas.text(&label, place, (LABEL_SIZE - 2.0, CENTRE_TOP), palette::LABEL)?;
        }
    }
    Ok(())
}

/// Two or three digits.
fn label(value: f64) -> String {
    if (0.01..1000.0).contains(&value) {
        let digits = if value < 1.0 { 2 } else { 1 };
        let text = format!("{value:.digits$}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        format!("{value:.1e}").replace('-', "−")
    }
}

/// Ends of bands in equal steps of the logarithm.
fn decades(good: f64, bad: f64) -> [f64; BANDS + 1] {
    std::array::from_fn(|k| good * (bad / good).powf(k as f64 / BANDS as f64))
}

/// Smallest and largest of the positive numbers, 1 where there is none.
fn positive_range(values: &[f64]) -> [f64; 2] {
    let positive = || values.iter().copied().filter(|v| *v > 0.0 && v.is_finite());
    let smallest = positive().fold(f64::INFINITY, f64::min);
    if smallest.is_finite() { [smallest, positive().fold(smallest, f64::max)] } else { [1.0; 2] }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(rising: bool, ends: [f64; BANDS + 1]) -> Map {
        Map { title: "", values: Vec::new(), ends, rising }
    }

    #[test]
    fn bands_go_from_good_to_bad() {
        let skewness = map(true, std::array::from_fn(|k| 0.1 * k as f64));
        let area = map(false, decades(1.0, 1e-10));

        assert_eq!(
            [0.0, 0.05, 0.11, 0.95, 7.0, f64::NAN].map(|v| skewness.band(v)),
            [1, 1, 2, 10, 10, 10]
        );
        assert_eq!([2.0, 0.5, 0.05, 2e-10, 0.0, -1.0].map(|v| area.band(v)), [1, 1, 2, 10, 10, 10]);
    }

    #[test]
    fn labels_are_short() {
        assert_eq!([0.02, 0.1, 90.0, 1.0, 2.5e-7].map(label), ["0.02", "0.1", "90", "1", "2.5e−7"]);
    }
}
