//! Contents that are produced in parallel and written in order.

use std::io::{self, Write};

/// Bytes of a batch, about: enough work for many threads, little memory.
pub(super) const BATCH_BYTES: usize = 4 << 20;

/// Writes `count` batches; `encode(k, bytes)` makes `bytes` the contents of batch k. Each batch is
/// written while the next is encoded, and no more than two are held.
pub(super) fn write(
    out: &mut (impl Write + Send),
    count: usize,
    encode: impl Fn(usize, &mut Vec<u8>) + Sync,
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
