//! `Plot3D` grid files in the flavours that programs read.
//!
//! `Plot3D` files do not say how they are laid out; readers guess or are told. The layout that most
//! programs read is text with three dimensions, a block count and no blanking, the default; older
//! two-dimensional programs want two dimensions and no block count, Fortran programs unformatted
//! records. Source: "PLOT3D User's Manual", NASA TM-101067, chapter 8.

mod binary;
mod flavour;
mod read;
mod text;

use std::io::{self, Write};
use std::path::Path;

pub use flavour::{Axes, ByteOrder, Dimensions, Encoding, Flavour, Precision};

use self::binary::Record;
use super::limits::Limits;
use super::span::Span;
use crate::files::{IoError, atomic};
use crate::formats::block::Reader;
use crate::grid::Grid;

/// Single precision and two dimensions; as text a number is longer.
pub(in crate::formats) const LIMITS: Limits = Limits::of(8);

/// How such files are recognised and read.
pub(in crate::formats) const READER: Reader = Reader { begins: None, grid: read::grid };

/// IBLANK of a point that is part of the grid. A single block around one body blanks none.
const IN_THE_GRID: i32 = 1;

/// Writes the grid as one block: all of x, then y, then (with three dimensions) z, then (with
/// blanking) the IBLANK numbers, i fastest.
///
/// With three dimensions there are the planes of the span, without one z = 0 and z = 1 (nk = 2), and
/// (i, j, k) is right-handed; see [`Axes`] for what j and k are.
///
/// # Errors
///
/// [`IoError`] when the file cannot be written.
pub fn write(
    path: &Path,
    grid: &Grid,
    span: Option<Span>,
    flavour: Flavour,
) -> Result<(), IoError> {
    make(path, grid, span, flavour)?.place()
}

/// Makes the file of [`write()`], to be put in its place later.
///
/// # Errors
///
/// [`IoError`] when the file cannot be written.
pub(in crate::formats) fn make(
    path: &Path,
    grid: &Grid,
    span: Option<Span>,
    flavour: Flavour,
) -> Result<atomic::Made, IoError> {
    let extruded = span.filter(|_| flavour.dimensions == Dimensions::Three);
    LIMITS.check(path, [grid.ni, grid.nj], extruded)?;
    atomic::make(path, |out| write_to(out, grid, span, flavour))
}

/// Writes the bytes of [`write()`] to any writer.
pub fn write_to(
    out: &mut (impl Write + Send),
    grid: &Grid,
    span: Option<Span>,
    flavour: Flavour,
) -> io::Result<()> {
    let block = &Block { grid, span: span.unwrap_or(Span::ONE), flavour };
    match flavour.encoding {
        Encoding::Text => text::write_to(out, block),
        Encoding::Stream => {
            for part in [Part::Count, Part::Size, Part::Block] {
                binary::write_part(out, block, part)?;
            }
            Ok(())
        }
        Encoding::Fortran => {
            for part in [Part::Count, Part::Size, Part::Block] {
                let bytes = binary::part_bytes(block, part);
                if bytes > 0 {
                    let mut record = Record::begin(out, bytes, flavour.byte_order)?;
                    binary::write_part(&mut record, block, part)?;
                    record.end()?;
                }
            }
            Ok(())
        }
    }
}

/// Parts of a file, each a record of its own in a Fortran file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// The number of blocks, where the flavour has it.
    Count,
    /// `ni nj` or `ni nj nk`.
    Size,
    /// Coordinates and blanking.
    Block,
}

/// A field of a block.
#[derive(Debug, Clone, Copy)]
enum Field<'a> {
    /// A coordinate of the plane grid.
    Plane(&'a [f64]),
    /// The same number at so many points.
    Constant(f64, usize),
    /// The same IBLANK number at so many points.
    Blank(i32, usize),
}

/// What is written, and how.
struct Block<'a> {
    grid: &'a Grid,
    span: Span,
    flavour: Flavour,
}

impl<'a> Block<'a> {
    /// Planes of points.
    fn planes(&self) -> usize {
        match self.flavour.dimensions {
            Dimensions::Two => 1,
            Dimensions::Three => self.span.planes(),
        }
    }

    /// The fields, in the order of the file.
    fn fields(&self) -> impl Iterator<Item = Field<'a>> + use<'a> {
        let (grid, span, planes) = (self.grid, self.span, self.planes());
        let points = grid.ni * grid.nj;
        let all = [grid.x.as_slice(), grid.y.as_slice()];
        let repeated = move |of: &'a [f64]| std::iter::repeat_n(Field::Plane(of), planes);
        let coordinates: Box<dyn Iterator<Item = Field<'a>>> =
            match (self.flavour.dimensions, self.flavour.axes) {
                (Dimensions::Two, _) => Box::new(all.into_iter().map(Field::Plane)),
                (Dimensions::Three, Axes::Ijk) => {
                    let z = (0..planes).map(move |k| Field::Constant(span.z(k), points));
                    Box::new(all.into_iter().flat_map(repeated).chain(z))
                }
                (Dimensions::Three, Axes::Fun3d) => {
                    // The lines j = const, each as often as there are planes.
                    let [x, y] = all.map(|of| of.chunks(grid.ni).flat_map(repeated));
                    let across =
                        move |_| (0..planes).map(move |k| Field::Constant(span.z(k), grid.ni));
                    Box::new(x.chain((0..grid.nj).flat_map(across)).chain(y))
                }
            };
        let blanks = self.flavour.blanking.then_some(Field::Blank(IN_THE_GRID, points * planes));
        coordinates.chain(blanks)
    }

    /// `ni nj`, or `ni nj nk`, or with FUN3D's axes `ni nk nj`.
    fn size(&self) -> Vec<usize> {
        let (ni, nj) = (self.grid.ni, self.grid.nj);
        match (self.flavour.dimensions, self.flavour.axes) {
            (Dimensions::Two, _) => vec![ni, nj],
            (Dimensions::Three, Axes::Ijk) => vec![ni, nj, self.planes()],
            (Dimensions::Three, Axes::Fun3d) => vec![ni, self.planes(), nj],
        }
    }
}
