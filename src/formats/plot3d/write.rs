//! `Plot3D` files as text, as a stream, or in the records of unformatted Fortran files.

use std::io::{self, Write};
use std::ops::Range;

use super::layout::{Axes, ByteOrder, Dimensions, Encoding, Flavour, Precision};
use crate::files::pieces;
use crate::files::sink::{Contents, Share, Sink};
use crate::formats::mesh::{Span, share_of_lines};
use crate::grid::Slab;

/// IBLANK of a point that is part of the grid. A single block around one body blanks none.
const IN_THE_GRID: i32 = 1;

/// Numbers on a line of text: lines stay below 80 characters.
const NUMBERS_A_LINE: usize = 3;

/// Writes the grid as one block: all of x, then y, then (with three dimensions) z, then (with
/// blanking) the IBLANK numbers, i fastest.
///
/// With three dimensions there are the planes of the span, without one z = 0 and z = 1 (nk = 2), and
/// (i, j, k) is right-handed; see [`Axes`] for what j and k are.
#[doc(hidden)]
pub fn write_to<'g>(
    out: &mut impl Sink,
    grid: impl Into<Slab<'g>>,
    span: Option<Span>,
    flavour: Flavour,
) -> io::Result<()> {
    write_blocks(out, &[grid.into()], span, flavour)
}

/// Writes grids as blocks, all sizes before the first block.
#[doc(hidden)]
pub fn write_blocks(
    out: &mut impl Sink,
    grids: &[Slab<'_>],
    span: Option<Span>,
    flavour: Flavour,
) -> io::Result<()> {
    let span = span.unwrap_or(Span::ONE);
    let blocks: Vec<Block<'_>> =
        grids.iter().map(|&slab| Block::new(slab, span, flavour)).collect();
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
        Record::new(out, marks, bytes.len() as u64, SUBRECORD_BYTES).write_all(&bytes)?;
    }
    blocks.iter().try_for_each(|block| {
        let mut record = Record::new(out, marks, block.bytes(), SUBRECORD_BYTES);
        block.write_numbers(&mut record)
    })
}

/// What is written, and how.
struct Block<'a> {
    slab: Slab<'a>,
    span: Span,
    flavour: Flavour,
    /// `ni nj`, or `ni nj nk`, or with FUN3D's axes `ni nk nj`.
    size: Vec<usize>,
    /// In the order of the file.
    coordinates: &'static [Coordinate],
    planes: usize,
    /// Whether each line of the grid stands in all planes before the next line, as with FUN3D's axes; else
    /// all points of a plane stand before those of the next.
    by_lines: bool,
}

#[derive(Debug, Clone, Copy)]
enum Coordinate {
    X,
    Y,
    Z,
}

/// Points that stand together in a file: those of these numbers in a plane, counted along its lines.
type Run = (usize, Range<usize>);

impl<'a> Block<'a> {
    fn new(slab: Slab<'a>, span: Span, flavour: Flavour) -> Self {
        use Coordinate::{X, Y, Z};
        let (ni, nj, nk) = (slab.ni(), slab.nj(), span.planes());
        let (size, coordinates, planes): (_, &[Coordinate], _) =
            match (flavour.dimensions, flavour.axes) {
                (Dimensions::Two, _) => (vec![ni, nj], &[X, Y], 1),
                (Dimensions::Three, Axes::Ijk) => (vec![ni, nj, nk], &[X, Y, Z], nk),
                (Dimensions::Three, Axes::Fun3d) => (vec![ni, nk, nj], &[X, Z, Y], nk),
            };
        let by_lines = planes > 1 && flavour.axes == Axes::Fun3d;
        Self { slab, span, flavour, size, coordinates, planes, by_lines }
    }

    /// A coordinate of a point of a plane, whose line is held.
    fn number(&self, coordinate: Coordinate, plane: usize, point: usize) -> f64 {
        let part = self.slab.part();
        let place = || point - self.slab.held().start * part.ni;
        match coordinate {
            Coordinate::X => part.x[place()],
            Coordinate::Y => part.y[place()],
            Coordinate::Z => self.span.z(plane),
        }
    }

    /// Points of all planes in a line.
    fn points_of_lines(&self) -> usize {
        self.slab.ni() * self.planes
    }

    /// This process's points: a share of the file each, in its order.
    fn shares(&self) -> Vec<Vec<Run>> {
        let (ni, own) = (self.slab.ni(), self.slab.own());
        if self.by_lines {
            let line = |j: usize| (0..self.planes).map(move |plane| (plane, j * ni..(j + 1) * ni));
            return vec![own.flat_map(line).collect()];
        }
        (0..self.planes).map(|plane| vec![(plane, own.start * ni..own.end * ni)]).collect()
    }

