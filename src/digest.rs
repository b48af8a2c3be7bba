//! A number that differs where contents differ: FNV-1a of 64 bits. It finds damage and change, not malice.
//! Source: Fowler, Noll, Vo, Eastlake, "The FNV Non-Cryptographic Hash Algorithm",
//! <https://datatracker.ietf.org/doc/draft-eastlake-fnv/>.

use fnv::FnvHasher;
use std::hash::Hasher;
use std::io::{self, Write};

/// The digest of some bytes.
pub fn of(bytes: &[u8]) -> u64 {
    let mut digest = FnvHasher::default();
    digest.write(bytes);
    digest.finish()
}

/// Hands on what is written, and its digest.
pub(crate) struct Digesting<W> {
    pub(crate) out: W,
    pub(crate) digest: FnvHasher,
}

impl<W: Write> Write for Digesting<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.out.write(bytes)?;
        self.digest.write(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
