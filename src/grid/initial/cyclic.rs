//! Cyclic tridiagonal systems, scalar and with 2×2 blocks, in O(n).

use nalgebra::{Matrix2, Vector2};

/// One row of a block-tridiagonal system: L r_{i−1} + D r_i + U r_{i+1} = f.
#[derive(Debug, Clone, Copy)]
pub(super) struct BlockRow {
    pub(super) lower: Matrix2<f64>,
    pub(super) diagonal: Matrix2<f64>,
    pub(super) upper: Matrix2<f64>,
    pub(super) right: Vector2<f64>,
}

/// Solves a cyclic block-tridiagonal system; row 0 and the last row are coupled. `None` if a
/// pivot is singular. Row 0 is condensed out: the other unknowns are r_i = g_i − H_i r_0.
pub(super) fn solve_blocks(rows: &[BlockRow], work: &mut BlockWork) -> Option<()> {
    let n = rows.len();
    work.resize(n);
    let last = n - 1;
    for i in 1..n {
        let row = &rows[i];
        // Coupling to r_0 stands in the first and in the last of the remaining rows.
        let mut to_first = Matrix2::zeros();
        if i == 1 {
            to_first += row.lower;
        }
        if i == last {
            to_first += row.upper;
        }
        let (mut pivot, mut right) = (row.diagonal, row.right);
        if i > 1 {
            let before = &work.rows[i - 1];
            pivot -= row.lower * before.upper;
            right -= row.lower * before.right;
            to_first -= row.lower * before.to_first;
        }
        let inverse = pivot.try_inverse()?;
        let upper = if i == last { Matrix2::zeros() } else { inverse * row.upper };
        work.rows[i] = Eliminated { upper, right: inverse * right, to_first: inverse * to_first };
    }
    for i in (1..last).rev() {
        let (after, row) = (work.rows[i + 1], &mut work.rows[i]);
        row.right -= row.upper * after.right;
        row.to_first -= row.upper * after.to_first;
    }
    let (first, next, previous) = (&rows[0], work.rows[1], work.rows[last]);
    let pivot = first.diagonal - first.upper * next.to_first - first.lower * previous.to_first;
    let right = first.right - first.upper * next.right - first.lower * previous.right;
    let r0 = pivot.try_inverse()? * right;
    work.solution[0] = r0;
    for i in 1..n {
        let row = &work.rows[i];
        work.solution[i] = row.right - row.to_first * r0;
    }
    Some(())
}

/// Room for [`solve_blocks`] and its solution.
#[derive(Debug, Default)]
pub(super) struct BlockWork {
    rows: Vec<Eliminated>,
    pub(super) solution: Vec<Vector2<f64>>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Eliminated {
    upper: Matrix2<f64>,
    right: Vector2<f64>,
    to_first: Matrix2<f64>,
}

impl BlockWork {
    fn resize(&mut self, n: usize) {
        self.rows.resize(n, Eliminated::default());
        self.solution.resize(n, Vector2::zeros());
    }
}

/// Solves (1 − δ κ δ) b = a on a ring in place, κ_{i+½} = `kappa[i]` between i and i + 1: an
/// implicit, conservative smoothing. Sherman–Morrison turns the ring into two open systems.
pub(super) fn smooth_implicit(a: &mut [f64], kappa: &[f64]) {
    let n = a.len();
    let west = |i: usize| kappa[if i == 0 { n - 1 } else { i - 1 }];
    let corner = kappa[n - 1];
    // The ring's corner entries −κ_{n−½} form a rank-one term u vᵀ with u = (γ, 0, …, −κ),
    // v = (1, 0, …, −κ/γ).
    let gamma = -(1.0 + west(0) + kappa[0]);
    let mut pivots = vec![0.0; n];
    let mut unit = vec![0.0; n];
    unit[0] = gamma;
    unit[n - 1] = -corner;
    for i in 0..n {
        let mut diagonal = 1.0 + west(i) + kappa[i];
        if i == 0 {
            diagonal -= gamma;
        }
        if i == n - 1 {
            diagonal -= corner * corner / gamma;
        }
        if i > 0 {
            let factor = -west(i) / pivots[i - 1];
            diagonal += factor * kappa[i - 1];
            a[i] -= factor * a[i - 1];
            unit[i] -= factor * unit[i - 1];
        }
        pivots[i] = diagonal;
    }
    for i in (0..n).rev() {
        if i + 1 < n {
            a[i] += kappa[i] * a[i + 1];
            unit[i] += kappa[i] * unit[i + 1];
        }
        a[i] /= pivots[i];
        unit[i] /= pivots[i];
    }
    let tie = -corner / gamma;
    let factor = (a[0] + tie * a[n - 1]) / (1.0 + unit[0] + tie * unit[n - 1]);
    for (a, unit) in a.iter_mut().zip(&unit) {
        *a -= factor * unit;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cyclic_block_system_is_solved() {
        for n in [3, 4, 7, 33] {
            let entry = |i: usize, k: usize| ((i * 7 + k * 3) % 11) as f64 / 11.0 - 0.4;
            let mat = |i: usize, k: usize| {
                Matrix2::new(entry(i, k), entry(i, k + 1), entry(i, k + 2), entry(i, k + 3))
            };
            let exact: Vec<_> = (0..n).map(|i| Vector2::new(entry(i, 20), entry(i, 21))).collect();
            let rows: Vec<BlockRow> = (0..n)
                .map(|i| {
                    let (lower, upper) = (mat(i, 0), mat(i, 4));
                    let diagonal = mat(i, 8) + Matrix2::identity() * 4.0;
                    let right = lower * exact[(i + n - 1) % n]
                        + diagonal * exact[i]
                        + upper * exact[(i + 1) % n];
                    BlockRow { lower, diagonal, upper, right }
                })
                .collect();
            let mut work = BlockWork::default();

            assert!(solve_blocks(&rows, &mut work).is_some());

            for (found, exact) in work.solution.iter().zip(&exact) {
                assert!((found - exact).norm() < 1e-13);
            }
        }
    }

    #[test]
    fn implicit_smoothing_solves_its_equation_and_keeps_the_sum() {
        let n = 17;
        let kappa: Vec<f64> = (0..n).map(|i| 0.1 + (i % 5) as f64).collect();
        let a: Vec<f64> = (0..n).map(|i| 1.0 + (i as f64).sin()).collect();
        let mut b = a.clone();

        smooth_implicit(&mut b, &kappa);

        for i in 0..n {
            let (w, e) = ((i + n - 1) % n, (i + 1) % n);
            let left = b[i] - kappa[i] * (b[e] - b[i]) + kappa[w] * (b[i] - b[w]);
            assert!((left - a[i]).abs() < 1e-12);
        }
        assert!((a.iter().sum::<f64>() - b.iter().sum::<f64>()).abs() < 1e-11);
    }
}
