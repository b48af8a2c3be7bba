//! One contour from the rows of a file: upper edge → nose → lower edge of an airfoil, or clockwise around a body.

use super::base::{self, ChordExtent};
use super::rows::XyRow;
use super::{Placing, Repairs};
use crate::geometry::error::{FileProblem, LEAST_POINTS, Refusal};
use crate::geometry::section::part_surfaces;
use crate::geometry::smooth as smoothing;
use crate::geometry::surface::CLOSED_GAP;
use crate::geometry::vector::first_crossing;
use crate::geometry::{ClosedContour, Placement, vector};

/// Points closer than this, in chords or extents of a smooth contour, are one point.
const SAME: f64 = 1e-7;
/// Ends of the contour closer than this, in chords, are one point.
const ROUNDING: f64 = 1e-13;
/// A smooth contour is open if its ends are more than this many times as far apart as any neighbours.
const OPEN: f64 = 3.0;
/// An end of the contour may be this far ahead of the trailing edge, in chords.
const END_REACH: f64 = 0.05;

/// Largest difference of nose and chord from 0 and 1 at which coordinates may be kept.
const KEPT: f64 = 0.1;

/// Angles between the chord line and the x axis. Beyond the first (radians, from a rough guess) the section
/// may be pitched; from the second on (degrees, exact) it is.
const GUESSED: f64 = 0.07;
const PITCHED: f64 = 5.0;

/// The points of an airfoil of unit chord along x, ordered, repaired and checked, and the position of the
/// section in the file. `upper` is the number of points of the first surface in Lednicer's order.
pub(super) fn airfoil(
    rows: Vec<XyRow>,
    upper: Option<usize>,
    repairs: &Repairs,
    notes: &mut Vec<String>,
) -> Result<(Vec<[f64; 2]>, Placement), Refusal> {
    let file: Vec<[f64; 2]> = rows.iter().map(|row| row.at).collect();
    let step = smoothing::step(&file, ChordExtent::of(&rows).chord);
    let mut said = Vec::new();
    let pitched = chord_angle(&rows).and_then(|turn| {
        let turned = rows.iter().map(|row| XyRow { at: turned(row.at, -turn), ..*row }).collect();
        let (rows, _) = ordered(turned, upper, &mut said).ok()?;
        Some(laid(rows, turn)).filter(|(_, frame)| frame.angle.abs() >= PITCHED)
    });
    let (rows, crossing, frame) = if let Some((rows, frame)) = pitched {
        notes.append(&mut said);
        notes.extend(repairs.placing.note(&frame));
        let crossing = check_crossing(&rows);
        (rows, crossing, frame)
    } else {
        let (mut rows, frame) = ordered(rows, upper, notes)?;
        // Before scaling: points touch exactly only in the coordinates of the file.
        let crossing = check_crossing(&rows);
        let ChordExtent { left, chord, .. } = frame;
        if repairs.keep_coordinates && left.abs() <= KEPT && (chord - 1.0).abs() <= KEPT {
            (rows, crossing, Placement::NONE)
        } else {
            notes.extend(frame.note().filter(|_| repairs.placing != Placing::File));
            frame.scale(&mut rows);
            (rows, crossing, Placement { at: [left, 0.0], chord, angle: 0.0 })
        }
    };
    Ok((repaired(rows, crossing, step / frame.chord, repairs, notes)?, frame))
}

impl Placing {
    /// The note on a section that is pitched in its file.
    fn note(self, frame: &Placement) -> Option<String> {
        let Placement { chord, angle: nose_up, .. } = frame;
        let keys = |of: &str| {
            format!(
                "; {of}angle = {:.2} lays it along x, {of}frame = \"file\" keeps the file's frame",
                -nose_up
            )
        };
        let remedy = match self {
            Self::Section => keys("geometry."),
            Self::Element => keys(""),
            Self::Rigging => String::new(),
            Self::File => return None,
        };
        Some(format!(
            "The chord is {chord:.6} long at {nose_up:.2} degrees, nose up: the section was scaled by that length and \
             keeps that angle{remedy}."
        ))
    }
}

