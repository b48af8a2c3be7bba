//! Files that appear whole or not at all, and whose bytes go to the disk while more of them are made; and what may be
//! replaced at the paths that are written to: docs/conventions.md has the rule.
//! Errors name the path and are sorted by remedy.

use std::env;
use std::fs::{self, File, TryLockError};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::thread::{self, JoinHandle};

use tempfile::NamedTempFile;

use super::{IoError, WriteFault};

/// Beginning and end of the name of a file that is not complete yet.
const PART: [&str; 2] = [".gridgen-", ".part"];

/// Bytes gathered before they are handed to the operating system. Longer pieces, as of arrays, are handed to it as they
/// are.
const BUFFER_BYTES: usize = 1 << 16;

/// Writer handed to the functions that produce a file's contents.
pub type Writer<'a> = BufWriter<Paced<'a>>;

/// Writes a file under a temporary name in its own folder and renames it when it is complete.
///
/// A reader sees the old file or the new one, never a part. When `contents` or the disk fails the
/// temporary file is removed and an older file of that name stays as it was. Links are followed, and what is
/// no regular file is written to when all is complete.
pub fn write<F>(path: &Path, contents: F) -> Result<(), IoError>
where
    F: FnOnce(&mut Writer<'_>) -> io::Result<()>,
{
    make(path, contents)?.place()
}

/// Writes a file like [`write()`], but replaces none: [`WriteFault::Exists`] where something of that
/// name stands.
pub fn write_new<F>(path: &Path, contents: F) -> Result<(), IoError>
where
    F: FnOnce(&mut Writer<'_>) -> io::Result<()>,
{
    let Made { file, path, target } = make(path, contents)?;
    let WriteTarget::File(target) = target else { return Err(WriteFault::Exists.at(&path)) };
    file.persist_noclobber(target).map(drop).map_err(|error| match error.error.kind() {
        io::ErrorKind::AlreadyExists => WriteFault::Exists.at(&path),
        _ => persist_error(&path, error.error),
    })
}

/// A complete file in the folder of its place; it is removed where it is not placed.
#[derive(Debug)]
pub struct Made {
    file: NamedTempFile,
    path: PathBuf,
    target: WriteTarget,
}

/// Makes a file like [`write()`], but does not rename it yet.
pub fn make<F>(path: &Path, contents: F) -> Result<Made, IoError>
where
    F: FnOnce(&mut Writer<'_>) -> io::Result<()>,
{
    let target = WriteTarget::of(path);
    let file = match &target {
        WriteTarget::File(target) => create_beside(target)?,
        WriteTarget::Through(_) => {
            create_in(&env::temp_dir()).map_err(|e| IoError::new(path, e))?
        }
    };
    let mut writer = BufWriter::with_capacity(BUFFER_BYTES, Paced::new(file.as_file()));
    let filled = contents(&mut writer).and_then(|()| {
        // A disk on the network may say only now that it is full.
        writer.into_inner()?.finish()
    });
    filled.map_err(|source| IoError::new(path, source))?;
    Ok(Made { file, path: path.to_path_buf(), target })
}

impl Made {
    /// Removes the file that it is to replace.
    pub(crate) fn clear(&self) -> Result<(), IoError> {
        if let WriteTarget::File(target) = &self.target { remove(target) } else { Ok(()) }
    }

    /// Puts the file in its place, or writes it to what is no regular file.
    pub fn place(self) -> Result<(), IoError> {
        let Self { mut file, path, target } = self;
        match target {
            WriteTarget::File(target) => {
                file.persist(target).map(drop).map_err(|error| persist_error(&path, error.error))
            }
            WriteTarget::Through(target) => {
                let copied = file.rewind().and_then(|()| io::copy(&mut file, &mut open(&target)?));
                copied.map(drop).map_err(|source| IoError::new(&path, source))
            }
        }
    }
}

/// Creates a folder and those above it unless they exist.
pub fn create_folder(path: &Path) -> Result<(), IoError> {
    fs::create_dir_all(path).map_err(|source| match first_file(path) {
        Some(file) => WriteFault::NotAFolder.at(file),
        None => IoError::new(path, source),
    })
}

/// Removes a file, or nothing where there is none.
pub(crate) fn remove(path: &Path) -> Result<(), IoError> {
    match fs::remove_file(path) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => Err(IoError::new(path, source)),
        _ => Ok(()),
    }
}

/// Removes from `folder` the parts of files that processes left incomplete: a part is locked as long as it
/// is written. Parts that cannot be removed stay.
pub fn sweep(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let (name, path) = (entry.file_name(), entry.path());
        let name = name.to_string_lossy();
        if !name.starts_with(PART[0]) || !name.ends_with(PART[1]) {
            continue;
        }
        // Opened for writing, as locks on some file systems need it.
        let opened = File::options().write(true).open(&path);
        if opened.is_ok_and(|file| file.try_lock().is_ok()) {
            let _ = fs::remove_file(&path);
        }
    }
}

/// A file in `folder` that is locked, and removed when it is dropped.
///
/// It is opened by the standard library: temporary files proper are private to the user, and
/// their errors name a path that the user did not give.
fn create_in(folder: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(PART[0]).suffix(PART[1]);
    loop {
        let file = builder.make_in(folder, |path| File::create_new(path))?;
        // Between the two another process that removes leftovers may have come first.
        match file.as_file().try_lock() {
            Ok(()) if !file.path().exists() => {}
            Err(TryLockError::WouldBlock) => {}
            // No process removes leftovers on a file system without locks.
            _ => return Ok(file),
        }
    }
}

fn create_beside(path: &Path) -> Result<NamedTempFile, IoError> {
    let folder = folder_of(path);
    create_in(folder).map_err(|source| {
        if let Some(file) = first_file(folder) {
            WriteFault::NotAFolder.at(file)
        } else if source.kind() == io::ErrorKind::NotFound {
            WriteFault::MissingFolder(folder.to_path_buf()).at(path)
        } else {
            IoError::new(path, source)
        }
    })
}

/// Renaming onto a folder is refused with different words on different systems.
fn persist_error(path: &Path, source: io::Error) -> IoError {
    if path.is_dir() { WriteFault::IsAFolder.at(path) } else { IoError::new(path, source) }
}

/// The part of a folder's path that exists and is no folder.
fn first_file(folder: &Path) -> Option<&Path> {
    folder.ancestors().find(|part| part.symlink_metadata().is_ok() && !part.is_dir())
}

/// Bytes between two orders to the disk: many times what an order costs, and few of a large file.
const STRIDE: usize = 32 << 20;

/// A file that is on the disk when it is finished.
///
/// The system keeps written data in memory until it is asked to give it to the disk. Asked at the
/// end only, a file takes the time of the copies and then that of the disk; here another thread waits
/// for the disk meanwhile.
#[derive(Debug)]
pub struct Paced<'a> {
    file: &'a File,
    /// Bytes written since the last order.
    since: usize,
    /// The thread that waits for the disk.
    disk: Option<JoinHandle<io::Result<()>>>,
}

