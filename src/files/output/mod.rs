//! A folder of results: one process writes into it at a time, new files are complete beside the old ones
//! before any of those goes, and nothing goes that gridgen did not write.
//!
//! Beside the results is the folder [`HOME`]. In it are the lock, the record of the files that were written,
//! new files that are being made, and, once they are complete, the plan of their exchange: a process that is
//! killed before leaves the old results; the exchange of one that is killed after that is completed when the
//! folder is opened again.

mod replace;

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

pub use self::replace::HOME;
use self::replace::{
    ExchangePlan, FILES, NEW, PART, Put, RECORD, Record, Standing, home, standing,
};
use super::{CASE_FILE, IoError, RESTART_FILE, WriteFault, atomic};
use crate::files::atomic::check_apart;

/// Name of the file in the folder [`HOME`] that is locked.
const LOCK: &str = "lock";

/// Times that a lock is tried for which vanishes while it is taken.
const TRIES: usize = 100;

/// Rules of a format that is a folder for the exchange of its files. Names are relative to the output
/// folder, parted by `/`.
#[derive(Debug, Clone, Copy)]
pub struct FolderRules {
    /// Whether a file is one that users edit: it is replaced only with `force` once it was edited.
    pub editable: fn(&str) -> bool,
    /// The folder of a file in which nothing may stand that gridgen did not write.
    pub sole: fn(&str) -> Option<&str>,
    /// Whether a file is the one by which others are found whole: it is put in place after them.
    pub completing: fn(&str) -> bool,
    /// Whether a file outlasts a run that writes nothing in its place.
    pub lasting: fn(&str) -> bool,
}

impl FolderRules {
    /// The rules for single files.
    pub const NONE: Self =
        Self { editable: |_| false, sole: |_| None, completing: |_| false, lasting: |_| false };
}

/// A folder that is this process's to write into until this is dropped.
#[derive(Debug)]
pub struct Output {
    root: PathBuf,
    lock: Lock,
    /// Whether the folder was not there before.
    created: bool,
    /// Whether files are replaced that gridgen did not write.
    force: bool,
    rules: FolderRules,
    record: Record,
}

impl Output {
    /// Opens the folder `root`, which is created unless it exists. Complete files of a killed process are
    /// put in place, incomplete ones are removed. With `force` files may be replaced that gridgen did not
    /// write, or that were changed since; `rules` apply to the folders among the new files. Fails with
    /// [`WriteFault::Busy`] where another process writes into it.
    pub fn open(root: &Path, rules: FolderRules, force: bool) -> Result<Self, IoError> {
        let created = !root.exists();
        let lock = Lock::take(root)?;
        let (path, record) = (root.to_path_buf(), Record::new());
        let mut output = Self { root: path, lock, created, force, rules, record };
        replace::carry_out(root, force, usize::MAX)?;
        output.remove_part()?;
        fs::create_dir_all(output.files()).map_err(|source| IoError::new(root, source))?;
        atomic::sweep(root);
        output.record = replace::read(&home(root).join(RECORD));
        Ok(output)
    }

    /// Puts the complete files of a process that was killed in place in `root`, if there are any.
    pub fn recover(root: &Path) -> Result<(), IoError> {
        let pending = home(root).join(NEW).exists();
        if pending { Self::open(root, FolderRules::NONE, false).map(drop) } else { Ok(()) }
    }

    /// The notice that the folder is not locked, where the file system has no locks.
    pub fn notice(&self) -> Option<String> {
        let trouble = self.lock.file.as_ref().err()?;
        let root = self.root.display();
        Some(format!("{root} cannot be locked, and no other run may write into it: {trouble}"))
    }

    /// The folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// An empty folder in which new files are made, with names as in the output folder.
    pub fn files(&self) -> PathBuf {
        home(&self.root).join(PART).join(FILES)
    }

    /// The final place of a file that is made in [`Self::files`].
    fn place(&self, made: &Path) -> PathBuf {
        match made.strip_prefix(self.files()) {
            Ok(name) if name.as_os_str().is_empty() => self.root.clone(),
            Ok(name) => self.root.join(name),
            Err(_) => made.to_path_buf(),
        }
    }

    /// Makes files: `work` gets [`Self::files`] and returns the files that it made there. Returned are their
    /// final places, which errors name, too.
    pub fn fill(
        &self,
        work: impl FnOnce(&Path) -> Result<Vec<PathBuf>, IoError>,
    ) -> Result<Vec<PathBuf>, IoError> {
        let made = work(&self.files()).map_err(|error| error.moved(|path| self.place(path)))?;
        Ok(made.iter().map(|path| self.place(path)).collect())
    }

