//! Files of numbers with a head: restart files and references of movements.
//!
//! All numbers are little-endian: eight bytes of magic; a version as u64; as u64 the length of the head in
//! bytes and of each list in numbers; the head as JSON, filled up by blanks to a multiple of eight bytes; the
//! lists as f64; as u64 the [`digest`] of all these words. Processes write a file together, each its share of
//! a list, and each can read a part.

use std::io::{self, Cursor, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::Path;

use rayon::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::sink::{Share, Sink};
use super::{IoError, joint, pieces};
use crate::digest;
use crate::memory::{self, NotEnoughMemory};
use crate::ranks::{Processes, RanksError};

/// Bytes of a word.
const WORD: u64 = 8;

/// Bytes that are digested at a time.
const PIECE: u64 = 1 << 20;

/// A kind of file: its magic and its version, and how many lists of numbers it has.
pub(crate) struct Record<const LISTS: usize> {
    pub(crate) magic: &'static [u8; 8],
    pub(crate) version: u32,
}

/// Numbers of a list that a process writes.
#[derive(Debug, Clone, Copy)]
pub(crate) enum List<'a> {
    /// All of them, which all processes have.
    All(&'a [f64]),
    /// Its share of them.
    Share {
        own: &'a [f64],
        /// Numbers before it.
        before: usize,
        /// Numbers of all processes.
        all: usize,
    },
}

impl List<'_> {
    /// Its numbers, the place of the first, and how many the list has.
    fn parts(&self) -> (&[f64], u64, u64) {
        match *self {
            Self::All(all) => (all, 0, all.len() as u64),
            Self::Share { own, before, all } => (own, before as u64, all as u64),
        }
    }
}

/// Why bytes are no such file.
#[derive(Debug)]
pub(crate) enum RecordFault {
    /// They begin otherwise.
    Other,
    /// Another version.
    Version(u32),
    /// Cut off, or not what was written.
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
        processes: Processes<'_>,
        head: &impl Serialize,
        lists: [List<'_>; LISTS],
    ) -> Result<(), IoError> {
        let head = serde_json::to_vec(head).map_err(|e| IoError::new(path, e.into()))?;
        let begin = self.begin(head, &lists);
        joint::write(path, processes, |out| {
            out.write_all(&begin)?;
            let mut place = begin.len() as u64 / WORD;
            let first = processes.is_first();
            let mut own = if first { digest::of_words(&begin, 0) } else { 0 };
            for list in lists {
                let (numbers, before, all) = list.parts();
                let share = Share { before: WORD * before, all: WORD * all };
                let mut write = |mut out: &mut dyn Sink| {
                    pieces::write(&mut out, numbers.len(), |piece| {
                        numbers[piece].iter().flat_map(|number| number.to_le_bytes()).collect()
                    })
                };
                match list {
                    List::All(_) => write(out)?,
                    List::Share { .. } => out.share(Some(share), &mut write)?,
                }
                if first || matches!(list, List::Share { .. }) {
                    own = own.wrapping_add(digest_of(numbers, place + before));
                }
                place += all;
            }
            let all = processes.gather(own.to_le_bytes().to_vec())?;
            let digest = all.iter().map(|own| word(own)).fold(0, u64::wrapping_add);
            out.write_all(&digest.to_le_bytes())
        })
    }

