//! Files of numbers with a head: restart files and references of movements.
//!
//! All numbers are little-endian: eight bytes of magic; a version as u32; as u64 the length of the head in
//! bytes and of each list in numbers; the head as JSON; the lists as f64; the [`digest`] of all that as
//! u64.

use std::hash::Hasher;
use std::io::Write;
use std::path::Path;

use fnv::FnvHasher;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{IoError, atomic};
use crate::digest::{self, Digesting};

/// Bytes before the lengths: magic and version.
const BEFORE: usize = 8 + 4;

/// A kind of file: its magic and its version, and how many lists of numbers it has.
pub(crate) struct Record<const LISTS: usize> {
    pub(crate) magic: &'static [u8; 8],
    pub(crate) version: u32,
}

/// Why bytes are no such file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RecordFault {
    /// They begin otherwise.
    Other,
    /// Another version.
    Version(u32),
    /// Cut off, or not what was written.
    Damaged,
}

impl<const LISTS: usize> Record<LISTS> {
    /// Whether bytes begin as such a file does.
    pub(crate) fn begins(&self, bytes: &[u8]) -> bool {
        bytes.starts_with(self.magic)
    }

    /// Writes a file, whole or not at all.
    pub(crate) fn write(
        &self,
        path: &Path,
        head: &impl Serialize,
        lists: [&[f64]; LISTS],
    ) -> Result<(), IoError> {
        let head = serde_json::to_vec(head).map_err(|e| IoError::new(path, e.into()))?;
        atomic::write(path, |out| {
            let mut out = Digesting { out, digest: FnvHasher::default() };
            out.write_all(self.magic)?;
            out.write_all(&self.version.to_le_bytes())?;
            out.write_all(&(head.len() as u64).to_le_bytes())?;
            for list in lists {
                out.write_all(&(list.len() as u64).to_le_bytes())?;
            }
            out.write_all(&head)?;
            for number in lists.into_iter().flatten() {
                out.write_all(&number.to_le_bytes())?;
            }
            out.out.write_all(&out.digest.finish().to_le_bytes())
        })
    }

    /// Head and lists of the bytes of a file.
    pub(crate) fn read<H: DeserializeOwned>(
        &self,
        bytes: &[u8],
    ) -> Result<(H, [Vec<f64>; LISTS]), RecordFault> {
        let rest = bytes.strip_prefix(self.magic).ok_or(RecordFault::Other)?;
        if let Some(version) = rest.first_chunk().copied().map(u32::from_le_bytes)
            && version != self.version
        {
            return Err(RecordFault::Version(version));
        }
        parse(bytes).ok_or(RecordFault::Damaged)
    }
}

/// Head and lists of a file with the right beginning, if it is whole.
fn parse<H: DeserializeOwned, const LISTS: usize>(bytes: &[u8]) -> Option<(H, [Vec<f64>; LISTS])> {
    let (body, digest) = bytes.split_last_chunk::<8>()?;
    if u64::from_le_bytes(*digest) != digest::of(body) {
        return None;
    }
    let begin = BEFORE + 8 * (1 + LISTS);
    let lengths = body.get(BEFORE..begin)?.as_chunks::<8>().0;
    let lengths: Vec<usize> =
        lengths.iter().map(|length| u64::from_le_bytes(*length) as usize).collect();
    let (head, mut rest) = body[begin..].split_at_checked(lengths[0])?;
    let mut lists = [const { Vec::new() }; LISTS];
    for (list, &length) in lists.iter_mut().zip(&lengths[1..]) {
        let (numbers, others) = rest.split_at_checked(length.checked_mul(8)?)?;
        *list = numbers.as_chunks::<8>().0.iter().map(|field| f64::from_le_bytes(*field)).collect();
        rest = others;
    }
    rest.is_empty().then_some((serde_json::from_slice(head).ok()?, lists))
}
