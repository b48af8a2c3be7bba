//! Checksums of contents. They reveal damage and change, but no forgery.
//!
//! Short contents, which name things, get the 64-bit FNV-1a. Source: Fowler, Noll, Vo, Eastlake, "The FNV Non-Cryptographic
//! Hash Algorithm", <https://datatracker.ietf.org/doc/draft-eastlake-fnv/>.

use flate2::Crc;
use fnv::FnvHasher;
use std::hash::Hasher;

/// The digest of some bytes.
pub fn of(bytes: &[u8]) -> u64 {
    let mut digest = FnvHasher::default();
    digest.write(bytes);
    digest.finish()
}

/// The CRC-32 of some bytes, as gzip has it. Source: RFC 1952, section 8,
/// <https://www.rfc-editor.org/rfc/rfc1952>.
pub fn crc(bytes: &[u8]) -> u32 {
    let mut crc = Crc::new();
    crc.update(bytes);
    crc.sum()
}
