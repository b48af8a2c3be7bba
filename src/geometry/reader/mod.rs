//! Airfoil files: from bytes to one contour of unit chord.
//!
//! Read are Selig's order (one contour from the trailing edge around the nose and back) and
//! Lednicer's (two surfaces from nose to trailing edge, with or without the line that counts their
//! points), with or without a name above, in either direction, at any scale, with the edge open or
//! closed. Numbers are separated by blanks, tabs, commas or semicolons. Of tables with more than two
//! columns those that a heading names x and y are taken, or the two surfaces side by side. What is
//! dropped or changed on the way is written to the notes; what cannot be told for certain is an error.

mod closed;
mod columns;
mod line;
mod order;
mod rows;

use std::io::Read;
use std::path::Path;

pub use closed::{contour_from_bytes, contour_from_file};

use super::{Airfoil, GeometryError};

/// The most bytes that are read; the largest airfoil files have some hundred thousand.
const SIZE_LIMIT: u64 = 16 << 20;

/// Reads the section in the file at `path`.
///
/// The contour is shifted and scaled along x so that it spans 0 ≤ x ≤ 1 (y is scaled alike and not
/// shifted), and runs from the upper trailing edge over the nose to the lower one. An open edge
/// stays open. The name is the first line that is not a point, or else the file's name.
///
/// # Errors
///
/// A variant of [`GeometryError`] with the path, and the line where there is one: missing or
/// unreadable file, not text, a coordinate that is not finite, a broken row, wrong counts, fewer
/// than ten distinct points, a surface that ends early, a contour that crosses itself.
pub fn airfoil_from_file(path: impl AsRef<Path>) -> Result<Airfoil, GeometryError> {
    let path = path.as_ref();
    airfoil_from_bytes(path, bytes_of(path)?)
}

/// [`airfoil_from_file`] with the bytes of the file at hand; `path` is for messages and the name.
///
/// # Errors
///
/// As [`airfoil_from_file`].
pub fn airfoil_from_bytes(path: &Path, bytes: Vec<u8>) -> Result<Airfoil, GeometryError> {
    let mut notes = Vec::new();
    let text = text(path, bytes, &mut notes)?;
    let table = rows::collect(path, &text, &mut notes)?;
    let points = order::contour(path, table.rows, table.upper, &mut notes)?;
    let stem = || path.file_stem().map(|s| s.to_string_lossy().into_owned());
    let name = table.name.or_else(stem).unwrap_or_default();
    Ok(Airfoil { name, points, notes })
}

/// The file's bytes.
fn bytes_of(path: &Path) -> Result<Vec<u8>, GeometryError> {
    let owned = || path.to_path_buf();
    bytes(path).map_err(|source| match source.kind() {
        std::io::ErrorKind::NotFound => GeometryError::FileMissing { path: owned() },
        _ if path.is_dir() => GeometryError::Directory { path: owned() },
        _ => GeometryError::Unreadable { path: owned(), source },
    })
}

/// The file's text. Bytes that are not UTF-8 are read as Latin-1: they stand in names and remarks,
/// never in numbers.
fn text(path: &Path, bytes: Vec<u8>, notes: &mut Vec<String>) -> Result<String, GeometryError> {
    let owned = || path.to_path_buf();
    if bytes.len() as u64 > SIZE_LIMIT {
        return Err(GeometryError::FileTooLarge { path: owned(), limit: SIZE_LIMIT });
    }
    if let Some(offset) = bytes.iter().position(|&b| b == 0) {
        return Err(GeometryError::Binary { path: owned(), offset });
    }
    let text = String::from_utf8(bytes).unwrap_or_else(|error| {
        notes.push("The file is not UTF-8; it was read as Latin-1.".to_owned());
        error.as_bytes().iter().map(|&b| char::from(b)).collect()
    });
    if text.trim_start_matches('\u{feff}').trim().is_empty() {
        return Err(GeometryError::FileEmpty { path: owned() });
    }
    Ok(text)
}

/// The file's bytes, at most one more than the limit.
fn bytes(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    std::fs::File::open(path)?.take(SIZE_LIMIT + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// At most the first 60 characters of a line, for messages.
fn excerpt(text: &str) -> String {
    let text = text.trim();
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
