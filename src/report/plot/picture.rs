//! A picture: shapes in pixels with fractions, written as SVG or PNG by the plotting library.
//!
//! The library places everything on whole pixels, too coarse for a grid near a wall. Pictures are
//! therefore drawn in a larger unit: an SVG is scaled back by its view box, a bitmap is averaged
//! down, which also smooths its edges.

use std::fmt::{Display, Write as _};
use std::io::{self, Write};
use std::path::Path;
use std::sync::OnceLock;

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{FontTransform, register_font};
use rayon::prelude::*;

use super::palette;
use super::strip::Strip;
use crate::files::{IoError, WriteFault, atomic};
use crate::grid::vector::{along, between, difference, distance, unit};

/// Units of an SVG in one of its pixels: lines near the wall keep their distance.
const SVG_UNITS: u32 = 10;

/// Strips of a bitmap that are drawn at the same time, at most.
const MOST_STRIPS: usize = 8;

/// Bitmap pixels in four pixels of the picture, and samples across one bitmap pixel.
const BITMAP_PIXELS_IN_4: u32 = 5;
const BITMAP_SAMPLES: u32 = 2;

const RGB_BYTES: usize = 3;

/// Family of all text. Viewers of an SVG take their own sans-serif font; bitmaps are set in
/// Ubuntu Light, embedded from `epaint_default_fonts` (Ubuntu font licence 1.0, which allows
/// bundling with any program and puts no condition on pictures made with the font).
const FONT_FAMILY: &str = "sans-serif";

/// Sizes of text in pixels.
pub(super) const TITLE_SIZE: f64 = 28.0;
pub(super) const CAPTION_SIZE: f64 = 18.0;
pub(super) const LABEL_SIZE: f64 = 15.0;

/// The reason why a picture could not be drawn, in the words of the library.
fn undrawn(error: impl Display) -> WriteFault {
    WriteFault::Draw(error.to_string())
}

/// The point of a text that its position refers to.
#[derive(Clone, Copy)]
pub(super) struct Anchor {
    h: HPos,
    v: VPos,
    /// Whether the text reads upward.
    upward: bool,
}

// `CENTRE_TOP`: the point is the middle of the text's top edge; and so on.
pub(super) const CENTRE_TOP: Anchor = Anchor { h: HPos::Center, v: VPos::Top, upward: false };
pub(super) const LEFT_BOTTOM: Anchor = Anchor { h: HPos::Left, v: VPos::Bottom, upward: false };
pub(super) const LEFT: Anchor = Anchor { h: HPos::Left, v: VPos::Center, upward: false };
pub(super) const RIGHT_BOTTOM: Anchor = Anchor { h: HPos::Right, v: VPos::Bottom, upward: false };
pub(super) const RIGHT: Anchor = Anchor { h: HPos::Right, v: VPos::Center, upward: false };
pub(super) const UPWARD: Anchor = Anchor { h: HPos::Center, v: VPos::Bottom, upward: true };

enum DrawnShape {
    Line {
        points: Vec<[f64; 2]>,
        width: f64,
    },
    Polygon(Vec<[f64; 2]>),
    /// Rectangles, each by its lower and upper corner.
    Area(Vec<[[f64; 2]; 2]>),
    Dot {
        centre: [f64; 2],
        radius: f64,
    },
    Text {
        text: String,
        position: [f64; 2],
        size: f64,
        anchor: Anchor,
    },
}

/// A picture with x to the right and y downward, in pixels.
pub struct Picture {
    size: [u32; 2],
    shapes: Vec<(DrawnShape, RGBColor)>,
    /// Its text as SVG, which its file and a page share.
    svg: OnceLock<String>,
}

impl Picture {
    /// The comment in its file by which it is known as one of gridgen's.
    pub const MARK: &str = "drawn by gridgen";

    /// An empty picture with a title at `place`, and a summary below it.
    pub(super) fn new(size: [u32; 2], [x, y]: [f64; 2], title: &str, summary: &str) -> Self {
        let mut picture = Self { size, shapes: Vec::new(), svg: OnceLock::new() };
        picture.text(title, [x, y], (TITLE_SIZE, LEFT_BOTTOM), palette::TEXT);
        if !summary.is_empty() {
            let size = CAPTION_SIZE - 1.0;
            picture.text(summary, [x, y + 26.0], (size, LEFT_BOTTOM), palette::LABEL);
        }
        picture
    }

