//! The reduced system of the wall terms: block-tridiagonal along the wall.

use crate::backend::Real;

/// A 2×2 block, row-major.
type Block<T> = [T; 4];

/// Entries a point: D⁻¹, D⁻¹ U and L of the factors.
const ENTRIES: usize = 12;

/// +1 at even points, −1 at odd ones.
pub(super) fn sign<T: Real>(i: usize) -> T {
    if i.is_multiple_of(2) { T::one() } else { -T::one() }
}

/// Factors of the tridiagonal matrix that gives these answers to its two pairs of probes; see
/// [`crate::backend::EllipticBackend::factor_wall_blocks`].
pub(super) fn factor<T: Real>(
    walls: usize,
    [even_p, even_q, odd_p, odd_q]: [&Vec<T>; 4],
    s: &mut [T],
) -> Option<usize> {
    let (half, quarter) = (T::narrow(0.5), T::narrow(0.25));
    // D⁻¹ U of the point before.
    let mut carried = [T::zero(); 4];
    for (i, s) in s.chunks_exact_mut(ENTRIES).take(walls).enumerate() {
        let k = 2 * i;
        let (a, sign) = ([even_p[k], even_q[k], even_p[k + 1], even_q[k + 1]], sign::<T>(i));
        let b = [odd_p[k], odd_q[k], odd_p[k + 1], odd_q[k + 1]].map(|value| sign * value);
        let (first, last) = (i == 0, i + 1 == walls);
        let share = if first || last { half } else { quarter };
        let beside: Block<T> = std::array::from_fn(|e| share * (a[e] - b[e]));
        let fill = mul(beside, carried);
        let pivot: Block<T> = std::array::from_fn(|e| half * (a[e] + b[e]) - fill[e]);
        let inverse = invert(pivot);
        if inverse.iter().any(|value| !value.is_finite()) {
            return Some(i);
        }
        carried = if last { [T::zero(); 4] } else { mul(inverse, beside) };
        s[..4].copy_from_slice(&inverse);
        s[4..8].copy_from_slice(&carried);
        s[8..].copy_from_slice(&if first { [T::zero(); 4] } else { beside });
    }
    None
}

/// d ← S⁻¹ z.
pub(super) fn solve<T: Real>(s: &[T], z: &[T], d: &mut [T]) {
    let mut before = [T::zero(); 2];
    for ((d, z), s) in d.chunks_exact_mut(2).zip(z.chunks_exact(2)).zip(s.chunks_exact(ENTRIES)) {
        let pull = apply(&s[8..], before);
        before = apply(&s[..4], [z[0] - pull[0], z[1] - pull[1]]);
        d.copy_from_slice(&before);
    }
    let mut after = [T::zero(); 2];
    for (d, s) in d.chunks_exact_mut(2).zip(s.chunks_exact(ENTRIES)).rev() {
        let pull = apply(&s[4..8], after);
        after = [d[0] - pull[0], d[1] - pull[1]];
        d.copy_from_slice(&after);
    }
}

fn apply<T: Real>(a: &[T], x: [T; 2]) -> [T; 2] {
    [a[0] * x[0] + a[1] * x[1], a[2] * x[0] + a[3] * x[1]]
}

fn mul<T: Real>(a: Block<T>, b: Block<T>) -> Block<T> {
    let [c0, c2] = apply(&a, [b[0], b[2]]);
    let [c1, c3] = apply(&a, [b[1], b[3]]);
    [c0, c1, c2, c3]
}

fn invert<T: Real>(a: Block<T>) -> Block<T> {
    let inverse_det = (a[0] * a[3] - a[1] * a[2]).recip();
    [a[3] * inverse_det, -a[1] * inverse_det, -a[2] * inverse_det, a[0] * inverse_det]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tridiagonal matrix whose two blocks beside the diagonal are equal in each row, as the
    /// probes assume.
    fn rows(walls: usize) -> Vec<(Block<f64>, Block<f64>)> {
        let entry = |k: usize| ((k * 37 + 11) % 23) as f64 / 23.0 - 0.5;
        (0..walls)
            .map(|i| {
                let diagonal = [4.0 + entry(i), entry(i + 1), entry(i + 2), 5.0 + entry(i + 3)];
                (diagonal, std::array::from_fn(|e| entry(7 * i + e)))
            })
            .collect()
    }

    fn multiply(rows: &[(Block<f64>, Block<f64>)], x: &[f64]) -> Vec<f64> {
        let at = |i: usize| [x[2 * i], x[2 * i + 1]];
        (0..rows.len())
            .flat_map(|i| {
                let (diagonal, beside) = rows[i];
                let mut y = apply(&diagonal, at(i));
                for k in [i.wrapping_sub(1), i + 1] {
                    if k < rows.len() {
                        let z = apply(&beside, at(k));
                        y = [y[0] + z[0], y[1] + z[1]];
                    }
                }
                y
            })
            .collect()
    }

    #[test]
    fn a_tridiagonal_matrix_is_recovered_from_its_probes_and_inverted() {
        for walls in [2, 3, 31, 64] {
            let matrix = rows(walls);
            let probe = |component: usize, alternating: bool| {
                let mut v = vec![0.0; 2 * walls];
                for i in 0..walls {
                    v[2 * i + component] = if alternating { sign(i) } else { 1.0 };
                }
                multiply(&matrix, &v)
            };
            let (a, b, c, d) = (probe(0, false), probe(1, false), probe(0, true), probe(1, true));
            let mut s = vec![0.0; ENTRIES * walls];
            let x: Vec<f64> = (0..2 * walls).map(|k| (k as f64).sin()).collect();
            let mut found = vec![0.0; 2 * walls];

            assert_eq!(factor(walls, [&a, &b, &c, &d], &mut s), None);
            solve(&s, &multiply(&matrix, &x), &mut found);

            for (found, x) in found.iter().zip(&x) {
                assert!((found - x).abs() < 1e-13, "{walls}");
            }
        }
    }

    #[test]
    fn a_singular_pivot_names_its_point() {
        let zero = vec![0.0; 8];
        let mut s = vec![0.0; 4 * ENTRIES];

        assert_eq!(factor(4, [&zero, &zero, &zero, &zero], &mut s), Some(0));
    }
}
