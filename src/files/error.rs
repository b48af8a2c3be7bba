//! What can go wrong while results are written.

use std::io;
use std::path::{Path, PathBuf};

use crate::memory::shown;

/// A result could not be written. Nothing stands under the final name unless it stood there
/// before.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IoError {
    /// The output folder does not exist.
    #[error("cannot write {}: the folder {} does not exist", path.display(), folder.display())]
    MissingFolder {
        /// File that was to be written.
        path: PathBuf,
        /// Folder that was expected.
        folder: PathBuf,
    },
    /// Something that is no folder stands where the output folder should be.
    #[error("cannot write into {}: it is a file, a folder was expected", path.display())]
    NotAFolder {
        /// What stands there.
        path: PathBuf,
    },
    /// A folder stands where the file should be.
    #[error("cannot write {}: a folder of that name stands there", path.display())]
    IsAFolder {
        /// File that was to be written.
        path: PathBuf,
    },
    /// The user may not write here, or the file system is mounted read-only.
    #[error("cannot write {}: {source}", path.display())]
    Denied {
        /// File or folder that was to be written.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// The disk or the user's share of it is full.
    #[error("cannot write {}: {source}", path.display())]
    Full {
        /// File that was to be written.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// The format cannot number the parts of the mesh.
    #[error("cannot write {}: {count} {what}, the format numbers at most {most}", path.display())]
    TooLarge {
        /// File that was to be written.
        path: PathBuf,
        /// What there would be too many of.
        what: &'static str,
        /// As many as there would be.
        count: u128,
        /// As many as there may be.
        most: u128,
    },
    /// The disk has not the room that the file needs at least.
    #[error("cannot write {}: {} or more are needed, {} are free on the disk", path.display(), shown(*needed), shown(*free))]
    NoRoom {
        /// File that was to be written.
        path: PathBuf,
        /// Bytes needed, at least.
        needed: u64,
        /// Bytes free.
        free: u64,
    },
    /// Any other failure of the operating system.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// File that was to be written.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// A file of that name stands there, which is not to be replaced.
    #[error("cannot write {}: a file of that name stands there", path.display())]
    Exists {
        /// File that was to be written.
        path: PathBuf,
    },
    /// Something stands where a result should go that is not as gridgen wrote it.
    #[error("cannot write {}: {}", path.display(), whose(*changed))]
    InTheWay {
        /// What stands there.
        path: PathBuf,
        /// Whether gridgen wrote it, and somebody changed it since.
        changed: bool,
    },
    /// Another process writes into the output folder.
    #[error("cannot write into {}: another run of gridgen does so", folder.display())]
    Busy {
        /// The folder.
        folder: PathBuf,
    },
    /// The plotting library refused to draw.
    #[error("cannot draw {}: {reason}", path.display())]
    Draw {
        /// Picture that was to be written.
        path: PathBuf,
        /// What the library said.
        reason: String,
    },
}

/// What is said of a file that is in the way.
fn whose(changed: bool) -> &'static str {
    if changed {
        "the file there was changed since gridgen wrote it"
    } else {
        "gridgen did not write what stands there"
    }
}

impl IoError {
    /// Sorts a failure to write `path` by what the user can do about it.
    pub(crate) fn new(path: &Path, source: io::Error) -> Self {
        let path = path.to_path_buf();
        match source.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                Self::Denied { path, source }
            }
            io::ErrorKind::StorageFull
            | io::ErrorKind::QuotaExceeded
            | io::ErrorKind::FileTooLarge => Self::Full { path, source },
            io::ErrorKind::IsADirectory => Self::IsAFolder { path },
            _ => Self::Write { path, source },
        }
    }

    /// The same error with its paths elsewhere.
    pub(crate) fn moved(mut self, place: impl Fn(&Path) -> PathBuf) -> Self {
        match &mut self {
            Self::MissingFolder { path, folder } => {
                (*path, *folder) = (place(path), place(folder));
            }
            Self::NotAFolder { path }
            | Self::IsAFolder { path }
            | Self::Denied { path, .. }
            | Self::Full { path, .. }
            | Self::TooLarge { path, .. }
            | Self::NoRoom { path, .. }
            | Self::Write { path, .. }
            | Self::Exists { path }
            | Self::InTheWay { path, .. }
            | Self::Draw { path, .. }
            | Self::Busy { folder: path } => *path = place(path),
        }
        self
    }

    /// What the user can do about it.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            Self::MissingFolder { .. } => "create the folder first, or choose another one",
            Self::NotAFolder { .. } => {
                "remove or rename that file, or choose another output folder"
            }
            Self::IsAFolder { .. } => {
                "remove or rename that folder, or choose another output folder"
            }
            Self::Denied { .. } => {
                "choose an output folder you may write to, or change its permissions"
            }
            Self::Exists { .. } => "choose another name, or remove that file first",
            Self::TooLarge { .. } => "choose fewer cells over the span, or a coarser grid",
            Self::InTheWay { .. } => {
                "move it away, choose another output folder, or replace it with --force"
            }
            Self::Busy { .. } => "wait until that one is done, or choose another output folder",
            Self::NoRoom { .. } | Self::Full { .. } => {
                "free some space, choose an output folder on another disk, or ask for fewer files"
            }
            Self::Write { .. } => "check the output folder and the disk it is on, then try again",
            Self::Draw { .. } => "leave the pictures out: --set output.pictures=false",
        }
    }
}
