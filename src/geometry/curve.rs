//! Cubic splines through the points of a contour, and Bézier curves that close an open trailing edge.

use super::GeometryError;
use super::vector::{along, angle, distance, interval, middle, unit};

/// A plane curve r(s) = (x(s), y(s)) of class C², cubic between its knots.
///
/// The parameter s is the accumulated chord length, so |r'| ≈ 1. The ends are *not-a-knot*: r''' is
/// continuous at the second and the last but one knot. A contour has no natural end condition at
/// its trailing edge; r'' = 0 there (the natural spline) would cost two orders of accuracy in the
/// last cells, where the wall points are closest.
///
/// Source: C. de Boor, *A Practical Guide to Splines*, revised edition, Springer 2001, chapter IV.
#[derive(Debug, Clone, PartialEq)]
pub struct CubicSpline {
    /// s of each point.
    pub(super) knots: Vec<f64>,
    points: Vec<[f64; 2]>,
    /// r'' at both ends of each interval.
    second: Vec<[[f64; 2]; 2]>,
}

impl CubicSpline {
    /// Interpolates `points` (chords) in O(n).
    ///
    /// # Errors
    /// [`GeometryError::Contour`] for fewer than four points, a number that is not finite, or two
    /// consecutive points that coincide.
    pub fn through(points: &[[f64; 2]]) -> Result<Self, GeometryError> {
        Self::through_corners(points, &[])
    }

    /// A separate spline for each part between the corners, which are given in rising order.
    pub(super) fn through_corners(
        points: &[[f64; 2]],
        corners: &[usize],
    ) -> Result<Self, GeometryError> {
        let refuse = |reason| Err(GeometryError::Contour { reason });
        if points.len() < 4 {
            return refuse("a cubic spline needs four points");
        }
        let knots = chord_lengths(points);
        if !knots[knots.len() - 1].is_finite() {
            return refuse("a coordinate is not finite");
        }
        if knots.windows(2).any(|pair| pair[1] <= pair[0]) {
            return refuse("two consecutive points coincide");
        }
        let ends: Vec<usize> =
            std::iter::once(&0).chain(corners).chain([&(points.len() - 1)]).copied().collect();
        let second = ends.windows(2).flat_map(|ends| {
            let part = ends[0]..=ends[1];
            let second = second_derivatives(&knots[part.clone()], &points[part]);
            second.windows(2).map(|pair| [pair[0], pair[1]]).collect::<Vec<_>>()
        });
        Ok(Self { second: second.collect(), knots, points: points.to_vec() })
    }

    /// Total chord length: s runs from 0 to this value.
    pub fn length(&self) -> f64 {
        self.knots[self.knots.len() - 1]
    }

    /// r(s); the first and the last cubic are continued outside 0 ≤ s ≤ length. Exact at the knots.
    pub fn point(&self, s: f64) -> [f64; 2] {
        self.point_in(self.interval(s))
    }

    /// r(s) for rising s, whose intervals need no search.
    pub(super) fn points(&self, s: impl Iterator<Item = f64>) -> impl Iterator<Item = [f64; 2]> {
        let mut k = 0;
        s.map(move |s| {
            while k + 2 < self.knots.len() && self.knots[k + 1] <= s {
                k += 1;
            }
            self.point_in(self.weights(k, s))
        })
    }

    fn point_in(&self, (k, h, a, b): (usize, f64, f64, f64)) -> [f64; 2] {
        [0, 1].map(|c| {
            let (r0, r1) = (self.points[k][c], self.points[k + 1][c]);
            let [m0, m1] = self.second[k].map(|second| second[c]);
            a * r0 + b * r1 + ((a * a * a - a) * m0 + (b * b * b - b) * m1) * h * h / 6.0
        })
    }

    /// dr/ds.
    pub fn derivative(&self, s: f64) -> [f64; 2] {
        let (k, h, a, b) = self.interval(s);
        [0, 1].map(|c| {
            let (r0, r1) = (self.points[k][c], self.points[k + 1][c]);
            let [m0, m1] = self.second[k].map(|second| second[c]);
            (r1 - r0) / h + ((3.0 * b * b - 1.0) * m1 - (3.0 * a * a - 1.0) * m0) * h / 6.0
        })
    }

