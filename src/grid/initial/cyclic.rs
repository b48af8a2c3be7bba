//! Cyclic tridiagonal systems, scalar and with 2×2 blocks, in O(n).

/// A 2×2 matrix, row-major.
pub(super) type Mat2 = [[f64; 2]; 2];

/// One row of a block-tridiagonal system: L r_{i−1} + D r_i + U r_{i+1} = f.
#[derive(Debug, Clone, Copy)]
pub(super) struct BlockRow {
    pub(super) lower: Mat2,
    pub(super) diagonal: Mat2,
    pub(super) upper: Mat2,
    pub(super) right: [f64; 2],
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
        let mut to_first = [[0.0; 2]; 2];
        if i == 1 {
            to_first = add(to_first, row.lower);
        }
        if i == last {
            to_first = add(to_first, row.upper);
        }
        let (mut pivot, mut right) = (row.diagonal, row.right);
        if i > 1 {
            let before = &work.rows[i - 1];
            pivot = sub(pivot, mul(row.lower, before.upper));
            right = sub_vec(right, apply(row.lower, before.right));
            to_first = sub(to_first, mul(row.lower, before.to_first));
        }
        let inverse = invert(pivot)?;
        let upper = if i == last { [[0.0; 2]; 2] } else { mul(inverse, row.upper) };
        work.rows[i] =
            Eliminated { upper, right: apply(inverse, right), to_first: mul(inverse, to_first) };
    }
    for i in (1..last).rev() {
        let (after, row) = (work.rows[i + 1], work.rows[i]);
        work.rows[i].right = sub_vec(row.right, apply(row.upper, after.right));
        work.rows[i].to_first = sub(row.to_first, mul(row.upper, after.to_first));
    }
    let (first, next, previous) = (&rows[0], work.rows[1], work.rows[last]);
    let pivot = sub(
        sub(first.diagonal, mul(first.upper, next.to_first)),
        mul(first.lower, previous.to_first),
    );
    let right = sub_vec(
        sub_vec(first.right, apply(first.upper, next.right)),
        apply(first.lower, previous.right),
    );
    let r0 = apply(invert(pivot)?, right);
    work.solution[0] = r0;
    for i in 1..n {
        let row = &work.rows[i];
        work.solution[i] = sub_vec(row.right, apply(row.to_first, r0));
    }
    Some(())
}

/// Room for [`solve_blocks`] and its solution.
#[derive(Debug, Default)]
pub(super) struct BlockWork {
    rows: Vec<Eliminated>,
    pub(super) solution: Vec<[f64; 2]>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Eliminated {
    upper: Mat2,
    right: [f64; 2],
    to_first: Mat2,
}

impl BlockWork {
    fn resize(&mut self, n: usize) {
        self.rows.resize(n, Eliminated::default());
        self.solution.resize(n, [0.0; 2]);
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

/// Inverse of a 2×2 matrix, `None` if it is singular.
pub(super) fn invert(m: Mat2) -> Option<Mat2> {
    let inverse_det = (m[0][0] * m[1][1] - m[0][1] * m[1][0]).recip();
    inverse_det.is_finite().then(|| {
        [
            [m[1][1] * inverse_det, -m[0][1] * inverse_det],
            [-m[1][0] * inverse_det, m[0][0] * inverse_det],
        ]
    })
}

/// Product of two 2×2 matrices.
pub(super) fn mul(a: Mat2, b: Mat2) -> Mat2 {
    let at = |i: usize, j: usize| a[i][0] * b[0][j] + a[i][1] * b[1][j];
    [[at(0, 0), at(0, 1)], [at(1, 0), at(1, 1)]]
}

/// Product of a 2×2 matrix and a vector.
pub(super) fn apply(m: Mat2, v: [f64; 2]) -> [f64; 2] {
    [m[0][0] * v[0] + m[0][1] * v[1], m[1][0] * v[0] + m[1][1] * v[1]]
}

fn add(a: Mat2, b: Mat2) -> Mat2 {
    [[a[0][0] + b[0][0], a[0][1] + b[0][1]], [a[1][0] + b[1][0], a[1][1] + b[1][1]]]
}

fn sub(a: Mat2, b: Mat2) -> Mat2 {
    [[a[0][0] - b[0][0], a[0][1] - b[0][1]], [a[1][0] - b[1][0], a[1][1] - b[1][1]]]
}

fn sub_vec(a: [f64; 2], b: [f64; 2]) -> [f64; 2] {
    [a[0] - b[0], a[1] - b[1]]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cyclic_block_system_is_solved() {
        for n in [3, 4, 7, 33] {
            let entry = |i: usize, k: usize| ((i * 7 + k * 3) % 11) as f64 / 11.0 - 0.4;
            let mat = |i: usize, k: usize| {
                [[entry(i, k), entry(i, k + 1)], [entry(i, k + 2), entry(i, k + 3)]]
            };
            let exact: Vec<[f64; 2]> = (0..n).map(|i| [entry(i, 20), entry(i, 21)]).collect();
            let rows: Vec<BlockRow> = (0..n)
                .map(|i| {
                    let (lower, upper) = (mat(i, 0), mat(i, 4));
                    let diagonal = add(mat(i, 8), [[4.0, 0.0], [0.0, 4.0]]);
                    let terms = [
                        apply(lower, exact[(i + n - 1) % n]),
                        apply(diagonal, exact[i]),
                        apply(upper, exact[(i + 1) % n]),
                    ];
                    let right = [0, 1].map(|k| terms.iter().map(|t| t[k]).sum());
                    BlockRow { lower, diagonal, upper, right }
                })
                .collect();
            let mut work = BlockWork::default();

            assert!(solve_blocks(&rows, &mut work).is_some());

            for (found, exact) in work.solution.iter().zip(&exact) {
                assert!((found[0] - exact[0]).abs() + (found[1] - exact[1]).abs() < 1e-13);
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
