//! Vectors and polygons of the plane, and roots by bisection. A wall takes the outward normals of its polygon.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// Type of coordinates: `f64`, or a number that differentiates a formula: one that records the operations on it, or
/// in tests a complex one with a small imaginary part.
pub trait Scalar:
    Copy
    + From<f64>
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// √(a² + b²).
    #[must_use]
    fn hypot(self, other: Self) -> Self;

    /// √a.
    #[must_use]
    fn sqrt(self) -> Self;
}

impl Scalar for f64 {
    #[inline(always)]
    fn hypot(self, other: Self) -> Self {
        self.hypot(other)
    }

    #[inline(always)]
    fn sqrt(self) -> Self {
        self.sqrt()
    }
}

/// A point or a vector, x and y.
pub(crate) type Vector = [f64; 2];

/// `a − b`.
#[inline(always)]
pub(crate) fn difference<S: Scalar>(a: [S; 2], b: [S; 2]) -> [S; 2] {
    [a[0] - b[0], a[1] - b[1]]
}

/// `a · b`.
#[inline(always)]
pub(crate) fn dot<S: Scalar>(a: [S; 2], b: [S; 2]) -> S {
    a[0] * b[0] + a[1] * b[1]
}

/// `a_x b_y − a_y b_x`.
#[inline(always)]
pub(crate) fn cross<S: Scalar>(a: [S; 2], b: [S; 2]) -> S {
    a[0] * b[1] - a[1] * b[0]
}

/// |b − a|.
pub(crate) fn distance(a: Vector, b: Vector) -> f64 {
    (b[0] - a[0]).hypot(b[1] - a[1])
}

/// v/|v|.
pub(crate) fn unit<S: Scalar>(v: [S; 2]) -> [S; 2] {
    let length = v[0].hypot(v[1]);
    v.map(|c| c / length)
}

/// `from` + `length` · `direction`.
pub(crate) fn along<S: Scalar>(from: [S; 2], direction: [S; 2], length: S) -> [S; 2] {
    [0, 1].map(|c| from[c] + length * direction[c])
}

/// `a` + t (`b` − `a`).
pub(crate) fn between(a: Vector, b: Vector, t: f64) -> Vector {
    [0, 1].map(|c| a[c] + t * (b[c] - a[c]))
}

/// ½ (a + b).
pub(crate) fn middle<S: Scalar>(a: [S; 2], b: [S; 2]) -> [S; 2] {
    [0, 1].map(|c| S::from(0.5) * (a[c] + b[c]))
}

/// The lowest and the highest x and y of points: +∞ and −∞ without any.
pub(crate) fn bounds(points: impl IntoIterator<Item = Vector>) -> [Vector; 2] {
    let none = [[f64::INFINITY; 2], [f64::NEG_INFINITY; 2]];
    points.into_iter().fold(none, |[low, high], at| {
        [[0, 1].map(|c| low[c].min(at[c])), [0, 1].map(|c| high[c].max(at[c]))]
    })
}

/// The point of a segment nearest to a point.
pub(crate) fn foot(point: Vector, [a, b]: [Vector; 2]) -> Vector {
    let way = difference(b, a);
    let squared = dot(way, way);
    let t = if squared > 0.0 { dot(difference(point, a), way) / squared } else { 0.0 };
    between(a, b, t.clamp(0.0, 1.0))
}

/// Angle from one direction to another, radians, positive to the left; 0 if a vector has no length.
pub(crate) fn angle(a: Vector, b: Vector) -> f64 {
    cross(a, b).atan2(dot(a, b))
}

/// Unit normal to the left of a line that turns from the unit vector `u` to `v`: that of their weighted sum, or,
/// after a turn of more than 90°, where the sum cancels, the unit vector of their difference on that side.
pub(crate) fn left_normal(u: Vector, v: Vector, [wu, wv]: [f64; 2]) -> Vector {
    unit(if dot(u, v) < 0.0 {
        let sign = if cross(u, v) < 0.0 { 1.0 } else { -1.0 };
        difference(u, v).map(|c| sign * c)
    } else {
        [-(wu * u[1] + wv * v[1]), wu * u[0] + wv * v[0]]
    })
}

