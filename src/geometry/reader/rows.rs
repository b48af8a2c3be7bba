//! Separates the rows of points in a file from names, remarks, count lines and junk.

use super::numbers::{self, FileLine, Numbers, Surfaces, classify};
use crate::diagnostics::excerpt;
use crate::geometry::error::{FileProblem, Refusal};
use crate::geometry::vector::distance;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct XyRow {
    /// Number of the line, counted from 1.
    pub(super) line: usize,
    /// Coordinates as in the file.
    pub(super) at: [f64; 2],
}

#[derive(Debug)]
pub(super) struct Table {
    /// The first line that is not a point.
    pub(super) name: Option<String>,
    /// The points in the order of the file.
    pub(super) rows: Vec<XyRow>,
    /// Number of points on the first surface, if a count line gives it.
    pub(super) upper: Option<usize>,
}

/// Sorts the lines of a file into names, points and remarks.
pub(super) fn collect(text: &str, notes: &mut Vec<String>) -> Result<Table, Refusal> {
    let text = text.trim_start_matches('\u{feff}').replace("\r\n", "\n").replace('\r', "\n");
    let text = numbers::flow(&text);
    let (name, mut candidates, named) = if let Some((rows, named)) = numbers::bracketed_rows(&text)
    {
        notes.push("The points were taken from within brackets.".into());
        (None, rows, named)
    } else {
        let (name, rows) = candidates(&text, notes)?;
        (name, rows, None)
    };
    if candidates.is_empty() {
        return Err(FileProblem::NoPoints { lines: text.lines().count() }.into());
    }
    drop_grid_extents(&mut candidates, notes);
    if let Some(row) = candidates.iter().find(|row| row.values.len() < 2) {
        return Err(FileProblem::MalformedRow { text: excerpt(row.text) }.at(row.line));
    }
    let surfaces = named.map_or_else(|| layout(&candidates, &text, notes), Ok)?;
    let mut rows = points(&candidates, &surfaces, notes)?;
    let upper = match surfaces.len() {
        1 => take_count_line(&mut rows, notes)?.or_else(|| {
            drop_reference(&mut rows, notes);
            None
        }),
        _ => Some(candidates.len()),
    };
    let ahead = drop_outliers(&mut rows, notes)?;
    let upper = upper.map(|upper| upper.saturating_sub(ahead));
    let upper = upper.filter(|upper| (1..rows.len()).contains(upper));
    Ok(Table { name, rows, upper })
}

/// The name and the lines of numbers. A broken row is an error if points precede or surround it.
fn candidates<'a>(
    text: &'a str,
    notes: &mut Vec<String>,
) -> Result<(Option<String>, Vec<Numbers<'a>>), Refusal> {
    let mut name = None;
    let mut found: Vec<Numbers> = Vec::new();
    let mut skipped: Vec<(usize, &str)> = Vec::new();
    let mut broken: Option<(usize, &str)> = None;
    let malformed = |(line, text): (usize, &str)| {
        Err(FileProblem::MalformedRow { text: excerpt(text) }.at(line))
    };
    for (index, raw) in text.split('\n').enumerate() {
        let line = index + 1;
        if !found.is_empty() && begins_other_curve(raw) {
            notes.push(format!(
                "From line {line} on the file holds another curve, which was not read: `{}`.",
                excerpt(raw)
            ));
            break;
        }
        match classify(line, raw) {
            FileLine::Blank => {}
            FileLine::Numbers(numbers) => {
                if let Some(earlier) = broken {
                    return malformed(earlier);
                }
                found.push(numbers);
            }
            kind @ (FileLine::Text | FileLine::Broken)
                if name.is_none() && found.is_empty() && !raw.contains("NumCoords") =>
            {
                if kind == FileLine::Broken {
                    notes.push(format!("Line {line} was taken as the name: `{}`.", excerpt(raw)));
                }
                name = Some(raw.trim().to_owned());
            }
            // The number of points may be given above them.
            FileLine::Broken if found.is_empty() && raw.trim().parse::<usize>().is_ok() => {
                skipped.push((line, raw));
            }
            FileLine::Broken => {
                // After the points and a line of words a broken line belongs to the remarks.
                let last = found.last().map_or(0, |c| c.line);
                if skipped.last().is_none_or(|&(l, _)| l < last) {
                    return malformed((line, raw));
                }
                broken = broken.or(Some((line, raw)));
                skipped.push((line, raw));
            }
            FileLine::Text => skipped.push((line, raw)),
        }
    }
    note_skipped(&skipped, notes);
    Ok((name, found))
}

