//! Arrays of VTK files: points and cell measures as raw 64-bit numbers, encoded row by row, their
//! compression in blocks, and arrays read back in every form that VTK writes.
//!
//! A compressed array begins with numbers, here of 64 bits: how many blocks there are, the bytes of a block, those
//! of the last one unless it is a whole one, and the compressed bytes of each. Source: "VTK XML Formats",
//! <https://docs.vtk.org/en/latest/design_documents/VTKFileFormats.html>.

use std::borrow::Cow;
use std::io::{self, Read, Write};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use lzma_rust2::XzReader;
use rayon::prelude::*;

use super::block::{bits, reals};
use super::data::{Span, layers, planes};
use crate::files::{ByteSink, pieces};
use crate::grid::Grid;
use crate::grid::quality::CellMeasure;

/// Bytes of a batch, about: they stay in a cache between encoding and writing.
const BATCH_BYTES: usize = 1 << 20;

/// Bytes of a real, and of a length.
pub(super) const NUMBER_BYTES: usize = 8;

/// Cell arrays in the order of the file: name, as in the report, and measure.
pub(super) const CELL_ARRAYS: [(&str, CellMeasure); 3] = [
    ("area", CellMeasure::Area),
    ("skewness", CellMeasure::Skewness),
    ("aspect_ratio", CellMeasure::AspectRatio),
];

/// Writes x, y and z of all points.
pub(super) fn write_points(
    out: &mut ByteSink<'_>,
    grid: &Grid,
    span: Option<Span>,
    to_bytes: impl Fn(f64) -> [u8; NUMBER_BYTES] + Sync,
) -> io::Result<()> {
    planes(span).try_for_each(|z| {
        write(out, [grid.nj, 3 * grid.ni], &to_bytes, |j, row| {
            let [x, y] = grid.line(j);
            for (point, (x, y)) in row.as_chunks_mut().0.iter_mut().zip(x.iter().zip(y)) {
                *point = [*x, *y, z];
            }
        })
    })
}

pub(super) fn write_cells(
    out: &mut ByteSink<'_>,
    grid: &Grid,
    span: Option<Span>,
    measure: CellMeasure,
    to_bytes: impl Fn(f64) -> [u8; NUMBER_BYTES] + Sync,
) -> io::Result<()> {
    let size = [grid.nj - 1, grid.ni - 1];
    (0..layers(span))
        .try_for_each(|_| write(out, size, &to_bytes, |j, row| measure.fill_row(grid, j, row)))
}

/// Writes rows of `length` numbers; `fill(j, row)` makes row j.
fn write(
    out: &mut ByteSink<'_>,
    [rows, length]: [usize; 2],
    to_bytes: impl Fn(f64) -> [u8; NUMBER_BYTES] + Sync,
    fill: impl Fn(usize, &mut [f64]) + Sync,
) -> io::Result<()> {
    let row_bytes = length * NUMBER_BYTES;
    let together = (BATCH_BYTES / row_bytes).max(1);
    pieces::write_batches(out, rows.div_ceil(together), &|batch, bytes| {
        let first = batch * together;
        bytes.resize(together.min(rows - first) * row_bytes, 0);
        bytes.par_chunks_mut(row_bytes).enumerate().for_each_init(
            || vec![0.0; length],
            |row, (k, bytes)| {
                fill(first + k, row);
                for (bytes, number) in bytes.as_chunks_mut().0.iter_mut().zip(row) {
                    *bytes = to_bytes(*number);
                }
            },
        );
    })
}

/// Bytes of a block before compression: large enough for the compressor to find what repeats.
const BLOCK_BYTES: usize = 1 << 18;
/// Blocks that are compressed together.
const BLOCKS_A_BATCH: usize = 32;
/// Coordinates hold few repetitions; to search longer for them gains next to nothing.
const EFFORT: Compression = Compression::fast();

/// Compresses what is written and passes it on.
pub(super) struct ZlibBlocks<'a> {
    out: &'a mut ByteSink<'a>,
    pending: Vec<u8>,
    /// Compressed bytes of each block.
    lengths: Vec<u64>,
}

impl<'a> ZlibBlocks<'a> {
    pub(super) fn new(out: &'a mut ByteSink<'a>) -> Self {
        Self { out, pending: Vec::new(), lengths: Vec::new() }
    }

    /// Writes what is left; returns the compressed bytes of each block.
    pub(super) fn finish(mut self) -> io::Result<Vec<u64>> {
        self.compress()?;
        Ok(self.lengths)
    }

    fn compress(&mut self) -> io::Result<()> {
        let compressed: Vec<_> = self.pending.par_chunks(BLOCK_BYTES).map(deflated).collect();
        for block in compressed {
            let block = block?;
            self.lengths.push(block.len() as u64);
            self.out.write_all(&block)?;
        }
        self.pending.clear();
        Ok(())
    }
}

