//! From the rows of a file to one contour: upper trailing edge → nose → lower trailing edge of an
//! airfoil, or clockwise around a smooth body.

use super::rows::Row;
use crate::geometry::error::{FileProblem, Refusal};
use crate::geometry::polygon::first_crossing;
use crate::geometry::{ClosedContour, vector};

/// The fewest distinct points that say what a contour is.
pub(in crate::geometry) const LEAST_POINTS: usize = 10;
/// Points closer than this, in chords or extents of a smooth contour, are one point.
const SAME: f64 = 1e-7;
/// Ends of the contour closer than this, in chords, are one point.
const ROUNDING: f64 = 1e-13;
/// The way from the last point of a smooth contour to the first, in longest ways between neighbours,
/// from which the contour is open.
const OPEN: f64 = 3.0;
/// An end of the contour may be this far ahead of the trailing edge, in chords.
const END_REACH: f64 = 0.05;

/// The points of an airfoil, ordered, checked and scaled; `upper` is the count of the first surface in
/// Lednicer's order.
pub(super) fn airfoil(
    rows: Vec<Row>,
    upper: Option<usize>,
    notes: &mut Vec<String>,
) -> Result<Vec<[f64; 2]>, Refusal> {
    let frame = Frame::of(&rows);
    let rows = join_surfaces(rows, upper, &frame, notes);
    let mut rows = drop_repeated(rows, SAME * frame.chord, notes);
    let closed = rows.len() > 1 && same(&rows[0], &rows[rows.len() - 1], &frame);
    check_count(rows.len() - usize::from(closed))?;
    if frame.chord <= 0.0 {
        return Err(FileProblem::NoArea.into());
    }
    start_at_trailing_edge(&mut rows, &frame, notes);
    drop_base_points(&mut rows, &frame, notes);
    for row in [&rows[0], &rows[rows.len() - 1]] {
        let x_over_c = frame.x_over_c(row);
        if x_over_c < 1.0 - END_REACH {
            return Err(FileProblem::Truncated { x_over_c }.at(row.line));
        }
    }
    // The two ends of a formula may cross by its rounding.
    let last = rows.len() - 1;
    if distance(&rows[0], &rows[last]) <= ROUNDING * frame.chord {
        rows[last].at = rows[0].at;
    }
    // Counter-clockwise, the upper surface comes first.
    if checked_area(&rows, 1e-5 * frame.chord * frame.chord)? < 0.0 {
        rows.reverse();
        notes.push("The lower surface came first; the order was reversed.".to_owned());
    }
    check_crossing(&rows)?;
    Ok(frame.scale(&rows, notes))
}

/// The smooth closed contour in units of `length`, ordered and checked, without its name, and the
/// distance up to which points are one point.
pub(super) fn smooth(
    rows: Vec<Row>,
    length: f64,
    notes: &mut Vec<String>,
) -> Result<(ClosedContour, f64), Refusal> {
    let extents = [extent(&rows, 0), extent(&rows, 1)];
    let across = (extents[0][1] - extents[0][0]).max(extents[1][1] - extents[1][0]);
    let same = SAME * across;
    let mut rows = drop_repeated(rows, same, notes);
    if rows.len() > 1 && distance(&rows[0], &rows[rows.len() - 1]) <= same {
        rows.pop();
    }
    check_count(rows.len())?;
    let (first, end) = (&rows[0], &rows[rows.len() - 1]);
    let longest = rows.windows(2).map(|w| distance(&w[0], &w[1])).fold(0.0, f64::max);
    let gap = distance(end, first);
    if gap > OPEN * longest {
        return Err(FileProblem::OpenContour { last: end.line, gap, longest }.at(first.line));
    }
    let area = checked_area(&rows, 1e-6 * across * across)?;
    check_crossing(&rows)?;
    if area > 0.0 {
        rows[1..].reverse();
        notes.push("The points run counter-clockwise; their order was reversed.".into());
    }
    let contour = ClosedContour {
        name: String::new(),
        points: rows.iter().map(|row| row.at.map(|c| c / length)).collect(),
        centre: extents.map(|[low, high]| 0.5 * (low + high) / length),
        symmetry: None,
        notes: Vec::new(),
    };
    Ok((contour, same / length))
}

