//! `Plot3D` grid files in the flavours that programs read.
//!
//! `Plot3D` files do not say how they are laid out; readers guess or are told. The layout that most
//! programs read is text with three dimensions, a block count and no blanking, the default; older
//! two-dimensional programs want two dimensions and no block count, Fortran programs unformatted
//! records. Source: "PLOT3D User's Manual", NASA TM-101067, chapter 8.

mod binary;
mod flavour;
mod text;

use std::io::{self, Write};
use std::path::Path;

pub use flavour::{ByteOrder, Dimensions, Encoding, Flavour, Precision};

use self::binary::Record;
use super::{IoError, atomic};
use crate::grid::Grid;

/// IBLANK of a point that is part of the grid. A single block around one body blanks none.
const IN_THE_GRID: i32 = 1;

/// Writes the grid as one block: all of x, then y, then (with three dimensions) z, then (with
/// blanking) the IBLANK numbers, i fastest.
///
/// With three dimensions there are two planes z = 0 and z = 1 (nk = 2), and (i, j, k) is
/// right-handed.
///
/// # Errors
///
/// [`IoError`] when the file cannot be written.
pub fn write(path: &Path, grid: &Grid, flavour: Flavour) -> Result<(), IoError> {
    atomic::write(path, |out| write_to(out, grid, flavour))
}

/// Writes the bytes of [`write()`] to any writer.
pub fn write_to(out: &mut (impl Write + Send), grid: &Grid, flavour: Flavour) -> io::Result<()> {
    match flavour.encoding {
        Encoding::Text => text::write_to(out, grid, flavour),
        Encoding::Stream => {
            for part in [Part::Count, Part::Size, Part::Block] {
                binary::write_part(out, grid, flavour, part)?;
            }
            Ok(())
        }
        Encoding::Fortran => {
            for part in [Part::Count, Part::Size, Part::Block] {
                let bytes = binary::part_bytes(grid, flavour, part);
                if bytes > 0 {
                    let mut record = Record::begin(out, bytes, flavour.byte_order)?;
                    binary::write_part(&mut record, grid, flavour, part)?;
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

/// The fields of the block, in the order of the file.
fn fields(grid: &Grid, flavour: Flavour) -> Vec<Field<'_>> {
    let points = grid.ni * grid.nj;
    let mut fields = match flavour.dimensions {
        Dimensions::Two => vec![Field::Plane(&grid.x), Field::Plane(&grid.y)],
        Dimensions::Three => vec![
            Field::Plane(&grid.x),
            Field::Plane(&grid.x),
            Field::Plane(&grid.y),
            Field::Plane(&grid.y),
            Field::Constant(0.0, points),
            Field::Constant(1.0, points),
        ],
    };
    if flavour.blanking {
        fields.push(Field::Blank(IN_THE_GRID, points * flavour.dimensions.planes()));
    }
    fields
}

/// `ni nj`, or `ni nj nk`.
fn size(grid: &Grid, flavour: Flavour) -> Vec<usize> {
    match flavour.dimensions {
        Dimensions::Two => vec![grid.ni, grid.nj],
        Dimensions::Three => vec![grid.ni, grid.nj, flavour.dimensions.planes()],
    }
}
