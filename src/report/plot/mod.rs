//! Pictures of a section, of a grid and of the convergence.

mod airfoil;
mod axes;
mod canvas;
mod clip;
mod convergence;
mod grid;
mod histogram;
mod quality;
mod raster;
mod xy;

use std::io::{self, Write};
use std::path::Path;

use plotters::prelude::{BitMapBackend, DrawingBackend, RGBColor, SVGBackend};

pub(super) use self::canvas::DrawError;
use self::canvas::{Canvas, WideLines};
use crate::files::{IoError, atomic};

pub use self::airfoil::AirfoilFigure;
pub use self::convergence::{convergence, residuals};
pub use self::grid::GridFigure;
pub use self::histogram::HistogramFigure;
pub use self::quality::QualityFigure;
pub use self::xy::{Axis, Curve, Line, Rule, RuleAt, Stroke, XyFigure, XyPanel};

/// Units of an SVG in one of its pixels: lines near the wall keep their distance.
const SVG_UNITS: u32 = 10;

/// Bitmap pixels in four pixels of the figure, and samples across one bitmap pixel.
const BITMAP_PIXELS_IN_4: u32 = 5;
const BITMAP_SAMPLES: u32 = 2;

/// Bytes of a bitmap pixel.
const RGB_BYTES: usize = 3;

/// The colours of all figures.
mod palette {
    use plotters::prelude::RGBColor;

    pub(super) const PAPER: RGBColor = RGBColor(255, 255, 255);
    pub(super) const TEXT: RGBColor = RGBColor(26, 32, 44);
    pub(super) const LABEL: RGBColor = RGBColor(88, 98, 114);
    pub(super) const FRAME: RGBColor = RGBColor(140, 150, 164);
    pub(super) const RULE: RGBColor = RGBColor(228, 232, 238);
    pub(super) const GRID: RGBColor = RGBColor(38, 70, 110);
    pub(super) const OUTER: RGBColor = RGBColor(38, 70, 110);
    pub(super) const BODY: RGBColor = RGBColor(242, 240, 236);
    pub(super) const WALL: RGBColor = RGBColor(208, 50, 38);
    pub(super) const FOLDED: RGBColor = RGBColor(255, 140, 0);
    pub(super) const LINEAR: RGBColor = RGBColor(104, 152, 200);
}

/// What can be drawn on any surface.
trait Draw {
    /// Width and height in pixels.
    fn size(&self) -> [u32; 2];

    /// Draws on an empty surface of that size.
    fn draw<DB: DrawingBackend>(&self, canvas: &Canvas<DB>) -> Result<(), DrawError>;
}

