//! The extent of a section, and its base where a file has one: a straight trailing edge with two corners.

use super::rows::XyRow;
use crate::geometry::vector::{angle, bounds, cross, difference, distance, dot};

/// Both corners of a base lie behind `AFT` on the chord and turn by at least `EACH` degrees, and by `BOTH`
/// together. Beside them, within `BESIDE.1` lengths of the base, the surfaces turn by less than `BESIDE.0`
/// degrees.
const AFT: f64 = 0.8;
const EACH: f64 = 40.0;
const BOTH: f64 = 100.0;
const BESIDE: (f64, f64) = (25.0, 1.2);
/// With more such corners than this the points are noise.
const MOST_CORNERS: usize = 40;
/// Least length of a base, chords, and greatest distance of its points from a straight line, in its lengths.
const LEAST: f64 = 5e-4;
const OFF: f64 = 0.05;

/// Opens the contour at its base: the two corners become its ends. The first `whole` points do not include a
/// repeated end point. Returns false if there is no base.
pub(super) fn cut(
    rows: &mut Vec<XyRow>,
    whole: usize,
    frame: &ChordExtent,
    notes: &mut Vec<String>,
) -> bool {
    let Some([a, b]) = corners(&rows[..whole], frame) else { return false };
    let repeated = rows.len() > whole && (a..=b).any(|k| k % whole == 0);
    let left_out = b - a - 1 + usize::from(repeated);
    rows.truncate(whole);
    let [lower, upper] = [rows[a], rows[b % whole]];
    rows.rotate_left(b % whole);
    rows.truncate(whole - (b - a - 1));
    if left_out > 0 {
        notes.push(format!(
            "The base, {:.3e} chord wide between lines {} and {}, is kept straight with both corners; its other \
             points, {left_out} in all, were left out.",
            distance(lower.at, upper.at) / frame.chord,
            lower.line.min(upper.line),
            lower.line.max(upper.line),
        ));
    }
    true
}

/// The two corners of the longest base; the second index is counted on from the first, around the contour. A
/// sharp edge has one corner, and a rounded one turns as much beside two of its points as at them.
fn corners(rows: &[XyRow], frame: &ChordExtent) -> Option<[usize; 2]> {
    let n = rows.len();
    let at = |k: usize| rows[k % n].at;
    let way = |a: usize, b: usize| difference(at(b), at(a));
    let turn = |k: usize| angle(way(k + n - 1, k), way(k, k + 1)).to_degrees();
    let sharp = |k: &usize| frame.x_over_c(&rows[*k]) > AFT && turn(*k).abs() > EACH;
    let sharp: Vec<usize> = (0..n).filter(sharp).collect();
    if sharp.len() > MOST_CORNERS {
        return None;
    }
    let length = |&[a, b]: &[usize; 2]| distance(at(a), at(b));
    let bend = |corner: usize, far: f64, by: usize| {
        let places = (1..n).map(|k| corner + k * by);
        let near = places.take_while(|k| distance(at(corner), at(*k)) < far);
        near.map(turn).sum::<f64>().abs()
    };
    let is_base = |corners: &[usize; 2]| {
        let (&[a, b], length) = (corners, length(corners));
        let (side, square, far) = (way(a, b), length * length, BESIDE.1 * length);
        let on_line = |k: usize| {
            let off = cross(side, way(a, k)).abs() < OFF * square;
            off && (0.0..square).contains(&dot(side, way(a, k)))
        };
        length > LEAST * frame.chord
            && side[0].abs() < side[1].abs()
            && turn(a) * turn(b) > 0.0
            && (turn(a) + turn(b)).abs() > BOTH
            && (a + 1..b).all(on_line)
            && bend(a, far, n - 1).max(bend(b, far, 1)) < BESIDE.0
    };
    let after = |a: usize| sharp.iter().map(move |&b| [a, if b > a { b } else { b + n }]);
    let pairs = sharp.iter().flat_map(|&a| after(a)).filter(is_base);
    pairs.max_by(|a, b| length(a).total_cmp(&length(b)))
}

/// Extent of the section in x.
pub(super) struct ChordExtent {
    pub(super) left: f64,
    right: f64,
    pub(super) chord: f64,
}

impl ChordExtent {
    pub(super) fn of(rows: &[XyRow]) -> Self {
        let [[left, _], [right, _]] = bounds(rows.iter().map(|row| row.at));
        Self { left, right, chord: right - left }
    }

    /// Position along the chord, 0 to 1.
    pub(super) fn x_over_c(&self, row: &XyRow) -> f64 {
        (row.at[0] - self.left) / self.chord
    }

    /// The note on a section that does not reach from 0 to 1.
    pub(super) fn note(&self) -> Option<String> {
        let Self { left, right, chord } = *self;
        (left.abs() + (chord - 1.0).abs() > 0.0).then(|| {
            format!(
                "The section reached from x = {left} to {right}; it was moved and scaled to 0 and 1."
            )
        })
    }

    /// Scales the section to unit chord from x = 0, and y by the same factor.
    pub(super) fn scale(&self, rows: &mut [XyRow]) {
        let Self { left, chord, .. } = *self;
        for row in rows.iter_mut() {
            row.at = [(row.at[0] - left) / chord, row.at[1] / chord];
        }
    }
}
