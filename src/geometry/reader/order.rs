//! From the rows of a file to one contour, upper trailing edge → nose → lower trailing edge.

use std::path::Path;

use super::rows::Row;
use crate::geometry::GeometryError;
use crate::geometry::crossing::first_crossing;

/// The fewest distinct points that say what a section is.
const LEAST_POINTS: usize = 10;
/// Points closer than this, in chords, are one point.
const SAME: f64 = 1e-7;
/// An end of the contour may be this far ahead of the trailing edge, in chords.
const END_REACH: f64 = 0.05;

/// Orders, checks and scales the rows; `upper` is the count of the first surface in Lednicer's
/// order.
pub(super) fn contour(
    path: &Path,
    rows: Vec<Row>,
    upper: Option<usize>,
    notes: &mut Vec<String>,
) -> Result<Vec<[f64; 2]>, GeometryError> {
    let frame = Frame::of(&rows);
    let rows = join_surfaces(rows, upper, &frame, notes);
    let mut rows = drop_repeated(rows, &frame, notes);
    let closed = rows.len() > 1 && same(&rows[0], &rows[rows.len() - 1], &frame);
    let distinct = rows.len() - usize::from(closed);
    if distinct < LEAST_POINTS {
        let path = path.to_path_buf();
        return Err(GeometryError::TooFewPoints { path, found: distinct, least: LEAST_POINTS });
    }
    if frame.chord <= 0.0 {
        return Err(GeometryError::NoArea { path: path.to_path_buf() });
    }
    start_at_trailing_edge(&mut rows, &frame, notes);
    drop_base_points(&mut rows, &frame, notes);
    check_ends(path, &rows, &frame)?;
    orient(path, &mut rows, &frame, notes)?;
    check_crossing(path, &rows)?;
    Ok(frame.scale(&rows, notes))
}

/// Where the section lies.
struct Frame {
    left: f64,
    right: f64,
    chord: f64,
}

impl Frame {
    fn of(rows: &[Row]) -> Self {
        let left = rows.iter().map(|r| r.at[0]).fold(f64::INFINITY, f64::min);
        let right = rows.iter().map(|r| r.at[0]).fold(f64::NEG_INFINITY, f64::max);
        Self { left, right, chord: right - left }
    }

    /// Place along the chord, 0 to 1.
    fn x_over_c(&self, row: &Row) -> f64 {
        (row.at[0] - self.left) / self.chord
    }

    /// Unit chord from x = 0; y is scaled alike.
    fn scale(&self, rows: &[Row], notes: &mut Vec<String>) -> Vec<[f64; 2]> {
        let Self { left, right, chord } = *self;
        if left.abs() + (chord - 1.0).abs() > 0.0 {
            notes.push(format!(
                "The section reached from x = {left} to {right}; it was moved and scaled to 0 and 1.",
            ));
        }
        rows.iter().map(|r| [(r.at[0] - left) / chord, r.at[1] / chord]).collect()
    }
}

fn step(a: &Row, b: &Row) -> [f64; 2] {
    [b.at[0] - a.at[0], b.at[1] - a.at[1]]
}

fn distance(a: &Row, b: &Row) -> f64 {
    let [dx, dy] = step(a, b);
    dx.hypot(dy)
}

fn same(a: &Row, b: &Row, frame: &Frame) -> bool {
    distance(a, b) <= SAME * frame.chord
}

/// Joins two surfaces that run from nose to trailing edge into one contour. Without a count line
/// they are told by the one jump of more than half a chord between two full surfaces.
fn join_surfaces(
    mut rows: Vec<Row>,
    upper: Option<usize>,
    frame: &Frame,
    notes: &mut Vec<String>,
) -> Vec<Row> {
    let Some(split) = upper.or_else(|| jump(&rows, frame)) else { return rows };
    if upper.is_none() {
        notes.push(format!(
            "Two surfaces (the second from line {}) were joined at the nose.",
            rows[split].line
        ));
    }
    let runs_aft = |s: &[Row]| step(&s[0], &s[s.len() - 1])[0] > 0.0;
    if runs_aft(&rows[..split]) {
        rows[..split].reverse();
    }
    if !runs_aft(&rows[split..]) {
        rows[split..].reverse();
    }
    rows
}

/// The place of the one long jump, if both sides of it are full surfaces.
fn jump(rows: &[Row], frame: &Frame) -> Option<usize> {
    let mut jumps =
        (1..rows.len()).filter(|&k| distance(&rows[k - 1], &rows[k]) > 0.5 * frame.chord);
    let split = jumps.next()?;
    let full = |s: &[Row]| s.len() > 2 && Frame::of(s).chord > 0.8 * frame.chord;
    (jumps.next().is_none() && full(&rows[..split]) && full(&rows[split..])).then_some(split)
}

