//! `Plot3D` grid files as formatted text.
//!
//! `Plot3D` files do not say how they are laid out; readers guess or are told. The layout that most
//! programs read is text with three dimensions, a block count and no blanking; older
//! two-dimensional programs want two dimensions and no block count. Source: "PLOT3D User's
//! Manual", NASA TM-101067, chapter 8.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::Path;

use rayon::prelude::*;

use super::{IoError, atomic, batches};
use crate::grid::Grid;

/// Numbers on a line: lines stay below 80 characters.
const NUMBERS_A_LINE: usize = 3;

/// Numbers formatted by one task.
const NUMBERS_A_CHUNK: usize = 1 << 12;

/// Tasks whose text is held at a time: bounds the memory, feeds any number of threads.
const CHUNKS_AT_A_TIME: usize = 64;

/// Characters of one number with its separator, rounded up.
const NUMBER_CHARACTERS: usize = 25;

/// Writes the grid as two planes z = 0 and z = 1 of a three-dimensional block (nk = 2).
///
/// Text, one block with a block count, no blanking, all of x, then y, then z, i fastest, 17
/// significant digits, exponents with `E`. (i, j, k) is right-handed.
///
/// # Errors
///
/// [`IoError`] when the file cannot be written.
pub fn write(path: &Path, grid: &Grid) -> Result<(), IoError> {
    atomic::write(path, |out| write_to(out, grid))
}

/// Writes the plane grid: header `ni nj`, then all of x, then y; no block count, no blanking.
///
/// # Errors
///
/// [`IoError`] when the file cannot be written.
pub fn write_planar(path: &Path, grid: &Grid) -> Result<(), IoError> {
    atomic::write(path, |out| write_planar_to(out, grid))
}

/// Writes the bytes of [`write()`] to any writer.
pub fn write_to(out: &mut (impl Write + Send), grid: &Grid) -> io::Result<()> {
    writeln!(out, "1\n{} {} 2", grid.ni, grid.nj)?;
    for coordinate in [&grid.x, &grid.y] {
        for _plane in 0..2 {
            write_numbers(out, coordinate)?;
        }
    }
    for z in [0.0, 1.0] {
        write_constant(out, z, grid.ni * grid.nj)?;
    }
    Ok(())
}

/// Writes the bytes of [`write_planar()`] to any writer.
pub fn write_planar_to(out: &mut (impl Write + Send), grid: &Grid) -> io::Result<()> {
    writeln!(out, "{} {}", grid.ni, grid.nj)?;
    write_numbers(out, &grid.x)?;
    write_numbers(out, &grid.y)
}

/// Formats in parallel, chunk by chunk, and writes the chunks in order.
fn write_numbers(out: &mut (impl Write + Send), numbers: &[f64]) -> io::Result<()> {
    let together = NUMBERS_A_CHUNK * CHUNKS_AT_A_TIME;
    batches::write(out, numbers.len().div_ceil(together), |batch, bytes| {
        let numbers = &numbers[batch * together..];
        let numbers = &numbers[..together.min(numbers.len())];
        let texts: Vec<String> = numbers.par_chunks(NUMBERS_A_CHUNK).map(format_numbers).collect();
        bytes.clear();
        for text in texts {
            bytes.extend_from_slice(text.as_bytes());
        }
    })
}

fn format_numbers(numbers: &[f64]) -> String {
    let mut text = String::with_capacity(numbers.len() * NUMBER_CHARACTERS);
    for line in numbers.chunks(NUMBERS_A_LINE) {
        for number in line {
            // Writing to a string cannot fail.
            let _ = write!(text, " {number:.16E}");
        }
        text.push('\n');
    }
    text
}

fn write_constant(out: &mut impl Write, number: f64, count: usize) -> io::Result<()> {
    let line = format_numbers(&[number; NUMBERS_A_LINE]);
    for _ in 0..count / NUMBERS_A_LINE {
        out.write_all(line.as_bytes())?;
    }
    let rest = count % NUMBERS_A_LINE;
    out.write_all(format_numbers(&vec![number; rest]).as_bytes())
}
