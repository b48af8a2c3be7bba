//! The output folder: ready before the work, emptied of older results before the new ones.

use std::fs;
use std::io;
use std::path::Path;

use super::{FileKind, IoError, PAGE_FILE, REPORT_FILE, RESTART_FILE, atomic, openfoam};

/// Creates `folder` unless it exists, and writes and removes an empty file in it: a folder that
/// takes no results is found before the work.
///
/// # Errors
///
/// [`IoError`] with the path, sorted by remedy.
pub fn prepare(folder: &Path) -> Result<(), IoError> {
    atomic::create_folder(folder)?;
    atomic::probe(folder)
}

/// Removes what an earlier run wrote into `folder`: meshes, pictures, history, report and restart file
/// under all their names, and parts of files that an interrupted run left.
///
/// What a run writes afterwards stands alone: no mesh of another case beside it, and no good one
/// beside a failed one. Other files and folders are left alone; so is the resolved case, which
/// may be the very case that is running. Of an OpenFOAM case only the mesh is removed.
///
/// # Errors
///
/// [`IoError`] of the first file that cannot be removed; without any that stands there it would
/// pass for a result of this run.
pub fn clear(folder: &Path) -> Result<(), IoError> {
    let kinds = FileKind::ALL.iter().filter(|kind| **kind != FileKind::Openfoam);
    let names = kinds.flat_map(|kind| [kind.file_name(true), kind.file_name(false)]);
    for name in names.chain([REPORT_FILE, PAGE_FILE, RESTART_FILE]) {
        remove(&folder.join(name))?;
    }
    for good in [true, false] {
        openfoam::remove_mesh(&folder.join(FileKind::Openfoam.file_name(good)))?;
    }
    remove_parts(folder)
}

/// Removes what was never completed in `folder`.
pub(super) fn remove_parts(folder: &Path) -> Result<(), IoError> {
    let entries = fs::read_dir(folder).map_err(|source| IoError::new(folder, source))?;
    for path in entries.flatten().map(|entry| entry.path()) {
        if atomic::is_part(&path) {
            if path.is_dir() {
                fs::remove_dir_all(&path).map_err(|source| IoError::new(&path, source))?;
            } else {
                remove(&path)?;
            }
        }
    }
    Ok(())
}

/// Bytes of a file that takes the system long to remove.
const LARGE: u64 = 16 << 20;

/// Removes a file, or nothing where there is none.
pub(super) fn remove(path: &Path) -> Result<(), IoError> {
    // A file that is open goes when it is closed, and no more than its name goes at once. Elsewhere
    // than on Unix the name would stay, too.
    let large = |path| fs::symlink_metadata(path).is_ok_and(|it| it.is_file() && it.len() >= LARGE);
    let open = if cfg!(unix) && large(path) { fs::File::open(path).ok() } else { None };
    let removed = fs::remove_file(path);
    if let Some(file) = open {
        // Nobody waits for that; where it cannot be done beside it is done here.
        let _ = std::thread::Builder::new().spawn(move || drop(file));
    }
    match removed {
        Err(source) if source.kind() != io::ErrorKind::NotFound && !path.is_dir() => {
            Err(IoError::new(path, source))
        }
        _ => Ok(()),
    }
}
