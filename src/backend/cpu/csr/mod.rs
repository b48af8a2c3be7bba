//! Matrices by rows: products by rows or in slices, and incomplete factors.

mod factors;
mod rows;

pub(super) use self::factors::{CsrFactors, Entries, Jacobi};
use self::rows::by_pieces;
pub use self::rows::{ENTRIES, pieces};
use crate::backend::cpu::CpuBackend;
use crate::backend::cpu::vector::reduce;
use crate::backend::error::check_lengths;
use crate::backend::matrices::Identity;
use crate::backend::{
    Algebraic, BadPivot, Incomplete, LinearOperator, MatrixFormat, Preconditioner,
    PreconditionerFailure, Real, Result, SparseMatrix,
};
use crate::sparse::{Csr, Pattern};
use rayon::prelude::*;
use std::ops::Range;

/// A matrix by rows, and in slices for [`MatrixFormat::Ell`].
#[derive(Debug, Clone)]
pub struct CsrMatrix<T> {
    row_start: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<T>,
    pieces: Vec<usize>,
    slices: Option<RowSlices<T>>,
}

impl<T: Real> CsrMatrix<T> {
    /// A copy of `a`. With [`MatrixFormat::Ell`] products use the sliced form of [`RowSlices`], unless its
    /// rows are so uneven that it would hold more than [`RowSlices::PADDED`] slots an entry: then they
    /// use the rows.
    pub(in crate::backend::cpu) fn new(a: &Csr, format: MatrixFormat) -> Self {
        let values: Vec<T> = a.values.iter().map(|&value| T::narrow(value)).collect();
        let slices = match format {
            MatrixFormat::Csr => None,
            MatrixFormat::Ell => RowSlices::new(a.pattern(), &values),
        };
        let (row_start, columns) = (a.row_start.clone(), a.columns.clone());
        Self { pieces: pieces(&row_start), row_start, columns, values, slices }
    }

    pub(super) fn pattern(&self) -> Pattern<'_> {
        Pattern { row_start: &self.row_start, columns: &self.columns }
    }
}

impl<T: Real> Entries<T> for CsrMatrix<T> {
    fn values(&self) -> &[T] {
        &self.values
    }

    fn diagonal(&self, row: usize) -> Option<T> {
        let found = self.pattern().row(row).binary_search(&(row as u32));
        found.ok().map(|k| self.values[self.row_start[row] + k])
    }

    fn failure(kind: Incomplete, bad: BadPivot) -> PreconditionerFailure {
        PreconditionerFailure::factor(kind, bad)
    }
}

impl<T: Real> LinearOperator<CpuBackend, T> for CsrMatrix<T> {
    fn apply(&self, _: &CpuBackend, x: &Vec<T>, y: &mut Vec<T>) -> Result<()> {
        check_lengths(self.pattern().rows(), [x.len(), y.len()])?;
        match &self.slices {
            Some(slices) => slices.multiply(x, y),
            None => by_rows(self.pattern(), &self.pieces, &self.values, x, y),
        }
        Ok(())
    }
}

impl<T: Real> SparseMatrix<CpuBackend, T> for CsrMatrix<T> {
    fn preconditioner(
        &self,
        _: &CpuBackend,
        kind: Algebraic,
    ) -> Result<Box<dyn Preconditioner<CpuBackend, T, Self>>> {
        Ok(match kind {
            Algebraic::None => Box::new(Identity),
            Algebraic::Jacobi => {
                Box::new(Jacobi { inverse: vec![T::zero(); self.pattern().rows()] })
            }
            Algebraic::Factors { kind, schedule, shift } => {
                Box::new(CsrFactors::new(self.pattern(), kind, schedule, shift))
            }
        })
    }
}

/// Running sums of a row: additions of one sum wait for each other.
const SUMS: usize = 4;