impl<'a> Paced<'a> {
    fn new(file: &'a File) -> Self {
        Self { file, since: 0, disk: None }
    }

    pub(crate) fn file(&self) -> &'a File {
        self.file
    }

    /// Waits until all is on the disk, or returns what it could not take, now or before.
    fn finish(mut self) -> io::Result<()> {
        self.wait()?;
        self.file.sync_data()
    }

    fn wait(&mut self) -> io::Result<()> {
        let ended = |_| io::Error::other("the thread that waits for the disk ended");
        self.disk.take().map_or(Ok(()), |disk| disk.join().map_err(ended)?)
    }

    /// Starts to flush written data to the disk, while more is written, unless an earlier order is not done yet.
    fn order(&mut self) -> io::Result<()> {
        if self.disk.as_ref().is_none_or(JoinHandle::is_finished) {
            self.wait()?;
            let file = self.file.try_clone()?;
            self.disk = Some(thread::Builder::new().spawn(move || file.sync_data())?);
            self.since = 0;
        }
        Ok(())
    }
}

impl Write for Paced<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.since += written;
        if self.since >= STRIDE {
            self.order()?;
        }
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Seek for Paced<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

/// Most links that are followed one after the other, as on Linux.
const LINKS: usize = 40;

/// Target of a path, behind its links.
#[derive(Debug)]
enum WriteTarget {
    /// A file, which a complete one replaces or makes.
    File(PathBuf),
    /// A device, a pipe, or what a process has open: it is written to, and stays.
    Through(PathBuf),
}

