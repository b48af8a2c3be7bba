//! A part of a bitmap, for the thread that draws it.

use plotters::prelude::{BitMapBackend, DrawingBackend};
use plotters_backend::{BackendColor, BackendCoord, BackendStyle, DrawingErrorKind, rasterizer};

/// Some rows of a bitmap as a backend of the plotting library. Shapes have the coordinates of the whole bitmap; the strip
/// takes the pixels that lie in its rows and skips shapes that have none there.
pub(super) struct Strip<'a> {
    rows: BitMapBackend<'a>,
    top: i32,
    size: (u32, u32),
}

type Drawn = Result<(), DrawingErrorKind<<Strip<'static> as DrawingBackend>::ErrorType>>;

impl<'a> Strip<'a> {
    /// Rows, the bytes of three a pixel, of a bitmap of this size.
    pub(super) fn new(bytes: &'a mut [u8], [top, end]: [u32; 2], size: (u32, u32)) -> Self {
        let rows = BitMapBackend::with_buffer(bytes, (size.0, end - top));
        Self { rows, top: top.cast_signed(), size }
    }

    /// Whether the strip has a row from the lowest to the highest of these, or of the `beyond` rows on either side.
    fn has(&self, rows: impl Iterator<Item = i32> + Clone, beyond: u32) -> bool {
        let (low, high) = (rows.clone().min().unwrap_or(0), rows.max().unwrap_or(0));
        let (beyond, height) = (beyond.cast_signed(), self.rows.get_size().1.cast_signed());
        high.saturating_add(beyond) >= self.top && low.saturating_sub(beyond) < self.top + height
    }

    fn own(&self, (x, y): BackendCoord) -> BackendCoord {
        (x, y.saturating_sub(self.top))
    }
}

impl DrawingBackend for Strip<'_> {
    type ErrorType = <BitMapBackend<'static> as DrawingBackend>::ErrorType;

    fn get_size(&self) -> (u32, u32) {
        self.size
    }

    fn ensure_prepared(&mut self) -> Drawn {
        self.rows.ensure_prepared()
    }

    fn present(&mut self) -> Drawn {
        self.rows.present()
    }

    fn draw_pixel(&mut self, at: BackendCoord, color: BackendColor) -> Drawn {
        self.rows.draw_pixel(self.own(at), color)
    }

    fn draw_line<S: BackendStyle>(&mut self, a: BackendCoord, b: BackendCoord, style: &S) -> Drawn {
        // A smoothed line has pixels in the row after it, too.
        if !self.has([a.1, b.1].into_iter(), 1 + style.stroke_width()) {
            return Ok(());
        }
        if a.0 == b.0 || a.1 == b.1 {
            return self.rows.draw_line(self.own(a), self.own(b), style);
        }
        // Cut at the edge of the strip, a slanted line would have other pixels.
        rasterizer::draw_line(self, a, b, style)
    }

    fn draw_rect<S: BackendStyle>(
        &mut self,
        a: BackendCoord,
        b: BackendCoord,
        style: &S,
        fill: bool,
    ) -> Drawn {
        self.rows.draw_rect(self.own(a), self.own(b), style, fill)
    }

    fn draw_circle<S: BackendStyle>(
        &mut self,
        centre: BackendCoord,
        radius: u32,
        style: &S,
        fill: bool,
    ) -> Drawn {
        if self.has([centre.1].into_iter(), radius + 1 + style.stroke_width()) {
            rasterizer::draw_circle(self, centre, radius, style, fill)
        } else {
            Ok(())
        }
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        corners: I,
        style: &S,
    ) -> Drawn {
        let corners: Vec<BackendCoord> = corners.into_iter().collect();
        if self.has(corners.iter().map(|corner| corner.1), 1) {
            rasterizer::fill_polygon(self, &corners, style)
        } else {
            Ok(())
        }
    }
}
