//! Record of the files of a folder that gridgen wrote.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::hash::Hasher;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use fnv::FnvHasher;
use serde::{Deserialize, Serialize};

use crate::files::{RESTART_FILE, restart};

/// Bytes of a file that are read for its print, and bytes of each piece that is read.
const READ: u64 = 1 << 20;
const PIECE: u64 = 4096;

/// Fingerprint of a file, by which changes of a user or another program are found: its length and a digest of
/// its contents, of a file longer than [`READ`] of pieces at equal distances from its first byte to its last.
/// A copy of a folder has the same prints, and a large file need not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Print {
    bytes: u64,
    digest: u64,
}

impl Print {
    pub(super) fn of(path: &Path) -> io::Result<Self> {
        let mut file = File::open(path)?;
        let bytes = file.metadata()?.len();
        let mut digest = FnvHasher::default();
        let mut piece = [0; PIECE as usize];
        let (pieces, longest) = if bytes > READ { (READ / PIECE, PIECE) } else { (1, READ) };
        for k in 0..pieces {
            let at = (u128::from(bytes.saturating_sub(longest)) * u128::from(k))
                / u128::from(pieces.max(2) - 1);
            file.seek(SeekFrom::Start(at as u64))?;
            let mut part = (&mut file).take(longest);
            loop {
                match part.read(&mut piece) {
                    Ok(0) => break,
                    Ok(read) => digest.write(&piece[..read]),
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(Self { bytes, digest: digest.finish() })
    }
}

/// Names of files below a folder, parted by `/`, and what tells them.
pub(super) type Record = BTreeMap<String, Print>;

/// The record at `path`; none where there is none that can be read, as if nothing had been written.
pub(super) fn read(path: &Path) -> Record {
    let bytes = fs::read(path).unwrap_or_default();
    serde_json::from_slice(&bytes).unwrap_or_default()
}

/// Kind of the file under a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// Nothing.
    Nothing,
    /// A file as gridgen wrote it.
    Own,
    /// A file that gridgen wrote and that was changed since.
    Changed,
    /// A file that gridgen did not write.
    Foreign,
    /// A folder.
    Folder,
    /// A device, a pipe or a socket.
    Special,
}

/// Judges the file at `root/name` by the prints that it may have.
pub(super) fn standing<'p>(
    root: &Path,
    name: &str,
    prints: impl IntoIterator<Item = &'p Print>,
) -> Standing {
    let path = root.join(name);
    match fs::metadata(&path) {
        // A link to nowhere is not gridgen's either.
        Err(_) if fs::symlink_metadata(&path).is_ok() => return Standing::Foreign,
        Err(_) => return Standing::Nothing,
        Ok(found) if found.is_dir() => return Standing::Folder,
        Ok(found) if !found.is_file() => return Standing::Special,
        Ok(_) => {}
    }
    // A restart file tells by itself what it is, and is written while the solve goes on.
    if name == RESTART_FILE {
        return if begins_with(&path, restart::MAGIC) { Standing::Own } else { Standing::Foreign };
    }
    let mut prints = prints.into_iter().peekable();
    if prints.peek().is_none() {
        return Standing::Foreign;
    }
    let found = Print::of(&path).ok();
    if prints.any(|print| Some(*print) == found) { Standing::Own } else { Standing::Changed }
}

fn begins_with(path: &Path, magic: &[u8]) -> bool {
    let mut begin = Vec::new();
    let read = File::open(path).and_then(|f| f.take(magic.len() as u64).read_to_end(&mut begin));
    read.is_ok() && begin == magic
}