    /// The bytes before the lists.
    fn begin(&self, mut head: Vec<u8>, lists: &[List<'_>; LISTS]) -> Vec<u8> {
        head.resize(head.len().next_multiple_of(WORD as usize), b' ');
        let lengths = lists.iter().map(|list| list.parts().2);
        let words = [u64::from(self.version), head.len() as u64].into_iter().chain(lengths);
        let words = words.flat_map(u64::to_le_bytes);
        self.magic.iter().copied().chain(words).chain(head).collect()
    }

    /// Head and lists of the bytes of a file.
    pub(crate) fn read<H: DeserializeOwned>(
        &self,
        bytes: &[u8],
    ) -> Result<(H, [Vec<f64>; LISTS]), RecordFault> {
        let mut opened = self.open(Cursor::new(bytes), Processes::ALONE)?;
        let mut lists = [const { Vec::new() }; LISTS];
        for (k, list) in lists.iter_mut().enumerate() {
            *list = opened.list(k)?;
        }
        Ok((opened.head()?, lists))
    }

    /// A file that is what was written. Of several processes each looks at a part of it; all must call.
    pub(crate) fn open<S: Read + Seek>(
        &self,
        mut source: S,
        processes: Processes<'_>,
    ) -> Result<Opened<S, LISTS>, RecordFault> {
        let bytes = source.seek(SeekFrom::End(0))?;
        source.seek(SeekFrom::Start(0))?;
        let mut begin = Vec::new();
        let before = WORD * (3 + LISTS as u64);
        (&mut source).take(before).read_to_end(&mut begin)?;
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
        let mut end = before.checked_add(head).ok_or(RecordFault::Damaged)?;
        let mut lists = [(0, 0); LISTS];
        for (list, &length) in lists.iter_mut().zip(lengths) {
            *list = (end, length);
            let more = length.checked_mul(WORD).and_then(|more| end.checked_add(more));
            end = more.ok_or(RecordFault::Damaged)?;
        }
        if !head.is_multiple_of(WORD) || end.checked_add(WORD) != Some(bytes) {
            return Err(RecordFault::Damaged);
        }
        memory::check(head)?;
        let mut text = vec![0; head as usize];
        source.read_exact(&mut text)?;
        let mut opened = Opened { source, head: text, lists, end };
        let whole = opened.is_whole(processes)?;
        if whole { Ok(opened) } else { Err(RecordFault::Damaged) }
    }
}

/// A file that is read.
pub(crate) struct Opened<S, const LISTS: usize> {
    source: S,
    head: Vec<u8>,
    /// First byte and numbers of each list.
    lists: [(u64, u64); LISTS],
    /// Where they end, and the digest stands.
    end: u64,
}

impl<S: Read + Seek, const LISTS: usize> Opened<S, LISTS> {
    pub(crate) fn head<H: DeserializeOwned>(&self) -> Result<H, RecordFault> {
        serde_json::from_slice(&self.head).map_err(|_| RecordFault::Damaged)
    }

    /// Numbers of a list.
    pub(crate) fn length(&self, list: usize) -> u64 {
        self.lists[list].1
    }

    /// The numbers of a list.
    pub(crate) fn list(&mut self, list: usize) -> Result<Vec<f64>, RecordFault> {
        let all = self.lists[list].1 as usize;
        self.columns(list, all, 0..all)
    }

    /// Some columns of a list whose rows have `row` numbers.
    pub(crate) fn columns(
        &mut self,
        list: usize,
        row: usize,
        columns: Range<usize>,
    ) -> Result<Vec<f64>, RecordFault> {
        let (at, all) = self.lists[list];
        let rows = (all as usize).checked_div(row).unwrap_or(0);
        memory::check(WORD * (rows * columns.len()) as u64)?;
        let mut numbers = vec![0.0_f64; rows * columns.len()];
        for (k, part) in numbers.chunks_mut(columns.len().max(1)).enumerate() {
            let first = at + WORD * (k * row + columns.start) as u64;
            self.source.seek(SeekFrom::Start(first))?;
            self.source.read_exact(bytemuck::cast_slice_mut(part))?;
        }
        if cfg!(target_endian = "big") {
            for number in &mut numbers {
                *number = f64::from_bits(number.to_bits().swap_bytes());
            }
        }
        Ok(numbers)
    }

    /// Whether the digest is that of the words before it, of which each process sums up a part.
    fn is_whole(&mut self, processes: Processes<'_>) -> Result<bool, RecordFault> {
        let words = self.end / WORD;
        let part = |rank: usize| words * rank as u64 / processes.size() as u64 * WORD;
        let (mut at, end) = (part(processes.rank()), part(processes.rank() + 1));
        let mut summed = || -> io::Result<u64> {
            let (mut sum, mut piece) = (0_u64, Vec::new());
            self.source.seek(SeekFrom::Start(at))?;
            while at < end {
                piece.clear();
                let read = (&mut self.source).take(PIECE.min(end - at)).read_to_end(&mut piece)?;
                if read == 0 {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
                sum = sum.wrapping_add(digest::of_words(&piece, at / WORD));
                at += read as u64;
            }
            Ok(sum)
        };
        let own = summed();
        let said = own.as_ref().map_or_else(|_| Vec::new(), |sum| sum.to_le_bytes().to_vec());
        let all = processes.all_gather(said).map_err(|error: RanksError| io::Error::from(error))?;
        own?;
        let sum = all.iter().map(|own| word(own)).fold(0, u64::wrapping_add);
        let mut digest = [0; WORD as usize];
        self.source.seek(SeekFrom::Start(self.end))?;
        self.source.read_exact(&mut digest)?;
        Ok(all.iter().all(|own| !own.is_empty()) && sum == word(&digest))
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
