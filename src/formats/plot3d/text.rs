//! Formatted `Plot3D` files.

use std::io::{self, Write};

use super::{Block, Field, Precision};
use crate::files::pieces;

/// Numbers on a line: lines stay below 80 characters.
const NUMBERS_A_LINE: usize = 3;

/// Characters of one number with its separator, rounded up.
const NUMBER_CHARACTERS: usize = 25;

pub(super) fn write_to(out: &mut (impl Write + Send), block: &Block<'_>) -> io::Result<()> {
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
