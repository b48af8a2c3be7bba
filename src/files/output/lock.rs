//! Who may write into a folder: one process at a time.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use crate::files::{IoError, atomic};

/// Name of the file that is locked.
const FILE: &str = "lock";

/// Times that a lock is tried for which vanishes while it is taken.
const TRIES: usize = 100;

/// A folder held. The operating system lets go of it when the process ends, however it does.
#[derive(Debug)]
pub(super) struct Lock {
    path: PathBuf,
    /// None where the file system has no locks.
    file: Option<File>,
    /// Why it has none.
    pub(super) trouble: Option<io::Error>,
}

impl Lock {
    /// Takes the lock in `home`, the folder of gridgen's own files in `root`; both are created unless
    /// they exist. It waits for nobody.
    ///
    /// # Errors
    ///
    /// [`IoError::Busy`] where another process has it; else [`IoError`] with the folder.
    pub(super) fn take(root: &Path, home: &Path) -> Result<Self, IoError> {
        let path = home.join(FILE);
        let refused = |source| IoError::new(root, source);
        for _ in 0..TRIES {
            atomic::create_folder(root)?;
            match fs::create_dir(home) {
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
                Ok(()) if is_at(&file, &path) => {
                    return Ok(Self { path, file: Some(file), trouble: None });
                }
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    return Err(IoError::Busy { folder: root.to_path_buf() });
                }
                Err(TryLockError::Error(error)) => {
                    return Ok(Self { path, file: None, trouble: Some(error) });
                }
            }
        }
        Err(IoError::Busy { folder: root.to_path_buf() })
    }

    /// Lets go of the folder and leaves no file for that, where the system can tell a file that is
    /// gone from its namesake.
    pub(super) fn vanish(&mut self) {
        if cfg!(unix) {
            // What cannot be removed does no harm.
            let _ = fs::remove_file(&self.path);
        }
        self.file = None;
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
