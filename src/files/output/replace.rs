//! The record of the files of a folder that gridgen wrote, and old files exchanged for new ones, by a plan that is kept
//! until all of it is done.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::digest;
use crate::files::{IoError, REPORT_FILE, RESTART_FILE, WriteFault, atomic, restart};

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

/// Most bytes of a file that is read whole for its print; of a longer one, the bytes of a piece, and the pieces that are read.
const WHOLE: u64 = 1 << 20;
const PIECE: u64 = 4096;
const PIECES: u64 = 64;

/// Fingerprint of a file, by which changes of a user or another program are found.
/// A copy of a folder has the same prints, and a large file need not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Print {
    /// Length of the file.
    bytes: u64,
    /// Checksum of its contents; of a file longer than [`WHOLE`] that of pieces at equal distances from its first byte to its
    /// last.
    sampled: u32,
}

impl Print {
    pub(super) fn of(path: &Path) -> io::Result<Self> {
        let mut file = File::open(path)?;
        let bytes = file.metadata()?.len();
        let mut read = Vec::new();
        if bytes <= WHOLE {
            file.take(WHOLE).read_to_end(&mut read)?;
        } else {
            read.resize((PIECES * PIECE) as usize, 0);
            for (k, piece) in (0_u64..).zip(read.chunks_exact_mut(PIECE as usize)) {
                let at = u128::from(bytes - PIECE) * u128::from(k) / u128::from(PIECES - 1);
                file.seek(SeekFrom::Start(at as u64))?;
                file.read_exact(piece)?;
            }
        }
        Ok(Self { bytes, sampled: digest::crc(&read) })
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
    Nothing,
    /// A file as gridgen wrote it.
    Own,
    /// A file that gridgen wrote and that was changed since.
    Changed,
    /// A file that gridgen did not write.
    Foreign,
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
    let Ok(link) = fs::symlink_metadata(&path) else { return Standing::Nothing };
    match if link.is_symlink() { fs::metadata(&path) } else { Ok(link) } {
        // A link to nowhere is not gridgen's either.
        Err(_) => return Standing::Foreign,
        Ok(found) if found.is_dir() => return Standing::Folder,
        Ok(found) if !found.is_file() => return Standing::Special,
        Ok(_) => {}
    }
    // A restart file tells by itself what it is, and is written while the solve goes on.
    if name == RESTART_FILE {
        return if restart::RECORD.is_at(&path) { Standing::Own } else { Standing::Foreign };
    }
    let mut prints = prints.into_iter().peekable();
    if prints.peek().is_none() {
        return Standing::Foreign;
    }
    let print = Print::of(&path).ok();
    if prints.any(|own| Some(*own) == print) { Standing::Own } else { Standing::Changed }
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ExchangePlan {
    /// Whether files are replaced that gridgen did not write.
    pub(super) force: bool,
    pub(super) put: Vec<Put>,
    /// Files to remove, in addition to those that new ones replace.
    pub(super) remove: Vec<String>,
    /// Files of the record that stay.
    pub(super) stays: Record,
    pub(super) old: Record,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Put {
    name: String,
    print: Print,
    /// Whether it waits beside its place, which is behind a link and may be on another disk.
    beside: bool,
    /// Whether others are found whole by it.
    completing: bool,
}

/// A part of the exchange. Each can be done again where it is not known whether it was.
type Step<'p> = Box<dyn Fn() -> Result<(), IoError> + 'p>;

impl Put {
    /// The new file `name` below `files`, to be put below `root`.
    pub(super) fn new(
        root: &Path,
        files: &Path,
        name: &str,
        completing: bool,
    ) -> Result<Self, IoError> {
        let print = Print::of(&files.join(name)).map_err(|e| IoError::new(&root.join(name), e))?;
        let beside = is_elsewhere(root, &root.join(name));
        Ok(Self { name: name.to_owned(), print, beside, completing })
    }

    /// The place where the new file waits.
    fn source(&self, root: &Path) -> PathBuf {
        if self.beside {
            let path = root.join(&self.name);
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            path.with_file_name(format!("{HOME}-{name}.new"))
        } else {
            home(root).join(NEW).join(FILES).join(&self.name)
        }
    }

    /// Its turn: last come the files by which others are found whole, the report at the very end. While
    /// they are absent no reader takes the other files for results.
    fn turn(&self) -> u8 {
        match self.name.as_str() {
            REPORT_FILE => 2,
            _ if self.completing => 1,
            _ => 0,
        }
    }
}

/// Whether the folder of a path is behind a link that leads out of `root`.
fn is_elsewhere(root: &Path, path: &Path) -> bool {
    let Ok(root) = root.canonicalize() else { return false };
    let folder = path.ancestors().skip(1).find_map(|folder| folder.canonicalize().ok());
    folder.is_some_and(|folder| !folder.starts_with(&root))
}

/// Whether a file may be put at `root/name`, where one with this print was written before.
pub(super) fn admit<'p>(
    root: &Path,
    name: &str,
    prints: impl IntoIterator<Item = &'p Print>,
    force: bool,
) -> Result<(), IoError> {
    let path = root.join(name);
    // A file that may be replaced whatever it is need not be read.
    let prints = prints.into_iter().filter(|_| !force);
    match standing(root, name, prints) {
        Standing::Folder => Err(WriteFault::IsAFolder.at(&path)),
        Standing::Special => Err(WriteFault::Exists.at(&path)),
        Standing::Changed if !force => Err(WriteFault::Changed.at(&path)),
        Standing::Foreign if !force => Err(WriteFault::Foreign.at(&path)),
        _ => Ok(()),
    }
}

impl ExchangePlan {
    /// Writes the plan, which makes it hold: from now on it will be carried out.
    pub(super) fn write(&self, root: &Path) -> Result<(), IoError> {
        let part = home(root).join(PART);
        let result = self.bring_beside(root).and_then(|()| {
            let text = serde_json::to_vec(self).map_err(io::Error::from);
            let written = text.and_then(|text| fs::write(part.join(PLAN), text));
            let held = written.and_then(|()| fs::rename(&part, home(root).join(NEW)));
            held.map_err(|source| IoError::new(root, source))
        });
        if result.is_err() {
            for put in self.put.iter().filter(|put| put.beside) {
                let _ = fs::remove_file(put.source(root));
            }
        }
        result
    }

    /// Copies files whose places are behind a link to beside their places.
    fn bring_beside(&self, root: &Path) -> Result<(), IoError> {
        for put in self.put.iter().filter(|put| put.beside) {
            let place = root.join(&put.name);
            let refused = |source| IoError::new(&place, source);
            let made = home(root).join(PART).join(FILES).join(&put.name);
            if let Some(folder) = place.parent() {
                atomic::create_folder(folder)?;
            }
            let beside = put.source(root);
            fs::copy(&made, &beside).map_err(refused)?;
            File::open(&beside).and_then(|file| file.sync_data()).map_err(refused)?;
        }
        Ok(())
    }

    /// All that is to be done, in order: a folder whose report is there holds the files of that
    /// report, whole.
    fn steps<'p>(&'p self, root: &'p Path) -> Vec<Step<'p>> {
        let mut put: Vec<&Put> = self.put.iter().collect();
        put.sort_by_key(|put| put.turn());
        let mut steps: Vec<Step<'p>> = Vec::new();
        for put in put.iter().rev().copied().filter(|put| put.turn() > 0) {
            let waits = move || put.source(root).exists();
            let path = root.join(&put.name);
            steps.push(Box::new(move || if waits() { remove(&path) } else { Ok(()) }));
        }
        for name in &self.remove {
            steps.push(Box::new(|| self.remove(root, name)));
        }
        for put in put {
            steps.push(Box::new(|| place(&put.source(root), &root.join(&put.name))));
        }
        let refused = |source| IoError::new(root, source);
        steps.push(Box::new(move || self.write_record(&home(root)).map_err(refused)));
        steps.push(Box::new(move || fs::remove_dir_all(home(root).join(NEW)).map_err(refused)));
        steps
    }

    /// Writes the record of the present files; its part is removed with the plan.
    fn write_record(&self, home: &Path) -> io::Result<()> {
        let mut record = self.stays.clone();
        let put = self.put.iter().filter(|put| put.name != RESTART_FILE);
        record.extend(put.map(|put| (put.name.clone(), put.print)));
        let part = home.join(NEW).join(RECORD);
        fs::write(&part, serde_json::to_vec_pretty(&record)?)?;
        fs::rename(part, home.join(RECORD))
    }

    /// Refuses to go on if another file than the old or the new one is in the place of a new file.
    fn check(&self, root: &Path, force: bool) -> Result<(), IoError> {
        let waiting = self.put.iter().filter(|put| put.source(root).exists());
        waiting.into_iter().try_for_each(|put| {
            let prints = self.old.get(&put.name).into_iter().chain([&put.print]);
            admit(root, &put.name, prints, self.force || force)
        })
    }

    /// Removes a file that is as gridgen wrote it, or any file or folder with `force`; then the folders
    /// that this leaves empty.
    fn remove(&self, root: &Path, name: &str) -> Result<(), IoError> {
        let path = root.join(name);
        match standing(root, name, self.old.get(name)) {
            Standing::Own => remove(&path)?,
            Standing::Folder if self.force => {
                fs::remove_dir_all(&path).map_err(|source| IoError::new(&path, source))?;
            }
            Standing::Changed | Standing::Foreign if self.force => remove(&path)?,
            _ => return Ok(()),
        }
        for folder in path.ancestors().skip(1).take_while(|folder| *folder != root) {
            if fs::remove_dir(folder).is_err() {
                break;
            }
        }
        Ok(())
    }
}

/// Carries out the first `most` steps of the plan of a folder, if there is one.
pub(super) fn carry_out(root: &Path, force: bool, most: usize) -> Result<(), IoError> {
    let new = home(root).join(NEW);
    if !new.exists() {
        return Ok(());
    }
    let plan: Option<ExchangePlan> =
        fs::read(new.join(PLAN)).ok().and_then(|text| serde_json::from_slice(&text).ok());
    let Some(plan) = plan else {
        // It goes first when all is done; nothing waits without it.
        return fs::remove_dir_all(&new).map_err(|source| IoError::new(root, source));
    };
    plan.check(root, force)?;
    plan.steps(root).into_iter().take(most).try_for_each(|step| step())
}

/// Moves a new file to its place, unless that was done before.
fn place(source: &Path, path: &Path) -> Result<(), IoError> {
    if !source.exists() {
        return Ok(());
    }
    if let Some(folder) = path.parent() {
        atomic::create_folder(folder)?;
    }
    let rename = || fs::rename(source, path).map_err(|source| IoError::new(path, source));
    without_waiting(path, rename)
}

/// Removes a file, or nothing where there is none.
fn remove(path: &Path) -> Result<(), IoError> {
    without_waiting(path, || atomic::remove(path))
}

/// Bytes of a file that takes the system long to remove.
const LARGE: u64 = 16 << 20;

/// Does `work`, after which the file at `path` is gone. A large one is open meanwhile: no more than its name goes at once
/// then, and the rest when another thread closes it. Elsewhere than on Unix the name would stay, too.
fn without_waiting(path: &Path, work: impl FnOnce() -> Result<(), IoError>) -> Result<(), IoError> {
    let large = fs::symlink_metadata(path).is_ok_and(|it| it.is_file() && it.len() >= LARGE);
    let held = if cfg!(unix) && large { File::open(path).ok() } else { None };
    work()?;
    if let Some(file) = held {
        // Without another thread it is done here.
        let _ = std::thread::Builder::new().spawn(move || drop(file));
    }
    Ok(())
}