    /// Says in the corner where the grid is not `good`.
    pub(super) fn mark(&mut self, good: bool) {
        if !good {
            let place = [f64::from(self.size[0]) - 25.0, 50.0];
            self.text("not a good grid", place, (TITLE_SIZE, RIGHT_BOTTOM), palette::WALL);
        }
    }

    /// A line through points, `width` pixels wide.
    pub(super) fn line(&mut self, points: &[[f64; 2]], colour: RGBColor, width: f64) {
        self.shapes.push((DrawnShape::Line { points: points.to_vec(), width }, colour));
    }

    /// A line of dashes `on` long with gaps of `off` pixels between two points.
    pub(super) fn dashes(
        &mut self,
        [a, b]: [[f64; 2]; 2],
        [on, off]: [f64; 2],
        colour: RGBColor,
        width: f64,
    ) {
        let length = distance(a, b);
        let at = |s: f64| between(a, b, (s / length).min(1.0));
        let mut start = 0.0;
        while start < length {
            self.line(&[at(start), at(start + on)], colour, width);
            start += on + off;
        }
    }

    pub(super) fn polygon(&mut self, points: Vec<[f64; 2]>, colour: RGBColor) {
        self.shapes.push((DrawnShape::Polygon(points), colour));
    }

    /// An area of rectangles, each by its lower and upper corner. In an SVG it stands above what
    /// else is drawn.
    pub(super) fn area(&mut self, rectangles: Vec<[[f64; 2]; 2]>, colour: RGBColor) {
        self.shapes.push((DrawnShape::Area(rectangles), colour));
    }

    pub(super) fn dot(&mut self, centre: [f64; 2], radius: f64, colour: RGBColor) {
        self.shapes.push((DrawnShape::Dot { centre, radius }, colour));
    }

    /// Text of `size` pixels from the top of an ascender to the foot of a descender.
    pub(super) fn text(
        &mut self,
        text: &str,
        position: [f64; 2],
        (size, anchor): (f64, Anchor),
        colour: RGBColor,
    ) {
        // Control characters from an airfoil file have no place in XML.
        let text = text.chars().filter(|c| !c.is_control()).collect();
        self.shapes.push((DrawnShape::Text { text, position, size, anchor }, colour));
    }

    /// Writes the picture as PNG where `path` ends so, else as SVG.
    ///
    /// # Errors
    /// [`IoError`] when the picture cannot be drawn or written.
    pub fn write(&self, path: &Path) -> Result<(), IoError> {
        if path.extension().is_some_and(|end| end.eq_ignore_ascii_case("png")) {
            let (pixels, size) = self.bitmap().map_err(|fault| fault.at(path))?;
            atomic::write(path, |out| write_png(out, &pixels, size))
        } else {
            let text = self.svg().map_err(|fault| fault.at(path))?;
            atomic::write(path, |out| out.write_all(text.as_bytes()))
        }
    }

