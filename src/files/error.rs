//! What can go wrong while results are written.

use std::io;
use std::path::{Path, PathBuf};

use crate::memory::shown;

/// A result could not be written. Nothing stands under the final name unless it stood there
/// before.
#[derive(Debug, thiserror::Error)]
#[error("cannot {} {}: {fault}", fault.verb(), path.display())]
pub struct IoError {
    /// File or folder that was to be written.
    pub path: PathBuf,
    /// Why it could not be.
    #[source]
    pub fault: WriteFault,
}

/// Why a file or a folder could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteFault {
    /// The output folder does not exist.
    #[error("the folder {} does not exist", .0.display())]
    MissingFolder(PathBuf),
    /// Something that is no folder stands where the output folder should be.
    #[error("it is a file, a folder was expected")]
    NotAFolder,
    /// A folder stands where the file should be.
    #[error("a folder of that name stands there")]
    IsAFolder,
    /// The user may not write here, or the file system is mounted read-only.
    #[error("{0}")]
    Denied(io::Error),
    /// The disk or the user's share of it is full.
    #[error("{0}")]
    Full(io::Error),
    /// The name of the file is that of no format of meshes.
    #[error("no format has such a name")]
    NoFormat,
    /// The format cannot number the parts of the mesh.
    #[error("{count} {what}, the format numbers at most {most}")]
    TooLarge {
        /// What there would be too many of.
        what: &'static str,
        /// As many as there would be.
        count: u128,
        /// As many as there may be.
        most: u128,
    },
    /// The cells of the mesh make no cells of a higher order.
    #[error("{count} {what} are no multiple of {order}, the order of the curved cells")]
    Indivisible {
        /// Which cells.
        what: &'static str,
        /// How many there are.
        count: usize,
        /// The order.
        order: usize,
    },
    /// A corner of the wall would be inside of the side of a curved cell.
    #[error(
        "the wall has a corner at its point {point}, which is no multiple of {order}, the order of the curved cells"
    )]
    CornerInSide {
        /// Counted from 0, the first of the wall.
        point: usize,
        /// The order.
        order: usize,
    },
    /// Curved cells that are not shown to have a positive Jacobian determinant everywhere.
    #[error("cells of order {order} that are folded: {folded_cells}, the worst at ({:.6}, {:.6})", at[0], at[1])]
    FoldedCells {
        /// How many.
        folded_cells: usize,
        /// Their order.
        order: usize,
        /// Centre of the worst, in the unit of the mesh.
        at: [f64; 2],
    },
    /// The disk has not the space that the file needs at least.
    #[error("{} or more are needed, {} are free on the disk", shown(*needed), shown(*free))]
    NoRoom {
        /// Bytes needed, at least.
        needed: u64,
        /// Bytes free.
        free: u64,
    },
    /// Any other failure of the operating system.
    #[error("{0}")]
    System(io::Error),
    /// A file of that name stands there, which is not to be replaced.
    #[error("a file of that name stands there")]
    Exists,
    /// Something stands where a result should go that gridgen did not write.
    #[error("gridgen did not write what stands there")]
    Foreign,
    /// Something stands where a result should go that gridgen wrote and that was changed since.
    #[error("the file there was changed since gridgen wrote it")]
    Changed,
    /// The command reads or writes the file under this name, too.
    #[error("it is the same file as {}", .0.display())]
    Same(PathBuf),
    /// Another process writes into the output folder.
    #[error("another run of gridgen does so")]
    Busy,
    /// The plotting library refused to draw.
    #[error("{0}")]
    Draw(String),
}

impl WriteFault {
    fn verb(&self) -> &'static str {
        match self {
            Self::NotAFolder | Self::Busy => "write into",
            Self::Draw(_) => "draw",
            _ => "write",
        }
    }

    pub(crate) fn at(self, path: &Path) -> IoError {
        IoError { path: path.to_path_buf(), fault: self }
    }
}

impl IoError {
    /// Sorts a failure to write `path` by what the user can do about it.
    pub(crate) fn new(path: &Path, source: io::Error) -> Self {
        let fault = match source.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                WriteFault::Denied(source)
            }
            io::ErrorKind::StorageFull
            | io::ErrorKind::QuotaExceeded
            | io::ErrorKind::FileTooLarge => WriteFault::Full(source),
            io::ErrorKind::IsADirectory => WriteFault::IsAFolder,
            _ => WriteFault::System(source),
        };
        fault.at(path)
    }

    /// The same error with its paths elsewhere.
    pub(crate) fn moved(mut self, place: impl Fn(&Path) -> PathBuf) -> Self {
        self.path = place(&self.path);
        if let WriteFault::MissingFolder(folder) = &mut self.fault {
            *folder = place(folder);
        }
        self
    }

    /// What the user can do about it.
    pub fn hint(&self) -> &str {
        match &self.fault {
            WriteFault::MissingFolder(_) => "create the folder first, or choose another one",
            WriteFault::NotAFolder => "remove or rename that file, or choose another output folder",
            WriteFault::IsAFolder => {
                "remove or rename that folder, or choose another output folder"
            }
            WriteFault::Denied(_) => {
                "choose an output folder you may write to, or change its permissions"
            }
            WriteFault::Exists => "choose another name, or remove that file first",
            WriteFault::Same(_) => "choose another name, or another output folder",
            WriteFault::NoFormat => "name it .vts, .vtk, .p3d, .su2, .cgns or .msh",
            WriteFault::TooLarge { .. } => "choose fewer cells over the span, or a coarser grid",
            WriteFault::Indivisible { .. } => {
                "choose an order that divides all counts of cells, or a mesh of another size"
            }
            WriteFault::CornerInSide { .. } => {
                "choose an order that divides it, or a mesh with corners at such points"
            }
            WriteFault::FoldedCells { .. } => {
                "choose a lower order, or a mesh of closer points there"
            }
            WriteFault::Foreign | WriteFault::Changed => {
                "move it away, choose another output folder, or replace it with --force"
            }
            WriteFault::Busy => {
                "wait until that one is done, or choose another output folder; processes that are to share \
                 a grid or a batch are started by srun, mpirun or torchrun"
            }
            WriteFault::NoRoom { .. } | WriteFault::Full(_) => {
                "free some space, choose an output folder on another disk, or ask for fewer files"
            }
            WriteFault::System(_) => {
                "check the output folder and the disk it is on, then try again"
            }
            WriteFault::Draw(_) => "leave the pictures out: --set output.pictures=false",
        }
    }
}
