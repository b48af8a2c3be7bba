//! The crate's error: which layer failed, what to do about it, and the exit code.

use crate::backend::DeviceError;
use crate::case::{AssemblyError, CaseError, SectionError};
use crate::files::restart::RestartError;
use crate::files::{IoError, WriteFault};
use crate::formats::ReadError;
use crate::formats::matrix_market::MatrixMarketError;
use crate::grid::FamilyError;
use crate::movement::{MovementError, ReferenceError};
use crate::ranks::RanksError;
use crate::solver::{PreconditionerFailure, SolverError};
use std::path::PathBuf;

/// Any failure of gridgen. Each layer has its own typed error; this one joins them.
///
/// A solve that stops short is no error: it has a result, see `generate`.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The case cannot be run as it is written.
    #[error(transparent)]
    Case(#[from] CaseError),
    /// The section cannot be meshed.
    #[error(transparent)]
    Geometry(#[from] SectionError),
    /// Elements cannot stand as their case says.
    #[error(transparent)]
    Overset(#[from] AssemblyError),
    /// The grid cannot be the finest of a family of this number of grids.
    #[error(transparent)]
    Family(#[from] FamilyError),
    /// A file cannot be written.
    #[error(transparent)]
    Io(#[from] IoError),
    /// A restart file cannot be used.
    #[error(transparent)]
    Restart(#[from] RestartError),
    /// A mesh cannot be read.
    #[error(transparent)]
    Mesh(#[from] ReadError),
    /// There is no reference, or no movement of it.
    #[error(transparent)]
    Movement(#[from] MovementError),
    /// A reference cannot be read.
    #[error(transparent)]
    Reference(#[from] ReferenceError),
    /// A matrix or a right side cannot be read.
    #[error(transparent)]
    MatrixMarket(#[from] MatrixMarketError),
    /// A linear system cannot be solved as asked.
    #[error(transparent)]
    System(#[from] SystemError),
    /// The run was cancelled.
    #[error("interrupted {}", when(*steps))]
    Interrupted {
        /// Newton steps taken, if the solve had begun.
        steps: Option<usize>,
        /// The restart file that was written.
        restart: Option<PathBuf>,
    },
    /// The resolved case cannot be put into words.
    #[error("the resolved case cannot be written: {0}")]
    CaseText(#[from] toml::ser::Error),
    /// A preconditioner could not be made.
    #[error(transparent)]
    Preconditioner(#[from] PreconditionerFailure),
    /// The chosen device cannot be used.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The processes of a run do not meet, or one of them failed.
    #[error(transparent)]
    Ranks(#[from] RanksError),
}

impl Error {
    /// Exit code of the program: 1 where a linear system may be solved in another way or curved cells are
    /// folded, 2 for bad input, one that the memory is too small for too, and for files that cannot be read or
    /// written, 3 for the device, 130 for an interruption, as shells have
    /// it.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::System(SystemError::Pivot { .. })
            | Self::Preconditioner(_)
            | Self::Io(IoError { fault: WriteFault::FoldedCells { .. }, .. })
            | Self::Movement(
                MovementError::Linear { .. }
                | MovementError::Solver(SolverError::Preconditioner(_)),
            ) => 1,
            Self::Ranks(RanksError::Ended { failure } | RanksError::Reported { failure })
            | Self::Device(DeviceError::Ranks(RanksError::Ended { failure }))
            | Self::Movement(MovementError::Solver(SolverError::Device(DeviceError::Ranks(
                RanksError::Ended { failure },
            )))) => failure.code,
            Self::Device(DeviceError::Memory(_) | DeviceError::FactorsTooLarge { .. }) => 2,
            Self::Device(_)
            | Self::Ranks(_)
            | Self::Movement(MovementError::Solver(SolverError::Device(_))) => 3,
            Self::Interrupted { .. } => 130,
            _ => 2,
        }
    }

    /// How to mend it, where there is more to say than the message does.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Case(error) => error.hint(),
            Self::Geometry(section) => section.error.hint().map(Into::into),
            Self::Overset(error) => error.hint(),
            Self::Family(error) => Some(error.hint().into()),
            Self::Io(error) => Some(error.hint().into()),
            Self::Restart(error) => Some(error.hint().into()),
            Self::Mesh(error) => Some(error.hint().into()),
            Self::Movement(error) => Some(error.hint().into()),
            Self::Reference(error) => Some(error.hint().into()),
            Self::MatrixMarket(error) => Some(error.hint().into()),
            Self::System(error) => Some(error.hint()),
            Self::Interrupted { restart, .. } => {
                restart.as_ref().map(|file| format!("go on with --restart {}", file.display()))
            }
            Self::CaseText(_) | Self::Preconditioner(_) => None,
            Self::Device(error) => Some(error.hint().into()),
            Self::Ranks(error) => {
                Some(error.hint().into()).filter(|hint: &String| !hint.is_empty())
            }
        }
    }
}

/// When a run was interrupted.
fn when(steps: Option<usize>) -> String {
    match steps {
        None => "before the first Newton step; nothing was written".to_owned(),
        Some(1) => "after 1 Newton step".to_owned(),
        Some(steps) => format!("after {steps} Newton steps"),
    }
}

impl From<SolverError> for Error {
    /// What is not the device's doing becomes a [`crate::solver::NewtonStop`] in a Newton solve.
    fn from(error: SolverError) -> Self {
        match error {
            SolverError::Device(error) => Self::Device(error),
            SolverError::Preconditioner(failure) => Self::Preconditioner(failure),
        }
    }
}

/// A linear system that cannot be solved as asked. Rows and columns count from 1, as in the file.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message says what each field is")]
pub enum SystemError {
    /// The matrix is not square.
    #[error("{}: {rows} rows and {columns} columns, a square matrix was expected", path.display())]
    NotSquare { path: PathBuf, rows: usize, columns: usize },
    /// The right side does not belong to the matrix.
    #[error("{}: {found} numbers, the matrix has {rows} rows", path.display())]
    RightSide { path: PathBuf, found: usize, rows: usize },
    /// A method for symmetric matrices was chosen, and the matrix is not symmetric: `other` is the value
    /// of the mirrored entry, 0 where there is none.
    #[error(
        "{method} needs a symmetric matrix: entry ({row}, {column}) is {value:e}, \
         entry ({column}, {row}) {other:e}"
    )]
    NotSymmetric { method: &'static str, row: usize, column: usize, value: f64, other: f64 },
    /// Incomplete factors have a pivot that cannot be used; `diagonal` tells whether the row has a diagonal
    /// entry that is not zero.
    #[error("{preconditioner} met the pivot {value:e} in row {row}{}", shifted(*shift))]
    Pivot { preconditioner: &'static str, row: usize, value: f64, diagonal: bool, shift: f64 },
}

fn shifted(shift: f64) -> String {
    if shift == 0.0 { String::new() } else { format!(" with a shift of {shift}") }
}

impl SystemError {
    /// What the user can do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::NotSquare { .. } => "give a matrix with as many columns as rows".to_owned(),
            Self::RightSide { .. } => {
                "give a right side of this matrix, or leave --rhs out for one of ones".to_owned()
            }
            Self::NotSymmetric { .. } => {
                "use --solver bicgstab or gmres, and --preconditioner dilu or ilu0".to_owned()
            }
            Self::Pivot { diagonal: false, .. } => {
                "the row has zero on its diagonal, which no shift mends: use --preconditioner dilu or \
                 ilu0 with the row behind those it is coupled with, which fill it, or none"
                    .to_owned()
            }
            Self::Pivot { shift, .. } => {
                let next = if *shift == 0.0 { 0.01 } else { 4.0 * shift };
                format!(
                    "strengthen the diagonal with --shift {next}, or use another --preconditioner"
                )
            }
        }
    }
}
