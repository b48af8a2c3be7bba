//! Reads airfoil files: from bytes to one contour of unit chord.
//!
//! Accepted are Selig's order (one contour from the trailing edge around the nose and back) and Lednicer's
//! (two surfaces from nose to trailing edge, with or without a line that counts their points), with or
//! without a name above, in either direction, at any scale, with an open or closed edge. Numbers are
//! separated by blanks, tabs, commas or semicolons. In tables with more than two columns the columns named x
//! and y by the heading are used, or the two surfaces side by side. Points in brackets and lists of x and y
//! are read too, as written by JSON, YAML, gmsh and programs. Everything that is dropped or changed is
//! recorded in the notes; an ambiguous file is an error.

mod base;
mod contour;
mod numbers;
mod rows;

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

use super::error::{FileProblem, Refusal, SIZE_LIMIT, of_points};
use super::{Airfoil, ClosedContour, GeometryError, Placement};
use rows::{Table, XyRow};

/// Reads the section in the file at `path`.
///
/// The contour is shifted and scaled along x so that it spans 0 ≤ x ≤ 1; y is scaled by the same factor and
/// not shifted. If the chord line is five degrees or more off the x axis, the section is turned to lie along
/// that axis and scaled by the length of its chord line. The contour runs from the upper trailing edge over the
/// nose to the lower one; an open edge stays open. Its name is the first line that is no point, or the file's.
///
/// # Errors
/// A variant of [`GeometryError`] with the path, and the line if there is one: missing or unreadable file,
/// not text, a coordinate that is not finite, a broken row, wrong counts, fewer than ten distinct points, a
/// surface that ends early, a contour that crosses itself.
pub fn airfoil_from_file(path: impl AsRef<Path>) -> Result<Airfoil, GeometryError> {
    let path = path.as_ref();
    airfoil_from_bytes(path, bytes_of(path)?)
}

/// [`airfoil_from_file`], with its errors, for the bytes of a file; `path` is used for messages and the name.
pub fn airfoil_from_bytes(path: &Path, bytes: Vec<u8>) -> Result<Airfoil, GeometryError> {
    airfoil(path, bytes, &Repairs::default()).map(|(airfoil, _)| airfoil)
}

/// Repairs made before the contour is checked for crossings.
#[derive(Debug, Default)]
pub(crate) struct Repairs {
    /// Tolerance within which the contour is smoothed, chords.
    pub(crate) smooth: Option<f64>,
    /// Thickness of the trailing edge, chords.
    pub(crate) edge_thickness: Option<f64>,
    /// True if points whose chord is within 10 % of 0 to 1 keep their coordinates.
    pub(crate) keep_coordinates: bool,
    /// The keys that place the section.
    pub(crate) placing: Placing,
}

/// The keys that place a section, which notes on its place name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Placing {
    /// Keys of `[geometry]`.
    #[default]
    Section,
    /// Keys of its element.
    Element,
    /// The rigging of its element.
    Rigging,
    /// None: the grid stands where the file has the section.
    File,
}

/// [`airfoil_from_file`] with repairs; also returns the place of the section in the file, if it was pitched with its angle.
pub(crate) fn read_file(
    path: &Path,
    repairs: &Repairs,
) -> Result<(Airfoil, Placement), GeometryError> {
    airfoil(path, bytes_of(path)?, repairs)
}

/// [`read_file`] for points in their order. Notes and errors have numbers of points, counted from 1, in place of lines.
pub(crate) fn read_points(
    points: &[[f64; 2]],
    repairs: &Repairs,
) -> Result<(Airfoil, Placement), GeometryError> {
    let mut notes = Vec::new();
    let rows = points.iter().zip(1..).map(|(&at, line)| XyRow { line, at }).collect();
    let read = contour::airfoil(rows, None, repairs, &mut notes);
    let (points, frame) = read.map_err(Refusal::of_points)?;
    let notes = notes.iter().map(of_points).collect();
    Ok((Airfoil { name: "points".to_owned(), points, notes }, frame))
}

fn airfoil(
    path: &Path,
    bytes: Vec<u8>,
    repairs: &Repairs,
) -> Result<(Airfoil, Placement), GeometryError> {
    let shape =
        |table: Table, notes: &mut _| contour::airfoil(table.rows, table.upper, repairs, notes);
    let (name, (points, frame), notes) = read(path, bytes, shape)?;
    Ok((Airfoil { name, points, notes }, frame))
}

/// Reads the smooth closed contour in the file at `path` and divides it by `length`.
///
/// Points are given in order around the contour, in either direction, beginning anywhere; the last one may
/// repeat the first. The centre of the contour is the centre of its extents. A contour that is symmetric
/// about a line through its centre, point by point, begins on that line: at its top, or at its right end if
/// it is symmetric up–down only.
///
/// # Errors
/// The errors of [`airfoil_from_file`], and an open contour.
pub fn contour_from_file(
    path: impl AsRef<Path>,
    length: f64,
) -> Result<ClosedContour, GeometryError> {
    let path = path.as_ref();
    contour_from_bytes(path, bytes_of(path)?, length)
}

/// [`contour_from_file`], with its errors, for the bytes of a file; `path` is used for messages and the name.
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

/// The points of the file at `path` in its order, as they are.
///
/// # Errors
/// The errors of [`airfoil_from_file`] that concern the file and its rows.
pub fn points_from_file(path: impl AsRef<Path>) -> Result<Vec<[f64; 2]>, GeometryError> {
    let path = path.as_ref();
    let points =
        |table: Table, _: &mut Vec<String>| Ok(table.rows.iter().map(|row| row.at).collect());
    read(path, bytes_of(path)?, points).map(|(_, points, _)| points)
}

/// The name, the result of `shape` for the points, and the notes.
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

/// The bytes of the file, at most one more than the limit.
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

/// The text of the file. Bytes that are not UTF-8 occur in names and remarks alone, and are read as Latin-1.
fn text(bytes: Vec<u8>, notes: &mut Vec<String>) -> Result<String, FileProblem> {
    if bytes.len() as u64 > SIZE_LIMIT {
        return Err(FileProblem::TooLarge);
    }
    if let Some(text) = utf16(&bytes) {
        notes.push("The file was read as UTF-16.".to_owned());
        return Ok(text);
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

/// The text of UTF-16, which a byte order mark or zeros in every other of the first bytes reveal.
fn utf16(bytes: &[u8]) -> Option<String> {
    let of_bytes = match *bytes {
        [0xff, 0xfe, ..] | [1..=255, 0, 1..=255, 0, ..] => u16::from_le_bytes,
        [0xfe, 0xff, ..] | [0, 1..=255, 0, 1..=255, ..] => u16::from_be_bytes,
        _ => return None,
    };
    let units: Vec<u16> = bytes.chunks_exact(2).map(|pair| of_bytes([pair[0], pair[1]])).collect();
    String::from_utf16(&units).ok().filter(|text| !text.contains('\0'))
}