    /// The text of the picture as SVG, which is drawn when it is first asked for.
    fn svg(&self) -> Result<&str, WriteFault> {
        if let Some(text) = self.svg.get() {
            return Ok(text);
        }
        let [width, height] = self.size;
        let units = (width * SVG_UNITS, height * SVG_UNITS);
        let mut text = String::new();
        let area = SVGBackend::with_string(&mut text, units).into_drawing_area();
        let (scale, mut areas) = (f64::from(SVG_UNITS), String::new());
        self.draw(Canvas { area, scale, areas: Some(&mut areas) })?;
        if let Some(end) = text.rfind("</svg>") {
            text.insert_str(end, &format!("{areas}<!-- {} -->\n", Self::MARK));
        }
        // The view box keeps the fine units; the picture itself has the requested size.
        let fine = format!(r#"width="{}" height="{}""#, units.0, units.1);
        let text = text.replacen(&fine, &format!(r#"width="{width}" height="{height}""#), 1);
        Ok(self.svg.get_or_init(|| text))
    }

    /// The picture as a part of a page, without what only a file of its own needs.
    pub(crate) fn figure(&self) -> Result<String, WriteFault> {
        let svg = self.svg()?;
        let start = svg.find("<svg").unwrap_or(0);
        Ok(["<figure>", svg[start..].trim_end(), "</figure>\n"].concat())
    }

    /// RGB bytes of the picture, row by row from the top, and the size in bitmap pixels.
    fn bitmap(&self) -> Result<(Vec<u8>, [u32; 2]), WriteFault> {
        register_fonts()?;
        let size = self.size.map(|pixels| pixels * BITMAP_PIXELS_IN_4 / 4);
        let [width, height] = size.map(|pixels| pixels * BITMAP_SAMPLES);
        let mut fine = vec![0; width as usize * height as usize * RGB_BYTES];
        let scale = f64::from(BITMAP_PIXELS_IN_4 * BITMAP_SAMPLES) / 4.0;
        let rows = height.div_ceil(rayon::current_num_threads().min(MOST_STRIPS) as u32);
        let strips = fine.par_chunks_mut((rows * width) as usize * RGB_BYTES);
        strips.enumerate().try_for_each(|(number, bytes)| {
            let top = number as u32 * rows;
            let rows = [top, (top + rows).min(height)];
            let area = Strip::new(bytes, rows, (width, height)).into_drawing_area();
            self.draw(Canvas { area, scale, areas: None })
        })?;
        Ok((average(&fine, width as usize), size))
    }

    fn draw<DB: DrawingBackend>(&self, mut surface: Canvas<'_, DB>) -> Result<(), WriteFault> {
        surface.area.fill(&palette::PAPER).map_err(undrawn)?;
        for (shape, colour) in &self.shapes {
            match shape {
                DrawnShape::Line { points, width } => surface.line(points, *colour, *width),
                DrawnShape::Polygon(points) => surface.polygon(points, *colour),
                DrawnShape::Area(rectangles) => surface.rectangles(rectangles, *colour),
                DrawnShape::Dot { centre, radius } => surface.dot(*centre, *radius, *colour),
                DrawnShape::Text { text, position, size, anchor } => {
                    let (straight, upward) = (FontTransform::None, FontTransform::Rotate270);
                    let turn = if anchor.upward { upward } else { straight };
                    let style = TextStyle::from((FONT_FAMILY, size * surface.scale).into_font())
                        .transform(turn)
                        .color(colour)
                        .pos(Pos::new(anchor.h, anchor.v));
                    let place = surface.units(*position);
                    surface.area.draw_text(text, &style, place).map_err(undrawn)
                }
            }?;
        }
        surface.area.present().map_err(undrawn)
    }
}

struct Canvas<'a, DB: DrawingBackend> {
    area: DrawingArea<DB, Shift>,
    /// Units of the backend in a pixel.
    scale: f64,
    /// Areas for the end of an SVG. None on a bitmap, which draws lines wider than one unit as filled
    /// segments with round joints.
    areas: Option<&'a mut String>,
}

impl<DB: DrawingBackend> Canvas<'_, DB> {
    fn line(&self, points: &[[f64; 2]], colour: RGBColor, width: f64) -> Result<(), WriteFault> {
        let units = (width * self.scale).round().max(1.0);
        if units < 2.0 || self.areas.is_some() {
            let mut path: Vec<_> = points.iter().map(|&point| self.units(point)).collect();
            path.dedup();
            let style = colour.stroke_width(units as u32);
            return self.area.draw(&PathElement::new(path, style)).map_err(undrawn);
        }
        for &[a, b] in points.array_windows().filter(|[a, b]| distance(*a, *b) != 0.0) {
            let ([x, y], half) = (unit(difference(b, a)), 0.5 * width);
            let corners = [(a, half), (b, half), (b, -half), (a, -half)];
            self.polygon(&corners.map(|(end, by)| along(end, [-y, x], by)), colour)?;
        }
        // Joints only: round ends would reach out of a panel.
        for &point in points.iter().skip(1).take(points.len().saturating_sub(2)) {
            self.dot(point, 0.5 * width, colour)?;
        }
        Ok(())
    }

    fn polygon(&self, points: &[[f64; 2]], colour: RGBColor) -> Result<(), WriteFault> {
        let mut corners: Vec<_> = points.iter().map(|&point| self.units(point)).collect();
        corners.dedup();
        // The library cannot fill what has shrunk to a point or a line.
        if corners.len() < 3 {
            return Ok(());
        }
        self.area.draw(&Polygon::new(corners, colour.filled())).map_err(undrawn)
    }

    /// The library has no element of several parts. In an SVG each area is one path, appended at its end; a
    /// bitmap is filled rectangle by rectangle.
    fn rectangles(
        &mut self,
        rectangles: &[[[f64; 2]; 2]],
        colour: RGBColor,
    ) -> Result<(), WriteFault> {
        let mut path = String::new();
        for &[low, high] in rectangles {
            let ((x, y), (right, top)) = (self.units(low), self.units(high));
            if self.areas.is_some() {
                let _ = write!(path, "M{x} {y}h{}v{}h{}z", right - x, top - y, x - right);
            } else {
                // On a bitmap the library leaves out the last row and column.
                let filled = Rectangle::new([(x, y), (right, top)], colour.filled());
                self.area.draw(&filled).map_err(undrawn)?;
            }
        }
        let Some(areas) = &mut self.areas else { return Ok(()) };
        let colour = palette::hexadecimal(colour);
        writeln!(areas, "<path fill=\"{colour}\" shape-rendering=\"crispEdges\" d=\"{path}\"/>")
            .map_err(undrawn)
    }

    fn dot(&self, centre: [f64; 2], radius: f64, colour: RGBColor) -> Result<(), WriteFault> {
        let radius = (radius * self.scale).round() as i32;
        let dot = Circle::new(self.units(centre), radius, colour.filled());
        self.area.draw(&dot).map_err(undrawn)
    }

    fn units(&self, point: [f64; 2]) -> (i32, i32) {
        ((point[0] * self.scale).round() as i32, (point[1] * self.scale).round() as i32)
    }
}

/// Makes the embedded font known to the library, once in the life of the program.
fn register_fonts() -> Result<(), WriteFault> {
    static REGISTERED: OnceLock<bool> = OnceLock::new();
    let registered = *REGISTERED.get_or_init(|| {
        register_font(FONT_FAMILY, FontStyle::Normal, epaint_default_fonts::UBUNTU_LIGHT).is_ok()
    });
    if registered { Ok(()) } else { Err(undrawn("the embedded font cannot be read")) }
}

fn write_png(out: impl Write, pixels: &[u8], [width, height]: [u32; 2]) -> io::Result<()> {
    let mut encoder = png::Encoder::new(out, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_deflate_compression(png::DeflateCompression::Level(1));
    // Line art with flat colours: filters meant for photographs make it larger.
    encoder.set_filter(png::Filter::NoFilter);
    encoder.add_text_chunk("Comment".to_owned(), Picture::MARK.to_owned())?;
    encoder.write_header()?.write_image_data(pixels)?;
    Ok(())
}

/// Averages squares of two by two samples into pixels.
fn average(fine: &[u8], width: usize) -> Vec<u8> {
    let row = width * RGB_BYTES;
    let mut pixels = vec![0; fine.len() / 4];
    pixels.par_chunks_mut(row / 2).zip(fine.par_chunks(2 * row)).for_each(|(pixels, rows)| {
        let (above, below) = rows.split_at(row);
        let squares = above.as_chunks::<{ 2 * RGB_BYTES }>().0.iter();
        let squares = squares.zip(below.as_chunks::<{ 2 * RGB_BYTES }>().0);
        for (pixel, (above, below)) in pixels.as_chunks_mut::<RGB_BYTES>().0.iter_mut().zip(squares)
        {
            for (c, mean) in pixel.iter_mut().enumerate() {
                let sum = |row: &[u8]| u16::from(row[c]) + u16::from(row[c + RGB_BYTES]);
                *mean = ((sum(above) + sum(below)) / 4) as u8;
            }
        }
    });
    pixels
}
