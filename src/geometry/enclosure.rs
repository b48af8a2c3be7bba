//! A polygon as the outer line of a grid: a wind tunnel, a box, the ground.

use super::curve::chord_lengths;
use super::vector::{between, difference, distance, dot, foot, unit};

/// An open or closed polygon by its arc length t, from 0 to its length.
#[derive(Debug, Clone, PartialEq)]
pub struct Enclosure {
    points: Vec<[f64; 2]>,
    /// t of each point.
    places: Vec<f64>,
}

impl Enclosure {
    /// The polygon through at least two points, of which no two neighbours coincide.
    pub fn through(points: Vec<[f64; 2]>) -> Self {
        Self { places: chord_lengths(&points), points }
    }

    /// t of the points: of the first end, of each corner, of the last end.
    pub fn places(&self) -> &[f64] {
        &self.places
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
        let share = (t - self.places[k]) / (self.places[k + 1] - self.places[k]);
        between(self.points[k], self.points[k + 1], share.clamp(0.0, 1.0))
    }

    /// The unit vector along the side at t; at a corner that of the side behind it.
    pub fn tangent(&self, t: f64) -> [f64; 2] {
        let k = self.side(t);
        unit(difference(self.points[k + 1], self.points[k]))
    }

    /// The direction to the right-hand side of the polygon, which is inside one that runs clockwise, at a point of it: of unit
    /// length on a side, and at a corner to where the lines at unit distance from both sides meet.
    pub fn inward(&self, point: [f64; 2]) -> [f64; 2] {
        let t = self.nearest(point);
        let inward = |t: f64| {
            let [x, y] = self.tangent(t);
            [y, -x]
        };
        let at = |place: &&f64| (t - **place).abs() < 1e-9 * self.length();
        let inner = &self.places[1..self.places.len() - 1];
        let Some(corner) = inner.iter().find(at) else { return inward(t) };
        let k = self.side(*corner);
        let sides = [inward(self.places[k - 1]), inward(self.places[k])];
        let share = 1.0 / (1.0 + dot(sides[0], sides[1]));
        [0, 1].map(|c| share * (sides[0][c] + sides[1][c]))
    }

    /// t of the nearest point.
    pub fn nearest(&self, point: [f64; 2]) -> f64 {
        let of_side = |k: usize| {
            let ends = [self.points[k], self.points[k + 1]];
            let foot = foot(point, ends);
            let along = dot(difference(foot, ends[0]), self.tangent(self.places[k]));
            (distance(point, foot), self.places[k] + along)
        };
        let sides = (0..self.points.len() - 1).map(of_side);
        sides.min_by(|a, b| a.0.total_cmp(&b.0)).map_or(0.0, |(_, t)| t)
    }
}
