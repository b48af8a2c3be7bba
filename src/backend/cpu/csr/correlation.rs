//! Triangular solves that push known values along columns.

use super::cells::Cells;
use super::plan::wait;
use super::rows::Rows;
use crate::backend::Real;
use crate::sparse::{Sorted, Triangle};
use rayon::prelude::*;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

/// Consecutive variables that a thread takes in one go.
const TAKEN: usize = 64;

/// Variable correlation decomposition (Liu, Jin et al. 2020):
/// each variable is the sum of partial values, which whoever knows one of its neighbours adds as soon
/// as it is known, and a counter says how many are still to come. y of (I + L) y = r and x of
/// (D + U) x = y are variables alike, x_i one partial value of which is y_i, so that both solves are
/// one pass.
///
/// Partial values are added as they come: results agree to rounding with those of other orders. They
/// are kept in double precision.
#[derive(Debug)]
pub(super) struct Correlation {
    /// Columns of L, then of U: their rows and the positions of their entries.
    lower: Sorted<(u32, usize)>,
    upper: Sorted<(u32, usize)>,
    /// Partial values of y, then of x.
    values: Cells<f64>,
    missing: Vec<AtomicU32>,
}

impl Correlation {
    pub(super) fn new(rows: &Rows) -> Self {
        Self {
            lower: by_columns(rows, Triangle::Lower),
            upper: by_columns(rows, Triangle::Upper),
            values: Cells::zeros(2 * rows.len()),
            missing: (0..2 * rows.len()).map(|_| AtomicU32::new(0)).collect(),
        }
    }

    /// z ← M⁻¹ r.
    pub(super) fn solve<T: Real>(
        &self,
        rows: &Rows,
        factors: &[T],
        inverse: &[T],
        (r, z): (&[T], &mut [T]),
    ) {
        let n = rows.len();
        for row in 0..n {
            self.values.set(row, r[row].widen());
            self.values.set(n + row, 0.0);
            let count = |triangle| rows.side(row, triangle).len() as u32;
            self.missing[row].store(count(Triangle::Lower), Ordering::Relaxed);
            self.missing[n + row].store(count(Triangle::Upper) + 1, Ordering::Relaxed);
        }
        let next = AtomicUsize::new(0);
        // y from the first to the last, then x from the last to the first: a variable waits for
        // earlier ones alone, and those have all been taken by threads that are at work.
        (0..rayon::current_num_threads()).into_par_iter().with_max_len(1).for_each(|_| {
            loop {
                let first = next.fetch_add(TAKEN, Ordering::Relaxed);
                if first >= 2 * n {
                    return;
                }
                for turn in first..(first + TAKEN).min(2 * n) {
                    if turn < n {
                        self.push_y(turn, n, factors);
                    } else {
                        self.push_x(2 * n - 1 - turn, n, factors, inverse);
                    }
                }
            }
        });
        for (row, z) in z.iter_mut().enumerate() {
            *z = T::narrow(self.values.get(n + row));
        }
    }

    fn push_y<T: Real>(&self, row: usize, n: usize, factors: &[T]) {
        wait(|| self.missing[row].load(Ordering::Acquire) == 0);
        let y = self.values.get(row);
        for &(below, at) in self.lower.of(row) {
            self.push(below as usize, -factors[at].widen() * y);
        }
        self.push(n + row, y);
    }

    fn push_x<T: Real>(&self, row: usize, n: usize, factors: &[T], inverse: &[T]) {
        wait(|| self.missing[n + row].load(Ordering::Acquire) == 0);
        let x = self.values.get(n + row) * inverse[row].widen();
        self.values.set(n + row, x);
        for &(above, at) in self.upper.of(row) {
            self.push(n + above as usize, -factors[at].widen() * x);
        }
    }

    /// Adds one of the partial values of a variable.
    fn push(&self, variable: usize, part: f64) {
        self.values.add(variable, part);
        self.missing[variable].fetch_sub(1, Ordering::Release);
    }
}

/// A triangle by columns: the row of each entry and its position.
fn by_columns(rows: &Rows, triangle: Triangle) -> Sorted<(u32, usize)> {
    let columns = rows.columns();
    let entry = |row: usize| {
        rows.side(row, triangle).map(move |at| (columns[at] as usize, (row as u32, at)))
    };
    Sorted::new(rows.len(), || (0..rows.len()).flat_map(entry))
}
