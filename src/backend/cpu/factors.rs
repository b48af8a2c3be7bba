//! Incomplete factors on the CPU.

use super::vector::copy;
use super::{CpuBackend, EllMatrix};
use crate::backend::error::check_lengths;
use crate::backend::{
    DeviceError, Incomplete, Preconditioner, PreconditionerFailure, Real, Result, SolverError,
};
use crate::sparse::{Elimination, EllPattern, Schedule};

/// M = (I + L)(D + U) on the pattern of A, stored by rows whose columns stand in the order of
/// elimination.
///
/// `values` holds L left of the diagonal and U right of it; the diagonal slot holds D, and
/// `inverse` its inverse.
#[derive(Debug, Clone)]
pub(super) struct LuFactors<T> {
    kind: Incomplete,
    /// Rows in their order of elimination.
    order: Vec<u32>,
    row_start: Vec<u32>,
    diagonal: Vec<u32>,
    columns: Vec<u32>,
    /// Position in the ELL values that each entry comes from.
    source: Vec<u32>,
    values: Vec<T>,
    inverse: Vec<T>,
    /// Position of an entry of the row being factored, by column; `ABSENT` elsewhere.
    position: Vec<u32>,
}

const ABSENT: u32 = u32::MAX;

/// Slots that positions of 32 bits tell apart.
const SLOTS: usize = ABSENT as usize;

/// Refuses incomplete factors on the CPU of a matrix of `rows` rows of `width` slots each if positions
/// of its entries would not fit 32 bits.
///
/// # Errors
/// [`DeviceError::FactorsTooLarge`].
pub fn check_factors(rows: usize, width: usize) -> Result<()> {
    match rows.checked_mul(width) {
        Some(slots) if slots <= SLOTS => Ok(()),
        _ => Err(DeviceError::FactorsTooLarge { rows, most: SLOTS / width.max(1) }),
    }
}

impl<T: Real> LuFactors<T> {
    /// DILU or ILU(0) factors, not computed yet, of matrices with this pattern. A row without a diagonal entry is
    /// reported as a zero pivot when it is factored.
    ///
    /// # Errors
    /// [`DeviceError::FactorsTooLarge`]; nothing is allocated then.
    pub(super) fn new(pattern: &EllPattern, kind: Incomplete, schedule: Schedule) -> Result<Self> {
        let n = pattern.rows();
        check_factors(n, pattern.width())?;
        let elimination = Elimination::new(pattern, schedule);
        let mut row_start = Vec::with_capacity(n + 1);
        let mut diagonal = Vec::with_capacity(n);
        let (mut columns, mut source) = (Vec::new(), Vec::new());
        let mut entries = Vec::with_capacity(pattern.width());
        row_start.push(0);
        for row in 0..n {
            entries.clear();
            let kept = pattern.row(row).filter(|&(_, column)| elimination.keeps(row, column));
            entries.extend(kept.map(|(at, column)| (column as u32, at as u32)));
            entries.sort_unstable_by_key(|&(column, _)| elimination.key(column as usize));
            let on_diagonal = entries.iter().position(|&(column, _)| column as usize == row);
            diagonal.push(on_diagonal.map_or(ABSENT, |k| (columns.len() + k) as u32));
            columns.extend(entries.iter().map(|&(column, _)| column));
            source.extend(entries.iter().map(|&(_, at)| at));
            row_start.push(columns.len() as u32);
        }
        Ok(Self {
            kind,
            values: vec![T::zero(); columns.len()],
            inverse: vec![T::zero(); n],
            position: vec![ABSENT; n],
            order: elimination.order(),
            row_start,
            diagonal,
            columns,
            source,
        })
    }

    /// Entries left of the diagonal, of the diagonal, and right of it in `values`.
    #[inline(always)]
    fn split(&self, row: usize) -> (std::ops::Range<usize>, usize, std::ops::Range<usize>) {
        let (start, end) = (self.row_start[row] as usize, self.row_start[row + 1] as usize);
        let diagonal = self.diagonal[row] as usize;
        (start..diagonal, diagonal, diagonal + 1..end)
    }

