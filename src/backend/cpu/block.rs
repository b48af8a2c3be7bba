//! 2×2 blocks, one for each of `L` lanes that are computed side by side.

use crate::backend::Real;
use std::ops::Range;

/// A 2×2 block a lane, row-major.
pub(super) type Block2x2<T, const L: usize> = [[T; L]; 4];

/// A − B.
#[inline(always)]
pub(super) fn sub<T: Real, const L: usize>(
    a: &Block2x2<T, L>,
    b: &Block2x2<T, L>,
) -> Block2x2<T, L> {
    [0, 1, 2, 3].map(|e| std::array::from_fn(|k| a[e][k] - b[e][k]))
}

/// Aᵀ.
#[inline(always)]
pub(super) fn transposed<T: Real, const L: usize>(a: &Block2x2<T, L>) -> Block2x2<T, L> {
    [a[0], a[2], a[1], a[3]]
}

/// A B.
#[inline(always)]
pub(super) fn mul<T: Real, const L: usize>(
    a: &Block2x2<T, L>,
    b: &Block2x2<T, L>,
) -> Block2x2<T, L> {
    [(0, 1, 0, 2), (0, 1, 1, 3), (2, 3, 0, 2), (2, 3, 1, 3)]
        .map(|(p, q, r, s)| std::array::from_fn(|k| a[p][k] * b[r][k] + a[q][k] * b[s][k]))
}

/// Inverses in these lanes; zero in the others.
#[inline(always)]
pub(super) fn invert<T: Real, const L: usize>(
    a: &Block2x2<T, L>,
    lanes: &Range<usize>,
) -> Block2x2<T, L> {
    let inverse_det: [T; L] = std::array::from_fn(|k| {
        let det = a[0][k] * a[3][k] - a[1][k] * a[2][k];
        if lanes.contains(&k) { det.recip() } else { T::zero() }
    });
    let each = |e: usize, sign: T| std::array::from_fn(|k| sign * a[e][k] * inverse_det[k]);
    let (plus, minus) = (T::one(), -T::one());
    [each(3, plus), each(1, minus), each(2, minus), each(0, plus)]
}

/// A u.
#[inline(always)]
pub(super) fn product<T: Real, const L: usize>(a: &[[T; L]], u: &[[T; L]; 2]) -> [[T; L]; 2] {
    let mut b = [[T::zero(); L]; 2];
    for k in 0..L {
        b[0][k] = a[0][k] * u[0][k] + a[1][k] * u[1][k];
        b[1][k] = a[2][k] * u[0][k] + a[3][k] * u[1][k];
    }
    b
}

/// b ← b − A u.
#[inline(always)]
pub(super) fn subtract<T: Real, const L: usize>(
    b: &mut [[T; L]; 2],
    a: &[[T; L]],
    u: &[[T; L]; 2],
) {
    for k in 0..L {
        b[0][k] -= a[0][k] * u[0][k] + a[1][k] * u[1][k];
        b[1][k] -= a[2][k] * u[0][k] + a[3][k] * u[1][k];
    }
}
