//! From the bytes of a case file to a checked case.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

use super::entries::{Entries, line_of};
use super::{Case, CaseError};

/// Bytes that are read of a case file: a hundred times what any case needs.
const LIMIT: u64 = 1 << 20;

impl Case {
    /// Reads, checks and resolves the case file `path`.
    ///
    /// `overrides` are dotted keys with values in TOML, which replace those of the file; text may
    /// stand without quotes. An override drops the file's alternatives to its key: `geometry.file`
    /// drops `geometry.naca`, `grid.first_cell` drops `grid.y_plus` and `grid.reynolds`, and the
    /// other way round.
    ///
    /// # Errors
    ///
    /// Whatever keeps the case from being run as written: see [`CaseError`].
    pub fn from_file(path: &Path, overrides: &[(String, String)]) -> Result<Self, CaseError> {
        let bytes = read_bytes(path)?;
        if let Some(offset) = bytes.iter().position(|byte| *byte == 0) {
            return Err(CaseError::Binary { path: path.into(), offset });
        }
        let text = str::from_utf8(&bytes).map_err(|error| {
            let valid = bytes.get(..error.valid_up_to()).unwrap_or_default();
            let line = line_of(&String::from_utf8_lossy(valid), valid.len());
            CaseError::NotUtf8 { path: path.into(), line }
        })?;
        Self::from_toml(text, path, overrides)
    }

    /// Like [`Case::from_file`], with the text of the file at hand. `path` gives the name, the
    /// folder that relative paths start at, and the place in messages; it need not exist.
    ///
    /// # Errors
    ///
    /// See [`CaseError`].
    pub fn from_toml(
        text: &str,
        path: &Path,
        overrides: &[(String, String)],
    ) -> Result<Self, CaseError> {
        Self::resolve(&Entries::read(text, path, overrides)?, path)
    }
}

fn read_bytes(path: &Path) -> Result<Vec<u8>, CaseError> {
    let refuse = |source: std::io::Error| match source.kind() {
        ErrorKind::NotFound => CaseError::NotFound { path: path.into() },
        ErrorKind::IsADirectory => CaseError::Directory { path: path.into() },
        _ => CaseError::Unreadable { path: path.into(), source },
    };
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(LIMIT + 1).read_to_end(&mut bytes))
        .map_err(refuse)?;
    if bytes.len() as u64 > LIMIT {
        return Err(CaseError::TooLarge { path: path.into(), limit: LIMIT });
    }
    Ok(bytes)
}
