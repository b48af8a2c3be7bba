//! Which files of a folder gridgen wrote.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::io::digest::Digest;
use crate::io::{RESTART_FILE, restart};

/// Bytes at each end of a file that its print is taken from.
const END: u64 = 4096;

/// What tells a file from one that somebody else wrote or changed: its length and the digest of its
/// ends. A copy of a folder is as good as the folder, and a large file need not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Print {
    bytes: u64,
    ends: u64,
}

impl Print {
    pub(super) fn of(path: &Path) -> io::Result<Self> {
        let mut file = File::open(path)?;
        let bytes = file.metadata()?.len();
        let mut ends = Vec::new();
        (&mut file).take(END).read_to_end(&mut ends)?;
        file.seek(SeekFrom::Start(bytes.saturating_sub(END).max(ends.len() as u64)))?;
        file.take(END).read_to_end(&mut ends)?;
        Ok(Self { bytes, ends: Digest::of(&ends).number() })
    }
}

/// Names of files below a folder, parted by `/`, and what tells them.
pub(super) type Record = BTreeMap<String, Print>;

/// The record at `path`; none where there is none that can be read, as if nothing had been written.
pub(super) fn read(path: &Path) -> Record {
    let bytes = fs::read(path).unwrap_or_default();
    serde_json::from_slice(&bytes).unwrap_or_default()
}

/// What stands under a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// Nothing.
    Nothing,
    /// A file as gridgen wrote it.
    Own,
    /// A file that gridgen wrote and somebody changed.
    Changed,
    /// A file that gridgen did not write.
    Foreign,
    /// A folder.
    Folder,
}

/// What stands at `root/name`, going by the prints that it may have.
pub(super) fn standing<'p>(
    root: &Path,
    name: &str,
    prints: impl IntoIterator<Item = &'p Print>,
) -> Standing {
    let path = root.join(name);
    match fs::metadata(&path) {
        // A link to nowhere is somebody's, too.
        Err(_) if fs::symlink_metadata(&path).is_ok() => return Standing::Foreign,
        Err(_) => return Standing::Nothing,
        Ok(found) if found.is_dir() => return Standing::Folder,
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