    /// Refuses names under which one of the `inputs` stands, but for the case and the restart file that
    /// gridgen wrote there: a new run replaces them by its own.
    pub(crate) fn spare(
        &self,
        mut names: impl Iterator<Item = impl AsRef<str>>,
        inputs: &[&Path],
    ) -> Result<(), IoError> {
        names.try_for_each(|name| {
            let name = name.as_ref();
            if matches!(name, CASE_FILE | RESTART_FILE) && self.is_own(name) {
                return Ok(());
            }
            check_apart([Some(&*self.root.join(name))], inputs.iter().copied().map(Some))
        })
    }

    /// Returns true for a file that is as gridgen wrote it.
    fn is_own(&self, name: &str) -> bool {
        standing(&self.root, name, self.record.get(name)) == Standing::Own
    }

    /// Refuses names under which something stands that gridgen did not write, before the work. Files
    /// that users may edit are no obstacle.
    pub fn check<'n>(&self, names: impl IntoIterator<Item = &'n str>) -> Result<(), IoError> {
        for name in names {
            if !(self.rules.editable)(name) {
                self.admit(name)?;
            }
            if let Some(sole) = (self.rules.sole)(name) {
                self.strangers(sole, &[])?;
            }
        }
        Ok(())
    }

    /// Whether a file may be put under a name.
    fn admit(&self, name: &str) -> Result<(), IoError> {
        replace::admit(&self.root, name, self.record.get(name), self.force)
    }

    /// Files in the folder `sole` that are not as gridgen wrote them, `new` names left out; refused without
    /// `force`.
    fn strangers(&self, sole: &str, new: &[String]) -> Result<Vec<String>, IoError> {
        let Ok(entries) = fs::read_dir(self.root.join(sole)) else { return Ok(Vec::new()) };
        let mut strangers = Vec::new();
        for entry in entries.flatten() {
            let name = format!("{sole}/{}", entry.file_name().to_string_lossy());
            let waiting = entry.file_name().to_string_lossy().starts_with(HOME);
            if self.is_own(&name) || waiting || new.contains(&name) {
                continue;
            }
            if !self.force {
                let changed = self.record.contains_key(&name);
                let fault = if changed { WriteFault::Changed } else { WriteFault::Foreign };
                return Err(fault.at(&self.root.join(name)));
            }
            strangers.push(name);
        }
        Ok(strangers)
    }

    /// Whether the file of a name stays as it is when the new files are put in place.
    pub(crate) fn stays(&self, name: &str) -> bool {
        !self.files().join(name).exists() || self.is_edited(name)
    }

    /// Whether a file of this name was edited and may not be replaced.
    fn is_edited(&self, name: &str) -> bool {
        let there = || standing(&self.root, name, self.record.get(name));
        !self.force
            && (self.rules.editable)(name)
            && matches!(there(), Standing::Changed | Standing::Foreign)
    }

    /// Replaces the results of the folder by the files that were made. Earlier results that are not
    /// among them are removed, and returned; files that last, that users edit, that gridgen did not write, or
    /// that were changed since, stay. Until all new files are complete nothing is replaced.
    pub fn commit(self) -> Result<Vec<PathBuf>, IoError> {
        self.commit_steps(usize::MAX)
    }

    /// [`Self::commit`] that ends after this number of steps, as a process that is killed does.
    pub fn commit_steps(self, most: usize) -> Result<Vec<PathBuf>, IoError> {
        let plan = self.plan()?;
        plan.write(&self.root)?;
        replace::carry_out(&self.root, self.force, most)?;
        Ok(plan.remove.iter().map(|name| self.root.join(name)).collect())
    }

    /// Notices on what stays of earlier runs beside the files that were made: set-ups that a user changed, and
    /// meshes that the new run did not write.
    pub(crate) fn stays_of_earlier(&self) -> Result<Vec<String>, IoError> {
        let names =
            names_below(&self.files()).map_err(|source| IoError::new(&self.root, source))?;
        let edited = names.iter().map(String::as_str).filter(|name| self.is_edited(name));
        let earlier = self.record.keys().filter(|name| self.lasts(name, &names));
        let notice = |what: &str, names: BTreeSet<&str>| {
            let paths = names.iter().map(|name| self.root.join(name).display().to_string());
            (!names.is_empty()).then(|| format!("{what}: {}", paths.collect::<Vec<_>>().join(", ")))
        };
        let edited = notice("kept as you changed them, --force replaces them", edited.collect());
        let earlier = earlier.map(|name| part(name)).collect();
        let earlier = notice("of an earlier run, and not written by this one", earlier);
        Ok(edited.into_iter().chain(earlier).collect())
    }

    /// Whether an earlier result outlasts a run that made files with these names: none of them is its successor,
    /// good or failed, and none lies in the same folder.
    fn lasts(&self, name: &str, names: &[String]) -> bool {
        let subject = |name: &str| part(name).replace(".failed", "");
        (self.rules.lasting)(name)
            && !names.iter().any(|new| subject(new) == subject(name))
            && self.is_own(name)
    }

    fn plan(&self) -> Result<ExchangePlan, IoError> {
        let names =
            names_below(&self.files()).map_err(|source| IoError::new(&self.root, source))?;
        let mut put = Vec::new();
        for name in names.iter().filter(|name| !self.is_edited(name)) {
            self.admit(name)?;
            put.push(Put::new(&self.root, &self.files(), name, (self.rules.completing)(name))?);
        }
        let mut remove: Vec<String> = Vec::new();
        let mut stays = Record::new();
        for (name, print) in &self.record {
            if names.contains(name) {
                continue;
            }
            if (self.rules.editable)(name) || self.lasts(name, &names) {
                stays.insert(name.clone(), *print);
            } else if self.is_own(name) {
                remove.push(name.clone());
            }
        }
        if !names.iter().any(|name| name == RESTART_FILE) && self.is_own(RESTART_FILE) {
            remove.push(RESTART_FILE.to_owned());
        }
        let mut folders: Vec<&str> =
            names.iter().filter_map(|name| (self.rules.sole)(name)).collect();
        folders.dedup();
        for folder in folders {
            let mut strangers = self.strangers(folder, &names)?;
            strangers.retain(|name| !remove.contains(name));
            remove.append(&mut strangers);
        }
        Ok(ExchangePlan { force: self.force, put, remove, stays, old: self.record.clone() })
    }

    fn remove_part(&self) -> Result<(), IoError> {
        let part = home(&self.root).join(PART);
        match fs::remove_dir_all(&part) {
            Err(source) if part.exists() => Err(IoError::new(&self.root, source)),
            _ => Ok(()),
        }
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        // The next opening of the folder removes what cannot be removed now.
        let _ = self.remove_part();
        let home = home(&self.root);
        if !home.join(RECORD).exists() && !home.join(NEW).exists() {
            if cfg!(unix) {
                // There the system can tell a lock that is gone from its namesake; one that stays does no harm.
                let _ = fs::remove_file(&self.lock.path);
            }
            self.lock.file = Err(io::ErrorKind::NotFound.into());
            let _ = fs::remove_dir(home);
            if self.created {
                let _ = fs::remove_dir(&self.root);
            }
        }
    }
}