    /// d²r/ds², linear between the knots.
    pub(super) fn second_derivative(&self, s: f64) -> [f64; 2] {
        let (k, _, a, b) = self.interval(s);
        let [m0, m1] = self.second[k];
        [0, 1].map(|c| a * m0[c] + b * m1[c])
    }

    /// The interval k that holds s, its length h and the two barycentric weights a, b (a + b = 1).
    fn interval(&self, s: f64) -> (usize, f64, f64, f64) {
        self.weights(interval(&self.knots, s), s)
    }

    fn weights(&self, k: usize, s: f64) -> (usize, f64, f64, f64) {
        let h = self.knots[k + 1] - self.knots[k];
        (k, h, (self.knots[k + 1] - s) / h, (s - self.knots[k]) / h)
    }
}

/// Length of the polyline from its first point to each point.
pub(crate) fn chord_lengths(points: &[[f64; 2]]) -> Vec<f64> {
    let mut s = 0.0;
    let steps = points.windows(2).map(|pair| {
        s += distance(pair[0], pair[1]);
        s
    });
    std::iter::once(0.0).chain(steps).collect()
}

/// These lengths as shares of the whole.
pub(crate) fn length_shares(points: &[[f64; 2]]) -> Vec<f64> {
    let s = chord_lengths(points);
    s.iter().map(|length| length / s[s.len() - 1]).collect()
}

/// r'' at the knots: the tridiagonal continuity conditions of r',
///
/// ```text
/// hₖ₋₁ Mₖ₋₁ + 2 (hₖ₋₁ + hₖ) Mₖ + hₖ Mₖ₊₁ = 6 (r[k,k+1] − r[k−1,k])
/// ```
///
/// with M₀ and Mₙ₋₁ eliminated by the not-a-knot conditions. A part between corners may have only three
/// points, which are joined by a parabola, or two.
fn second_derivatives(knots: &[f64], points: &[[f64; 2]]) -> Vec<[f64; 2]> {
    let n = knots.len();
    let h: Vec<f64> = knots.windows(2).map(|w| w[1] - w[0]).collect();
    let slope = |k: usize| [0, 1].map(|c| (points[k + 1][c] - points[k][c]) / h[k]);
    if n < 4 {
        let bend = |c: usize| 2.0 * (slope(1)[c] - slope(0)[c]) / (h[0] + h[1]);
        return vec![if n == 3 { [0, 1].map(bend) } else { [0.0; 2] }; n];
    }

    // M₀ = (1 + p) M₁ − p M₂ with p = h₀/h₁, and the mirror image at the other end.
    let p = h[0] / h[1];
    let q = h[n - 2] / h[n - 3];
    let mut diagonal = vec![0.0; n];
    let mut rhs = vec![[0.0; 2]; n];
    for k in 1..n - 1 {
        let lower = if k == n - 2 { h[k - 1] - q * h[k] } else { h[k - 1] };
        let mut d = 2.0 * (h[k - 1] + h[k]);
        if k == 1 {
            d += (1.0 + p) * h[0];
        }
        if k == n - 2 {
            d += (1.0 + q) * h[n - 2];
        }
        let (before, after) = (slope(k - 1), slope(k));
        let mut r = [0, 1].map(|c| 6.0 * (after[c] - before[c]));
        if k > 1 {
            let upper = if k == 2 { h[1] - p * h[0] } else { h[k - 1] };
            let factor = lower / diagonal[k - 1];
            d -= factor * upper;
            r = [0, 1].map(|c| r[c] - factor * rhs[k - 1][c]);
        }
        diagonal[k] = d;
        rhs[k] = r;
    }
    let mut m = vec![[0.0; 2]; n];
    for k in (1..n - 1).rev() {
        let upper = if k == 1 { h[1] - p * h[0] } else { h[k] };
        let next = if k == n - 2 { [0.0; 2] } else { m[k + 1] };
        m[k] = [0, 1].map(|c| (rhs[k][c] - upper * next[c]) / diagonal[k]);
    }
    m[0] = [0, 1].map(|c| (1.0 + p) * m[1][c] - p * m[2][c]);
    m[n - 1] = [0, 1].map(|c| (1.0 + q) * m[n - 2][c] - q * m[n - 3][c]);
    m
}

/// Intervals in which the length of a curve is measured.
const BEZIER_SAMPLES: usize = 2000;

/// An end of a surface at the trailing edge.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EdgeEnd {
    /// Place, chords.
    pub(crate) at: [f64; 2],
    /// Unit tangent of the surface, pointing off the section.
    pub(crate) aft: [f64; 2],
}

