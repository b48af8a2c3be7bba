//! The outer line of a grid as sides between corners: a wind tunnel, a box, the ground. Sides may be curves.

use std::f64::consts::TAU;

use super::GeometryError;
use super::curve::{CubicSpline, chord_lengths};
use super::vector::{
    along, angle, between, cross, crossings, difference, distance, dot, encloses, foot, interval,
    unit,
};

/// Parts of a curved side.
const PARTS: usize = 1000;
/// Sine of the angle at the middle point of an arc below which it is no arc.
const FLAT: f64 = 1e-6;
/// Share of the length within which a point is a corner.
const AT_CORNER: f64 = 1e-9;

/// A side of an outer line: two points, or a curve by points close together.
#[derive(Debug, Clone, PartialEq)]
pub struct OuterSide {
    points: Vec<[f64; 2]>,
    /// Unit tangents of a curve at its points; none of a straight side.
    tangents: Vec<[f64; 2]>,
}

impl OuterSide {
    /// The straight side between two points, which do not coincide.
    pub fn straight(ends: [[f64; 2]; 2]) -> Self {
        Self { points: ends.to_vec(), tangents: Vec::new() }
    }

    /// The smooth curve through at least four points. It fails where [`CubicSpline::through`] does.
    pub fn smooth(points: &[[f64; 2]]) -> Result<Self, GeometryError> {
        let curve = CubicSpline::through(points)?;
        let at = |part: usize| curve.length() * part as f64 / PARTS as f64;
        let tangents = (0..=PARTS).map(|part| unit(curve.derivative(at(part)))).collect();
        let inner = (1..PARTS).map(|part| curve.point(at(part)));
        let [first, last] = [points[0], points[points.len() - 1]];
        Ok(Self { points: [first].into_iter().chain(inner).chain([last]).collect(), tangents })
    }

    /// The arc of a circle between two points through a third one; none if the three lie on a straight line.
    pub fn arc(ends: [[f64; 2]; 2], through: [f64; 2]) -> Option<Self> {
        let [a, b] = ends.map(|end| difference(end, through));
        let [of_a, of_b] = [a, b].map(|way| dot(way, way));
        let doubled = 2.0 * cross(a, b);
        // Written so that NaN fails.
        let is_arc = doubled.abs() > 2.0 * FLAT * (of_a * of_b).sqrt();
        if !is_arc {
            return None;
        }
        let to_centre = [of_a * b[1] - of_b * a[1], of_b * a[0] - of_a * b[0]];
        let centre = along(through, to_centre, 1.0 / doubled);
        let clockwise = cross(difference(through, ends[0]), difference(ends[1], through)) < 0.0;
        let sign = if clockwise { -1.0 } else { 1.0 };
        let [from, to] = ends.map(|end| difference(end, centre));
        let least = angle(from, to);
        // Not the short way around, where that does not go through the point.
        let turn = if least * sign < 0.0 { least + sign * TAU } else { least };
        let radius = |part: usize| {
            let (sin, cos) = (turn * part as f64 / PARTS as f64).sin_cos();
            [cos * from[0] - sin * from[1], sin * from[0] + cos * from[1]]
        };
        let tangent = |part: usize| {
            let [x, y] = unit(radius(part));
            [-sign * y, sign * x]
        };
        let tangents = (0..=PARTS).map(tangent).collect();
        let inner = (1..PARTS).map(|part| along(centre, radius(part), 1.0));
        let [first, last] = ends;
        Some(Self { points: [first].into_iter().chain(inner).chain([last]).collect(), tangents })
    }

    /// Its points in order: two of a straight side.
    pub fn points(&self) -> &[[f64; 2]] {
        &self.points
    }
}

