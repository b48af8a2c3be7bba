//! Record of the files of a folder that gridgen wrote.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::digest;
use crate::files::{RESTART_FILE, contents, restart};

/// Name of the folder of gridgen's own files.
pub const HOME: &str = ".gridgen";

/// Names within it: files that are being made, complete ones with their plan, and the record.
pub(super) const PART: &str = "part";
pub(super) const NEW: &str = "new";
pub(super) const FILES: &str = "files";
pub(super) const PLAN: &str = "plan.json";
pub(super) const RECORD: &str = "written.json";

/// The folder of gridgen's own files in an output folder.
pub(super) fn home(root: &Path) -> PathBuf {
    root.join(HOME)
}

/// Most bytes of a file that is read whole for its print; the number of pieces that are read of a longer one, and
/// the bytes of a piece.
const WHOLE: u64 = 1 << 20;
const PIECES: u64 = 256;
const PIECE: u64 = 4096;

/// Fingerprint of a file, by which changes of a user or another program are found: its length and a digest of
/// its contents, of a file longer than [`WHOLE`] of pieces at equal distances from its first byte to its last.
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
        let mut read = Vec::new();
        if bytes <= WHOLE {
            (&mut file).take(WHOLE).read_to_end(&mut read)?;
        } else {
            for k in 0..PIECES {
                let at = u128::from(bytes - PIECE) * u128::from(k) / u128::from(PIECES - 1);
                file.seek(SeekFrom::Start(at as u64))?;
                (&mut file).take(PIECE).read_to_end(&mut read)?;
            }
        }
        Ok(Self { bytes, digest: digest::of(&read) })
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
        let begin = contents::read_short(&path, restart::MAGIC.len() as u64).unwrap_or_default();
        let own = begin.starts_with(restart::MAGIC);
        return if own { Standing::Own } else { Standing::Foreign };
    }
    let mut prints = prints.into_iter().peekable();
    if prints.peek().is_none() {
        return Standing::Foreign;
    }
    let found = Print::of(&path).ok();
    if prints.any(|print| Some(*print) == found) { Standing::Own } else { Standing::Changed }
}
