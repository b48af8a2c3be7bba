//! The tangent of a wall at a point from the segments beside it, and its derivative.

use crate::geometry::vector::{Scalar, Vector, angle, difference, dot, unit};

/// A wall that turns by more than this has the normal of the bisector.
const CORNER_DEGREES: f64 = 20.0;

/// v turned left by 90°.
pub(super) fn turned<S: Scalar>(v: [S; 2]) -> [S; 2] {
    [-v[1], v[0]]
}

/// The tangent at a wall point from the segments a before it and b after it, u and v their directions
/// (theory eq. 17).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Tangent {
    /// u |b| + v |a|: that of the parabola through the three points.
    Parabola,
    /// u + v.
    Bisector,
    /// At a sharp edge the normal is σ (u − v).
    Sharp { sign: f64 },
}

impl Tangent {
    /// The formula of the generator for these segments, outward being the side of `first`.
    pub(super) fn choose(a: Vector, b: Vector, first: Vector) -> Self {
        let (u, v) = (unit(a), unit(b));
        if dot(u, v) < 0.0 {
            return Self::Sharp { sign: dot(difference(u, v), first).signum() };
        }
        let corner = angle(u, v).abs() > CORNER_DEGREES.to_radians();
        if corner { Self::Bisector } else { Self::Parabola }
    }

    /// The unit tangent; turned left it is the normal.
    pub(super) fn of<S: Scalar>(self, a: [S; 2], b: [S; 2]) -> [S; 2] {
        let (u, v) = (unit(a), unit(b));
        let (la, lb) = (dot(a, a).sqrt(), dot(b, b).sqrt());
        let sum = |wu: S, wv: S| [wu * u[0] + wv * v[0], wu * u[1] + wv * v[1]];
        match self {
            Self::Parabola => unit(sum(lb, la)),
            Self::Bisector => unit(sum(1.0.into(), 1.0.into())),
            Self::Sharp { sign } => {
                let n = unit(sum(sign.into(), (-sign).into()));
                [n[1], -n[0]]
            }
        }
    }

    /// ∂t/∂a and ∂t/∂b.
    pub(super) fn derivative(self, a: Vector, b: Vector) -> [Matrix; 2] {
        let (u, v) = (unit(a), unit(b));
        let (la, lb) = (dot(a, a).sqrt(), dot(b, b).sqrt());
        let [by_a, by_b] = [projected(a), projected(b)];
        let combined = |wu: f64, wv: f64| [wu * u[0] + wv * v[0], wu * u[1] + wv * v[1]];
        match self {
            Self::Parabola => {
                let m = projected(combined(lb, la));
                [
                    product(m, sum(by_a.map(|c| lb * c), outer(v, u))),
                    product(m, sum(by_b.map(|c| la * c), outer(u, v))),
                ]
            }
            Self::Bisector => [by_a, by_b].map(|by| product(projected(combined(1.0, 1.0)), by)),
            Self::Sharp { sign } => {
                let n = projected(combined(sign, -sign));
                let turn = [0.0, 1.0, -1.0, 0.0];
                let of = |sign: f64, by: Matrix| product(turn, product(n, by)).map(|c| sign * c);
                [of(sign, by_a), of(-sign, by_b)]
            }
        }
    }
}

/// A 2×2 matrix, row-major.
pub(super) type Matrix = [f64; 4];

/// a ⊗ b.
pub(super) fn outer(a: Vector, b: Vector) -> Matrix {
    [a[0] * b[0], a[0] * b[1], a[1] * b[0], a[1] * b[1]]
}

/// a + b.
pub(super) fn sum(a: Matrix, b: Matrix) -> Matrix {
    [0, 1, 2, 3].map(|k| a[k] + b[k])
}

/// a b.
pub(super) fn product(a: Matrix, b: Matrix) -> Matrix {
    [(0, 0), (0, 1), (2, 0), (2, 1)]
        .map(|(row, column)| a[row] * b[column] + a[row + 1] * b[column + 2])
}

/// The derivative of m/|m|: (I − n ⊗ n)/|m| with n = m/|m|.
pub(super) fn projected(m: Vector) -> Matrix {
    let (n, length) = (unit(m), dot(m, m).sqrt());
    let outer = outer(n, n);
    [1.0 - outer[0], -outer[1], -outer[2], 1.0 - outer[3]].map(|c| c / length)
}
