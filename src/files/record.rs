//! Files of numbers with a head: restart files and references of movements.
//!
//! All numbers are little-endian: eight bytes of magic; the version as u32; the length of the head as u64; the
//! head as TOML, with the lengths of the lists; the lists as f64; as u32 the [`digest::crc`] of all bytes before it.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use flate2::CrcWriter;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{IoError, atomic, contents, pieces};
use crate::diagnostics::errors;
use crate::digest;

/// Bytes of a number.
const BYTES: usize = size_of::<f64>();

/// A kind of file.
#[derive(Debug)]
pub struct Record {
    /// First bytes of a file.
    pub magic: &'static [u8; 8],
    /// Version of the layout.
    pub version: u32,
    /// Memory for a byte of a file.
    pub(crate) memory: u64,
    /// Its name in messages.
    pub(crate) noun: &'static str,
    /// The hint where another file was given.
    pub(crate) another: &'static str,
    /// The hint where a file must be made again.
    pub(crate) again: &'static str,
}

errors! {
    /// A restart file, or a reference of movements, that cannot be used.
    #[error("{}: {fault}", path.display())]
    pub struct RecordError { path: PathBuf, #[source] fault: RecordFault }
}

errors! {
    /// Reasons for which such a file cannot be used.
    #[derive(Debug, thiserror::Error)]
    #[class(Input)]
    pub enum RecordFault {
        #[error("cannot be read: {0}")]
        #[hint = contents::hint]
        Unreadable(io::Error),
        #[error("not a {} of gridgen", of.noun)]
        #[hint("{}", of.another)]
        Other { of: &'static Record },
        #[error("a {} of version {found}, version {} was expected", of.noun, of.version)]
        #[hint("{}", of.again)]
        Version { of: &'static Record, found: u32 },
        /// The contents have changed since they were written.
        #[error("the {} is cut off or damaged", of.noun)]
        #[hint("{}", of.again)]
        Damaged { of: &'static Record },
        /// The state belongs to other equations.
        #[error("belongs to another case: {key} is {there} there, {here} here")]
        #[hint(
            "section, grid, initial grid and control functions must be those of the run that was interrupted; solver \
             and output may differ"
        )]
        OtherCase { key: String, there: String, here: String },
    }
}

impl RecordFault {
    /// The error of a file with this fault.
    pub(crate) fn at(self, path: &Path) -> RecordError {
        RecordError { path: path.to_path_buf(), fault: self }
    }
}

#[derive(Serialize, Deserialize)]
struct RecordHead<H> {
    /// Numbers of each list.
    lengths: Vec<usize>,
    contents: H,
}

impl Record {
    /// Returns true if the file at a path begins as such a file does.
    pub(crate) fn is_at(&self, path: &Path) -> bool {
        let begin = contents::read_short(path, self.magic.len() as u64);
        begin.is_ok_and(|begin| begin.starts_with(self.magic))
    }

    /// Writes a file, whole or not at all.
    pub(crate) fn write<const LISTS: usize>(
        &self,
        path: &Path,
        contents: &impl Serialize,
        lists: [&[f64]; LISTS],
    ) -> Result<(), IoError> {
        let head = RecordHead { lengths: lists.map(<[f64]>::len).to_vec(), contents };
        let head = toml::to_string(&head).map_err(|e| IoError::new(path, io::Error::other(e)))?;
        atomic::write(path, |out| {
            let mut summed = CrcWriter::new(&mut *out);
            summed.write_all(self.magic)?;
            summed.write_all(&self.version.to_le_bytes())?;
            summed.write_all(&(head.len() as u64).to_le_bytes())?;
            summed.write_all(head.as_bytes())?;
            lists.iter().try_for_each(|list| pieces::write_numbers(&mut summed, list))?;
            let sum = summed.crc().sum();
            out.write_all(&sum.to_le_bytes())
        })
    }

    pub(crate) fn bytes(&self, path: &Path) -> Result<Vec<u8>, RecordError> {
        let read = contents::read(path, self.memory);
        read.map_err(|source| RecordFault::Unreadable(source).at(path))
    }

    /// Contents of the head and lists of a file that is as it was written.
    pub(crate) fn read<H: DeserializeOwned, const LISTS: usize>(
        &'static self,
        bytes: &[u8],
    ) -> Result<(H, [Vec<f64>; LISTS]), RecordFault> {
        let (of, damaged) = (self, || RecordFault::Damaged { of: self });
        let rest = bytes.strip_prefix(self.magic).ok_or(RecordFault::Other { of })?;
        let (version, _) = rest.split_first_chunk().ok_or_else(damaged)?;
        let found = u32::from_le_bytes(*version);
        if found != self.version {
            return Err(RecordFault::Version { of, found });
        }
        parts(bytes, self.magic.len() + size_of_val(&found)).ok_or_else(damaged)
    }
}

/// Contents of the head and lists of a file whose head begins at `begin`, if its checksum and all lengths are right.
fn parts<H: DeserializeOwned, const LISTS: usize>(
    bytes: &[u8],
    begin: usize,
) -> Option<(H, [Vec<f64>; LISTS])> {
    let (whole, sum) = bytes.split_last_chunk()?;
    if digest::crc(whole) != u32::from_le_bytes(*sum) {
        return None;
    }
    let (length, rest) = whole.get(begin..)?.split_first_chunk()?;
    let (head, mut rest) = rest.split_at_checked(u64::from_le_bytes(*length) as usize)?;
    let RecordHead { lengths, contents } = toml::from_slice(head).ok()?;
    let lengths: [usize; LISTS] = lengths.try_into().ok()?;
    let mut lists = [const { Vec::new() }; LISTS];
    for (list, length) in lists.iter_mut().zip(lengths) {
        let (own, others) = rest.split_at_checked(length.checked_mul(BYTES)?)?;
        *list = own.as_chunks().0.iter().map(|number| f64::from_le_bytes(*number)).collect();
        rest = others;
    }
    rest.is_empty().then_some((contents, lists))
}
