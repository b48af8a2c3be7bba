//! Encoding in parallel, writing in order.

use std::io::{self, Write};
use std::ops::Range;

use rayon::prelude::*;

/// Items encoded by one task.
const ITEMS_A_PIECE: usize = 1 << 12;

/// Pieces that are held at a time: bounds the memory, feeds any number of threads.
const PIECES_AT_A_TIME: usize = 64;

/// Encodes the items `0..count` piece by piece on all threads and writes the pieces in order, a
/// bounded number at a time. Pieces begin at multiples of a fixed number of items, so that the
/// bytes do not depend on the number of threads.
pub(super) fn write<F>(out: &mut impl Write, count: usize, encode: F) -> io::Result<()>
where
    F: Fn(Range<usize>) -> Vec<u8> + Sync,
{
    let batch = ITEMS_A_PIECE * PIECES_AT_A_TIME;
    for start in (0..count).step_by(batch) {
        let end = count.min(start + batch);
        let pieces: Vec<Vec<u8>> = (start..end)
            .into_par_iter()
            .step_by(ITEMS_A_PIECE)
            .map(|first| encode(first..end.min(first + ITEMS_A_PIECE)))
            .collect();
        for piece in pieces {
            out.write_all(&piece)?;
        }
    }
    Ok(())
}

/// Writes `count` lines, line k by `line(text, k)`.
pub(super) fn write_lines<F>(out: &mut impl Write, count: usize, line: F) -> io::Result<()>
where
    F: Fn(&mut Vec<u8>, usize) -> io::Result<()> + Sync,
{
    write(out, count, |piece| {
        let mut text = Vec::new();
        for k in piece {
            // Writing to memory cannot fail.
            let _ = line(&mut text, k);
        }
        text
    })
}