/// The file or folder of an output folder that a name below it belongs to.
fn part(name: &str) -> &str {
    name.split_once('/').map_or(name, |(part, _)| part)
}

/// Names of the files below a folder, parted by `/`, sorted.
fn names_below(folder: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.file_type()?.is_dir() {
            let below = names_below(&entry.path())?;
            names.extend(below.into_iter().map(|below| format!("{name}/{below}")));
        } else {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

/// A folder held. The operating system lets go of it when the process ends, however it does.
#[derive(Debug)]
struct Lock {
    path: PathBuf,
    /// The file that is locked, or why the file system has no locks.
    file: io::Result<File>,
}

impl Lock {
    /// Takes the lock of `root`, which is created unless it exists. It does not wait:
    /// [`WriteFault::Busy`] where another process has it.
    fn take(root: &Path) -> Result<Self, IoError> {
        let home = home(root);
        let path = home.join(LOCK);
        let refused = |source| IoError::new(root, source);
        for _ in 0..TRIES {
            atomic::create_folder(root)?;
            match fs::create_dir(&home) {
                Err(source) if !home.is_dir() => return Err(refused(source)),
                _ => {}
            }
            let opened =
                OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
            let file = match opened {
                Ok(file) => file,
                // Another process has just let go of the folder, in which it wrote nothing.
                Err(source) if source.kind() == io::ErrorKind::NotFound => continue,
                Err(source) => return Err(refused(source)),
            };
            match file.try_lock() {
                Ok(()) if is_at(&file, &path) => return Ok(Self { path, file: Ok(file) }),
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => break,
                Err(TryLockError::Error(error)) => return Ok(Self { path, file: Err(error) }),
            }
        }
        Err(WriteFault::Busy.at(root))
    }
}

impl Drop for Lock {
    /// Closing the file alone would not unlock it while a child process that was just started has not yet
    /// closed its copy.
    fn drop(&mut self) {
        if let Ok(file) = &self.file {
            // The lock ends with the last copy of the file in any case.
            let _ = file.unlock();
        }
    }
}

/// Whether the open file is still the one at the path: whoever had the lock before may have removed it.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let same = |a: fs::Metadata, b: fs::Metadata| a.ino() == b.ino() && a.dev() == b.dev();
    file.metadata().is_ok_and(|open| fs::metadata(path).is_ok_and(|there| same(open, there)))
}

/// Elsewhere the file stays.
#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> bool {
    true
}
