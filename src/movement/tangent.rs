//! The tangent of a wall at a point from the segments beside it.

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
pub(super) enum TangentRule {
    /// u |b| + v |a|: that of the parabola through the three points.
    Parabola,
    /// u + v.
    Bisector,
    /// At a sharp edge the normal is σ (u − v).
    Sharp { sign: f64 },
}

impl TangentRule {
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
}