/// The neighbouring numbers between which `below` changes from true (as at `low`) to false (as at `high`).
/// Bisection needs no derivative and keeps full relative accuracy for roots near 0.
pub(crate) fn bisect(mut low: f64, mut high: f64, below: impl Fn(f64) -> bool) -> [f64; 2] {
    loop {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high || high < 1e-20 {
            return [low, high];
        }
        if below(middle) { low = middle } else { high = middle }
    }
}

/// The interval of rising numbers that holds a place, or the first or the last one.
pub(super) fn interval(rising: &[f64], place: f64) -> usize {
    rising.partition_point(|at| *at <= place).clamp(1, rising.len() - 1) - 1
}

/// The point at the distance `half` above (`sign` = 1) or below (−1) a mean line with this ordinate and slope at x.
pub(super) fn offset(x: f64, half: f64, (y, slope): (f64, f64), sign: f64) -> [f64; 2] {
    let cos = 1.0 / slope.hypot(1.0);
    [x - sign * half * slope * cos, y + sign * half * cos]
}

/// Turn above which a wall point counts as a corner, which has the normal of the bisector.
pub(crate) const CORNER_DEGREES: f64 = 20.0;

/// Outward unit normals of a closed wall, one for each point.
///
/// The points are in grid order (clockwise), the last one repeats the first. With a, b the segments
/// before and after a point and u, v their unit vectors, the normal is t turned left by 90°, where
///
/// - t = u |b| + v |a|, the tangent of the parabola through the three points, on smooth parts;
/// - t = u + v, the bisector, where the wall turns by more than 20°;
/// - at a sharp edge (u · v < 0), where u + v cancels, the normal is (u − v)/|u − v| if the edge is
///   convex and (v − u)/|u − v| if it is concave.
///
/// The last normal is a copy of the first. Where neighbouring points coincide no direction is defined and the
/// normal is (0, 0). With fewer than three distinct points all normals are zero.
pub fn wall_normals(points: &[[f64; 2]]) -> Vec<[f64; 2]> {
    if points.len() < 4 {
        return vec![[0.0; 2]; points.len()];
    }
    let n = points.len() - 1;
    (0..=n).map(|i| normal(points, [(i + n - 1) % n, i % n])).collect()
}

/// Outward unit normals of the line j = 0 of a C-grid, one for each point: those of [`wall_normals`], but
/// straight down at the first and straight up at the last point, where the line meets the outflow plane.
pub fn open_normals(points: &[[f64; 2]]) -> Vec<[f64; 2]> {
    let n = points.len();
    if n < 3 {
        return vec![[0.0; 2]; n];
    }
    let inner = (1..n - 1).map(|i| normal(points, [i - 1, i]));
    [[0.0, -1.0]].into_iter().chain(inner).chain([[0.0, 1.0]]).collect()
}

/// Normal between the segments that begin at two points.
fn normal(points: &[[f64; 2]], segments: [usize; 2]) -> [f64; 2] {
    let [a, b] = segments.map(|i| difference(points[i + 1], points[i]));
    let (la, lb) = (a[0].hypot(a[1]), b[0].hypot(b[1]));
    if la <= 0.0 || lb <= 0.0 {
        return [0.0; 2];
    }
    let (u, v) = (a.map(|c| c / la), b.map(|c| c / lb));
    let corner = angle(u, v).abs() > CORNER_DEGREES.to_radians();
    left_normal(u, v, if corner { [1.0; 2] } else { [lb, la] })
}

/// Signed area of a polygon, positive for points that run counter-clockwise.
pub(crate) fn polygon_area(points: &[[f64; 2]]) -> f64 {
    let Some(&last) = points.last() else { return 0.0 };
    let before = std::iter::once(last).chain(points.iter().copied());
    0.5 * before.zip(points).map(|(a, b)| cross(a, *b)).sum::<f64>()
}

