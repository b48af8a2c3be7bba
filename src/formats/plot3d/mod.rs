//! `Plot3D` grid files in the flavours that programs read.
//!
//! `Plot3D` files do not state their layout; readers guess it or ask for it. The layout that most
//! programs read is text with three dimensions, a block count and no blanking, the default; older
//! two-dimensional programs want two dimensions and no block count, Fortran programs unformatted
//! records. Source: "PLOT3D User's Manual", NASA TM-101067, chapter 8.

mod read;

use std::io::{self, Write};
use std::path::Path;

pub(super) use self::read::{ANY_NUMBERS, NUMBERS_A_BYTE};
pub use super::data::{Axes, ByteOrder, Encoding, Flavour, NumberPrecision};
use super::data::{MeshData, Parts, Span};
use super::format::{Converted, FileContents, Format, Holds, MeshFile};
use super::nmf;
use super::rim::Reader;
use crate::files::atomic::{self, Writer, check_own};
use crate::files::{ByteSink, IoError, pieces};
use crate::grid::Grid;

/// Single precision and two dimensions; as text a number is longer.
const LEAST_BYTES: u64 = 8;

pub(super) const FORMAT: Format = Format {
    name: "plot3d",
    title: "Plot3D",
    extensions: &["p3d", "xyz", "x", "fmt"],
    welded: false,
    files: &[
        MeshFile {
            names: ["mesh.p3d", "mesh.failed.p3d"],
            holds: Holds::All,
            dimensions: Some(3),
            least_bytes: LEAST_BYTES,
            contents: FileContents::File(|out, m| write(out, m, 3)),
        },
        MeshFile {
            names: ["mesh.nmf", "mesh.failed.nmf"],
            holds: Holds::Section,
            dimensions: Some(3),
            least_bytes: 0,
            contents: FileContents::File(|out, m| write_map(out, m)),
        },
        MeshFile {
            names: ["mesh.2d.p3d", "mesh.2d.failed.p3d"],
            holds: Holds::All,
            dimensions: Some(2),
            least_bytes: LEAST_BYTES,
            contents: FileContents::File(|out, m| write(out, m, 2)),
        },
    ],
    refuses_zones: None,
    convert: Some(convert),
    reader: Some(READER),
};

/// The reader of such files: only their length gives them away.
pub(super) const READER: Reader = Reader {
    begins: None,
    hint: "the reader knows text, Fortran records and plain binary, in two or three dimensions",
    zones: read::zones,
};

/// Writes a block for each zone; the number of several stands before their sizes in any case.
fn write(out: &mut Writer<'_>, m: &MeshData<'_>, dimensions: u8) -> io::Result<()> {
    let block_count = m.settings.plot3d.block_count || m.parts() != Parts::Whole;
    write_to(out, &m.blocks(), m.span, Flavour { dimensions, block_count, ..m.settings.plot3d })
}

fn write_map(out: &mut ByteSink<'_>, m: &MeshData<'_>) -> io::Result<()> {
    nmf::write_to(out, &m.blocks(), m.span, m.settings.plot3d.axes)
}

/// Writes a block and, with three dimensions, its map beside it. Both are complete before one of them
/// is put in place.
fn convert(path: &Path, mesh: &MeshData<'_>, force: bool) -> Result<Converted, IoError> {
    let dimensions = mesh.settings.plot3d.dimensions;
    let map = path.with_extension("nmf");
    // Only a wall and its seam or cut can be mapped.
    let mapped = mesh.weldable && dimensions == 3 && map != path;
    if mapped && !force {
        check_own(&map, nmf::TITLE)?;
    }
    let made_map = mapped.then(|| atomic::make(&map, |out| write_map(out, mesh))).transpose()?;
    let made = atomic::make(path, |out| write(out, mesh, dimensions))?;
    // A mesh is never beside the map of another one.
    match &made_map {
        Some(made_map) => made_map.clear()?,
        None if map != path && check_own(&map, nmf::TITLE).is_ok() => atomic::remove(&map)?,
        None => {}
    }
    made.place()?;
    let mut files = vec![path.to_path_buf()];
    if let Some(made_map) = made_map {
        made_map.place()?;
        files.push(map);
    }
    Ok(Converted { files, notes: Vec::new() })
}

