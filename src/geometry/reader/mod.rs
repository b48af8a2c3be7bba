//! Airfoil files: from bytes to one contour of unit chord.
//!
//! Read are Selig's order (one contour from the trailing edge around the nose and back) and
//! Lednicer's (two surfaces from nose to trailing edge, with or without the line that counts their
//! points), with or without a name above, in either direction, at any scale, with the edge open or
//! closed. Numbers are separated by blanks, tabs, commas or semicolons. Of tables with more than two
//! columns those that a heading names x and y are taken, or the two surfaces side by side. What is
//! dropped or changed on the way is written to the notes; what is not certain is an error.

mod columns;
mod contour;
mod line;
mod rows;

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

use super::error::{FileProblem, Refusal, of_points};
use super::{Airfoil, ClosedContour, GeometryError};
pub(super) use contour::LEAST_POINTS;
use rows::{Row, Table};

/// The most bytes that are read; the largest airfoil files have some hundred thousand.
pub(super) const SIZE_LIMIT: u64 = 16 << 20;

/// Reads the section in the file at `path`.
///
/// The contour is shifted and scaled along x so that it spans 0 ≤ x ≤ 1 (y is scaled alike and not
/// shifted), and runs from the upper trailing edge over the nose to the lower one. An open edge
/// stays open. The name is the first line that is not a point, or else the file's name.
///
/// # Errors
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
/// As [`airfoil_from_file`].
pub fn airfoil_from_bytes(path: &Path, bytes: Vec<u8>) -> Result<Airfoil, GeometryError> {
    let airfoil = |table: Table, notes: &mut _| contour::airfoil(table.rows, table.upper, notes);
    let (name, points, notes) = read(path, bytes, airfoil)?;
    Ok(Airfoil { name, points, notes })
}

/// Smallest and largest x of the points in the file at `path`, in its unit: what a section is shifted and scaled
/// by when it is read.
///
/// # Errors
/// As [`airfoil_from_file`].
pub(crate) fn extent_of_file(path: &Path) -> Result<[f64; 2], GeometryError> {
    let extent = |table: Table, _: &mut _| Ok(contour::extent(&table.rows, 0));
    read(path, bytes_of(path)?, extent).map(|(_, extent, _)| extent)
}

/// The same of points in the order of a file.
pub(crate) fn extent_of_points(points: &[[f64; 2]]) -> [f64; 2] {
    let rows: Vec<Row> = points.iter().map(|&at| Row { line: 0, at }).collect();
    contour::extent(&rows, 0)
}

/// The airfoil of points in the order of a file, taken as [`airfoil_from_file`] takes those of its lines.
///
/// # Errors
/// As [`airfoil_from_file`], with the numbers of points, from 1, in place of lines.
pub fn airfoil_from_points(points: &[[f64; 2]]) -> Result<Airfoil, GeometryError> {
    let mut notes = Vec::new();
    let rows = points.iter().zip(1..).map(|(&at, line)| Row { line, at }).collect();
    let points = contour::airfoil(rows, None, &mut notes);
    let points = points.map_err(Refusal::of_points)?;
    let notes = notes.iter().map(of_points).collect();
    Ok(Airfoil { name: "points".to_owned(), points, notes })
}

/// Reads the smooth closed contour in the file at `path` and divides it by `length`.
///
/// Points stand in order around the contour, in either direction, from anywhere, the last one
/// repeating the first or not. Its centre is that of its extents. A contour that is symmetric about a
/// line through its centre, point by point, begins on that line: at its top, or at its right where
/// only up and down are alike.
///
/// # Errors
/// As [`airfoil_from_file`], and an open contour.
pub fn contour_from_file(
    path: impl AsRef<Path>,
    length: f64,
) -> Result<ClosedContour, GeometryError> {
    let path = path.as_ref();
    contour_from_bytes(path, bytes_of(path)?, length)
}

/// [`contour_from_file`] with the bytes of the file at hand; `path` is for messages and the name.
///
/// # Errors
/// As [`contour_from_file`].
pub fn contour_from_bytes(
    path: &Path,
    bytes: Vec<u8>,
    length: f64,
) -> Result<ClosedContour, GeometryError> {
    let smooth = |table: Table, notes: &mut _| contour::smooth(table.rows, length, notes);
    let (name, (mut contour, same), notes) = read(path, bytes, smooth)?;
    contour.find_symmetry(same)?;
    Ok(ClosedContour { name, notes, ..contour })
}

/// The name, what `shape` makes of the points, and the notes.
fn read<T>(
    path: &Path,
    bytes: Vec<u8>,
    shape: impl FnOnce(Table, &mut Vec<String>) -> Result<T, Refusal>,
) -> Result<(String, T, Vec<String>), GeometryError> {
    let mut notes = Vec::new();
    let read = |notes: &mut _| {
        let mut table = rows::collect(&text(bytes, notes)?, notes)?;
        Ok((table.name.take(), shape(table, notes)?))
    };
    let (name, shape) = read(&mut notes).map_err(|refusal: Refusal| refusal.of(path))?;
    let stem = || path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Ok((name.unwrap_or_else(stem), shape, notes))
}

/// The file's bytes, at most one more than the limit.
fn bytes_of(path: &Path) -> Result<Vec<u8>, GeometryError> {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(SIZE_LIMIT + 1).read_to_end(&mut bytes));
    let problem = match read {
        Ok(_) => return Ok(bytes),
        Err(error) if error.kind() == ErrorKind::NotFound => FileProblem::Missing,
        Err(_) if path.is_dir() => FileProblem::Directory,
        Err(error) => FileProblem::Unreadable(error),
    };
    Err(Refusal::from(problem).of(path))
}

/// The file's text. Bytes that are not UTF-8 are read as Latin-1: they stand in names and remarks,
/// never in numbers.
fn text(bytes: Vec<u8>, notes: &mut Vec<String>) -> Result<String, FileProblem> {
    if bytes.len() as u64 > SIZE_LIMIT {
        return Err(FileProblem::TooLarge);
    }
    if let Some(offset) = bytes.iter().position(|&b| b == 0) {
        return Err(FileProblem::Binary { offset });
    }
    let text = String::from_utf8(bytes).unwrap_or_else(|error| {
        notes.push("The file is not UTF-8; it was read as Latin-1.".to_owned());
        error.as_bytes().iter().map(|&b| char::from(b)).collect()
    });
    if text.trim_start_matches('\u{feff}').trim().is_empty() {
        return Err(FileProblem::Empty);
    }
    Ok(text)
}

/// At most the first 60 characters of a line, for messages.
fn excerpt(text: &str) -> String {
    let text = text.trim();
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
