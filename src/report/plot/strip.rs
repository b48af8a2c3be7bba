//! A part of a bitmap, for the thread that draws it.

use plotters::prelude::{BitMapBackend, DrawingBackend};
use plotters_backend::{BackendColor, BackendCoord, BackendStyle, DrawingErrorKind, rasterizer};

/// Rows of a bitmap, drawn by the coordinates of the whole: pixels above and below are left out, and the others are
/// those of the whole.
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

    fn own(&self, (x, y): BackendCoord) -> BackendCoord {
        (x, y - self.top)
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
}