/// The points of a contour of unit chord after the requested smoothing and opening of the edge, where an overlap is
/// closed as a gap of that size would be. A contour that still crosses itself is refused.
fn repaired(
    mut rows: Vec<XyRow>,
    mut crossing: Result<(), Refusal>,
    step: f64,
    repairs: &Repairs,
    notes: &mut Vec<String>,
) -> Result<Vec<[f64; 2]>, Refusal> {
    let at = |rows: &[XyRow]| rows.iter().map(|row| row.at).collect::<Vec<_>>();
    let mut points = at(&rows);
    if let Some(tolerance) = repairs.smooth {
        let n = rows.len();
        notes.push(match smoothing::smoothed(&points, tolerance) {
            Some(knots) => {
                rows = knots.into_iter().map(|(k, at)| XyRow { at, ..rows[k] }).collect();
                points = at(&rows);
                crossing = check_crossing(&rows);
                format!("The contour was smoothed within {tolerance} chord of its {n} points.")
            }
            None => format!("No smooth curve is within {tolerance} chord of its {n} points: raise geometry.smooth."),
        });
    } else {
        notes.extend(smoothing::note(&points, step));
    }
    let last = points.len() - 1;
    let crossed = crossing.is_err() && points[0][1] < points[last][1];
    let gap = vector::distance(points[0], points[last]) * if crossed { -1.0 } else { 1.0 };
    if let Some(thickness) = repairs.edge_thickness {
        notes.push(part_surfaces(&mut points, gap, thickness));
    } else if crossed && -gap <= CLOSED_GAP {
        // Only the two end points may overlap.
        let (first, end) = (points[0], points[last]);
        points[0] = vector::middle(first, end);
        points[last] = points[0];
        if first_crossing(&points, true).is_some() {
            (points[0], points[last]) = (first, end);
            part_surfaces(&mut points, gap, 0.0);
        }
        notes.push(format!(
            "The surfaces overlap by {:.1e} chord at the trailing edge; they were brought to meet.",
            -gap
        ));
    } else {
        return crossing.map(|()| points);
    }
    if crossing.is_err() {
        if vector::distance(points[0], points[last]) <= ROUNDING {
            points[last] = points[0];
        }
        rows.iter_mut().zip(&points).for_each(|(row, at)| row.at = *at);
        check_crossing(&rows)?;
    }
    Ok(points)
}

/// The rows of an airfoil from its trailing edge around the nose and back, in the axes and unit of the file.
fn ordered(
    rows: Vec<XyRow>,
    upper: Option<usize>,
    notes: &mut Vec<String>,
) -> Result<(Vec<XyRow>, ChordExtent), Refusal> {
    let frame = ChordExtent::of(&rows);
    let rows = join_surfaces(rows, upper, &frame, notes);
    let same = SAME * frame.chord;
    let mut rows = drop_repeated(rows, same, notes);
    let closed = rows.len() > 1 && distance(&rows[0], &rows[rows.len() - 1]) <= same;
    let whole = rows.len() - usize::from(closed);
    check_count(whole)?;
    if frame.chord <= 0.0 {
        return Err(FileProblem::NoArea.into());
    }
    let (first, end) = (rows[0], rows[rows.len() - 1]);
    let ahead = [first, end].iter().all(|row| frame.x_over_c(row) < 0.9);
    let elsewhere = ahead && distance(&first, &end) <= 0.1 * frame.chord;
    if elsewhere {
        notes.push(format!(
            "The contour starts at line {}, away from the trailing edge; it was cut there instead.",
            first.line
        ));
    }
    let on_base = base::cut(&mut rows, whole, &frame, notes);
    if elsewhere && !on_base {
        start_at_trailing_edge(&mut rows, same);
    }
    for row in [&rows[0], &rows[rows.len() - 1]] {
        let x_over_c = frame.x_over_c(row);
        if !on_base && x_over_c < 1.0 - END_REACH {
            return Err(FileProblem::Truncated { x_over_c }.at(row.line));
        }
    }
    // By rounding the two ends of a formula may cross.
    let last = rows.len() - 1;
    if distance(&rows[0], &rows[last]) <= ROUNDING * frame.chord {
        rows[last].at = rows[0].at;
    }
    // In counter-clockwise order the upper surface comes first.
    if checked_area(&rows, 1e-5 * frame.chord * frame.chord)? < 0.0 {
        rows.reverse();
        notes.push("The lower surface came first; the order was reversed.".to_owned());
    }
    Ok((rows, frame))
}

/// The checked smooth contour in units of `length`, without a name, and the distance up to which two points are one.
pub(super) fn smooth(
    rows: Vec<XyRow>,
    length: f64,
    notes: &mut Vec<String>,
) -> Result<(ClosedContour, f64), Refusal> {
    let [low, high] = vector::bounds(rows.iter().map(|row| row.at));
    let across = (high[0] - low[0]).max(high[1] - low[1]);
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
        points: rows.iter().map(|row| row.at.map(|c| c / length)).collect(),
        centre: [0, 1].map(|c| 0.5 * (low[c] + high[c]) / length),
        ..ClosedContour::default()
    };
    Ok((contour, same / length))
}

fn check_count(found: usize) -> Result<(), Refusal> {
    if found < LEAST_POINTS { Err(FileProblem::TooFewPoints { found }.into()) } else { Ok(()) }
}

/// Angle between the x axis and the line through the two points that are farthest apart, radians; none if it
/// is small. The nose is the left end, unless the contour is twice as wide near the right end.
fn chord_angle(rows: &[XyRow]) -> Option<f64> {
    let nearer = |from: XyRow| {
        move |a: &&XyRow, b: &&XyRow| distance(&from, a).total_cmp(&distance(&from, b))
    };
    let mut ends = [*rows.first()?; 2];
    for _ in 0..3 {
        ends = [ends[1], *rows.iter().max_by(nearer(ends[1]))?];
    }
    ends.sort_by(|a, b| a.at[0].total_cmp(&b.at[0]));
    let line = step(&ends[0], &ends[1]);
    let near = |end: usize| {
        let off = |row: &&XyRow| distance(row, &ends[end]) < 0.1 * line[0].hypot(line[1]);
        let across: Vec<f64> =
            rows.iter().filter(off).map(|row| vector::cross(line, step(&ends[0], row))).collect();
        let [low, high] = across.iter().fold([0.0_f64; 2], |[a, b], v| [a.min(*v), b.max(*v)]);
        (across.len() > 2).then_some(high - low)
    };
    let backwards = near(0).zip(near(1)).is_some_and(|(left, right)| right > 2.0 * left);
    let angle = if backwards { (-line[1]).atan2(-line[0]) } else { line[1].atan2(line[0]) };
    Some(angle).filter(|angle| angle.abs() > GUESSED)
}