/// IBLANK of a point that is part of the grid. A single block around one body blanks none.
const IN_THE_GRID: i32 = 1;

/// Numbers on a line of text: lines stay below 80 characters.
const NUMBERS_A_LINE: usize = 3;

/// Writes grids as blocks, all sizes before the first block, which is all of x, then y, then (with three dimensions) z,
/// then (with blanking) the IBLANK numbers, i fastest.
///
/// With three dimensions there are the planes of the span, without one z = 0 and z = 1 (nk = 2), and
/// (i, j, k) is right-handed; see [`Axes`] for what j and k are.
pub fn write_to(
    out: &mut ByteSink<'_>,
    grids: &[&Grid],
    span: Option<Span>,
    flavour: Flavour,
) -> io::Result<()> {
    let span = span.unwrap_or(Span::ONE);
    let blocks: Vec<Block<'_>> = grids.iter().map(|grid| Block::new(grid, span, flavour)).collect();
    let count = flavour.block_count.then(|| vec![blocks.len()]);
    let marks = match flavour.encoding {
        Encoding::Text => {
            // A line for each size.
            let mut heads = count.iter().chain(blocks.iter().map(|block| &block.size));
            heads.try_for_each(|head| {
                let words: Vec<String> = head.iter().map(usize::to_string).collect();
                writeln!(out, "{}", words.join(" "))
            })?;
            return blocks.iter().try_for_each(|block| block.write_text(out));
        }
        Encoding::Stream => None,
        Encoding::Fortran => Some(flavour.byte_order),
    };
    // A record for all sizes.
    let sizes: Vec<usize> = blocks.iter().flat_map(|block| block.size.clone()).collect();
    for head in count.iter().chain([&sizes]) {
        let mut bytes = Vec::new();
        for count in head {
            let count = i32::try_from(*count).map_err(io::Error::other)?;
            bytes.extend(flavour.byte_order.of(count.to_le_bytes()));
        }
        FortranRecord::new(out, marks, bytes.len() as u64, SUBRECORD_BYTES).write_all(&bytes)?;
    }
    blocks.iter().try_for_each(|block| {
        let mut record = FortranRecord::new(out, marks, block.bytes(), SUBRECORD_BYTES);
        block.write_numbers(&mut record)
    })
}

/// A grid, and how its numbers are laid out in the file.
///
/// The points of a coordinate are written in runs of equal length, each in one plane: with FUN3D's axes the lines of
/// the grid, each in all planes before the next line, else whole planes.
struct Block<'a> {
    grid: &'a Grid,
    span: Span,
    flavour: Flavour,
    /// `ni nj`, or `ni nj nk`, or with FUN3D's axes `ni nk nj`.
    size: Vec<usize>,
    /// x, y and z as 0 to 2, in the order of the file.
    coordinates: &'static [usize],
    planes: usize,
    /// Points of a run: of a line of the grid, or of a plane.
    run: usize,
}

impl<'a> Block<'a> {
    fn new(grid: &'a Grid, span: Span, flavour: Flavour) -> Self {
        let (ni, nj, nk) = (grid.ni, grid.nj, span.planes());
        let (size, coordinates, planes): (_, &[usize], _) = match (flavour.dimensions, flavour.axes)
        {
            (2, _) => (vec![ni, nj], &[0, 1], 1),
            (_, Axes::Ijk) => (vec![ni, nj, nk], &[0, 1, 2], nk),
            (_, Axes::Fun3d) => (vec![ni, nk, nj], &[0, 2, 1], nk),
        };
        let by_lines = planes > 1 && flavour.axes == Axes::Fun3d;
        let run = if by_lines { ni } else { ni * nj };
        Self { grid, span, flavour, size, coordinates, planes, run }
    }

    /// Points in all planes.
    fn points(&self) -> usize {
        self.grid.x.len() * self.planes
    }