/// A cubic Bézier curve, measured along its length:
///
/// ```text
/// r(t) = (1−t)³ P₀ + 3 (1−t)² t P₁ + 3 (1−t) t² P₂ + t³ P₃
/// ```
#[derive(Debug)]
pub(crate) struct Bezier {
    control: [[f64; 2]; 4],
    /// Length from t = 0 to t = k/BEZIER_SAMPLES.
    length: Vec<f64>,
}

impl Bezier {
    /// The cap from the upper to the lower end, which leaves both surfaces along their tangents:
    /// P₁ = P₀ + c T₀, P₂ = P₃ + c T₁, c = ⅔ |P₃ − P₀|.
    ///
    /// For parallel surfaces this c makes the middle of the curve coincide with the middle of the half circle
    /// on the gap. The cap reaches about half the gap behind the section.
    pub(crate) fn cap(upper: EdgeEnd, lower: EdgeEnd) -> Self {
        let gap = distance(upper.at, lower.at);
        let handle = |end: EdgeEnd| along(end.at, end.aft, 2.0 / 3.0 * gap);
        Self::new([upper.at, handle(upper), handle(lower), lower.at])
    }

    /// The side of a wedge, which leaves an end along its tangent and reaches the tip on the straight line from there.
    pub(crate) fn wedge(end: EdgeEnd, tip: [f64; 2]) -> Self {
        let handle = along(end.at, end.aft, distance(end.at, tip) / 3.0);
        let near = [0, 1].map(|c| tip[c] - (tip[c] - end.at[c]) / 3.0);
        Self::new([end.at, handle, near, tip])
    }

    fn new(control: [[f64; 2]; 4]) -> Self {
        let mut curve = Self { control, length: Vec::new() };
        let sample = |k: usize| curve.point(k as f64 / BEZIER_SAMPLES as f64);
        curve.length = chord_lengths(&(0..=BEZIER_SAMPLES).map(sample).collect::<Vec<_>>());
        curve
    }

    pub(crate) fn length(&self) -> f64 {
        self.length[BEZIER_SAMPLES]
    }

    /// `cells` + 1 points at equal arc length, both ends included exactly.
    pub(crate) fn points(&self, cells: usize) -> Vec<[f64; 2]> {
        let place = |k: usize| self.length() * k as f64 / cells as f64;
        (0..cells).map(|k| self.at(place(k))).chain([self.control[3]]).collect()
    }

    /// The point at arc length `s` from the start; exact at both ends.
    pub(crate) fn at(&self, s: f64) -> [f64; 2] {
        if s <= 0.0 {
            self.control[0]
        } else if s >= self.length() {
            self.control[3]
        } else {
            self.point(self.parameter(s))
        }
    }

    fn point(&self, t: f64) -> [f64; 2] {
        let s = 1.0 - t;
        let weights = [s * s * s, 3.0 * s * s * t, 3.0 * s * t * t, t * t * t];
        [0, 1].map(|c| weights.iter().zip(&self.control).map(|(w, p)| w * p[c]).sum())
    }

    /// t at arc length `s`, linear between the samples.
    fn parameter(&self, s: f64) -> f64 {
        let k = interval(&self.length, s);
        let (l0, l1) = (self.length[k], self.length[k + 1]);
        (k as f64 + (s - l0) / (l1 - l0)) / BEZIER_SAMPLES as f64
    }
}

/// Length of a wedge in gaps.
const WEDGE_LENGTH: f64 = 4.0;

/// Tip of the wedge that closes an open edge: on the bisector of both surfaces' tangents, four
/// gaps behind the middle of the base, or where the tangents meet if that is nearer.
pub(crate) fn wedge_tip([upper, lower]: [EdgeEnd; 2]) -> [f64; 2] {
    let gap = distance(upper.at, lower.at);
    let aft = unit([0, 1].map(|c| upper.aft[c] + lower.aft[c]));
    // The bisector and each surface approach each other by this much per unit of length along it.
    let slope = angle(upper.aft, lower.aft);
    let meeting = if slope > 0.0 { 0.5 * gap / (0.5 * slope).tan() } else { f64::INFINITY };
    let reach = (WEDGE_LENGTH * gap).min(meeting);
    along(middle(upper.at, lower.at), aft, reach)
}
