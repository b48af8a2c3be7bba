//! The crate's error: which layer failed, what to do about it, and the exit code.

mod system;

pub use system::SystemError;

use crate::backend::DeviceError;
use crate::case::{CaseError, SectionError};
use crate::files::IoError;
use crate::files::restart::RestartError;
use crate::formats::matrix_market::MatrixMarketError;
use crate::grid::FamilyError;
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
    /// The grid cannot be the finest of the family asked for.
    #[error(transparent)]
    Family(#[from] FamilyError),
    /// A file cannot be written.
    #[error(transparent)]
    Io(#[from] IoError),
    /// A restart file cannot be used.
    #[error(transparent)]
    Restart(#[from] RestartError),
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
    /// The device asked for cannot be used.
    #[error(transparent)]
    Device(#[from] DeviceError),
}

impl Error {
    /// Exit code of the program: 2 for bad input and for files that cannot be read or written,
    /// 3 for the device, 130 for an interruption, as shells have it.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Case(_)
            | Self::Geometry(_)
            | Self::Family(_)
            | Self::Io(_)
            | Self::Restart(_)
            | Self::MatrixMarket(_)
            | Self::CaseText(_) => 2,
            Self::System(error) => error.exit_code(),
            Self::Preconditioner(_) => 1,
            Self::Device(_) => 3,
            Self::Interrupted { .. } => 130,
        }
    }

    /// How to mend it, where there is more to say than the message does.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Case(error) => error.hint(),
            Self::Geometry(section) => section.error.hint().map(Into::into),
            Self::Family(error) => Some(error.hint().into()),
            Self::Io(error) => Some(error.hint().into()),
            Self::Restart(error) => Some(error.hint().into()),
            Self::MatrixMarket(error) => Some(error.hint().into()),
            Self::System(error) => Some(error.hint()),
            Self::Interrupted { restart, .. } => {
                restart.as_ref().map(|file| format!("go on with --restart {}", file.display()))
            }
            Self::CaseText(_) | Self::Preconditioner(_) => None,
            Self::Device(error) => Some(error.hint().into()),
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    #[test]
    fn each_layer_has_its_exit_code() {
        let case = Error::from(CaseError::NotFound { path: PathBuf::from("a.toml") });
        let device = Error::from(DeviceError::NotBuilt { backend: "cuda" });

        let codes = [case.exit_code(), device.exit_code()];

        assert_eq!(codes, [2, 3]);
    }

    #[test]
    fn a_missing_backend_names_the_way_out() {
        let error = Error::from(DeviceError::NotBuilt { backend: "cuda" });

        assert_eq!(error.to_string(), "this build of gridgen has no cuda backend");
        let hint = error.hint().unwrap_or_default();
        assert_eq!(hint, "run with --backend cpu, or --backend auto to use what is there");
    }
}
