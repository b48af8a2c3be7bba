//! Arrays of VTK files compressed in blocks.
//!
//! An array begins with 64-bit numbers: how many blocks there are, the bytes of a block, those of
//! the last one unless it is a whole one, and the compressed bytes of each. Source: "VTK XML Formats",
//! <https://docs.vtk.org/en/latest/design_documents/VTKFileFormats.html>.

use std::io::{self, Read, Write};

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use rayon::prelude::*;

/// Bytes of a block before compression: large enough for the compressor to find what repeats.
const BLOCK_BYTES: usize = 1 << 18;
/// Blocks that are compressed together.
const BLOCKS_A_BATCH: usize = 32;
/// Coordinates hold few repetitions; to search longer for them gains next to nothing.
const EFFORT: Compression = Compression::fast();
const NUMBER_BYTES: usize = size_of::<u64>();

/// Compresses what is written and passes it on.
pub(super) struct Blocks<'a, W> {
    out: &'a mut W,
    pending: Vec<u8>,
    /// Compressed bytes of each block.
    lengths: Vec<u64>,
}

impl<'a, W: Write> Blocks<'a, W> {
    pub(super) fn new(out: &'a mut W) -> Self {
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

impl<W: Write> Write for Blocks<'_, W> {
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

/// The numbers before an array of so many bytes; lengths not known yet are zero.
pub(super) fn head_of_blocks(bytes: usize, lengths: &[u64]) -> Vec<u8> {
    let blocks = bytes.div_ceil(BLOCK_BYTES);
    let numbers = [blocks, BLOCK_BYTES, bytes % BLOCK_BYTES].map(|number| number as u64);
    let mut head: Vec<u8> =
        numbers.iter().chain(lengths).flat_map(|number| number.to_le_bytes()).collect();
    head.resize((numbers.len() + blocks) * NUMBER_BYTES, 0);
    head
}

/// The bytes of an array, `expected` of them, whose numbers before the blocks are of the width and
/// order that `number` reads from the start of a slice.
pub(super) fn inflated(
    data: &[u8],
    expected: usize,
    number_bytes: usize,
    number: impl Fn(&[u8]) -> u64,
) -> Option<Vec<u8>> {
    let at = |k: usize| data.get(k * number_bytes..(k + 1) * number_bytes).map(&number);
    let blocks = usize::try_from(at(0)?).ok()?;
    let first = blocks.checked_add(3)?.checked_mul(number_bytes)?;
    let mut rest = data.get(first..)?;
    let mut bytes = Vec::new();
    for block in 0..blocks {
        let (compressed, others) = rest.split_at_checked(usize::try_from(at(3 + block)?).ok()?)?;
        // No more is taken than the extent of the grid asks for.
        let most = (expected - bytes.len()) as u64 + 1;
        ZlibDecoder::new(compressed).take(most).read_to_end(&mut bytes).ok()?;
        if bytes.len() > expected {
            return None;
        }
        rest = others;
    }
    (bytes.len() == expected).then_some(bytes)
}