/// y ← A x.
///
/// A thread takes pieces of equal numbers of entries, and the parts of a row longer than a piece
/// are shared among threads. Sums run in an order that does not depend on the threads.
fn by_rows<T: Real>(pattern: Pattern<'_>, pieces: &[usize], values: &[T], x: &[T], y: &mut [T]) {
    by_pieces(pieces, &|row| row, y, &|rows, y| {
        for (row, y) in rows.zip(y) {
            let entries = pattern.row_start[row]..pattern.row_start[row + 1];
            let part =
                |part: Range<usize>| row_sum(&values[part.clone()], &pattern.columns[part], x);
            *y = if entries.len() <= 2 * ENTRIES {
                part(entries)
            } else {
                reduce(entries, ENTRIES, &part, &|a, b| a + b)
            };
        }
    });
}

/// Σ v_k x at column k.
#[inline(always)]
fn row_sum<T: Real>(values: &[T], columns: &[u32], x: &[T]) -> T {
    let (body, tail) = values.as_chunks::<SUMS>();
    let (body_columns, tail_columns) = columns.as_chunks::<SUMS>();
    let mut sums = [T::zero(); SUMS];
    for (values, columns) in body.iter().zip(body_columns) {
        for k in 0..SUMS {
            sums[k] += values[k] * x[columns[k] as usize];
        }
    }
    let rest = tail.iter().zip(tail_columns);
    let rest = rest.fold(T::zero(), |sum, (&value, &column)| sum + value * x[column as usize]);
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

const SLICE: usize = 32;
const TASK: usize = 32;

/// Slices of `SLICE` rows, each as wide as its longest row and stored by slots: ELL where all rows
/// are of one length, and little more than the entries where neighbours are of about one length
/// (Monakov, Lokhmotov and Avetisyan 2010, doi:10.1007/978-3-642-11515-8_10). Slots left over hold
/// zero in a column of their row.
#[derive(Debug, Clone)]
pub struct RowSlices<T> {
    start: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<T>,
}

impl<T: Real> RowSlices<T> {
    /// Slots for each entry at most.
    pub(super) const PADDED: usize = 2;

    /// The slices of a matrix; none if they would hold more than [`Self::PADDED`] slots an entry.
    pub fn new(pattern: Pattern<'_>, values: &[T]) -> Option<Self> {
        let rows = pattern.rows();
        let width = |slice: usize| {
            let own = slice * SLICE..((slice + 1) * SLICE).min(rows);
            own.map(|row| pattern.row(row).len()).max().unwrap_or(0)
        };
        let mut start = vec![0];
        let mut slots = 0;
        for slice in 0..rows.div_ceil(SLICE) {
            slots += SLICE * width(slice);
            start.push(slots);
        }
        // The last slice is full whatever the number of rows.
        if slots > Self::PADDED * values.len() + SLICE * width(rows.div_ceil(SLICE).max(1) - 1) {
            return None;
        }
        let (mut columns, mut padded) = (vec![0; slots], vec![T::zero(); slots]);
        for row in 0..rows {
            let (slice, lane) = (row / SLICE, row % SLICE);
            let at = |slot: usize| start[slice] + slot * SLICE + lane;
            let own = pattern.row(row);
            for (slot, &column) in own.iter().enumerate() {
                columns[at(slot)] = column;
                padded[at(slot)] = values[pattern.row_start[row] + slot];
            }
            let spare = own.last().copied().unwrap_or(row as u32);
            for slot in own.len()..(start[slice + 1] - start[slice]) / SLICE {
                columns[at(slot)] = spare;
            }
        }
        Some(Self { start, columns, values: padded })
    }

    /// y ← A x, the rows of a slice side by side.
    pub(super) fn multiply(&self, x: &[T], y: &mut [T]) {
        y.par_chunks_mut(TASK * SLICE).enumerate().for_each(|(task, y)| {
            for (slice, y) in (task * TASK..).zip(y.chunks_mut(SLICE)) {
                let slots = self.start[slice]..self.start[slice + 1];
                let values = self.values[slots.clone()].as_chunks::<SLICE>().0;
                let columns = self.columns[slots].as_chunks::<SLICE>().0;
                let mut sums = [T::zero(); SLICE];
                for (values, columns) in values.iter().zip(columns) {
                    for lane in 0..SLICE {
                        sums[lane] += values[lane] * x[columns[lane] as usize];
                    }
                }
                y.copy_from_slice(&sums[..y.len()]);
            }
        });
    }
}
