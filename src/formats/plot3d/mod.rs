//! `Plot3D` grid files in the flavours that programs read.
//!
//! `Plot3D` files do not say how they are laid out; readers guess or are told. The layout that most
//! programs read is text with three dimensions, a block count and no blanking, the default; older
//! two-dimensional programs want two dimensions and no block count, Fortran programs unformatted
//! records. Source: "PLOT3D User's Manual", NASA TM-101067, chapter 8.

mod binary;
mod layout;
mod read;

use std::io::{self, Write};

pub use self::layout::{Axes, ByteOrder, Dimensions, Encoding, Flavour, Precision};
use self::layout::{Block, Field, Part};

use super::block::Reader;
use super::mesh::{Limits, Span};
use crate::files::pieces;
use crate::grid::Grid;

/// Single precision and two dimensions; as text a number is longer.
pub(in crate::formats) const LIMITS: Limits = Limits::of(8);

/// How such files are recognised and read.
pub(in crate::formats) const READER: Reader = Reader { begins: None, grid: read::grid };

/// Writes the grid as one block: all of x, then y, then (with three dimensions) z, then (with
/// blanking) the IBLANK numbers, i fastest.
///
/// With three dimensions there are the planes of the span, without one z = 0 and z = 1 (nk = 2), and
/// (i, j, k) is right-handed; see [`Axes`] for what j and k are.
#[doc(hidden)]
pub fn write_to(
    out: &mut (impl Write + Send),
    grid: &Grid,
    span: Option<Span>,
    flavour: Flavour,
) -> io::Result<()> {
    let block = &Block { grid, span: span.unwrap_or(Span::ONE), flavour };
    match flavour.encoding {
        Encoding::Text => write_text(out, block),
        Encoding::Stream => {
            for part in [Part::Count, Part::Size, Part::Block] {
                binary::write_part(out, block, part)?;
            }
            Ok(())
        }
        Encoding::Fortran => {
            for part in [Part::Count, Part::Size, Part::Block] {
                binary::write_record(out, block, part)?;
            }
            Ok(())
        }
    }
}

/// Numbers on a line: lines stay below 80 characters.
const NUMBERS_A_LINE: usize = 3;

/// Characters of one number with its separator, rounded up.
const NUMBER_CHARACTERS: usize = 25;

fn write_text(out: &mut (impl Write + Send), block: &Block<'_>) -> io::Result<()> {
    let flavour = block.flavour;
    if flavour.block_count {
        writeln!(out, "1")?;
    }
    let size: Vec<String> = block.size().iter().map(usize::to_string).collect();
    writeln!(out, "{}", size.join(" "))?;
    for field in block.fields() {
        let precision = flavour.precision;
        match field {
            Field::Plane(numbers) => {
                write_lines(out, numbers.len(), |text, k| write_number(text, numbers[k], precision))
            }
            Field::Constant(number, count) => {
                write_lines(out, count, |text, _| write_number(text, number, precision))
            }
            Field::Blank(number, count) => {
                write_lines(out, count, |text, _| write!(text, " {number}"))
            }
        }?;
    }
    Ok(())
}

/// Writes a number with an exponent by `E`, 17 significant digits for doubles, 9 for singles: both
/// read back to the same bits.
fn write_number(text: &mut Vec<u8>, number: f64, precision: Precision) -> io::Result<()> {
    match precision {
        Precision::Double => write!(text, " {number:.16E}"),
        Precision::Single => write!(text, " {:.8E}", number as f32),
    }
}

/// Writes `count` numbers in lines, number k by `write(text, k)`.
fn write_lines<F>(out: &mut (impl Write + Send), count: usize, write: F) -> io::Result<()>
where
    F: Fn(&mut Vec<u8>, usize) -> io::Result<()> + Sync,
{
    let lines = count.div_ceil(NUMBERS_A_LINE);
    pieces::write(out, lines, |piece| {
        let mut text = Vec::with_capacity(piece.len() * NUMBERS_A_LINE * NUMBER_CHARACTERS);
        for line in piece {
            let start = line * NUMBERS_A_LINE;
            for k in start..count.min(start + NUMBERS_A_LINE) {
                // Writing to memory cannot fail.
                let _ = write(&mut text, k);
            }
            text.push(b'\n');
        }
        text
    })
}