/// Drops every point that coincides with the one before.
fn drop_repeated(rows: Vec<Row>, frame: &Frame, notes: &mut Vec<String>) -> Vec<Row> {
    let mut kept: Vec<Row> = Vec::with_capacity(rows.len());
    let mut dropped: Vec<String> = Vec::new();
    for row in rows {
        match kept.last() {
            Some(last) if same(last, &row, frame) => dropped.push(row.line.to_string()),
            _ => kept.push(row),
        }
    }
    match dropped.len() {
        0 => {}
        1 => notes.push(format!("The repeated point in line {} was dropped.", dropped[0])),
        n => {
            let more = if n > 8 { ", …" } else { "" };
            let lines = dropped[..n.min(8)].join(", ");
            notes.push(format!("{n} repeated points were dropped (lines {lines}{more})."));
        }
    }
    kept
}

/// Whether the segment stands across the chord at the trailing edge, as a base does.
fn on_base(a: &Row, b: &Row, frame: &Frame) -> bool {
    let [dx, dy] = step(a, b);
    dx.abs() < 0.2 * dy.abs() && frame.x_over_c(a).min(frame.x_over_c(b)) > 0.99
}

/// Cuts a closed contour that starts elsewhere at its trailing edge.
fn start_at_trailing_edge(rows: &mut Vec<Row>, frame: &Frame, notes: &mut Vec<String>) {
    let n = rows.len();
    let ahead = |r: &Row| frame.x_over_c(r) < 0.9;
    let loose = distance(&rows[0], &rows[n - 1]) > 0.1 * frame.chord;
    if !ahead(&rows[0]) || !ahead(&rows[n - 1]) || loose {
        return;
    }
    notes.push(format!(
        "The contour starts at line {}, away from the trailing edge; it was cut there instead.",
        rows[0].line
    ));
    if same(&rows[0], &rows[n - 1], frame) {
        rows.pop();
    }
    let n = rows.len();
    let aft = (0..n).max_by(|&i, &k| rows[i].at[0].total_cmp(&rows[k].at[0])).unwrap_or(0);
    let (before, after) = ((aft + n - 1) % n, (aft + 1) % n);
    if on_base(&rows[before], &rows[aft], frame) {
        rows.rotate_left(aft);
    } else if on_base(&rows[aft], &rows[after], frame) {
        rows.rotate_left(after);
    } else {
        rows.rotate_left(aft);
        rows.push(rows[0]);
    }
}

/// Drops an end point that lies on the base (its middle, or the first point once more): the base is
/// the gap between the two ends. A rounded edge has no corner behind that point and is left alone.
fn drop_base_points(rows: &mut Vec<Row>, frame: &Frame, notes: &mut Vec<String>) {
    let corner = |a: &Row, b: &Row, c: &Row| {
        let ([ux, uy], [vx, vy]) = (step(a, b), step(b, c));
        (ux * vy - uy * vx).abs().atan2(ux * vx + uy * vy) > 50.0_f64.to_radians()
    };
    let ends_on_base = |a: &Row, b: &Row, c: &Row| on_base(a, b, frame) && corner(a, b, c);
    let n = rows.len();
    let last = ends_on_base(&rows[n - 1], &rows[n - 2], &rows[n - 3]);
    let first = ends_on_base(&rows[0], &rows[1], &rows[2]);
    let mut drop = |row: Row| {
        notes.push(format!("The point of line {} lies on the base and was dropped.", row.line));
    };
    if last {
        drop(rows.remove(n - 1));
    }
    if first {
        drop(rows.remove(0));
    }
}

/// Refuses a surface that ends ahead of the trailing edge.
fn check_ends(path: &Path, rows: &[Row], frame: &Frame) -> Result<(), GeometryError> {
    for row in [&rows[0], &rows[rows.len() - 1]] {
        let x_over_c = frame.x_over_c(row);
        if x_over_c < 1.0 - END_REACH {
            let path = path.to_path_buf();
            return Err(GeometryError::Truncated { path, line: row.line, x_over_c });
        }
    }
    Ok(())
}

/// Turns the contour so that the upper surface comes first: it then encloses its area
/// counter-clockwise.
fn orient(
    path: &Path,
    rows: &mut [Row],
    frame: &Frame,
    notes: &mut Vec<String>,
) -> Result<(), GeometryError> {
    let start = rows[0];
    let area: f64 = rows
        .windows(2)
        .map(|w| (step(&start, &w[0]), step(&start, &w[1])))
        .map(|(a, b)| 0.5 * (a[0] * b[1] - a[1] * b[0]))
        .sum();
    if area.abs() < 1e-5 * frame.chord * frame.chord {
        return Err(GeometryError::NoArea { path: path.to_path_buf() });
    }
    if area < 0.0 {
        rows.reverse();
        notes.push("The lower surface came first; the order was reversed.".to_owned());
    }
    Ok(())
}

/// Refuses a contour, its base included, that crosses itself.
fn check_crossing(path: &Path, rows: &[Row]) -> Result<(), GeometryError> {
    let points: Vec<[f64; 2]> = rows.iter().map(|r| r.at).collect();
    let lines = |k: usize| {
        let (a, b) = (rows[k].line, rows[(k + 1) % rows.len()].line);
        (a.min(b), a.max(b))
    };
    match first_crossing(&points, true) {
        None => Ok(()),
        Some((i, k)) => Err(GeometryError::ContourCrosses {
            path: path.to_path_buf(),
            first: lines(i).min(lines(k)),
            second: lines(i).max(lines(k)),
        }),
    }
}
