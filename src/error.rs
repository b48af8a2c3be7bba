//! The crate's error: which layer failed, what to do about it, and its class.

use crate::backend::DeviceError;
use crate::case::{AssemblyError, CaseError, SectionError};
use crate::diagnostics::errors;
use crate::files::IoError;
use crate::files::record::RecordError;
use crate::formats::ReadError;
use crate::formats::matrix_market::MatrixMarketError;
use crate::grid::FamilyError;
use crate::movement::MovementError;
use crate::ranks::{Failure, RanksError};
use crate::smooth::SmoothError;
use crate::solver::{PreconditionerFailure, SolverError};
use std::path::PathBuf;

pub use crate::diagnostics::ErrorClass;

errors! {
    /// Any failure of gridgen. Each layer has its own typed error; this one joins them.
    ///
    /// A solve that stops short is no error: it has a result, see `generate`.
    #[derive(Debug, thiserror::Error)]
    #[class(Input)]
    pub enum Error {
        /// The case cannot be run as it is written.
        #[error(transparent)]
        Case(#[from] CaseError),
        /// The section cannot be meshed.
        #[error(transparent)]
        Geometry(#[from] SectionError),
        /// Elements cannot be placed as their case says.
        #[error(transparent)]
        Overset(AssemblyError),
        /// The grid cannot be the finest of a family of this number of grids.
        #[error(transparent)]
        Family(#[from] FamilyError),
        /// A file cannot be written.
        #[error(transparent)]
        Io(#[from] IoError),
        /// A restart file, or a reference, cannot be used.
        #[error(transparent)]
        Record(#[from] RecordError),
        /// A mesh cannot be read.
        #[error(transparent)]
        Mesh(#[from] ReadError),
        /// There is no reference, or no movement of it.
        #[error(transparent)]
        Movement(#[from] MovementError),
        /// A grid is not smoothed.
        #[error(transparent)]
        Smooth(#[from] SmoothError),
        /// A matrix or a right-hand side cannot be read.
        #[error(transparent)]
        MatrixMarket(#[from] MatrixMarketError),
        /// A linear system cannot be solved as asked.
        #[error(transparent)]
        System(#[from] SystemError),
        /// The run was cancelled. `steps` counts the Newton steps taken, if the solve had begun; their result is in
        /// the restart file.
        #[error("interrupted {}", when(*steps))]
        #[hint = restart.as_ref().map(|file| format!("go on with --restart {}", file.display()))]
        #[class(Interrupted)]
        Interrupted { steps: Option<usize>, restart: Option<PathBuf> },
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
}

impl From<Error> for Failure {
    /// The failure of a case, whichever rank had it.
    fn from(error: Error) -> Self {
        let (message, hint) = (Some(error.to_string()), error.hint());
        Self { rank: 0, message, hint, class: error.class() }
    }
}

impl From<AssemblyError> for Error {
    fn from(error: AssemblyError) -> Self {
        match error {
            AssemblyError::Alone(error) => Self::Geometry(error),
            error => Self::Overset(error),
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
    /// In a Newton solve only an error of the device comes here: another one is a [`crate::solver::NewtonStop`].
    fn from(error: SolverError) -> Self {
        match error {
            SolverError::Device(error) => Self::Device(error),
            SolverError::Preconditioner(failure) => Self::Preconditioner(failure),
        }
    }
}

errors! {
    /// A linear system that cannot be solved as asked. Rows and columns count from 1, as in the file.
    #[derive(Debug, Clone, PartialEq, thiserror::Error)]
    #[class(Input)]
    pub enum SystemError {
        #[error("{}: {rows} rows and {columns} columns, a square matrix was expected", path.display())]
        #[hint("give a matrix with as many columns as rows")]
        NotSquare { path: PathBuf, rows: usize, columns: usize },
        #[error("{}: {found} numbers, the matrix has {rows} rows", path.display())]
        #[hint("give a right side of this matrix, or leave --rhs out for one of ones")]
        RightSide { path: PathBuf, found: usize, rows: usize },
        /// A method for symmetric matrices was chosen, and the matrix is not symmetric: `other` is the value
        /// of the mirrored entry, 0 where there is none.
        #[error(
            "{method} needs a symmetric matrix: entry ({row}, {column}) is {value:e}, entry ({column}, {row}) \
             {other:e}"
        )]
        #[hint("use --solver bicgstab or gmres, and --preconditioner dilu or ilu0")]
        NotSymmetric { method: &'static str, row: usize, column: usize, value: f64, other: f64 },
        /// Incomplete factors have a pivot that cannot be used; `diagonal` is true if the row has a diagonal
        /// entry that is not zero.
        #[error("{preconditioner} met the pivot {value:e} in row {row}{}", shifted(*shift))]
        #[hint = Some(pivot(*diagonal, *shift))]
        #[class(Unsolved)]
        Pivot { preconditioner: &'static str, row: usize, value: f64, diagonal: bool, shift: f64 },
    }
}

/// The remedy for a pivot that cannot be used.
fn pivot(diagonal: bool, shift: f64) -> String {
    if !diagonal {
        return "the row has a zero on its diagonal, which no shift changes: use --preconditioner dilu or ilu0 with \
                the row behind those it is coupled with, which fill it, or none"
            .to_owned();
    }
    let next = if shift == 0.0 { 0.01 } else { 4.0 * shift };
    format!("strengthen the diagonal with --shift {next}, or use another --preconditioner")
}

fn shifted(shift: f64) -> String {
    if shift == 0.0 { String::new() } else { format!(" with a shift of {shift}") }
}
