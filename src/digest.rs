//! A number that differs where contents differ.

use std::io::{self, Write};

/// FNV-1a of 64 bits: what was written so far, in one number. It finds damage and change, not
/// malice. Source: Fowler, Noll, Vo, Eastlake, "The FNV Non-Cryptographic Hash Algorithm",
/// <https://datatracker.ietf.org/doc/draft-eastlake-fnv/>.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Digest(u64);

impl Digest {
    const BASIS: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0100_0000_01b3;

    /// The digest of some bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Self::BASIS).then(bytes)
    }

    /// The digest of what went before and these bytes.
    #[must_use]
    pub fn then(self, bytes: &[u8]) -> Self {
        let join = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(Self::PRIME);
        Self(bytes.iter().fold(self.0, join))
    }

    /// As a number.
    pub fn number(self) -> u64 {
        self.0
    }
}

/// Hands on what is written, and its digest.
pub(crate) struct Digesting<W> {
    out: W,
    pub(crate) digest: Digest,
}

impl<W: Write> Digesting<W> {
    pub(crate) fn new(out: W) -> Self {
        Self { out, digest: Digest::of(&[]) }
    }

    pub(crate) fn into_inner(self) -> W {
        self.out
    }
}

impl<W: Write> Write for Digesting<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.out.write(bytes)?;
        self.digest = self.digest.then(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
