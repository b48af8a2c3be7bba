//! The case with every default in place, which stands beside the grid.

use std::io::Write;
use std::path::{Path, PathBuf};

use super::layout::Layout;
use crate::case::Case;
use crate::error::Error;
use crate::files::{self, IoError};

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

/// The text of a resolved case.
pub(super) struct ResolvedCase {
    pub(super) text: String,
}

impl ResolvedCase {
    pub(super) fn new(case: &Case) -> Result<Self, Error> {
        Ok(Self { text: case.to_toml_string()? })
    }

    /// The case of a coarser grid of a family; none where the grid has fewer points than a case may
    /// ask for.
    pub(super) fn member(case: &Case) -> Result<Option<Self>, Error> {
        let text = case.member_toml_string()?;
        let valid = Case::from_toml(&text, Path::new(files::CASE_FILE), &[]).is_ok();
        Ok(valid.then_some(Self { text }))
    }

    /// Writes it into a folder; returns its path.
    pub(super) fn write(&self, folder: &Path) -> Result<PathBuf, IoError> {
        let path = folder.join(files::CASE_FILE);
        files::atomic::write(&path, |out| out.write_all(self.text.as_bytes()))?;
        Ok(path)
    }
}