fn check_count(found: usize) -> Result<(), Refusal> {
    if found < LEAST_POINTS { Err(FileProblem::TooFewPoints { found }.into()) } else { Ok(()) }
}

/// Where the section lies.
struct Frame {
    left: f64,
    right: f64,
    chord: f64,
}

impl Frame {
    fn of(rows: &[Row]) -> Self {
        let [left, right] = extent(rows, 0);
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

/// Smallest and largest x (`c` = 0) or y (1).
pub(super) fn extent(rows: &[Row], c: usize) -> [f64; 2] {
    let values = || rows.iter().map(|row| row.at[c]);
    [values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max)]
}

fn step(a: &Row, b: &Row) -> [f64; 2] {
    vector::difference(b.at, a.at)
}

fn distance(a: &Row, b: &Row) -> f64 {
    vector::distance(a.at, b.at)
}

fn same(a: &Row, b: &Row, frame: &Frame) -> bool {
    distance(a, b) <= SAME * frame.chord
}

/// Joins two surfaces that run from nose to trailing edge into one contour. Without a count line
/// they are found by the one jump of more than half a chord between two full surfaces.
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

/// Drops every point that is no farther than `same` from the one before.
fn drop_repeated(rows: Vec<Row>, same: f64, notes: &mut Vec<String>) -> Vec<Row> {
    let mut kept: Vec<Row> = Vec::with_capacity(rows.len());
    let mut dropped: Vec<String> = Vec::new();
    for row in rows {
        match kept.last() {
            Some(last) if distance(last, &row) <= same => dropped.push(row.line.to_string()),
            _ => kept.push(row),
        }
    }
    match &dropped[..] {
        [] => {}
        [line] => notes.push(format!("The repeated point in line {line} was dropped.")),
        lines => {
            let (n, more) = (lines.len(), if lines.len() > 8 { ", …" } else { "" });
            let lines = lines[..n.min(8)].join(", ");
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
        vector::angle(step(a, b), step(b, c)).abs() > 50.0_f64.to_radians()
    };
    let ends_on_base = |a: &Row, b: &Row, c: &Row| on_base(a, b, frame) && corner(a, b, c);
    let n = rows.len();
    for [end, beside, next] in [[n - 1, n - 2, n - 3], [0, 1, 2]] {
        if ends_on_base(&rows[end], &rows[beside], &rows[next]) {
            let Row { line, .. } = rows.remove(end);
            notes.push(format!("The point of line {line} lies on the base and was dropped."));
        }
    }
}

/// Signed area, positive for points that run counter-clockwise; refuses one of less than `least`.
fn checked_area(rows: &[Row], least: f64) -> Result<f64, Refusal> {
    let start = rows[0];
    let area: f64 = rows
        .windows(2)
        .map(|w| 0.5 * vector::cross(step(&start, &w[0]), step(&start, &w[1])))
        .sum();
    if area.abs() < least { Err(FileProblem::NoArea.into()) } else { Ok(area) }
}

/// Refuses a contour, the way from its end to its start included, that crosses itself.
fn check_crossing(rows: &[Row]) -> Result<(), Refusal> {
    let points: Vec<[f64; 2]> = rows.iter().map(|r| r.at).collect();
    let Some((i, k)) = first_crossing(&points, true) else { return Ok(()) };
    let mut segments = [i, k].map(|k| {
        let mut lines = [rows[k].line, rows[(k + 1) % rows.len()].line];
        lines.sort_unstable();
        lines
    });
    segments.sort_unstable();
    Err(FileProblem::ContourCrosses { segments }.into())
}
