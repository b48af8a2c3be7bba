//! The closed line at a constant distance from a wall.

use i_overlay::mesh::float::outline::offset::OutlineOffset;
use i_overlay::mesh::float::style::{LineJoin, OutlineStyle};
use rstar::RTree;
use rstar::primitives::{GeomWithData, Line};

use super::closed::closed_spline;
use super::vector::{between, difference, distance, dot, middle, polygon_area};
use super::{CubicSpline, GeometryError};

/// Radius of the arcs that round concave parts of the line, as a multiple of the distance from the wall.
const FILLET: f64 = 0.5;
/// Longest chord of the arcs about corners, in radii.
const ARC: f64 = 0.0325;
/// Interval of the points of the line in distances from the wall, and the least and the greatest number of them.
const INTERVAL: f64 = 0.02;
const LEAST: f64 = 100.0;
const MOST: f64 = 50_000.0;
/// Smoothing passes with weights ¼ ½ ¼ over these points. They spread the jumps of the curvature at the ends
/// of arcs over a tenth of the distance from the wall.
const PASSES: usize = 12;
/// Pieces between two points of the line; a projection starts from the nearest piece.
const SAMPLES: usize = 4;
/// Steps of Newton's method for a projection; each doubles the number of correct digits.
const STEPS: usize = 6;

/// A smooth closed line at the distance d from a wall, clockwise, of class C².
///
/// The points at the distance d from the wall are the rim of the wall thickened by d. It has corners where
/// the wall is concave. So the thickened wall is thickened by r = d/2 more and thinned by r again (a
/// morphological closing), which rounds these corners by arcs of radius r and changes nothing else. A cubic
/// spline is made through the smoothed points of that rim. Its distance from the wall is d within 0.3 %, and
/// larger only at the arcs.
#[derive(Debug, Clone, PartialEq)]
pub struct OffsetLine {
    curve: CubicSpline,
    /// Parameters of the start and of the end, which is the same point one turn later.
    ends: [f64; 2],
    /// Points of the spline in one turn.
    count: usize,
}

impl OffsetLine {
    /// The line at `distance` around a closed wall. The last point of the wall may repeat the first.
    ///
    /// # Errors
    /// [`GeometryError::Contour`] for a wall that encloses no area, or a distance that is not positive.
    pub fn around(wall: &[[f64; 2]], distance: f64) -> Result<Self, GeometryError> {
        let nothing = || GeometryError::Contour { reason: "no line goes around it" };
        let finite = wall.iter().flatten().chain([&distance]).all(|number| number.is_finite());
        if !finite || distance <= 0.0 || polygon_area(wall) == 0.0 {
            return Err(nothing());
        }
        let mut points = wall.to_vec();
        // The library expects counter-clockwise contours.
        if polygon_area(&points) < 0.0 {
            points.reverse();
        }
        let fillet = FILLET * distance;
        for by in [distance + fillet, -fillet] {
            points = thickened(&points, by).ok_or_else(nothing)?;
        }
        points.reverse();
        let points = smoothed(even(&points, INTERVAL * distance));
        let (curve, knots) = closed_spline(&points)?;
        Ok(Self { ends: [knots[0], knots[points.len()]], count: points.len(), curve })
    }

    /// The point at a fraction of the length, clockwise from the start and, beyond 1, around again.
    pub fn point(&self, share: f64) -> [f64; 2] {
        let [from, to] = self.ends;
        self.curve.point(from + (to - from) * share.rem_euclid(1.0))
    }

    /// Length of the line.
    pub fn length(&self) -> f64 {
        self.ends[1] - self.ends[0]
    }

    /// `count` points at equal steps, clockwise, the first not repeated.
    pub fn points(&self, count: usize) -> Vec<[f64; 2]> {
        (0..count).map(|k| self.point(k as f64 / count as f64)).collect()
    }

