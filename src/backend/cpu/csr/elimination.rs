//! The values of incomplete factors.

use super::cells::Cells;
use super::plan::Plan;
use super::rows::Rows;
use crate::backend::cpu::PIECE;
use crate::backend::{BadPivot, Real};
use crate::sparse::Triangle;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// A row so much longer than another is searched for its entries rather than gone through.
const UNEVEN: usize = 8;

/// The first row whose pivot cannot be used.
pub(super) struct FirstBad {
    found: Mutex<Option<BadPivot>>,
    positive: bool,
}

impl FirstBad {
    /// None yet; pivots must be `positive`, or at least not zero.
    pub(super) fn new(positive: bool) -> Self {
        Self { found: Mutex::new(None), positive }
    }

    fn look(&self, rows: &Rows, row: usize, pivot: f64) {
        let value = if rows.has_diagonal(row) { pivot } else { 0.0 };
        if value == 0.0 || !value.is_finite() || self.positive && value < 0.0 {
            let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
            // The rows that come before it in the order of elimination do not depend on it, so that
            // the first is the same whatever the order in which the threads find them.
            if found.is_none_or(|first| row < first.row) {
                *found = Some(BadPivot { row, value });
            }
        }
    }

    pub(super) fn into_found(self) -> Option<BadPivot> {
        self.found.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Entries that are present on both sides of the diagonal: the pattern of K = L ∘ Uᵀ.
#[derive(Debug)]
pub(super) struct Mirrored {
    row_start: Vec<usize>,
    /// Positions of (i, j) and (j, i), j < i.
    pairs: Vec<[usize; 2]>,
}

impl Mirrored {
    pub(super) fn new(rows: &Rows) -> Self {
        let pieces: Vec<(Vec<usize>, Vec<[usize; 2]>)> = (0..rows.len().div_ceil(PIECE))
            .into_par_iter()
            .map(|piece| Self::of(rows, piece * PIECE..((piece + 1) * PIECE).min(rows.len())))
            .collect();
        let mut mirrored = Self { row_start: vec![0], pairs: Vec::new() };
        for (ends, pairs) in pieces {
            let before = mirrored.pairs.len();
            mirrored.row_start.extend(ends.into_iter().map(|end| before + end));
            mirrored.pairs.extend(pairs);
        }
        mirrored
    }

    /// The pairs of some rows, and where those of each row end.
    fn of(rows: &Rows, range: Range<usize>) -> (Vec<usize>, Vec<[usize; 2]>) {
        let (mut ends, mut pairs) = (Vec::with_capacity(range.len()), Vec::new());
        for row in range {
            for at in rows.side(row, Triangle::Lower) {
                let upper = rows.side(rows.columns()[at] as usize, Triangle::Upper);
                let found = rows.columns()[upper.clone()].binary_search(&(row as u32));
                pairs.extend(found.map(|k| [at, upper.start + k]));
            }
            ends.push(pairs.len());
        }
        (ends, pairs)
    }
}

/// The pivots of DILU, D_i = (1 + shift) a_ii − Σ_j K_ij / D_j with the Hadamard product
/// K_ij = a_ij a_ji (Wang and Liu 2022, algorithms 3 and 5); `inverse` gets 1 / D.
///
/// Pivots are made in double precision: K has the squares of the entries.
pub(super) fn dilu<T: Real>(
    rows: &Rows,
    plan: &Plan,
    mirrored: &Mirrored,
    (a, shift): (&[T], f64),
    inverse: &Cells<f64>,
    bad: &FirstBad,
) {
    plan.run(rows, Triangle::Lower, &|row| {
        let mut pivot = (1.0 + shift) * rows.value(rows.diagonal(row), a).widen();
        for &[left, right] in &mirrored.pairs[mirrored.row_start[row]..mirrored.row_start[row + 1]]
        {
            let k = rows.value(left, a).widen() * rows.value(right, a).widen();
            pivot -= k * inverse.get(rows.columns()[left] as usize);
        }
        inverse.set(row, pivot.recip());
        bad.look(rows, row, pivot);
    });
}

/// Gaussian elimination row by row that drops every entry outside the pattern; `values` holds A and
/// gets L, D and U.
pub(super) fn ilu0<T: Real>(
    rows: &Rows,
    plan: &Plan,
    values: &Cells<T>,
    inverse: &Cells<f64>,
    bad: &FirstBad,
) {
    plan.run(rows, Triangle::Lower, &|row| {
        let right_end = rows.side(row, Triangle::Upper).end;
        for at in rows.side(row, Triangle::Lower) {
            let column = rows.columns()[at] as usize;
            let factor = values.get(at) * T::narrow(inverse.get(column));
            values.set(at, factor);
            let above = rows.side(column, Triangle::Upper);
            meetings(rows.columns(), at + 1..right_end, above, |own, other| {
                values.set(own, values.get(own) - factor * values.get(other));
            });
        }
        let pivot = values.get(rows.diagonal(row)).widen();
        inverse.set(row, pivot.recip());
        bad.look(rows, row, pivot);
    });
}

/// Calls `each` with the positions of every column that stands in both ranges, in which columns rise.
#[inline(always)]
fn meetings(
    columns: &[u32],
    own: Range<usize>,
    other: Range<usize>,
    mut each: impl FnMut(usize, usize),
) {
    let find = |range: &Range<usize>, column: u32| {
        columns[range.clone()].binary_search(&column).ok().map(|k| range.start + k)
    };
    if own.len() > UNEVEN * other.len() {
        for at in other {
            if let Some(found) = find(&own, columns[at]) {
                each(found, at);
            }
        }
    } else if other.len() > UNEVEN * own.len() {
        for at in own {
            if let Some(found) = find(&other, columns[at]) {
                each(at, found);
            }
        }
    } else {
        let (mut i, mut j) = (own.start, other.start);
        while i < own.end && j < other.end {
            let (a, b) = (columns[i], columns[j]);
            if a == b {
                each(i, j);
            }
            i += usize::from(a <= b);
            j += usize::from(b <= a);
        }
    }
}
