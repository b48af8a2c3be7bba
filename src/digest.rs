//! Checksums of contents. They reveal damage and change, but no forgery.
//!
//! A sequence of bytes gets the 64-bit FNV-1a. Source: Fowler, Noll, Vo, Eastlake, "The FNV Non-Cryptographic
//! Hash Algorithm", <https://datatracker.ietf.org/doc/draft-eastlake-fnv/>. Words at given places get a sum:
//! those who hold parts of the words add their sums.

use fnv::FnvHasher;
use std::hash::Hasher;

/// The digest of some bytes.
pub fn of(bytes: &[u8]) -> u64 {
    let mut digest = FnvHasher::default();
    digest.write(bytes);
    digest.finish()
}

/// The digest of words of 64 bits, little-endian, the first of which has the place `first`: the sum of
/// m(w + p g) over words w in their places p, with the finaliser m and the constant g of SplitMix64. Bytes
/// that are no whole word count for nothing. Source: Steele, Lea, Flood, "Fast splittable pseudorandom number
/// generators", <https://doi.org/10.1145/2714064.2660195>.
pub fn of_words(bytes: &[u8], first: u64) -> u64 {
    let words = bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word));
    words.zip(first..).fold(0, |sum, (word, place)| sum.wrapping_add(of_word(word, place)))
}

/// The digest of one word.
pub(crate) fn of_word(word: u64, place: u64) -> u64 {
    let z = word.wrapping_add(place.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
