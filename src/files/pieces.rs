//! Encoding in parallel, writing in order.

use std::io::{self, Write};
use std::ops::Range;

use rayon::prelude::*;

/// Receives the bytes of a file. It is a trait object, so that a format is compiled once, whatever receives it.
pub type ByteSink<'s> = dyn Write + Send + 's;

/// Items encoded by one task.
const ITEMS_A_PIECE: usize = 1 << 12;

/// Bytes of a line of three numbers: a text that grows is copied several times.
const LINE_BYTES: usize = 75;

/// Pieces of a batch: bounds the memory, feeds any number of threads.
const PIECES_A_BATCH: usize = 64;

/// Writes `count` batches; `encode(k, bytes)` makes `bytes` the contents of batch k. Each batch is
/// written while the next is encoded, and no more than two are held.
pub(crate) fn write_batches(
    out: &mut ByteSink<'_>,
    count: usize,
    encode: &(dyn Fn(usize, &mut Vec<u8>) + Sync),
) -> io::Result<()> {
    let (mut ready, mut next) = (Vec::new(), Vec::new());
    if count > 0 {
        encode(0, &mut ready);
    }
    for batch in 1..=count {
        let encode_next = || {
            if batch < count {
                encode(batch, &mut next);
            }
        };
        let (written, ()) = rayon::join(|| out.write_all(&ready), encode_next);
        written?;
        std::mem::swap(&mut ready, &mut next);
    }
    Ok(())
}

/// Encodes the items `0..count` piece by piece on all threads and writes the pieces in order.
/// Pieces begin at multiples of a fixed number of items, so that the bytes do not depend on the
/// number of threads.
pub(crate) fn write(
    out: &mut ByteSink<'_>,
    count: usize,
    encode: &(dyn Fn(Range<usize>) -> Vec<u8> + Sync),
) -> io::Result<()> {
    let together = ITEMS_A_PIECE * PIECES_A_BATCH;
    write_batches(out, count.div_ceil(together), &|batch, bytes| {
        let start = batch * together;
        let end = count.min(start + together);
        let pieces: Vec<Vec<u8>> = (start..end)
            .into_par_iter()
            .step_by(ITEMS_A_PIECE)
            .map(|first| encode(first..end.min(first + ITEMS_A_PIECE)))
            .collect();
        bytes.clear();
        for piece in &pieces {
            bytes.extend_from_slice(piece);
        }
    })
}

/// Writes numbers, little-endian.
pub(crate) fn write_numbers(out: &mut ByteSink<'_>, numbers: &[f64]) -> io::Result<()> {
    write(out, numbers.len(), &|piece| {
        numbers[piece].iter().flat_map(|number| number.to_le_bytes()).collect()
    })
}

/// Writes `count` lines, line k by `line(text, k)`.
pub(crate) fn write_lines<F>(out: &mut ByteSink<'_>, count: usize, line: F) -> io::Result<()>
where
    F: Fn(&mut Vec<u8>, usize) -> io::Result<()> + Sync,
{
    write(out, count, &|piece| {
        let mut text = Vec::with_capacity(piece.len() * LINE_BYTES);
        for k in piece {
            // Writing to memory cannot fail.
            let _ = line(&mut text, k);
        }
        text
    })
}
