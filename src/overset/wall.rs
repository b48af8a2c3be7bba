//! The placed wall of an element: distances, containment, intersections.

use rstar::primitives::Line;
use rstar::{AABB, RTree, RTreeObject};

use crate::geometry::vector::{between, cross, difference, distance, dot, foot};

/// A closed wall with its trailing edge.
#[derive(Debug, Clone)]
pub struct ElementWall {
    points: Vec<[f64; 2]>,
    /// The points of the trailing edge: one, or all points of a base; empty without an edge.
    edge: Vec<[f64; 2]>,
    /// Segments from each point to the next.
    pieces: RTree<Line<[f64; 2]>>,
}

impl ElementWall {
    /// The wall through these points, clockwise, the last repeating the first. Its trailing edge is the first
    /// point, or a base of `base` cells with that point in its middle. A wall without an edge has `edge`
    /// false.
    pub fn new(points: Vec<[f64; 2]>, edge: bool, base: usize) -> Self {
        let last = points.len().saturating_sub(1);
        let on_base = |i: &usize| *i <= base / 2 || *i + base / 2 >= last;
        let edge =
            if edge { (0..last).filter(on_base).map(|i| points[i]).collect() } else { Vec::new() };
        let pieces = points.array_windows().map(|&[from, to]| Line::new(from, to)).collect();
        Self { points, edge, pieces: RTree::bulk_load(pieces) }
    }

    /// Its points, the last repeating the first.
    pub fn points(&self) -> &[[f64; 2]] {
        &self.points
    }

    /// The points of the trailing edge; empty without one.
    pub fn edge(&self) -> &[[f64; 2]] {
        &self.edge
    }

    /// The nose: the point farthest from the trailing edge, where the chord line begins.
    pub fn nose(&self) -> [f64; 2] {
        let edge = self.middle_of_edge();
        let farther =
            |a: &&[f64; 2], b: &&[f64; 2]| distance(edge, **a).total_cmp(&distance(edge, **b));
        self.points.iter().max_by(farther).copied().unwrap_or(edge)
    }

    /// The first point of the wall: the trailing edge or the middle of its base.
    pub fn middle_of_edge(&self) -> [f64; 2] {
        self.points.first().copied().unwrap_or_default()
    }

    /// Smallest and largest x and y.
    pub fn bounds(&self) -> [[f64; 2]; 2] {
        let bounds = self.pieces.root().envelope();
        [bounds.lower(), bounds.upper()]
    }

    /// The point of the wall nearest to a point.
    pub fn nearest(&self, point: [f64; 2]) -> [f64; 2] {
        let Some(piece) = self.pieces.nearest_neighbor(point) else { return point };
        foot(point, [piece.from, piece.to])
    }

    /// The distance of this wall from another that does not cross it, and the nearest point of each.
    pub fn nearest_of(&self, other: &Self) -> (f64, [[f64; 2]; 2]) {
        let there = self.points.iter().map(|&point| [point, other.nearest(point)]);
        let back = other.points.iter().map(|&point| [self.nearest(point), point]);
        let apart = there.chain(back).map(|ends| (distance(ends[0], ends[1]), ends));
        let nearest = apart.min_by(|a, b| a.0.total_cmp(&b.0));
        nearest.unwrap_or((f64::INFINITY, [[f64::NAN; 2]; 2]))
    }

    /// True if a point lies inside: a ray from it to the right crosses the wall an odd number of times.
    pub fn contains(&self, point: [f64; 2]) -> bool {
        let [low, high] = self.bounds();
        if !(0..2).all(|c| low[c] <= point[c] && point[c] <= high[c]) {
            return false;
        }
        let ray = AABB::from_corners(point, [high[0], point[1]]);
        let crossed = self.pieces.locate_in_envelope_intersecting(ray).filter(|piece| {
            let (a, b) = (piece.from, piece.to);
            let up = b[1] > a[1];
            // A segment includes its lower end and excludes its upper one.
            let spans = (a[1] > point[1]) != (b[1] > point[1]);
            spans && (cross(difference(b, a), difference(point, a)) > 0.0) == up
        });
        crossed.count() % 2 == 1
    }

    /// A point where the wall crosses or touches another, or a point of either wall that lies inside the
    /// other.
    pub fn conflict(&self, other: &Self) -> Option<[f64; 2]> {
        let bounds = other.pieces.root().envelope();
        let crossing = self.pieces.locate_in_envelope_intersecting(bounds).find_map(|piece| {
            let mut near = other.pieces.locate_in_envelope_intersecting(piece.envelope());
            near.find_map(|other| crossing([piece.from, piece.to], [other.from, other.to]))
        });
        let inside = || {
            let first = self.points.first().filter(|point| other.contains(**point));
            first.or_else(|| other.points.first().filter(|point| self.contains(**point))).copied()
        };
        crossing.or_else(inside)
    }
}

fn is_on(point: [f64; 2], [a, b]: [[f64; 2]; 2]) -> bool {
    let (from_a, from_b) = (difference(point, a), difference(point, b));
    cross(from_a, difference(b, a)) == 0.0 && dot(from_a, from_b) <= 0.0
}

/// The intersection of two segments, if there is one; a common point if they lie on one line.
fn crossing([a, b]: [[f64; 2]; 2], [c, d]: [[f64; 2]; 2]) -> Option<[f64; 2]> {
    let (u, v, w) = (difference(b, a), difference(d, c), difference(c, a));
    let area = cross(u, v);
    if area == 0.0 {
        let ends = [c, d].into_iter().find(|&end| is_on(end, [a, b]));
        return ends.or_else(|| [a, b].into_iter().find(|&end| is_on(end, [c, d])));
    }
    let (s, t) = (cross(w, v) / area, cross(w, u) / area);
    let within = (0.0..=1.0).contains(&s) && (0.0..=1.0).contains(&t);
    within.then(|| between(a, b, s))
}
