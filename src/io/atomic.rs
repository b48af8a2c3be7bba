//! Files that appear whole or not at all.

use std::fs;
use std::io::{self, BufWriter};
use std::path::Path;

use tempfile::NamedTempFile;

use super::IoError;

/// Bytes gathered before they are handed to the operating system.
const BUFFER_BYTES: usize = 1 << 20;

/// Writer handed to the functions that produce a file's contents.
pub type Writer = BufWriter<NamedTempFile>;

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
    F: FnOnce(&mut Writer) -> io::Result<()>,
{
    let temporary = create_beside(path)?;
    let mut writer = BufWriter::with_capacity(BUFFER_BYTES, temporary);
    contents(&mut writer).map_err(|source| IoError::new(path, source))?;
    let temporary = writer.into_inner().map_err(|error| IoError::new(path, error.into_error()))?;
    temporary.persist(path).map_err(|error| persist_error(path, error.error))?;
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

fn create_beside(path: &Path) -> Result<NamedTempFile, IoError> {
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".gridgen-").suffix(".part");
    share_like_other_files(&mut builder);
    builder.tempfile_in(folder).map_err(|source| {
        if let Some(file) = first_file(folder) {
            IoError::NotAFolder { path: file.to_path_buf() }
        } else if source.kind() == io::ErrorKind::NotFound {
            IoError::MissingFolder { path: path.to_path_buf(), folder: folder.to_path_buf() }
        } else {
            IoError::new(path, source)
        }
    })
}

/// Temporary files are private by default; a result has the permissions of any other file.
#[cfg(unix)]
fn share_like_other_files(builder: &mut tempfile::Builder<'_, '_>) {
    use std::os::unix::fs::PermissionsExt;

    // The operating system takes the user's umask off these bits.
    builder.permissions(fs::Permissions::from_mode(0o666));
}

#[cfg(not(unix))]
fn share_like_other_files(_: &mut tempfile::Builder<'_, '_>) {}

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
