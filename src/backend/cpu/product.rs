//! Products with matrices in ELL format.

use super::EllMatrix;
use crate::backend::{Product, Real};
use crate::simd::{self, Kernel};
use crate::sparse::{STENCIL, Structure};
use rayon::prelude::*;
use std::ops::Range;

/// Rows that are multiplied in one go: their part of the result stays in the first-level cache
/// over all slots.
const BLOCK: usize = 1024;

/// y ← (+) A x, the part that `product` names.
pub(super) fn multiply<T: Real>(a: &EllMatrix<T>, x: &[T], product: Product, y: &mut [T]) {
    match a.pattern.structure() {
        Structure::NinePoint { mi, mj, .. } => {
            y.par_chunks_mut(2 * mi).enumerate().for_each(|(j, y)| {
                // Most rows of points have no column to skip and need not look at each.
                let skips = 2 * mi * j.saturating_sub(1) < product.skip_columns;
                if skips || mi < 3 {
                    one_by_one(a, x, product, 2 * mi * j, y);
                } else {
                    nine_point_row(a, x, product, (mi, mj), j, y);
                }
            });
        }
        Structure::WallColumns { mi, .. } if product.skip_columns == 0 => {
            let n = a.pattern.rows();
            let row = |j: usize, k: usize| &a.values[k * n + 2 * mi * j..][..2 * mi];
            y.par_chunks_mut(2 * mi).enumerate().for_each(|(j, y)| {
                let (slots, terms) = ([row(j, 0), row(j, 1)], &x[..2 * mi]);
                simd::run(WallRow { slots, terms, add: product.add, y });
            });
        }
        _ => y.par_chunks_mut(BLOCK).enumerate().for_each(|(block, y)| {
            one_by_one(a, x, product, block * BLOCK, y);
        }),
    }
}

/// Rows from `start` on, entry by entry.
fn one_by_one<T: Real>(a: &EllMatrix<T>, x: &[T], product: Product, start: usize, y: &mut [T]) {
    for (row, y) in (start..).zip(y) {
        if !product.add {
            *y = T::zero();
        }
        for (column, value) in a.row(row) {
            if column >= product.skip_columns {
                *y += value * x[column];
            }
        }
    }
}

/// The rows of the points (·, j): the first and the last point have fewer neighbours, or some
/// across the seam.
fn nine_point_row<T: Real>(
    a: &EllMatrix<T>,
    x: &[T],
    product: Product,
    (mi, mj): (usize, usize),
    j: usize,
    y: &mut [T],
) {
    let (start, last) = (2 * mi * j, 2 * (mi - 1));
    one_by_one(a, x, product, start, &mut y[..2]);
    one_by_one(a, x, product, start + last, &mut y[last..]);
    let rows_there = |dj: isize| j.checked_add_signed(dj).is_some_and(|j| j < mj);
    for from in (2..last).step_by(BLOCK) {
        let to = (from + BLOCK).min(last);
        let y = &mut y[from..to];
        if !product.add {
            y.fill(T::zero());
        }
        let there = STENCIL.into_iter().filter(|&(_, dj, _)| rows_there(dj));
        for (slot, (di, dj, other)) in there.enumerate() {
            let rows = start + from..start + to;
            // The points' neighbours at this offset, a part of one row of points.
            let column =
                (2 * (mi * j) + from).wrapping_add_signed(2 * (mi.cast_signed() * dj + di));
            let values = &a.values[shift(&rows, slot * a.pattern.rows())];
            simd::run(Slot { values, x: &x[column..column + y.len()], other, y });
        }
    }
}

fn shift(range: &Range<usize>, by: usize) -> Range<usize> {
    range.start + by..range.end + by
}

/// y ← y + v x for one slot of points inside a row: x of the row's own variable, or of the other.
struct Slot<'a, T> {
    values: &'a [T],
    x: &'a [T],
    other: bool,
    y: &'a mut [T],
}

impl<T: Real> Kernel for Slot<'_, T> {
    #[inline(always)]
    fn run(self) {
        let Self { values, x, other, y } = self;
        if other {
            let points = y.as_chunks_mut::<2>().0.iter_mut();
            let points = points.zip(values.as_chunks::<2>().0).zip(x.as_chunks::<2>().0);
            for ((y, v), x) in points {
                y[0] += v[0] * x[1];
                y[1] += v[1] * x[0];
            }
        } else {
            for ((y, v), x) in y.iter_mut().zip(values).zip(x) {
                *y += *v * *x;
            }
        }
    }
}

/// y ← (+) B x for a row of points: the wall terms p, q of each line, interleaved.
struct WallRow<'a, T> {
    slots: [&'a [T]; 2],
    terms: &'a [T],
    add: bool,
    y: &'a mut [T],
}

impl<T: Real> Kernel for WallRow<'_, T> {
    #[inline(always)]
    fn run(self) {
        let Self { slots: [along_p, along_q], terms, add, y } = self;
        let points = y.as_chunks_mut::<2>().0.iter_mut().zip(terms.as_chunks::<2>().0);
        let entries = along_p.as_chunks::<2>().0.iter().zip(along_q.as_chunks::<2>().0);
        for ((y, terms), (p, q)) in points.zip(entries) {
            let [x0, y0] = if add { *y } else { [T::zero(); 2] };
            y[0] = x0 + p[0] * terms[0] + q[0] * terms[1];
            y[1] = y0 + p[1] * terms[0] + q[1] * terms[1];
        }
    }
}