impl WriteTarget {
    fn of(path: &Path) -> Self {
        let mut path = path.to_path_buf();
        for _ in 0..LINKS {
            // A missing file, as most are, is open in no process.
            if fs::symlink_metadata(&path).is_err() {
                break;
            }
            if folder_of(&path).canonicalize().is_ok_and(|folder| folder.starts_with("/proc")) {
                return Self::Through(path);
            }
            let Ok(link) = fs::read_link(&path) else { break };
            path = folder_of(&path).join(link);
        }
        let special = fs::metadata(&path).is_ok_and(|it| !it.is_file() && !it.is_dir());
        if special { Self::Through(path) } else { Self::File(path) }
    }
}

/// Opens what is written through.
fn open(path: &Path) -> io::Result<File> {
    // Opened anew, a file that standard output goes to would be written from its start.
    #[cfg(unix)]
    if path.ends_with("fd/1") {
        return std::os::fd::AsFd::as_fd(&io::stdout()).try_clone_to_owned().map(File::from);
    }
    File::options().append(true).open(path)
}

/// Refuses to write to a file that is read, or twice to one, whatever names and links lead there, by [`WriteFault::Same`].
pub fn check_apart<'p>(
    outputs: impl IntoIterator<Item = Option<&'p Path>>,
    inputs: impl IntoIterator<Item = Option<&'p Path>>,
) -> Result<(), IoError> {
    let mut others: Vec<&Path> = inputs.into_iter().flatten().collect();
    for output in outputs.into_iter().flatten() {
        if let Some(other) = others.iter().find(|other| is_same(output, other)) {
            return Err(WriteFault::Same(other.to_path_buf()).at(output));
        }
        others.push(output);
    }
    Ok(())
}

/// Refuses to replace a file whose name the program has made, unless it has the `mark` of gridgen's, by
/// [`WriteFault::Foreign`].
pub fn check_own(path: &Path, mark: &str) -> Result<(), IoError> {
    let own = |bytes: Vec<u8>| memchr::memmem::find(&bytes, mark.as_bytes()).is_some();
    if path.exists() && !(path.is_file() && fs::read(path).is_ok_and(own)) {
        return Err(WriteFault::Foreign.at(path));
    }
    Ok(())
}

/// Whether two paths lead to one file, which need not be there.
fn is_same(a: &Path, b: &Path) -> bool {
    // Links need not be followed one by one where one of the two files alone is there, as a new one and an input.
    if fs::metadata(a).is_ok() != fs::metadata(b).is_ok() {
        return false;
    }
    let (WriteTarget::File(a), WriteTarget::File(b)) = (WriteTarget::of(a), WriteTarget::of(b))
    else {
        return false;
    };
    #[cfg(unix)]
    if let (Ok(a), Ok(b)) = (fs::metadata(&a), fs::metadata(&b)) {
        use std::os::unix::fs::MetadataExt;
        return (a.dev(), a.ino()) == (b.dev(), b.ino());
    }
    let [a, b] = [a, b]
        .map(|path| Some((folder_of(&path).canonicalize().ok()?, path.file_name()?.to_owned())));
    a.is_some() && a == b
}

/// The folder of a file.
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."))
}