    /// A coordinate of point k of a run.
    fn number(&self, coordinate: usize, run: usize, k: usize) -> f64 {
        let (plane, point) = (run % self.planes, run / self.planes * self.run + k);
        match coordinate {
            0 => self.grid.x[point],
            1 => self.grid.y[point],
            _ => self.span.z(plane),
        }
    }

    /// Writes numbers with an exponent by `E`, 17 significant digits for doubles, 9 for singles: both
    /// read back to the same bits. Each run begins a line of text.
    fn write_text(&self, out: &mut ByteSink<'_>) -> io::Result<()> {
        let lines = self.run.div_ceil(NUMBERS_A_LINE);
        let runs = self.points() / self.run;
        for coordinate in self.coordinates {
            pieces::write_lines(out, runs * lines, |text, line| {
                let (run, start) = (line / lines, line % lines * NUMBERS_A_LINE);
                for k in start..self.run.min(start + NUMBERS_A_LINE) {
                    let number = self.number(*coordinate, run, k);
                    text.push(b' ');
                    match self.flavour.precision {
                        NumberPrecision::Double => write_exponential::<17>(text, number),
                        NumberPrecision::Single => {
                            write_exponential::<9>(text, f64::from(number as f32));
                        }
                    }
                }
                writeln!(text)
            })?;
        }
        if self.flavour.blanking {
            let numbers = self.points();
            pieces::write_lines(out, numbers.div_ceil(NUMBERS_A_LINE), |text, line| {
                let start = line * NUMBERS_A_LINE;
                let mut line = start..numbers.min(start + NUMBERS_A_LINE);
                line.try_for_each(|_| write!(text, " {IN_THE_GRID}"))?;
                writeln!(text)
            })?;
        }
        Ok(())
    }

    /// Bytes of what follows the size.
    fn bytes(&self) -> u64 {
        let width = match self.flavour.precision {
            NumberPrecision::Single => size_of::<f32>(),
            NumberPrecision::Double => size_of::<f64>(),
        };
        let blank = if self.flavour.blanking { size_of::<i32>() } else { 0 };
        let point = self.coordinates.len() * width + blank;
        self.points() as u64 * point as u64
    }

    fn write_numbers(&self, out: &mut ByteSink<'_>) -> io::Result<()> {
        let Flavour { byte_order: order, precision, .. } = self.flavour;
        for coordinate in self.coordinates {
            for run in 0..self.points() / self.run {
                pieces::write(out, self.run, &|piece| {
                    let numbers = piece.map(|k| self.number(*coordinate, run, k));
                    match precision {
                        NumberPrecision::Single => {
                            numbers.flat_map(|n| order.of((n as f32).to_le_bytes())).collect()
                        }
                        NumberPrecision::Double => {
                            numbers.flat_map(|n| order.of(n.to_le_bytes())).collect()
                        }
                    }
                })?;
            }
        }
        if self.flavour.blanking {
            let blank = order.of(IN_THE_GRID.to_le_bytes());
            pieces::write(out, self.points(), &|piece| blank.repeat(piece.len()))?;
        }
        Ok(())
    }
}

/// Most bytes of a subrecord. Longer records are split as gfortran and Intel Fortran do it. Source:
/// "GNU Fortran: file format of unformatted sequential files",
/// <https://gcc.gnu.org/onlinedocs/gfortran/File-format-of-unformatted-sequential-files.html>.
const SUBRECORD_BYTES: u64 = 2_147_483_639;

/// A record of an unformatted Fortran file, or as many bytes of a stream.
///
/// Each subrecord stands between two copies of its length; the first is negative where another
/// subrecord follows, the last where one went before.
pub struct FortranRecord<'a> {
    out: &'a mut ByteSink<'a>,
    /// Order of the bytes of lengths; none for a stream, which has no lengths.
    marks: Option<ByteOrder>,
    bytes: u64,
    written: u64,
    /// Most bytes of a subrecord.
    limit: u64,
}

