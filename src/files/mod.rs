//! Files and folders: written whole or not at all, locked while they are written, read within bounds.
//!
//! Every file is written under a temporary name and renamed when it is complete
//! ([`atomic::write`]); the files of a run replace those of the last one together
//! ([`output::Output`]).

pub(crate) mod atomic;
pub(crate) mod contents;
pub(crate) mod output;
pub(crate) mod pieces;
pub mod record;
pub mod restart;

use std::io;
use std::path::{Path, PathBuf};

pub use self::pieces::ByteSink;
use crate::diagnostics::errors;
use crate::memory::shown;

/// Name of the report in the output folder, the same for good and failed runs.
pub const REPORT_FILE: &str = "report.json";

/// Name of the page in the output folder, the same for good and failed runs.
pub const PAGE_FILE: &str = "report.html";

/// Name of the restart file in the output folder.
pub const RESTART_FILE: &str = "restart.bin";

/// Name of the resolved case in the output folder.
pub const CASE_FILE: &str = "case.toml";

/// Name of the reference of movements in the output folder.
pub const REFERENCE_FILE: &str = "reference.grd";

errors! {
    /// A result could not be written. Nothing has the final name unless it was there before.
    #[error("cannot {} {}: {fault}", fault.verb(), path.display())]
    pub struct IoError { path: PathBuf, #[source] fault: WriteFault }
}

/// The hint where the disk is full.
const FULL: &str =
    "free some space, choose an output folder on another disk, or ask for fewer files";

errors! {
    /// Reasons for which a file or a folder cannot be written.
    #[derive(Debug, thiserror::Error)]
    #[class(Input)]
    pub enum WriteFault {
        #[error("the folder {} does not exist", .0.display())]
        #[hint("create the folder first, or choose another one")]
        MissingFolder(PathBuf),
        #[error("it is a file, a folder was expected")]
        #[hint("remove or rename that file, or choose another output folder")]
        NotAFolder,
        #[error("there is a folder of that name")]
        #[hint("remove or rename that folder, or choose another output folder")]
        IsAFolder,
        /// The user may not write here, or the file system is mounted read-only.
        #[error("{0}")]
        #[hint("choose an output folder you may write to, or change its permissions")]
        Denied(io::Error),
        /// The disk or the user's share of it is full.
        #[error("{0}")]
        #[hint("{FULL}")]
        Full(io::Error),
        #[error("no format has such a name")]
        #[hint("name it .vts, .vtk, .p3d, .su2, .cgns or .msh")]
        NoFormat,
        #[error("{count} {what}, the format numbers at most {most}")]
        #[hint("choose fewer cells over the span, or a coarser grid")]
        TooLarge { what: &'static str, count: u128, most: u128 },
        #[error("{count} {what} are no multiple of {order}, the order of the curved cells")]
        #[hint("choose an order that divides all counts of cells, or a mesh of another size")]
        Indivisible { what: &'static str, count: usize, order: usize },
        /// A C-grid around a base without the block behind that.
        #[error("the block behind its base is in another file, and the format needs both")]
        #[hint("convert it to .vts, .vtk or Plot3D, or name the format in output.formats of the case")]
        NotWelded,
        /// `point` is counted from 0, the first of the wall.
        #[error(
            "the wall has a corner at its point {point}, which is no multiple of {order}, the order of the curved \
             cells"
        )]
        #[hint("choose an order that divides it, or a mesh with corners at such points")]
        CornerInSide { point: usize, order: usize },
        /// Curved cells that are not shown to have a positive Jacobian determinant everywhere.
        /// `at`: centre of the worst, in the unit of the mesh.
        #[error("cells of order {order} that are folded: {folded_cells}, the worst at ({:.6}, {:.6})", at[0], at[1])]
        #[hint("choose a lower order, or a mesh of closer points there")]
        #[class(Unsolved)]
        FoldedCells { folded_cells: usize, order: usize, at: [f64; 2] },
        /// `needed`: bytes needed, at least.
        /// `free`: bytes free.
        #[error("{} or more are needed, {} are free on the disk", shown(*needed), shown(*free))]
        #[hint("{FULL}")]
        NoRoom { needed: u64, free: u64 },
        /// Any other failure of the operating system.
        #[error("{0}")]
        #[hint("check the output folder and the disk it is on, then try again")]
        System(io::Error),
        #[error("there is a file of that name")]
        #[hint("choose another name, or remove that file first")]
        Exists,
        /// There is something in the place of a result that gridgen did not write.
        #[error("there is something that gridgen did not write")]
        #[hint("move it away, choose another output folder, or replace it with --force")]
        Foreign,
        /// There is a result that gridgen wrote and that was changed since.
        #[error("the file there was changed since gridgen wrote it")]
        #[hint("move it away, choose another output folder, or replace it with --force")]
        Changed,
        /// The command reads or writes the file under this name, too.
        #[error("it is the same file as {}", .0.display())]
        #[hint("choose another name, or another output folder")]
        Same(PathBuf),
        #[error("another run of gridgen does so")]
        #[hint(
            "wait until that one is done, or choose another output folder; processes that are to share a grid or a \
             batch are started by srun, mpirun or torchrun"
        )]
        Busy,
        #[error("{0}")]
        #[hint("leave the pictures out: --set output.pictures=false")]
        Draw(String),
    }
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

    /// Replaces the paths of the error.
    pub(crate) fn moved(mut self, place: impl Fn(&Path) -> PathBuf) -> Self {
        self.path = place(&self.path);
        if let WriteFault::MissingFolder(folder) = &mut self.fault {
            *folder = place(folder);
        }
        self
    }
}
