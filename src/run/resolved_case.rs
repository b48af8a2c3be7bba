//! The case with every default in place, which stands beside the grid.

use std::io::Write;
use std::path::{Path, PathBuf};

use super::layout::Layout;
use crate::case::{Case, RESOLVED_HEADERS};
use crate::error::Error;
use crate::io::{self, IoError};

/// The case with every default in place, those among them that its section decides: how wide the base
/// is, whether `auto` is an O or a C, what turn of the wall so many points can keep. It makes the same
/// grid, and goes on doing so where defaults change.
///
/// # Errors
///
/// The section cannot be meshed as the case says.
pub fn resolved(case: &Case) -> Result<Case, Error> {
    let layout = Layout::new(case, None).map_err(|error| Error::geometry(case, error))?;
    Ok(layout.case)
}

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
        Ok(Self { path: path(folder)?, text: case.to_toml_string()? })
    }

    /// The case of a coarser grid of a family, for its `folder`; none where the grid has fewer
    /// points than a case may ask for.
    ///
    /// # Errors
    ///
    /// As [`Self::new`].
    pub(super) fn member(case: &Case, folder: &Path) -> Result<Option<Self>, Error> {
        let (path, text) = (path(folder)?, case.member_toml_string()?);
        let valid = Case::from_toml(&text, &path, &[]).is_ok();
        Ok(valid.then_some(Self { path, text }))
    }

    /// Writes it, or replaces the one an earlier run wrote.
    pub(super) fn write(&self) -> Result<(), IoError> {
        io::atomic::write(&self.path, |out| out.write_all(self.text.as_bytes()))
    }
}

/// Where the case goes, unless a case stands there that the user wrote.
fn path(folder: &Path) -> Result<PathBuf, IoError> {
    let path = folder.join(io::CASE_FILE);
    let own = |text: Vec<u8>| !RESOLVED_HEADERS.iter().any(|h| text.starts_with(h.as_bytes()));
    if std::fs::read(&path).is_ok_and(own) { Err(IoError::OwnCase { path }) } else { Ok(path) }
}