impl Write for ZlibBlocks<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = BLOCKS_A_BATCH * BLOCK_BYTES - self.pending.len();
        let taken = &bytes[..room.min(bytes.len())];
        self.pending.extend_from_slice(taken);
        if taken.len() == room {
            self.compress()?;
        }
        Ok(taken.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

fn deflated(block: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = ZlibEncoder::new(Vec::with_capacity(block.len()), EFFORT);
    encoder.write_all(block)?;
    encoder.finish()
}

/// The numbers before an array of this number of bytes; lengths not known yet are zero.
pub(super) fn head_of_blocks(bytes: usize, lengths: &[u64]) -> Vec<u8> {
    let blocks = bytes.div_ceil(BLOCK_BYTES);
    let numbers = [blocks, BLOCK_BYTES, bytes % BLOCK_BYTES].map(|number| number as u64);
    let mut head: Vec<u8> =
        numbers.iter().chain(lengths).flat_map(|number| number.to_le_bytes()).collect();
    head.resize((numbers.len() + blocks) * NUMBER_BYTES, 0);
    head
}

/// Unpacks bytes into a block; false where they unpack to more or less, or to nothing.
type Unpack = fn(&[u8], &mut [u8]) -> bool;

/// Memory that a block of LZMA may ask for in KiB: twice what VTK's highest level takes.
const LZMA_KIB: u32 = 1 << 17;

/// The compressors of arrays, by the words of VTK.
pub(super) const COMPRESSORS: [(&str, Unpack); 3] = [
    ("vtkZLibDataCompressor", |packed, block| fills(ZlibDecoder::new(packed), block)),
    ("vtkLZ4DataCompressor", |packed, block| {
        lz4_flex::block::decompress_into(packed, block).is_ok_and(|size| size == block.len())
    }),
    ("vtkLZMADataCompressor", |packed, block| {
        fills(XzReader::new_mem_limit(packed, false, LZMA_KIB), block)
    }),
];

/// Whether a stream fills a block and ends there, where its checksum is right.
fn fills(mut stream: impl Read, block: &mut [u8]) -> bool {
    stream.read_exact(block).is_ok() && matches!(stream.read(&mut [0]), Ok(0))
}

/// An array in a file: its length and its bytes, or the numbers before compressed blocks and these.
pub(super) struct Stored<'a> {
    /// The bytes from its beginning to the end of the file.
    pub(super) data: Cow<'a, [u8]>,
    pub(super) big: bool,
    /// Bytes of a number before the contents.
    pub(super) width: usize,
    pub(super) unpack: Option<Unpack>,
}

impl Stored<'_> {
    fn number(&self, k: usize) -> Option<usize> {
        let field = self.data.get(k.checked_mul(self.width)?..)?.get(..self.width)?;
        bits(field, self.big).try_into().ok()
    }

    /// The first byte of its contents, and the end.
    pub(super) fn extent(&self) -> Option<[usize; 2]> {
        let first = self.number(0)?;
        let numbers = if self.unpack.is_some() { first.checked_add(3)? } else { 1 };
        let begin = numbers.checked_mul(self.width)?;
        let mut lengths = if numbers == 1 { 0..1 } else { 3..numbers };
        Some([begin, lengths.try_fold(begin, |end, k| end.checked_add(self.number(k)?))?])
    }

    /// Its reals, `count` of them with `size` bytes each.
    pub(super) fn reals(&self, count: usize, size: usize) -> Option<Vec<f64>> {
        let ([begin, end], expected) = (self.extent()?, count.checked_mul(size)?);
        let mut packed = self.data.get(begin..end)?;
        let reals = |bytes: &[u8]| reals(bytes, size, self.big);
        let Some(unpack) = self.unpack else {
            return (packed.len() == expected).then(|| reals(packed));
        };
        let ([blocks, size, last], mut unpacked) =
            ([self.number(0)?, self.number(1)?, self.number(2)?], vec![0; expected]);
        let mut free = &mut unpacked[..];
        for k in 1..=blocks {
            // The last block may be shorter.
            let size = if k == blocks && last > 0 { last } else { size };
            let (block, others) = free.split_at_mut_checked(size)?;
            let (from, rest) = packed.split_at(self.number(2 + k)?);
            unpack(from, block).then_some(())?;
            (packed, free) = (rest, others);
        }
        free.is_empty().then(|| reals(&unpacked))
    }
}

/// Decodes a text in base64. VTK ends one, with `=`, between the numbers before blocks and these, and
/// between arrays.
pub(super) fn decoded(text: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut parts = text.chunk_by(|a, b| *a != b'=' || *b == b'=');
    parts.try_for_each(|part| BASE64_STANDARD.decode_vec(part, &mut bytes)).ok()?;
    Some(bytes)
}
