//! Failures of commands, and exit codes.

use gridgen::error::{Error, ErrorClass};

/// Exit code of a run whose grid or system is not solved, or whose grid is folded.
const NOT_CONVERGED: u8 = 1;

/// The exit code for a failure; that of an interruption is as shells have it.
pub fn exit_code(class: ErrorClass) -> u8 {
    match class {
        ErrorClass::Unsolved => NOT_CONVERGED,
        ErrorClass::Input => 2,
        ErrorClass::Device => 3,
        ErrorClass::Interrupted => 130,
    }
}

/// The exit code for a grid that was made or measured, or a system, which is good or not.
pub(super) fn code_if(good: bool) -> u8 {
    if good { 0 } else { NOT_CONVERGED }
}

/// Failure of a command.
pub(super) enum CommandFailure {
    /// Arguments that do not go together.
    Usage(String),
    /// Message and hint of an error, and its class.
    Message { message: String, hint: Option<String>, class: ErrorClass },
}

impl CommandFailure {
    /// The failure for input or files that cannot be used.
    pub(super) fn input(message: &(impl ToString + ?Sized), hint: Option<&str>) -> Self {
        Self::Message {
            message: message.to_string(),
            hint: hint.map(str::to_owned),
            class: ErrorClass::Input,
        }
    }
}

impl<E: Into<Error>> From<E> for CommandFailure {
    fn from(error: E) -> Self {
        let error = error.into();
        Self::Message { message: error.to_string(), hint: error.hint(), class: error.class() }
    }
}