/// A picture.
#[derive(Debug, Clone)]
pub enum Figure<'a> {
    /// A section with the points it was read from.
    Airfoil(AirfoilFigure<'a>),
    /// Four views of a grid.
    Grid(GridFigure<'a>),
    /// How the skewness of a grid's cells is spread.
    Histogram(HistogramFigure<'a>),
    /// Maps of four measures of quality.
    Quality(QualityFigure<'a>),
    /// Curves over x and y.
    Xy(XyFigure),
}

impl Figure<'_> {
    /// Draws the picture as PNG where `path` ends so, else as SVG.
    ///
    /// # Errors
    ///
    /// [`IoError`] when the picture cannot be drawn or written.
    pub fn write(&self, path: &Path) -> Result<(), IoError> {
        if path.extension().is_some_and(|end| end.eq_ignore_ascii_case("png")) {
            let (pixels, size) = self.bitmap().map_err(|error| draw_error(path, error))?;
            atomic::write(path, |out| write_png(out, &pixels, size))
        } else {
            let text = self.svg().map_err(|error| draw_error(path, error))?;
            atomic::write(path, |out| out.write_all(text.as_bytes()))
        }
    }

    /// The text of the picture as SVG.
    pub(super) fn svg(&self) -> Result<String, DrawError> {
        let [width, height] = self.size();
        let units = (width * SVG_UNITS, height * SVG_UNITS);
        let mut text = String::new();
        let backend = SVGBackend::with_string(&mut text, units);
        let canvas = Canvas::new(backend, f64::from(SVG_UNITS), WideLines::Native);
        self.draw(&canvas)?;
        let areas = canvas.into_areas();
        if let Some(end) = text.rfind("</svg>") {
            text.insert_str(end, &areas);
        }
        // The view box keeps the fine units; the picture itself has the size asked for.
        let fine = format!(r#"width="{}" height="{}""#, units.0, units.1);
        Ok(text.replacen(&fine, &format!(r#"width="{width}" height="{height}""#), 1))
    }

    /// RGB bytes of the picture, row by row from the top, and the size in bitmap pixels.
    fn bitmap(&self) -> Result<(Vec<u8>, [u32; 2]), DrawError> {
        canvas::register_fonts()?;
        let size = self.size().map(|pixels| pixels * BITMAP_PIXELS_IN_4 / 4);
        let [width, height] = size.map(|pixels| pixels * BITMAP_SAMPLES);
        let mut fine = vec![0; width as usize * height as usize * RGB_BYTES];
        let scale = f64::from(BITMAP_PIXELS_IN_4 * BITMAP_SAMPLES) / 4.0;
        let backend = BitMapBackend::with_buffer(&mut fine, (width, height));
        self.draw(&Canvas::new(backend, scale, WideLines::Filled))?;
        Ok((average(&fine, width as usize), size))
    }

    fn size(&self) -> [u32; 2] {
        match self {
            Self::Airfoil(figure) => figure.size(),
            Self::Grid(figure) => figure.size(),
            Self::Histogram(figure) => figure.size(),
            Self::Quality(figure) => figure.size(),
            Self::Xy(figure) => figure.size(),
        }
    }

    fn draw<DB: DrawingBackend>(&self, canvas: &Canvas<DB>) -> Result<(), DrawError> {
        canvas.fill(palette::PAPER)?;
        match self {
            Self::Airfoil(figure) => figure.draw(canvas),
            Self::Grid(figure) => figure.draw(canvas),
            Self::Histogram(figure) => figure.draw(canvas),
            Self::Quality(figure) => figure.draw(canvas),
            Self::Xy(figure) => figure.draw(canvas),
        }?;
        canvas.present()
    }
}

/// Colours of the figures by what they are for, as SVG has them: a page that shows the figures on
/// another ground exchanges them.
pub(super) const COLOURS: [(&str, RGBColor); 10] = [
    ("paper", palette::PAPER),
    ("text", palette::TEXT),
    ("label", palette::LABEL),
    ("frame", palette::FRAME),
    ("rule", palette::RULE),
    ("grid", palette::GRID),
    ("body", palette::BODY),
    ("wall", palette::WALL),
    ("folded", palette::FOLDED),
    ("linear", palette::LINEAR),
];

/// A colour as SVG has it.
pub(super) fn hexadecimal(RGBColor(red, green, blue): RGBColor) -> String {
    format!("#{red:02X}{green:02X}{blue:02X}")
}

fn write_png(out: impl Write, pixels: &[u8], [width, height]: [u32; 2]) -> io::Result<()> {
    let mut encoder = png::Encoder::new(out, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_deflate_compression(png::DeflateCompression::Level(1));
    // Line art with flat colours: filters meant for photographs make it larger.
    encoder.set_filter(png::Filter::NoFilter);
    encoder.write_header()?.write_image_data(pixels)?;
    Ok(())
}

/// Averages squares of samples into pixels.
fn average(fine: &[u8], width: usize) -> Vec<u8> {
    let samples = BITMAP_SAMPLES as usize;
    let count = (samples * samples) as u16;
    let mut pixels = Vec::with_capacity(fine.len() / (samples * samples));
    let mut sums = vec![[0_u16; RGB_BYTES]; width / samples];
    for rows in fine.chunks_exact(width * RGB_BYTES * samples) {
        sums.fill([0; RGB_BYTES]);
        for row in rows.chunks_exact(width * RGB_BYTES) {
            for (sum, square) in sums.iter_mut().zip(row.chunks_exact(RGB_BYTES * samples)) {
                for sample in square.chunks_exact(RGB_BYTES) {
                    for (sum, value) in sum.iter_mut().zip(sample) {
                        *sum += u16::from(*value);
                    }
                }
            }
        }
        pixels.extend(sums.iter().flatten().map(|sum| (sum / count) as u8));
    }
    pixels
}

pub(super) fn draw_error(path: &Path, DrawError(reason): DrawError) -> IoError {
    IoError::Draw { path: path.to_path_buf(), reason }
}
