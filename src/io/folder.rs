//! A folder for tables and pictures: ready before the work.

use std::path::Path;

use super::{IoError, atomic};

/// Creates `folder` unless it exists, and writes and removes an empty file in it: a folder that
/// takes no results is found before the work.
///
/// # Errors
///
/// [`IoError`] with the path, sorted by remedy.
pub fn prepare(folder: &Path) -> Result<(), IoError> {
    atomic::create_folder(folder)?;
    atomic::probe(folder)
}