    /// Writes numbers with an exponent by `E`, 17 significant digits for doubles, 9 for singles: both
    /// read back to the same bits. With FUN3D's axes each line of the grid begins a line of text, else each
    /// plane: the process that has the first number of a line of text writes it.
    fn write_text(&self, out: &mut impl Sink) -> io::Result<()> {
        let (ni, own) = (self.slab.ni(), self.slab.own());
        let points = ni * self.slab.nj();
        let length = if self.by_lines { ni } else { points };
        let lines = length.div_ceil(NUMBERS_A_LINE);
        let rows = if self.by_lines {
            own.start * self.planes * lines..own.end * self.planes * lines
        } else {
            let first = |j: usize| (j * ni).div_ceil(NUMBERS_A_LINE);
            first(own.start)..first(own.end)
        };
        for coordinate in self.coordinates {
            for share in 0..if self.by_lines { 1 } else { self.planes } {
                out.share(None, &mut |mut out| {
                    pieces::write_lines(&mut out, rows.len(), |text, k| {
                        let (row, start) = ((rows.start + k) / lines, (rows.start + k) % lines);
                        let (plane, first) = if self.by_lines {
                            (row % self.planes, row / self.planes * ni)
                        } else {
                            (share, 0)
                        };
                        let start = start * NUMBERS_A_LINE;
                        for point in start..length.min(start + NUMBERS_A_LINE) {
                            let number = self.number(*coordinate, plane, first + point);
                            match self.flavour.precision {
                                Precision::Double => write!(text, " {number:.16E}"),
                                Precision::Single => write!(text, " {:.8E}", number as f32),
                            }?;
                        }
                        writeln!(text)
                    })
                })?;
            }
        }
        if self.flavour.blanking {
            let numbers = points * self.planes;
            out.once(&mut |mut out| {
                pieces::write_lines(&mut out, numbers.div_ceil(NUMBERS_A_LINE), |text, line| {
                    let start = line * NUMBERS_A_LINE;
                    let mut line = start..numbers.min(start + NUMBERS_A_LINE);
                    line.try_for_each(|_| write!(text, " {IN_THE_GRID}"))?;
                    writeln!(text)
                })
            })?;
        }
        Ok(())
    }

    /// Bytes of a number.
    fn width(&self) -> usize {
        match self.flavour.precision {
            Precision::Single => size_of::<f32>(),
            Precision::Double => size_of::<f64>(),
        }
    }

    /// Bytes of what follows the size.
    fn bytes(&self) -> u64 {
        let blank = if self.flavour.blanking { size_of::<i32>() } else { 0 };
        let point = self.coordinates.len() * self.width() + blank;
        (self.points_of_lines() * self.slab.nj()) as u64 * point as u64
    }

    fn write_numbers(&self, out: &mut impl Sink) -> io::Result<()> {
        let Flavour { byte_order: order, precision, .. } = self.flavour;
        let shares = self.shares();
        let line = self.width() * self.points_of_lines() / shares.len();
        for coordinate in self.coordinates {
            for share in &shares {
                out.share(Some(share_of_lines(&self.slab, line)), &mut |mut out| {
                    share.iter().try_for_each(|(plane, points)| {
                        pieces::write(&mut out, points.len(), |piece| {
                            let number = |k| self.number(*coordinate, *plane, points.start + k);
                            let numbers = piece.map(number);
                            match precision {
                                Precision::Single => numbers
                                    .flat_map(|n| order.of((n as f32).to_le_bytes()))
                                    .collect(),
                                Precision::Double => {
                                    numbers.flat_map(|n| order.of(n.to_le_bytes())).collect()
                                }
                            }
                        })
                    })
                })?;
            }
        }
        if self.flavour.blanking {
            let blank = order.of(IN_THE_GRID.to_le_bytes());
            let own = self.slab.own().len() * self.points_of_lines();
            let line = blank.len() * self.points_of_lines();
            out.share(Some(share_of_lines(&self.slab, line)), &mut |mut out| {
                pieces::write(&mut out, own, |piece| blank.repeat(piece.len()))
            })?;
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
#[doc(hidden)] // For tests of short subrecords.
#[derive(Debug)]
pub struct Record<'a, W: ?Sized> {
    out: &'a mut W,
    /// Order of the bytes of lengths; none for a stream, which has no lengths.
    marks: Option<ByteOrder>,
    bytes: u64,
    written: u64,
    /// Most bytes of a subrecord.
    limit: u64,
}

impl<'a, W: Write + ?Sized> Record<'a, W> {
    /// A record of `bytes` bytes in subrecords of at most `limit` bytes.
    pub fn new(out: &'a mut W, marks: Option<ByteOrder>, bytes: u64, limit: u64) -> Self {
        Self { out, marks, bytes, written: 0, limit }
    }

    fn mark(&mut self, length: u64, negative: bool) -> io::Result<()> {
        let length = if negative { -(length as i32) } else { length as i32 };
        let bytes = self.marks.map(|order| order.of(length.to_le_bytes()));
        bytes.map_or(Ok(()), |bytes| self.out.write_all(&bytes))
    }

    /// Bytes of the file before byte `written` of the record, once those before it are written.
    fn place(&self, written: u64) -> u64 {
        let mark = if self.marks.is_some() { size_of::<i32>() as u64 } else { 0 };
        let (whole, open) = (written / self.limit, written % self.limit);
        let begun = match open {
            0 => 0,
            _ if written == self.bytes => 2,
            _ => 1,
        };
        written + (2 * whole + begun) * mark
    }
}

impl<W: Sink + ?Sized> Sink for Record<'_, W> {
    fn share(&mut self, share: Option<Share>, write: &mut Contents<'_>) -> io::Result<()> {
        let Some(Share { before, all }) = share else { return write(self) };
        let Self { marks, bytes, written, limit, .. } = *self;
        let [start, own, end] = [0, before, all].map(|from| self.place(written + from));
        let place = Share { before: own - start, all: end - start };
        self.out.share(Some(place), &mut |out| {
            let mut part = Record { out, marks, bytes, written: written + before, limit };
            write(&mut part)
        })?;
        self.written = written + all;
        Ok(())
    }

    fn once(&mut self, write: &mut Contents<'_>) -> io::Result<()> {
        write(self)
    }
}

impl<W: Write + ?Sized> Write for Record<'_, W> {
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
