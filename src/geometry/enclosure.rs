//! A polygon as the outer line of a grid: a wind tunnel, a box, the ground. Its sides may be curves.

use super::curve::{CubicSpline, chord_lengths};
use super::vector::{between, difference, distance, dot, foot, unit};

/// Parts of a curved side.
const PARTS: usize = 1000;

/// An open or closed polygon, of which some sides may be curves, by its arc length t, from 0 to its length.
#[derive(Debug, Clone, PartialEq)]
pub struct Enclosure {
    points: Vec<[f64; 2]>,
    /// t of each point.
    places: Vec<f64>,
    /// t of the ends and of the corners.
    corners: Vec<f64>,
    /// Unit tangents at both ends of each part of a curve, after the point that it begins at; none where a side is straight.
    bends: Vec<Option<[[f64; 2]; 2]>>,
}

impl Enclosure {
    /// The polygon through at least two points, of which no two neighbours coincide.
    pub fn through(points: Vec<[f64; 2]>) -> Self {
        let places = chord_lengths(&points);
        Self { corners: places.clone(), bends: vec![None; points.len() - 1], places, points }
    }

    /// The polygon with a curve in place of a straight side, whose ends the curve has.
    #[must_use]
    pub fn bent(mut self, side: usize, curve: &CubicSpline) -> Self {
        let k = self.side(self.corners[side]);
        let at = |part: usize| curve.length() * part as f64 / PARTS as f64;
        let tangent = |part: usize| unit(curve.derivative(at(part)));
        self.points.splice(k + 1..=k, (1..PARTS).map(|part| curve.point(at(part))));
        let bends = (0..PARTS).map(|part| Some([tangent(part), tangent(part + 1)]));
        self.bends.splice(k..=k, bends);
        self.places = chord_lengths(&self.points);
        let longer = self.places[k + PARTS] - self.corners[side + 1];
        self.corners[side + 1..].iter_mut().for_each(|t| *t += longer);
        // The corners are points bit for bit.
        let nearest = |t: f64| {
            let after = self.places.partition_point(|place| *place < t).min(self.places.len() - 1);
            let before = after.saturating_sub(1);
            if t - self.places[before] < self.places[after] - t { before } else { after }
        };
        self.corners = self.corners.iter().map(|t| self.places[nearest(*t)]).collect();
        self
    }

    /// t and y of the point at x on a curved side, along which x rises or falls; none where the side is straight.
    pub(crate) fn beside(&self, side: usize, x: f64) -> Option<[f64; 2]> {
        let ends = [side, side + 1].map(|corner| self.corners[corner]);
        self.bends[self.side(ends[0])]?;
        let falls = self.point(ends[0])[0] > self.point(ends[1])[0];
        let [mut low, mut high] = ends;
        for _ in 0..f64::MANTISSA_DIGITS {
            let middle = 0.5 * (low + high);
            if (self.point(middle)[0] > x) == falls { low = middle } else { high = middle }
        }
        Some([low, self.point(low)[1]])
    }

    /// t of the first end, of each corner, of the last end.
    pub fn corners(&self) -> &[f64] {
        &self.corners
    }

    /// Its length.
    pub fn length(&self) -> f64 {
        self.places[self.places.len() - 1]
    }

    fn side(&self, t: f64) -> usize {
        self.places.partition_point(|place| *place <= t).clamp(1, self.points.len() - 1) - 1
    }

    /// The point at t.
    pub fn point(&self, t: f64) -> [f64; 2] {
        let k = self.side(t);
        let length = self.places[k + 1] - self.places[k];
        let share = ((t - self.places[k]) / length).clamp(0.0, 1.0);
        let straight = between(self.points[k], self.points[k + 1], share);
        let Some([start, end]) = self.bends[k] else { return straight };
        // The cubic with these tangents less the chord.
        let chord = unit(difference(self.points[k + 1], self.points[k]));
        let (a, b) = (share * (1.0 - share).powi(2), -share * share * (1.0 - share));
        let off = |c: usize| a * (start[c] - chord[c]) + b * (end[c] - chord[c]);
        [0, 1].map(|c| straight[c] + length * off(c))
    }

    /// The unit vector along part k of the line, whose tangents turn evenly along a curve.
    fn along(&self, k: usize, share: f64) -> [f64; 2] {
        match self.bends[k] {
            Some([start, end]) => unit(between(start, end, share.clamp(0.0, 1.0))),
            None => unit(difference(self.points[k + 1], self.points[k])),
        }
    }

    /// The unit vector along the side at t; at a corner that of the side behind it.
    pub fn tangent(&self, t: f64) -> [f64; 2] {
        let k = self.side(t);
        self.along(k, (t - self.places[k]) / (self.places[k + 1] - self.places[k]))
    }

    /// The direction to the right-hand side of the polygon, which is inside one that runs clockwise, at a point of it: of unit
    /// length on a side, and at a corner to where the lines at unit distance from both sides meet.
    pub fn inward(&self, point: [f64; 2]) -> [f64; 2] {
        let t = self.nearest(point);
        let inward = |[x, y]: [f64; 2]| [y, -x];
        let at = |place: &&f64| (t - **place).abs() < 1e-9 * self.length();
        let inner = &self.corners[1..self.corners.len() - 1];
        let Some(corner) = inner.iter().find(at) else { return inward(self.tangent(t)) };
        let k = self.side(*corner);
        let sides = [self.along(k - 1, 1.0), self.along(k, 0.0)].map(inward);
        let share = 1.0 / (1.0 + dot(sides[0], sides[1]));
        [0, 1].map(|c| share * (sides[0][c] + sides[1][c]))
    }

    /// t of the nearest point.
    pub fn nearest(&self, point: [f64; 2]) -> f64 {
        let of_side = |k: usize| {
            let ends = [self.points[k], self.points[k + 1]];
            let foot = foot(point, ends);
            let along = dot(difference(foot, ends[0]), unit(difference(ends[1], ends[0])));
            (distance(point, foot), self.places[k] + along)
        };
        let sides = (0..self.points.len() - 1).map(of_side);
        sides.min_by(|a, b| a.0.total_cmp(&b.0)).map_or(0.0, |(_, t)| t)
    }
}
