//! Corners of the passage between two blades that are a pitch apart.

use std::ops::Range;

use super::GeometryError;
use super::curve::chord_lengths;
use super::vector::{along, angle, difference, distance, segments_cross};

/// Weights of distances from nose and edge, in chords, beside the squares of angles off the normals.
const NEAR: [f64; 2] = [0.8, 0.4];
/// Fewest cells beside the edge, along the sides of the passage, and on either side of the nose.
const LEAST: [usize; 3] = [2, 8, 3];
/// Points around a blade of which all pairs are tried as corners; of more points first some, then those beside the best.
const SEARCHED: usize = 150;
/// Least gap between blades, in distances of the outer line from the wall.
const LEAST_GAP: f64 = 2.5;

/// The lines j = 0 and j = nj − 1 of an O-grid of a constant distance, and the pitch.
pub(crate) struct Blades {
    wall: Vec<[f64; 2]>,
    outer: Vec<[f64; 2]>,
    reach: f64,
    pitch: f64,
    /// Corners are multiples of the order of the cells.
    order: usize,
}

impl Blades {
    pub(crate) fn new(
        wall: Vec<[f64; 2]>,
        normals: &[[f64; 2]],
        [reach, pitch]: [f64; 2],
        order: usize,
    ) -> Self {
        let outer = wall.iter().zip(normals).map(|(at, n)| along(*at, *n, reach)).collect();
        Self { wall, outer, reach, pitch, order }
    }

    /// The corners of the passage, a and b on the lower, c and d on the upper side: b and c face each other near the nose,
    /// a and d near the edge. Also the number of cells by which c … d and a … b differ before one of them is moved.
    pub(crate) fn corners(&self) -> Result<([usize; 4], usize), GeometryError> {
        let (n, s) = (self.wall.len() - 1, chord_lengths(&self.wall));
        let too_few = || GeometryError::PassagePoints { ni: n + 1 };
        let nose = (0..n)
            .max_by(|p, q| self.distance_from_edge(*p).total_cmp(&self.distance_from_edge(*q)))
            .unwrap_or(n / 2);
        if nose <= 2 * LEAST[1] || n <= nose + 2 * LEAST[1] {
            return Err(too_few());
        }
        let gap = self.gap(nose);
        if gap < LEAST_GAP * self.reach {
            let most = gap / LEAST_GAP;
            return Err(GeometryError::Passage { pitch: self.pitch, gap, reach: self.reach, most });
        }
        let chord = self.distance_from_edge(nose);
        let from_nose = |k: usize| (s[k] - s[nose]).abs() / chord;
        let from_edge = |k: usize| s[k].min(s[n] - s[k]) / chord;
        let lower = LEAST[0].next_multiple_of(self.order)..nose - LEAST[2];
        let upper = (nose + LEAST[2]).next_multiple_of(self.order)..n - LEAST[0];
        let [mut a, mut d] = self.facing([&lower, &upper], &|k| NEAR[1] * from_edge(k));
        // The passage begins ahead of its end.
        let least = LEAST[1].next_multiple_of(self.order);
        let (first, last) = (a + least, d.saturating_sub(least));
        if first >= lower.end || last <= upper.start {
            return Err(too_few());
        }
        let [b, c] =
            self.facing([&(first..lower.end), &(upper.start..last)], &|k| NEAR[0] * from_nose(k));
        let excess = (d + a).abs_diff(b + c);
        // The corner that is farther from the edge is the one to move.
        if from_edge(d) > from_edge(a) {
            d = (c + b).saturating_sub(a);
        } else {
            a = (b + c).saturating_sub(d);
        }
        let fits = a >= LEAST[0] && a + LEAST[1] <= b && c + LEAST[1] <= d && d + LEAST[0] <= n;
        if fits { Ok(([a, b, c, d], excess)) } else { Err(too_few()) }
    }

    /// A node of the lower and one of the upper side that face each other: both ways from one to the other, the pitch above, are
    /// nearest to the normals, and both nodes near the nose or the edge, from which these weighted distances count.
    fn facing(
        &self,
        [lower, upper]: [&Range<usize>; 2],
        distance: &dyn Fn(usize) -> f64,
    ) -> [usize; 2] {
        let cost = |p: usize, q: usize| {
            let oblique = [self.obliqueness(p, q, self.pitch), self.obliqueness(q, p, -self.pitch)];
            oblique.map(|angle| angle * angle).iter().sum::<f64>() + (distance(p) + distance(q))
        };
        let least = |lower: Range<usize>, upper: &Range<usize>, step: usize| {
            let mut best = (f64::INFINITY, [lower.start, upper.start]);
            for p in lower.step_by(step) {
                for q in upper.clone().step_by(step) {
                    let cost = cost(p, q);
                    if cost < best.0 {
                        best = (cost, [p, q]);
                    }
                }
            }
            best.1
        };
        // All pairs of many points would take longer than the grid.
        let step = (self.wall.len() / SEARCHED).max(1).next_multiple_of(self.order);
        let [p, q] = least(lower.clone(), upper, step);
        let beside = |k: usize, all: &Range<usize>| {
            (k + self.order).saturating_sub(step).max(all.start)..(k + step).min(all.end)
        };
        least(beside(p, lower), &beside(q, upper), self.order)
    }

    /// Distances between the O-grids at the front and at the rear of the passage.
    pub(crate) fn widths(&self, [a, b, c, d]: [usize; 4]) -> [f64; 2] {
        [(b, c), (a, d)].map(|(lower, upper)| {
            let [x, y] = self.outer[lower];
            distance(self.outer[upper], [x, y + self.pitch])
        })
    }

    /// Mean length of the cells along the outer line.
    pub(crate) fn spacing(&self) -> f64 {
        let length: f64 = self.outer.windows(2).map(|ends| distance(ends[0], ends[1])).sum();
        length / (self.outer.len() - 1) as f64
    }

    fn distance_from_edge(&self, k: usize) -> f64 {
        distance(self.wall[0], self.wall[k])
    }

    /// Angle between the normal at a node and the way from there to another one, of a blade a shift below, in radians.
    fn obliqueness(&self, from: usize, to: usize, shift: f64) -> f64 {
        let normal = difference(self.outer[from], self.wall[from]);
        let [x, y] = self.outer[from];
        angle(normal, difference(self.outer[to], [x, y + shift])).abs()
    }

    /// Smallest distance of the wall and the next one.
    fn gap(&self, nose: usize) -> f64 {
        let next: Vec<[f64; 2]> =
            self.wall[..=nose].iter().map(|[x, y]| [*x, *y + self.pitch]).collect();
        let upper = &self.wall[nose..];
        let crossed =
            |p: &[[f64; 2]]| next.windows(2).any(|q| segments_cross((p[0], p[1]), (q[0], q[1])));
        if upper.windows(2).any(crossed) {
            return 0.0;
        }
        let nearest = |at: &[f64; 2]| {
            next.iter().map(|other| distance(*at, *other)).fold(f64::INFINITY, f64::min)
        };
        upper.iter().map(nearest).fold(f64::INFINITY, f64::min)
    }
}