/// Lays a section whose chord line is near the x axis along that axis, from 0 to 1. Also returns its frame.
fn laid(mut rows: Vec<XyRow>, turn: f64) -> (Vec<XyRow>, Placement) {
    let edge = vector::middle(rows[0].at, rows[rows.len() - 1].at);
    let off = |row: &XyRow| vector::distance(edge, row.at);
    let nose = rows.iter().max_by(|a, b| off(a).total_cmp(&off(b))).map_or(edge, |row| row.at);
    let (line, chord) = (vector::difference(edge, nose), vector::distance(edge, nose));
    let rest = vector::angle([1.0, 0.0], line);
    for row in &mut rows {
        row.at = turned(vector::difference(row.at, nose), -rest).map(|c| c / chord);
    }
    let angle = -vector::angle([1.0, 0.0], turned(line, turn)).to_degrees();
    (rows, Placement { at: turned(nose, turn), chord, angle })
}

fn turned([x, y]: [f64; 2], angle: f64) -> [f64; 2] {
    let (sin, cos) = angle.sin_cos();
    [cos * x - sin * y, sin * x + cos * y]
}

fn step(a: &XyRow, b: &XyRow) -> [f64; 2] {
    vector::difference(b.at, a.at)
}

fn distance(a: &XyRow, b: &XyRow) -> f64 {
    vector::distance(a.at, b.at)
}

/// Joins two surfaces that run from nose to trailing edge into one contour. Without a count line they are
/// separated at the only jump of more than half a chord between two full surfaces.
fn join_surfaces(
    mut rows: Vec<XyRow>,
    upper: Option<usize>,
    frame: &ChordExtent,
    notes: &mut Vec<String>,
) -> Vec<XyRow> {
    let Some(split) = upper.or_else(|| jump(&rows, frame)) else { return rows };
    if upper.is_none() {
        notes.push(format!(
            "Two surfaces (the second from line {}) were joined at the nose.",
            rows[split].line
        ));
    }
    let runs_aft = |s: &[XyRow]| step(&s[0], &s[s.len() - 1])[0] > 0.0;
    if runs_aft(&rows[..split]) {
        rows[..split].reverse();
    }
    if !runs_aft(&rows[split..]) {
        rows[split..].reverse();
    }
    rows
}

/// The position of the only long jump, if there is a full surface on both sides of it.
fn jump(rows: &[XyRow], frame: &ChordExtent) -> Option<usize> {
    let mut jumps =
        (1..rows.len()).filter(|&k| distance(&rows[k - 1], &rows[k]) > 0.5 * frame.chord);
    let split = jumps.next()?;
    let full = |s: &[XyRow]| s.len() > 2 && ChordExtent::of(s).chord > 0.8 * frame.chord;
    (jumps.next().is_none() && full(&rows[..split]) && full(&rows[split..])).then_some(split)
}

/// Drops every point whose distance from the previous one is at most `same`.
fn drop_repeated(rows: Vec<XyRow>, same: f64, notes: &mut Vec<String>) -> Vec<XyRow> {
    let mut kept: Vec<XyRow> = Vec::with_capacity(rows.len());
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

/// Cuts a closed contour, whose ends are one point if they are no farther apart than `same`, at its rearmost point, or
/// between two of them, as a thin edge has.
fn start_at_trailing_edge(rows: &mut Vec<XyRow>, same: f64) {
    if distance(&rows[0], &rows[rows.len() - 1]) <= same {
        rows.pop();
    }
    let n = rows.len();
    let aft = (0..n).max_by(|&i, &k| rows[i].at[0].total_cmp(&rows[k].at[0])).unwrap_or(0);
    rows.rotate_left(aft);
    if rows[n - 1].at[0] < rows[0].at[0] {
        rows.push(rows[0]);
    }
}

/// Signed area, positive for counter-clockwise points; an area below `least` is refused.
fn checked_area(rows: &[XyRow], least: f64) -> Result<f64, Refusal> {
    let start = rows[0];
    let triangle = |w: &[XyRow]| 0.5 * vector::cross(step(&start, &w[0]), step(&start, &w[1]));
    let area: f64 = rows.windows(2).map(triangle).sum();
    if area.abs() < least { Err(FileProblem::NoArea.into()) } else { Ok(area) }
}

/// Refuses a contour that crosses itself, the segment from its end to its start included.
fn check_crossing(rows: &[XyRow]) -> Result<(), Refusal> {
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