/// True for the heading of the camber or the chord line, which some tables add to the section.
fn begins_other_curve(text: &str) -> bool {
    let words: String = text.chars().filter(char::is_ascii_alphabetic).collect();
    let words = words.to_ascii_lowercase();
    ["camberline", "meanline", "chordline"].contains(&words.as_str())
}

/// Adds one note for each run of neighbouring lines.
fn note_skipped(skipped: &[(usize, &str)], notes: &mut Vec<String>) {
    for run in skipped.chunk_by(|a, b| a.0 + 1 == b.0) {
        let text = excerpt(run[0].1);
        notes.push(match run.len() {
            1 => format!("Line {} is not a point and was skipped: `{text}`.", run[0].0),
            n => format!(
                "Lines {} to {} are not points and were skipped, beginning with `{text}`.",
                run[0].0,
                run[n - 1].0
            ),
        });
    }
}

/// Drops the four numbers `x_min x_max y_min y_max` that MSES files put above the points.
fn drop_grid_extents(candidates: &mut Vec<Numbers>, notes: &mut Vec<String>) {
    let extents = |v: &[f64]| v.len() == 4 && v[0] < v[1] && v[2] < v[3];
    let alone = candidates.get(1).is_some_and(|c| c.values.len() < 4);
    if alone && extents(&candidates[0].values) {
        let first = candidates.remove(0);
        notes.push(format!(
            "Line {} holds grid extents, not a point, and was skipped: `{}`.",
            first.line,
            excerpt(first.text)
        ));
    }
}

/// The columns that hold coordinates, the first two but in wide tables. Long rows that form no table are refused.
fn layout(
    candidates: &[Numbers],
    text: &str,
    notes: &mut Vec<String>,
) -> Result<Surfaces, Refusal> {
    let values: Vec<&[f64]> = candidates.iter().map(|c| c.values.as_slice()).collect();
    let wide = values.iter().all(|v| v.len() > 2);
    let first = candidates.first().map_or(0, |c| c.line);
    let above = text.split('\n').take(first.saturating_sub(1)).filter(|l| !l.trim().is_empty());
    if let Some((surfaces, note)) = numbers::layout(above.last(), &values).filter(|_| wide) {
        notes.push(format!("{note}."));
        return Ok(surfaces);
    }
    let most = if wide { 2 } else { 3 };
    if let Some(row) = candidates.iter().find(|row| row.values.len() > most) {
        return Err(FileProblem::Columns { found: row.values.len() }.at(row.line));
    }
    let third = values.iter().filter(|v| v.len() == 3).count();
    if third > 0 {
        notes.push(format!("A third number was not used in {third} lines."));
    }
    Ok(vec![[0, 1]])
}

/// Finite coordinates from the columns of each surface, first the one surface, then the other.
fn points(
    candidates: &[Numbers],
    surfaces: &[[usize; 2]],
    notes: &mut Vec<String>,
) -> Result<Vec<XyRow>, Refusal> {
    let mut rows = Vec::with_capacity(surfaces.len() * candidates.len());
    for &[x, y] in surfaces {
        for (index, &Numbers { line, text, ref values, .. }) in candidates.iter().enumerate() {
            let at = [values[x], values[y]];
            if !at.iter().all(|v| v.abs() < 1e100) {
                return Err(FileProblem::NotFinite { text: excerpt(text) }.at(line));
            }
            if values[..2] == [999.0, 999.0] && index + 1 < candidates.len() {
                return Err(FileProblem::SeveralElements.at(line));
            }
            rows.push(XyRow { line, at });
        }
    }
    let mut note = |which: fn(&Numbers) -> bool, what: &str| {
        let mut lines = candidates.iter().filter(|c| which(c)).map(|c| c.line);
        if let Some(first) = lines.next() {
            notes.push(format!("{what}, {} in all, the first in line {first}.", 1 + lines.count()));
        }
    };
    note(|n| n.parentheses, "Numbers in parentheses were taken as points");
    note(|n| n.decimal_commas, "Commas were read as decimal points");
    note(|n| n.run_together, "Numbers that ran together were parted at the sign");
    Ok(rows)
}