    /// An index for finding the nearest points of the line.
    pub fn projection(&self) -> OffsetProjection<'_> {
        let ([from, to], pieces) = (self.ends, SAMPLES * self.count);
        let place = |k: usize| from + (to - from) * (k as f64 / pieces as f64);
        let piece = |k: usize| {
            let [a, b] = [place(k), place(k + 1)];
            GeomWithData::new(Line::new(self.curve.point(a), self.curve.point(b)), [a, b])
        };
        OffsetProjection { line: self, pieces: RTree::bulk_load((0..pieces).map(piece).collect()) }
    }
}

/// Index of the pieces of a line, for nearest-point queries.
#[derive(Debug)]
pub struct OffsetProjection<'a> {
    line: &'a OffsetLine,
    /// Chords of the pieces, with the parameters of their ends.
    pieces: RTree<GeomWithData<Line<[f64; 2]>, [f64; 2]>>,
}

impl OffsetProjection<'_> {
    /// The point of the line that is nearest to a point.
    pub fn nearest(&self, point: [f64; 2]) -> [f64; 2] {
        self.line.curve.point(self.parameter(point))
    }

    /// The fraction of the length at which the line is nearest to a point.
    pub fn share(&self, point: [f64; 2]) -> f64 {
        let [from, to] = self.line.ends;
        (self.parameter(point) - from) / (to - from)
    }

    /// Root of (r − p) · r′ at the nearest piece, p being the point.
    fn parameter(&self, point: [f64; 2]) -> f64 {
        let curve = &self.line.curve;
        let Some(piece) = self.pieces.nearest_neighbor(point) else { return self.line.ends[0] };
        let [low, high] = piece.data;
        let (middle, reach) = (0.5 * (low + high), high - low);
        let mut s = middle;
        for _ in 0..STEPS {
            let (off, along) = (difference(curve.point(s), point), curve.derivative(s));
            let rise = dot(along, along) + dot(off, curve.second_derivative(s));
            // From the centre of an arc all of its points are equally far.
            let rise = if rise > 0.1 { rise } else { 1.0 };
            s = (s - dot(off, along) / rise).clamp(middle - reach, middle + reach);
        }
        s
    }
}

/// The outermost rim, with rounded corners, of a counter-clockwise polygon that is thickened by a distance
/// (thinned if that is negative); none if nothing is left.
fn thickened(polygon: &[[f64; 2]], by: f64) -> Option<Vec<[f64; 2]>> {
    let style = OutlineStyle::new(by).line_join(LineJoin::Round(ARC));
    // The library computes in 64-bit integers.
    let shapes = polygon.outline_as::<i64>(&style);
    let rims = shapes.into_iter().filter_map(|shape| shape.into_iter().next());
    rims.max_by(|a, b| polygon_area(a).abs().total_cmp(&polygon_area(b).abs()))
        .filter(|rim| rim.len() > 2)
}

/// Points at equal steps of about `interval` along a closed polygon.
fn even(polygon: &[[f64; 2]], interval: f64) -> Vec<[f64; 2]> {
    let next = |k: usize| polygon[(k + 1) % polygon.len()];
    let lengths: Vec<f64> = (0..polygon.len()).map(|k| distance(polygon[k], next(k))).collect();
    let whole: f64 = lengths.iter().sum();
    let count = (whole / interval).ceil().clamp(LEAST, MOST) as usize;
    let (mut points, mut passed) = (Vec::with_capacity(count), 0.0);
    for (k, length) in lengths.iter().enumerate() {
        while points.len() < count {
            let along = whole * (points.len() as f64 / count as f64) - passed;
            if along > *length {
                break;
            }
            points.push(between(polygon[k], next(k), along / length));
        }
        passed += length;
    }
    points
}

/// The points of a closed line after [`PASSES`] smoothing passes.
fn smoothed(mut points: Vec<[f64; 2]>) -> Vec<[f64; 2]> {
    let n = points.len();
    for _ in 0..PASSES {
        let mean = |k: usize| middle(points[(k + n - 1) % n], points[(k + 1) % n]);
        points = (0..n).map(|k| middle(points[k], mean(k))).collect();
    }
    points
}