impl<'a> FortranRecord<'a> {
    /// A record of `bytes` bytes in subrecords of at most `limit` bytes.
    pub fn new(
        out: &'a mut ByteSink<'a>,
        marks: Option<ByteOrder>,
        bytes: u64,
        limit: u64,
    ) -> Self {
        Self { out, marks, bytes, written: 0, limit }
    }

    fn mark(&mut self, length: u64, negative: bool) -> io::Result<()> {
        let length = if negative { -(length as i32) } else { length as i32 };
        let bytes = self.marks.map(|order| order.of(length.to_le_bytes()));
        bytes.map_or(Ok(()), |bytes| self.out.write_all(&bytes))
    }
}

impl Write for FortranRecord<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let start = self.written - self.written % self.limit;
        let length = self.limit.min(self.bytes - start);
        if self.written == start {
            self.mark(length, start + length < self.bytes)?;
        }
        let count = (bytes.len() as u64).min(start + length - self.written);
        self.out.write_all(&bytes[..count as usize])?;
        self.written += count;
        if self.written == start + length {
            self.mark(length, start > 0)?;
        }
        Ok(count as usize)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Powers of five whose product with a significand of 53 bits has at most 128.
const FIVES: [u128; 33] = {
    let mut fives = [1; 33];
    let mut k = 1;
    while k < fives.len() {
        fives[k] = 5 * fives[k - 1];
        k += 1;
    }
    fives
};

/// Appends `x` with `N` significant digits and an exponent by `E`, the characters of `{x:.*E}`, in less time than `format!`
/// takes: the exact value, rounded to the nearest, to an even digit where two are as near.
fn write_exponential<const N: usize>(text: &mut Vec<u8>, x: f64) {
    let Some((mut digits, exponent)) = significant(x.abs(), N as u32) else {
        // Writing to memory cannot fail.
        let _ = write!(text, "{x:.*E}", N - 1);
        return;
    };
    // Sign, first digit, point, other digits.
    let mut characters = [b'0'; 24];
    for at in (2..=N).rev() {
        characters[at + 1] += (digits % 10) as u8;
        digits /= 10;
    }
    (characters[0], characters[1], characters[2]) = (b'-', b'0' + digits as u8, b'.');
    text.extend_from_slice(&characters[usize::from(x.is_sign_positive())..N + 2]);
    let size = exponent.unsigned_abs() as u8;
    let tail = [b'E', b'-', b'0' + size / 10, b'0' + size % 10];
    let written = [true, exponent < 0, size > 9, true];
    text.extend(tail.iter().zip(written).filter_map(|(character, is)| is.then_some(character)));
}

/// The first `count` digits of a number without sign, rounded, as an integer, and the exponent of the first one; none
/// where the exact product with a power of ten does not fit or is no fraction.
fn significant(x: f64, count: u32) -> Option<(u64, i32)> {
    if x == 0.0 {
        return Some((0, 0));
    }
    if !x.is_normal() {
        return None;
    }
    let bits = x.to_bits();
    let significand = bits & ((1 << 52) - 1) | 1 << 52;
    let binary = (bits >> 52) as i32 - 1075;
    let (least, most) = (10_u64.pow(count - 1), 10_u64.pow(count));
    // May be wrong by one.
    let mut exponent = ((binary + 52) * 1233) >> 12;
    loop {
        let power = count.cast_signed() - 1 - exponent;
        let product = u128::from(significand) * FIVES.get(usize::try_from(power).ok()?)?;
        let shift =
            u32::try_from(-(binary + power)).ok().filter(|shift| (1..128).contains(shift))?;
        let digits = (product >> shift) as u64;
        if digits < least {
            exponent -= 1;
        } else if digits >= most {
            exponent += 1;
        } else {
            let (rest, half) = (product & ((1 << shift) - 1), 1 << (shift - 1));
            let up = rest > half || (rest == half && digits % 2 == 1);
            let rounded = digits + u64::from(up);
            return Some(if rounded == most { (least, exponent + 1) } else { (rounded, exponent) });
        }
    }
}
