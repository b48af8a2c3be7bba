//! The case with every default in place, which stands beside the grid.

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::case::{Case, RESOLVED_HEADER};
use crate::error::Error;
use crate::io::{self, IoError};

/// The text of the resolved case and where it goes.
pub(super) struct ResolvedCase {
    pub(super) path: PathBuf,
    pub(super) text: String,
}

impl ResolvedCase {
    /// The resolved case for `folder`.
    ///
    /// # Errors
    ///
    /// [`IoError::OwnCase`] where a case stands that the user wrote: to replace it would lose its
    /// comments.
    pub(super) fn new(case: &Case, folder: &Path) -> Result<Self, Error> {
        let path = folder.join(io::CASE_FILE);
        let own = |text: Vec<u8>| !text.starts_with(RESOLVED_HEADER.as_bytes());
        if std::fs::read(&path).is_ok_and(own) {
            return Err(IoError::OwnCase { path }.into());
        }
        Ok(Self { path, text: case.to_toml_string()? })
    }

    /// Writes it, or replaces the one an earlier run wrote.
    pub(super) fn write(&self) -> Result<(), IoError> {
        io::atomic::write(&self.path, |out| out.write_all(self.text.as_bytes()))
    }
}