/// Whether a ray from a point crosses a closed polygon an odd number of times, which a point of it may do or not.
pub(crate) fn encloses(polygon: &[[f64; 2]], [x, y]: [f64; 2]) -> bool {
    crossings(polygon, y).filter(|&at| at > x).count() % 2 == 1
}

/// The x where the sides of a closed polygon cross the height y, side by side.
pub(crate) fn crossings(polygon: &[[f64; 2]], y: f64) -> impl Iterator<Item = f64> {
    let before = polygon.last().into_iter().chain(polygon);
    let sides = before.zip(polygon).filter(move |(a, b)| (a[1] > y) != (b[1] > y));
    sides.map(move |(a, b)| a[0] + (y - a[1]) / (b[1] - a[1]) * (b[0] - a[0]))
}

/// First pair of segments that properly cross, `(i, k)` with i < k; segment i begins at point i.
///
/// With `closed` the segment from the last point to the first belongs to the polygon. Segments that only
/// touch (a cusp whose two sides share points) do not cross. The sweep along x compares only segments that
/// overlap in x, which takes about n log n operations for a contour.
pub fn first_crossing(points: &[[f64; 2]], closed: bool) -> Option<(usize, usize)> {
    first_pair(points, closed, |_, s, t| segments_cross(s, t))
}

/// First pair of segments of a closed polygon that cross, touch or overlap, up to rounding. The common point
/// of neighbours does not count.
pub fn first_contact(points: &[[f64; 2]]) -> Option<(usize, usize)> {
    let on = |point, of: Segment| {
        let (a, b) = (difference(point, of.0), difference(point, of.1));
        let length = a[0].abs() + a[1].abs() + b[0].abs() + b[1].abs();
        a[0] * b[0] + a[1] * b[1] <= 0.0 && cross(a, b).abs() <= f64::EPSILON * length
    };
    first_pair(points, true, |(i, k), s, t| {
        let [follows, precedes] = [k == i + 1, i == 0 && k == points.len() - 1];
        segments_cross(s, t)
            || !follows && (on(s.1, t) || on(t.0, s))
            || !precedes && (on(s.0, t) || on(t.1, s))
    })
}

type Segment = ([f64; 2], [f64; 2]);

fn first_pair(
    points: &[[f64; 2]],
    closed: bool,
    meet: impl Fn((usize, usize), Segment, Segment) -> bool,
) -> Option<(usize, usize)> {
    let n = points.len();
    let count = if closed { n } else { n.saturating_sub(1) };
    let ends = |i: usize| (points[i], points[(i + 1) % n]);
    let left = |i: usize| ends(i).0[0].min(ends(i).1[0]);
    let right = |i: usize| ends(i).0[0].max(ends(i).1[0]);

    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by(|&i, &k| left(i).total_cmp(&left(k)));
    let mut active: Vec<usize> = Vec::new();
    let mut found: Option<(usize, usize)> = None;
    for &i in &order {
        active.retain(|&k| right(k) >= left(i));
        for &k in &active {
            let pair = (i.min(k), i.max(k));
            if found.is_none_or(|f| pair < f) && meet(pair, ends(pair.0), ends(pair.1)) {
                found = Some(pair);
            }
        }
        active.push(i);
    }
    found
}

/// Tests that each segment has its ends strictly on both sides of the other. Neighbours share a point, so one
/// of their areas is exactly 0 and they never count.
pub(super) fn segments_cross(s: Segment, t: Segment) -> bool {
    let straddles = |u: Segment, v: Segment| {
        let side = |p| cross(difference(u.1, u.0), difference(p, u.0));
        let (a, b) = (side(v.0), side(v.1));
        (a < 0.0 && b > 0.0) || (a > 0.0 && b < 0.0)
    };
    straddles(s, t) && straddles(t, s)
}