    fn take_values(&mut self, a: &EllMatrix<T>) {
        for (value, &at) in self.values.iter_mut().zip(&self.source) {
            *value = a.values[at as usize];
        }
    }

    /// DILU: D_i = a_ii − Σ_{j<i} a_ij a_ji / D_j over entries present on both sides,
    /// L_ij = a_ij / D_j, U_ij = a_ij.
    fn dilu(&mut self, a: &EllMatrix<T>) -> Option<usize> {
        self.take_values(a);
        for at in 0..self.order.len() {
            let row = self.order[at] as usize;
            if self.diagonal[row] == ABSENT {
                return Some(row);
            }
            let (left, diagonal, _) = self.split(row);
            let mut pivot = self.values[diagonal];
            for k in left {
                let j = self.columns[k] as usize;
                self.values[k] *= self.inverse[j];
                let (_, _, right) = self.split(j);
                if let Some(mirror) = right.clone().find(|&m| self.columns[m] as usize == row) {
                    pivot -= self.values[k] * self.values[mirror];
                }
            }
            if !self.take_pivot(row, diagonal, pivot) {
                return Some(row);
            }
        }
        None
    }

    /// ILU(0): Gaussian elimination that drops every entry outside the pattern.
    fn ilu0(&mut self, a: &EllMatrix<T>) -> Option<usize> {
        self.take_values(a);
        for at in 0..self.order.len() {
            let row = self.order[at] as usize;
            if self.diagonal[row] == ABSENT {
                return Some(row);
            }
            let (left, diagonal, right) = self.split(row);
            for k in left.start..right.end {
                self.position[self.columns[k] as usize] = k as u32;
            }
            for k in left.clone() {
                let j = self.columns[k] as usize;
                let factor = self.values[k] * self.inverse[j];
                self.values[k] = factor;
                let (_, _, above) = self.split(j);
                for m in above {
                    let at = self.position[self.columns[m] as usize];
                    if at != ABSENT {
                        let update = factor * self.values[m];
                        self.values[at as usize] -= update;
                    }
                }
            }
            for k in left.start..right.end {
                self.position[self.columns[k] as usize] = ABSENT;
            }
            if !self.take_pivot(row, diagonal, self.values[diagonal]) {
                return Some(row);
            }
        }
        None
    }

    fn take_pivot(&mut self, row: usize, diagonal: usize, pivot: T) -> bool {
        self.values[diagonal] = pivot;
        self.inverse[row] = pivot.recip();
        pivot != T::zero() && pivot.is_finite()
    }

    /// z ← M⁻¹ z.
    fn solve(&self, z: &mut [T]) {
        for &row in &self.order {
            let row = row as usize;
            let (left, _, _) = self.split(row);
            z[row] -= self.product(left, z);
        }
        for &row in self.order.iter().rev() {
            let row = row as usize;
            let (_, _, right) = self.split(row);
            z[row] = (z[row] - self.product(right, z)) * self.inverse[row];
        }
    }

    #[inline(always)]
    fn product(&self, entries: std::ops::Range<usize>, z: &[T]) -> T {
        let mut sum = T::zero();
        for (value, &column) in self.values[entries.clone()].iter().zip(&self.columns[entries]) {
            sum += *value * z[column as usize];
        }
        sum
    }
}

impl<T: Real> Preconditioner<CpuBackend, T, EllMatrix<T>> for LuFactors<T> {
    fn update(&mut self, _: &CpuBackend, a: &EllMatrix<T>) -> Result<(), SolverError> {
        let bad = if self.kind.diagonal_only() { self.dilu(a) } else { self.ilu0(a) };
        let preconditioner = self.kind.name();
        bad.map_or(Ok(()), |row| Err(PreconditionerFailure::Pivot { preconditioner, row }.into()))
    }

    fn apply(
        &mut self,
        _: &CpuBackend,
        _: &EllMatrix<T>,
        r: &Vec<T>,
        z: &mut Vec<T>,
    ) -> Result<()> {
        check_lengths(self.inverse.len(), [r.len(), z.len()])?;
        copy(r, z);
        self.solve(z);
        Ok(())
    }
}
