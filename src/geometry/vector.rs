//! Vectors of the plane, and roots by bisection.

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