/// An open or closed line of sides, by its arc length t, from 0 to its length.
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
    /// The line of sides, of which each one but the first begins where the one before it ends.
    pub fn of_sides(sides: &[OuterSide]) -> Self {
        let (mut points, mut bends, mut ends) = (Vec::new(), Vec::new(), vec![0]);
        for side in sides {
            let known = usize::from(!points.is_empty());
            points.extend_from_slice(&side.points[known..]);
            let parts = side.points.len() - 1;
            bends.extend(
                (0..parts).map(|k| Some([*side.tangents.get(k)?, *side.tangents.get(k + 1)?])),
            );
            ends.push(points.len() - 1);
        }
        Self::with_corners(points, bends, &ends)
    }

    fn with_corners(
        points: Vec<[f64; 2]>,
        bends: Vec<Option<[[f64; 2]; 2]>>,
        corners: &[usize],
    ) -> Self {
        let places = chord_lengths(&points);
        let corners = corners.iter().map(|k| places[*k]).collect();
        Self { points, places, corners, bends }
    }

    /// The closed line, begun where it meets the line y = `height`(x) behind `from` first, and the side that it begins and
    /// ends in; begun at a corner it ends in the side before. None if they do not meet.
    pub fn begun_at(&self, from: f64, height: impl Fn(f64) -> f64) -> Option<(Self, usize)> {
        let at = |k: usize, share: f64| {
            let t = self.places[k] + share * (self.places[k + 1] - self.places[k]);
            match self.bends[k] {
                None => between(self.points[k], self.points[k + 1], share),
                Some(_) => self.point(t),
            }
        };
        let above = |[x, y]: [f64; 2]| y > height(x);
        let meeting = |k: usize| {
            let rises = above(self.points[k + 1]);
            let (mut low, mut high) = (0.0, 1.0);
            for _ in 0..f64::MANTISSA_DIGITS {
                let middle = 0.5 * (low + high);
                if above(at(k, middle)) == rises { high = middle } else { low = middle }
            }
            (k, high)
        };
        let ahead = |k: usize| self.points[k][0].max(self.points[k + 1][0]) <= from;
        let crossed =
            |k: &usize| !ahead(*k) && above(self.points[*k]) != above(self.points[*k + 1]);
        let found = (0..self.bends.len()).filter(crossed).map(meeting);
        let found = found.filter(|(k, share)| at(*k, *share)[0] > from);
        let (k, share) = found.min_by(|a, b| at(a.0, a.1)[0].total_cmp(&at(b.0, b.1)[0]))?;
        let t = self.places[k] + share * (self.places[k + 1] - self.places[k]);
        let near = |corner: &f64| (t - *corner).abs() < AT_CORNER * self.length();
        // The ring, in which points and corners are there once.
        let (mut points, mut bends) = (self.points.clone(), self.bends.clone());
        points.pop();
        let sides = self.corners.len() - 1;
        let index = |t: &f64| self.places.partition_point(|place| place < t);
        let mut corners: Vec<usize> = self.corners[..sides].iter().map(index).collect();
        let (first, side) = if let Some(corner) = self.corners.iter().position(near) {
            (corners[corner % sides], (corner + sides - 1) % sides)
        } else {
            let mut point = at(k, share);
            if bends[k].is_none() {
                point[1] = height(point[0]);
            }
            points.insert(k + 1, point);
            let cut = self.along(k, share);
            bends.insert(k + 1, bends[k].map(|[_, end]| [cut, end]));
            bends[k] = bends[k].map(|[start, _]| [start, cut]);
            corners.iter_mut().filter(|corner| **corner > k).for_each(|corner| *corner += 1);
            corners.push(k + 1);
            (k + 1, self.corners.partition_point(|corner| *corner <= t) - 1)
        };
        points.rotate_left(first);
        points.push(points[0]);
        bends.rotate_left(first);
        let count = bends.len();
        let mut ends: Vec<usize> = corners.iter().map(|k| (k + count - first) % count).collect();
        ends.sort_unstable();
        ends.push(count);
        Some((Self::with_corners(points, bends, &ends), side))
    }

    /// Distance along the line from its first or last point to where it first is as far ahead as x, if it is, and y there.
    pub(crate) fn reached(&self, from_last: bool, x: f64) -> Option<[f64; 2]> {
        let parts = self.bends.len();
        let ends = |k: usize| if from_last { [k + 1, k] } else { [k, k + 1] };
        let mut order = (0..parts).map(|k| if from_last { parts - 1 - k } else { k });
        let k = order.find(|k| self.points[ends(*k)[1]][0] <= x)?;
        let [near, far] = ends(k).map(|end| self.points[end]);
        if self.bends[k].is_none() {
            let (way, over) = ((near[0] - x).abs(), near[0] - far[0]);
            let before = self.places[ends(k)[0]];
            let before = if from_last { self.length() - before } else { before };
            if over <= 0.0 {
                return Some([before, near[1]]);
            }
            let y = between(near, far, way / over)[1];
            return Some([before + way * (distance(near, far) / over), y]);
        }
        let side = self.corners.partition_point(|t| *t <= self.places[k]) - 1;
        // A whole side along which x falls, or up to the part that is as far ahead.
        let ahead = |corner: usize, part: usize| {
            let t = self.corners[corner];
            if self.point(t)[0] <= x { t } else { self.places[part] }
        };
        let [mut low, mut high] = if from_last {
            [ahead(side, k), self.corners[side + 1]]
        } else {
            [self.corners[side], ahead(side + 1, k + 1)]
        };
        for _ in 0..f64::MANTISSA_DIGITS {
            let middle = 0.5 * (low + high);
            if (self.point(middle)[0] > x) == from_last { high = middle } else { low = middle }
        }
        Some([if from_last { self.length() - low } else { low }, self.point(low)[1]])
    }

    /// The nearest point of the line, closed from its last point to the first, straight ahead of a point, where x is
    /// less; none if there is none.
    pub(crate) fn ahead_of(&self, [x, y]: [f64; 2]) -> Option<[f64; 2]> {
        let ahead = crossings(&self.points, y).filter(|at| *at < x).max_by(f64::total_cmp);
        ahead.map(|at| [at, y])
    }

    /// Whether a point is inside of the line, closed from its last point to the first, and not on it.
    pub fn holds(&self, point: [f64; 2]) -> bool {
        let on = |ends: &[[f64; 2]]| distance(point, foot(point, [ends[0], ends[1]])) <= 0.0;
        encloses(&self.points, point) && !self.points.windows(2).any(on)
    }

    /// Its points: those at the ends of sides and those along curves.
    pub fn points(&self) -> &[[f64; 2]] {
        &self.points
    }

    /// t of the first end, of each corner, of the last end.
    pub fn corners(&self) -> &[f64] {
        &self.corners
    }

    /// Its length.
    pub fn length(&self) -> f64 {
        self.places[self.places.len() - 1]
    }

    /// The point at t.
    pub fn point(&self, t: f64) -> [f64; 2] {
        let k = interval(&self.places, t);
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
        let k = interval(&self.places, t);
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
        let k = interval(&self.places, *corner);
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