/// Removes the line that counts the points of the two surfaces (Lednicer's order) and returns the first
/// count. Two whole numbers are counts if they add up to the number of points that follow. If they do not,
/// but are far from all points, the file contradicts itself.
fn take_count_line(
    rows: &mut Vec<XyRow>,
    notes: &mut Vec<String>,
) -> Result<Option<usize>, Refusal> {
    let XyRow { line, at: [a, b] } = rows[0];
    let count = |v: f64| v.fract() == 0.0 && (2.0..1e6).contains(&v);
    if !count(a) || !count(b) || rows.len() < 2 {
        return Ok(None);
    }
    let (upper, lower, found) = (a as usize, b as usize, rows.len() - 1);
    if upper.max(lower) == found && (2..=4).contains(&upper.min(lower)) {
        rows.remove(0);
        notes.push(format!("Line {line} says how many rows and columns follow."));
        return Ok(None);
    }
    if upper + lower == found {
        rows.remove(0);
        notes.push(format!(
            "Two surfaces of {upper} and {lower} points (line {line}) were joined at the nose."
        ));
        return Ok(Some(upper));
    }
    let largest = rows[1..].iter().flat_map(|r| r.at).fold(0.0, |m: f64, v| m.max(v.abs()));
    if a.min(b) > 1.5 * largest {
        return Err(FileProblem::CountLine { upper, lower, found }.at(line));
    }
    Ok(None)
}

/// Drops a reference point, as in OpenFAST files: it is far from the next one, near which the contour ends.
fn drop_reference(rows: &mut Vec<XyRow>, notes: &mut Vec<String>) {
    let [first, next, .., last] = rows[..] else { return };
    let chord = rows.iter().map(|row| distance(next.at, row.at)).fold(0.0, f64::max);
    if distance(first.at, next.at) > 0.3 * chord && distance(next.at, last.at) < 0.1 * chord {
        rows.remove(0);
        let ([x, y], line) = (first.at, first.line);
        notes.push(format!("Line {line} holds a reference point and was skipped: ({x}, {y})."));
    }
}

/// Drops points far from all others at either end of the file and returns how many there were at its beginning; among the
/// points they are an error. Far means more than a chord beyond the range of the middle nine tenths.
fn drop_outliers(rows: &mut Vec<XyRow>, notes: &mut Vec<String>) -> Result<usize, Refusal> {
    let n = rows.len();
    if n < 20 {
        return Ok(0); // Too few points to distinguish a stray point from the section.
    }
    let [x, y] = [0, 1].map(|c| {
        let mut sorted: Vec<f64> = rows.iter().map(|r| r.at[c]).collect();
        sorted.sort_by(f64::total_cmp);
        [sorted[n / 20], sorted[n - 1 - n / 20]]
    });
    let chord = (x[1] - x[0]).max(y[1] - y[0]);
    let beyond = |at: f64, [low, high]: [f64; 2]| at < low - chord || at > high + chord;
    let far = |r: &XyRow| beyond(r.at[0], x) || beyond(r.at[1], y);
    let mut note = |r: XyRow| {
        let [x, y] = r.at;
        notes.push(format!(
            "Line {} lies far away from all other points and was skipped: ({x}, {y}).",
            r.line
        ));
    };
    while rows.first().is_some_and(far) {
        note(rows.remove(0));
    }
    let ahead = n - rows.len();
    while let Some(row) = rows.pop_if(|r| far(r)) {
        note(row);
    }
    match rows.iter().find(|r| far(r)) {
        Some(&XyRow { line, at }) => Err(FileProblem::Outlier { at }.at(line)),
        None => Ok(ahead),
    }
}
