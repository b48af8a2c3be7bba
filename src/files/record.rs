//! Files of numbers with a head: restart files and references of movements.
//!
//! All numbers are little-endian: eight bytes of magic; a version as u64; as u64 the length of the head in
//! bytes and of each list in numbers; the head as JSON, filled up by blanks to a multiple of eight bytes; the
//! lists as f64; as u64 the [`digest`] of all these words.

use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use rayon::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{IoError, atomic, pieces};
use crate::digest;
use crate::memory::{self, NotEnoughMemory};

/// Bytes of a word.
const WORD: u64 = 8;

/// A kind of file: its magic and its version, and how many lists of numbers it has.
pub(crate) struct Record<const LISTS: usize> {
    pub(crate) magic: &'static [u8; 8],
    pub(crate) version: u32,
}

/// The reason why bytes are no such file.
#[derive(Debug)]
pub(crate) enum RecordFault {
    /// They begin otherwise.
    Other,
    /// Another version.
    Version(u32),
    /// Cut off, or changed since it was written.
    Damaged,
    /// They cannot be read.
    Unreadable(io::Error),
}

impl From<io::Error> for RecordFault {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Self::Damaged,
            _ => Self::Unreadable(error),
        }
    }
}

impl From<NotEnoughMemory> for RecordFault {
    fn from(error: NotEnoughMemory) -> Self {
        Self::Unreadable(io::Error::new(io::ErrorKind::OutOfMemory, error))
    }
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
        let mut head = serde_json::to_vec(head).map_err(|e| IoError::new(path, e.into()))?;
        head.resize(head.len().next_multiple_of(WORD as usize), b' ');
        let lengths = lists.iter().map(|list| list.len() as u64);
        let words = [u64::from(self.version), head.len() as u64].into_iter().chain(lengths);
        let words = words.flat_map(u64::to_le_bytes);
        let begin: Vec<u8> = self.magic.iter().copied().chain(words).chain(head).collect();
        atomic::write(path, |out| {
            out.write_all(&begin)?;
            let (mut sum, mut place) = (digest::of_words(&begin, 0), begin.len() as u64 / WORD);
            for list in lists {
                pieces::write(out, list.len(), |piece| {
                    list[piece].iter().flat_map(|number| number.to_le_bytes()).collect()
                })?;
                sum = sum.wrapping_add(digest_of(list, place));
                place += list.len() as u64;
            }
            out.write_all(&sum.to_le_bytes())
        })
    }

    /// Head and lists of a file that is as it was written.
    pub(crate) fn read<H: DeserializeOwned>(
        &self,
        mut source: impl Read + Seek,
    ) -> Result<(H, [Vec<f64>; LISTS]), RecordFault> {
        let bytes = source.seek(SeekFrom::End(0))?;
        source.seek(SeekFrom::Start(0))?;
        let mut begin = Vec::new();
        (&mut source).take(WORD * (3 + LISTS as u64)).read_to_end(&mut begin)?;
        let rest = begin.strip_prefix(self.magic).ok_or(RecordFault::Other)?;
        // The version of old files had four bytes.
        match rest.first_chunk().copied().map(u32::from_le_bytes) {
            Some(version) if version != self.version => return Err(RecordFault::Version(version)),
            _ => {}
        }
        let words: Vec<u64> = rest.as_chunks::<8>().0.iter().map(|word| self::word(word)).collect();
        let Some((&[_, head], lengths)) = words.split_first_chunk::<2>() else {
            return Err(RecordFault::Damaged);
        };
        let lengths: &[u64; LISTS] = lengths.try_into().map_err(|_| RecordFault::Damaged)?;
        let all = lengths.iter().try_fold(head, |sum, length| {
            length.checked_mul(WORD).and_then(|more| sum.checked_add(more))
        });
        let end = all.and_then(|all| all.checked_add(begin.len() as u64 + WORD));
        if !head.is_multiple_of(WORD) || end != Some(bytes) {
            return Err(RecordFault::Damaged);
        }
        memory::check(bytes)?;
        let at_head = begin.len() as u64 / WORD;
        let mut text = vec![0; head as usize];
        source.read_exact(&mut text)?;
        let mut sum = digest::of_words(&begin, 0).wrapping_add(digest::of_words(&text, at_head));
        let mut place = at_head + head / WORD;
        let mut lists = [const { Vec::<f64>::new() }; LISTS];
        for (list, &length) in lists.iter_mut().zip(lengths) {
            list.resize(length as usize, 0.0);
            source.read_exact(bytemuck::cast_slice_mut(list))?;
            if cfg!(target_endian = "big") {
                for number in list.iter_mut() {
                    *number = f64::from_bits(number.to_bits().swap_bytes());
                }
            }
            sum = sum.wrapping_add(digest_of(list, place));
            place += length;
        }
        let mut digest = [0; WORD as usize];
        source.read_exact(&mut digest)?;
        let head = serde_json::from_slice(&text).ok().filter(|_| sum == word(&digest));
        head.map(|head| (head, lists)).ok_or(RecordFault::Damaged)
    }
}

/// The word that these bytes are; zero where there are none.
fn word(bytes: &[u8]) -> u64 {
    bytes.first_chunk().copied().map_or(0, u64::from_le_bytes)
}

/// The digest of numbers, the first of which has the place `first` among the words of a file.
fn digest_of(numbers: &[f64], first: u64) -> u64 {
    let sum = |(k, number): (usize, &f64)| digest::of_word(number.to_bits(), first + k as u64);
    numbers.par_iter().enumerate().map(sum).reduce(|| 0, u64::wrapping_add)
}
