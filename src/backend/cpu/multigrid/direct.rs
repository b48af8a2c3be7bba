//! The solution of the coarsest level by elimination.

use crate::backend::Real;
use crate::backend::cpu::block::{invert, product};
use crate::backend::multigrid::{ColumnBlocks, LevelSize};

/// Factors of a level's matrix, which is block tridiagonal by columns of points, or by pairs of columns where the rows
/// close ([`ColumnBlocks`]): blocks L_k, A_k, U_k of row k, by columns of values.
///
/// D_0 = A_0, D_k = A_k − L_k W_{k−1} with W_k = D_k⁻¹ U_k.
#[derive(Debug)]
pub(super) struct Factors<M> {
    /// Values of a column of a block.
    order: usize,
    /// L_k, D_k⁻¹ and W_k for each k.
    rows: Vec<[Vec<M>; 3]>,
    /// Right side and then the solution by columns, and those of one column.
    pub(super) x: Vec<M>,
    y: Vec<M>,
}

/// to ← to − A x for A by columns of `to.len()` values.
fn subtract_product<M: Real>(to: &mut [M], a: &[M], x: &[M]) {
    for (column, &x) in a.chunks_exact(to.len()).zip(x) {
        to.iter_mut().zip(column).for_each(|(to, &a)| *to -= a * x);
    }
}

/// (D, U) ← (D⁻¹, D⁻¹ U) by Gauss–Jordan elimination with the 2×2 blocks on the diagonal of D as pivots.
fn eliminate<M: Real>(order: usize, d: &mut [M], u: &mut [M]) {
    let mut panel = vec![M::zero(); 2 * order];
    for k in (0..order).step_by(2) {
        panel.copy_from_slice(&d[k * order..(k + 2) * order]);
        let pivot = [k, order + k, k + 1, order + k + 1].map(|at| [panel[at]]);
        // A held point has a zero pivot, whose inverse is taken as zero.
        let held = pivot.as_flattened().iter().all(|&value| value == M::zero());
        let inverse = invert(&pivot, &(0..usize::from(!held)));
        let reduce = |column: &mut [M], right: [M; 2]| {
            let x = product(&inverse, &right.map(|value| [value]));
            subtract_product(column, &panel, x.as_flattened());
            column[k..k + 2].copy_from_slice(x.as_flattened());
        };
        for (c, column) in d.chunks_exact_mut(order).enumerate() {
            if c / 2 == k / 2 {
                column.fill(M::zero());
                reduce(column, if c == k { [M::one(), M::zero()] } else { [M::zero(), M::one()] });
            } else {
                reduce(column, [column[k], column[k + 1]]);
            }
        }
        u.chunks_exact_mut(order).for_each(|column| reduce(column, [column[k], column[k + 1]]));
    }
}

impl<M: Real> Factors<M> {
    /// Factors of the equations of a level: `couplings(place, take)` calls `take(place, block)` for the blocks of those of
    /// a point.
    pub(super) fn of(
        size: LevelSize,
        couplings: impl Fn((usize, usize), &mut dyn FnMut((usize, usize), [M; 4])),
    ) -> Self {
        let columns = ColumnBlocks::of(size);
        let order = 2 * columns.points();
        let mut rows: Vec<[Vec<M>; 3]> = Vec::with_capacity(columns.count());
        for k in 0..columns.count() {
            let [mut before, mut own, mut after] = [(); 3].map(|()| vec![M::zero(); order * order]);
            for row in 0..columns.points() {
                couplings(columns.place(k, row), &mut |place, block| {
                    let (of, column) = columns.find(place);
                    let to = match of + 1 - k {
                        0 => &mut before,
                        1 => &mut own,
                        _ => &mut after,
                    };
                    for (entry, value) in block.into_iter().enumerate() {
                        to[(2 * column + entry % 2) * order + 2 * row + entry / 2] += value;
                    }
                });
            }
            if let Some([_, _, above]) = rows.last() {
                for (to, x) in own.chunks_exact_mut(order).zip(above.chunks_exact(order)) {
                    subtract_product(to, &before, x);
                }
            }
            eliminate(order, &mut own, &mut after);
            rows.push([before, own, after]);
        }
        let zeros = |values| vec![M::zero(); values];
        Self { order, rows, x: zeros(size.values()), y: zeros(order) }
    }

    pub(super) fn are_finite(&self) -> bool {
        self.rows.iter().flatten().flatten().all(|value| value.is_finite())
    }

    /// x ← A⁻¹ x, by columns.
    pub(super) fn solve(&mut self) {
        let Self { order, ref rows, ref mut x, ref mut y } = *self;
        for (k, [before, inverse, _]) in rows.iter().enumerate() {
            let (done, own) = x.split_at_mut(k * order);
            let own = &mut own[..order];
            if k > 0 {
                subtract_product(own, before, &done[(k - 1) * order..]);
            }
            y.fill(M::zero());
            subtract_product(y, inverse, own);
            own.iter_mut().zip(&*y).for_each(|(own, &y)| *own = -y);
        }
        for (k, [_, _, after]) in rows.iter().enumerate().rev().skip(1) {
            let (own, solved) = x.split_at_mut((k + 1) * order);
            subtract_product(&mut own[k * order..], after, &solved[..order]);
        }
    }
}
