//! Files of smooth closed contours.

use std::path::Path;

use super::rows::{self, Row};
use super::{bytes_of, text};
use crate::geometry::GeometryError;
use crate::geometry::closed::ClosedContour;
use crate::geometry::crossing::first_crossing;

/// The fewest distinct points that say what a contour is.
const LEAST_POINTS: usize = 10;
/// Points closer than this, in sizes of the contour, are one point.
const SAME: f64 = 1e-7;
/// The way from the last point to the first, in longest ways between neighbours, from which the
/// contour is open.
const OPEN: f64 = 3.0;

/// Reads the closed contour in the file at `path` and divides it by `length`.
///
/// Points stand in order around the contour, in either direction, from anywhere, the last one
/// repeating the first or not. Its centre is that of its extents. A contour that is symmetric about a
/// line through its centre, point by point, begins on that line: at its top, or at its right where
/// only up and down are alike.
///
/// # Errors
///
/// As [`super::airfoil_from_file`], and [`GeometryError::OpenContour`].
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
///
/// As [`contour_from_file`].
pub fn contour_from_bytes(
    path: &Path,
    bytes: Vec<u8>,
    length: f64,
) -> Result<ClosedContour, GeometryError> {
    let mut notes = Vec::new();
    let text = text(path, bytes, &mut notes)?;
    let table = rows::collect(path, &text, &mut notes)?;
    let size = extents(&table.rows);
    let across = (size[0][1] - size[0][0]).max(size[1][1] - size[1][0]);
    let mut rows = distinct(table.rows, SAME * across, &mut notes);
    if rows.len() < LEAST_POINTS {
        let path = path.to_path_buf();
        return Err(GeometryError::TooFewPoints { path, found: rows.len(), least: LEAST_POINTS });
    }
    check_closed(path, &rows)?;
    let area = area(&rows);
    if area.abs() < 1e-6 * across * across {
        return Err(GeometryError::NoArea { path: path.to_path_buf() });
    }
    let points: Vec<[f64; 2]> = rows.iter().map(|row| row.at).collect();
    if let Some((i, k)) = first_crossing(&points, true) {
        let lines = |k: usize| (rows[k].line, rows[(k + 1) % rows.len()].line);
        let (path, first, second) = (path.to_path_buf(), lines(i), lines(k));
        return Err(GeometryError::ContourCrosses { path, first, second });
    }
    if area > 0.0 {
        rows[1..].reverse();
        notes.push("The points run counter-clockwise; their order was reversed.".into());
    }
    let name = table.name.or_else(|| path.file_stem().map(|s| s.to_string_lossy().into_owned()));
    let mut contour = ClosedContour {
        name: name.unwrap_or_default(),
        points: rows.iter().map(|row| row.at.map(|c| c / length)).collect(),
        centre: size.map(|[low, high]| 0.5 * (low + high) / length),
        mirror: None,
        notes,
    };
    contour.find_symmetry(SAME * across / length)?;
    Ok(contour)
}

/// Smallest and largest x, and y.
fn extents(rows: &[Row]) -> [[f64; 2]; 2] {
    [0, 1].map(|c| {
        let values = || rows.iter().map(|row| row.at[c]);
        [values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max)]
    })
}

fn distance(a: &Row, b: &Row) -> f64 {
    (b.at[0] - a.at[0]).hypot(b.at[1] - a.at[1])
}

/// Drops points that repeat the one before, and a last one that repeats the first.
fn distinct(rows: Vec<Row>, same: f64, notes: &mut Vec<String>) -> Vec<Row> {
    let mut kept: Vec<Row> = Vec::with_capacity(rows.len());
    let mut dropped = Vec::new();
    for row in rows {
        match kept.last() {
            Some(last) if distance(last, &row) <= same => dropped.push(row.line.to_string()),
            _ => kept.push(row),
        }
    }
    if kept.len() > 1 && distance(&kept[0], &kept[kept.len() - 1]) <= same {
        kept.pop();
    }
    if !dropped.is_empty() {
        notes.push(format!("Repeated points were dropped (lines {}).", dropped.join(", ")));
    }
    kept
}

/// Refuses a contour whose ends are far apart.
fn check_closed(path: &Path, rows: &[Row]) -> Result<(), GeometryError> {
    let n = rows.len();
    let longest = rows.windows(2).map(|w| distance(&w[0], &w[1])).fold(0.0, f64::max);
    let gap = distance(&rows[n - 1], &rows[0]);
    if gap <= OPEN * longest {
        return Ok(());
    }
    let lines = (rows[0].line, rows[n - 1].line);
    Err(GeometryError::OpenContour { path: path.to_path_buf(), lines, gap, longest })
}

/// Signed area, positive for points that run counter-clockwise.
fn area(rows: &[Row]) -> f64 {
    let start = rows[0].at;
    let from = |row: &Row| [row.at[0] - start[0], row.at[1] - start[1]];
    rows.windows(2)
        .map(|w| (from(&w[0]), from(&w[1])))
        .map(|(a, b)| 0.5 * (a[0] * b[1] - a[1] * b[0]))
        .sum()
}
