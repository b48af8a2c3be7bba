//! Files that appear whole or not at all.

use std::fs::{self, File, TryLockError};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::IoError;
use super::paced::Paced;

/// Beginning and end of the name of a file that is not complete yet.
const PART: [&str; 2] = [".gridgen-", ".part"];

/// Bytes gathered before they are handed to the operating system.
const BUFFER_BYTES: usize = 1 << 20;

/// Writer handed to the functions that produce a file's contents.
pub type Writer<'a> = BufWriter<Paced<'a>>;

/// Writes a file under a temporary name in its own folder and renames it when it is complete.
///
/// A reader sees the old file or the new one, never a part. When `contents` or the disk fails the
/// temporary file is removed and an older file of that name stays as it was.
///
/// # Errors
///
/// [`IoError`] with the path, sorted by remedy.
pub fn write<F>(path: &Path, contents: F) -> Result<(), IoError>
where
    F: FnOnce(&mut Writer<'_>) -> io::Result<()>,
{
    make(path, contents)?.place()
}

/// A complete file beside its place; it is removed where it is not placed.
#[derive(Debug)]
pub struct Made {
    file: NamedTempFile,
    path: PathBuf,
}

/// Makes a file like [`write()`], but does not rename it yet.
///
/// # Errors
///
/// As [`write()`].
pub fn make<F>(path: &Path, contents: F) -> Result<Made, IoError>
where
    F: FnOnce(&mut Writer<'_>) -> io::Result<()>,
{
    let file = create_beside(path)?;
    fill(file.as_file(), contents).map_err(|source| IoError::new(path, source))?;
    Ok(Made { file, path: path.to_path_buf() })
}

impl Made {
    /// Removes the older file from its place, if there is one.
    ///
    /// # Errors
    ///
    /// [`IoError`] with the path, sorted by remedy.
    pub fn clear(&self) -> Result<(), IoError> {
        match fs::remove_file(&self.path) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                Err(IoError::new(&self.path, source))
            }
            _ => Ok(()),
        }
    }

    /// Puts the file in its place.
    ///
    /// # Errors
    ///
    /// [`IoError`] with the path, sorted by remedy.
    pub fn place(self) -> Result<(), IoError> {
        let Self { file, path } = self;
        file.persist(&path).map_err(|error| persist_error(&path, error.error))?;
        Ok(())
    }
}

fn fill<F>(file: &File, contents: F) -> io::Result<()>
where
    F: FnOnce(&mut Writer<'_>) -> io::Result<()>,
{
    let mut writer = BufWriter::with_capacity(BUFFER_BYTES, Paced::new(file));
    contents(&mut writer)?;
    // A disk on the network may say only now that it is full.
    writer.into_inner()?.finish()
}

/// Writes a file like [`write()`], but replaces none.
///
/// # Errors
///
/// [`IoError::Exists`] where something of that name stands; else [`IoError`] with the path, sorted
/// by remedy.
pub fn write_new<F>(path: &Path, contents: F) -> Result<(), IoError>
where
    F: FnOnce(&mut Writer<'_>) -> io::Result<()>,
{
    let temporary = create_beside(path)?;
    fill(temporary.as_file(), contents).map_err(|source| IoError::new(path, source))?;
    temporary.persist_noclobber(path).map_err(|error| match error.error.kind() {
        io::ErrorKind::AlreadyExists => IoError::Exists { path: path.to_path_buf() },
        _ => persist_error(path, error.error),
    })?;
    Ok(())
}

/// Creates a folder and those above it unless they exist.
///
/// # Errors
///
/// [`IoError`] with the path, sorted by remedy.
pub fn create_folder(path: &Path) -> Result<(), IoError> {
    fs::create_dir_all(path).map_err(|source| match first_file(path) {
        Some(file) => IoError::NotAFolder { path: file.to_path_buf() },
        None => IoError::new(path, source),
    })
}

/// Creates a folder like [`create_folder`], and writes and removes an empty file in it: a folder that
/// takes no results is found before the work.
///
/// # Errors
///
/// [`IoError`] with the path, sorted by remedy.
pub fn prepare_folder(folder: &Path) -> Result<(), IoError> {
    create_folder(folder)?;
    create_in(folder).map(drop).map_err(|source| IoError::new(folder, source))
}

/// Whether this is the name of a file that is not complete.
fn is_part(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.starts_with(PART[0]) && name.ends_with(PART[1])
}

/// As [`sweep`], of the folder that the file `path` is in.
pub fn sweep_beside(path: &Path) {
    sweep(folder_of(path));
}

/// Removes from `folder` what was never completed by processes that are gone: a part is locked as long
/// as somebody writes it. What cannot be removed stays.
pub fn sweep(folder: &Path) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    for path in entries.filter(|path| is_part(path)) {
        // Opened for writing, as locks on some file systems need it.
        let Ok(file) = File::options().write(true).open(&path) else { continue };
        if file.try_lock().is_ok() {
            let _ = fs::remove_file(&path);
        }
    }
}

/// A file in `folder` that is locked, and removed when it is dropped.
///
/// It is opened by the standard library: temporary files proper are private to the user, and
/// their errors name a path that nobody asked for.
fn create_in(folder: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(PART[0]).suffix(PART[1]);
    loop {
        let file = builder.make_in(folder, |path| File::create_new(path))?;
        // Between the two somebody who sweeps may have come first.
        match file.as_file().try_lock() {
            Ok(()) if !file.path().exists() => {}
            Err(TryLockError::WouldBlock) => {}
            // Where there are no locks nobody sweeps either.
            _ => return Ok(file),
        }
    }
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

fn create_beside(path: &Path) -> Result<NamedTempFile, IoError> {
    let folder = folder_of(path);
    create_in(folder).map_err(|source| {
        if let Some(file) = first_file(folder) {
            IoError::NotAFolder { path: file.to_path_buf() }
        } else if source.kind() == io::ErrorKind::NotFound {
            IoError::MissingFolder { path: path.to_path_buf(), folder: folder.to_path_buf() }
        } else {
            IoError::new(path, source)
        }
    })
}

/// Renaming onto a folder is refused with different words on different systems.
fn persist_error(path: &Path, source: io::Error) -> IoError {
    if path.is_dir() {
        IoError::IsAFolder { path: path.to_path_buf() }
    } else {
        IoError::new(path, source)
    }
}

/// The part of a folder's path that exists and is no folder.
fn first_file(folder: &Path) -> Option<&Path> {
    folder.ancestors().find(|part| part.exists() && !part.is_dir())
}
