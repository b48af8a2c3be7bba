//! Matrices by rows on the CPU, and their incomplete factors.

use super::{CpuBackend, PIECE};
use crate::backend::{BadPivot, CsrBackend, DeviceError, Format, Incomplete, Real, RowSchedule};
use crate::sparse::Csr;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;

/// Where the entries of a matrix stand.
#[derive(Debug)]
struct Pattern {
    row_start: Vec<usize>,
    columns: Vec<u32>,
    /// Position of the diagonal entry of each row; `ABSENT` where there is none.
    diagonal: Vec<usize>,
}

const ABSENT: usize = usize::MAX;

impl Pattern {
    fn rows(&self) -> usize {
        self.diagonal.len()
    }

    fn row(&self, row: usize) -> Range<usize> {
        self.row_start[row]..self.row_start[row + 1]
    }

    /// Position of an entry.
    fn find(&self, row: usize, column: usize) -> Option<usize> {
        let range = self.row(row);
        let found = self.columns[range.clone()].binary_search(&(column as u32));
        found.ok().map(|k| range.start + k)
    }
}

/// A matrix by rows.
#[derive(Debug, Clone)]
pub struct CsrMatrix<T> {
    pattern: Arc<Pattern>,
    values: Vec<T>,
}

/// M = (I + L)(D + U) in natural order: L left of the diagonal, D on it, U right of it.
#[derive(Debug, Clone)]
pub struct CsrFactors<T> {
    kind: Incomplete,
    pattern: Arc<Pattern>,
    values: Vec<T>,
    inverse: Vec<T>,
}

impl CsrBackend for CpuBackend {
    type CsrMatrix<T: Real> = CsrMatrix<T>;
    type CsrFactors<T: Real> = CsrFactors<T>;

    fn csr<T: Real>(&self, a: &Csr, _: Format) -> Result<CsrMatrix<T>, DeviceError> {
        let row_start = a.row_start.clone();
        let diagonal = (0..a.rows())
            .map(|row| {
                let range = a.row_start[row]..a.row_start[row + 1];
                let found = a.columns[range.clone()].binary_search(&(row as u32));
                found.map_or(ABSENT, |k| range.start + k)
            })
            .collect();
        let pattern = Pattern { row_start, columns: a.columns.clone(), diagonal };
        let values = a.values.iter().map(|&value| T::narrow(value)).collect();
        Ok(CsrMatrix { pattern: Arc::new(pattern), values })
    }

    fn csr_multiply<T: Real>(
        &self,
        a: &CsrMatrix<T>,
        x: &Vec<T>,
        y: &mut Vec<T>,
    ) -> Result<(), DeviceError> {
        y.par_chunks_mut(PIECE).enumerate().for_each(|(piece, y)| {
            for (row, y) in (piece * PIECE..).zip(y) {
                *y = a
                    .pattern
                    .row(row)
                    .fold(T::zero(), |sum, k| sum + a.values[k] * x[a.pattern.columns[k] as usize]);
            }
        });
        Ok(())
    }

    fn csr_inverse_diagonal<T: Real>(
        &self,
        a: &CsrMatrix<T>,
        d: &mut Vec<T>,
    ) -> Result<Option<usize>, DeviceError> {
        let mut bad = None;
        for (row, (d, &at)) in d.iter_mut().zip(&a.pattern.diagonal).enumerate() {
            let value = if at == ABSENT { T::zero() } else { a.values[at] };
            *d = value.recip();
            if bad.is_none() && (value == T::zero() || !value.is_finite()) {
                bad = Some(row);
            }
        }
        Ok(bad)
    }

    fn csr_factors<T: Real>(
        &self,
        a: &CsrMatrix<T>,
        kind: Incomplete,
        _: RowSchedule,
    ) -> Result<CsrFactors<T>, DeviceError> {
        let (values, inverse) = (a.values.clone(), vec![T::zero(); a.pattern.rows()]);
        Ok(CsrFactors { kind, pattern: Arc::clone(&a.pattern), values, inverse })
    }

    fn csr_factor<T: Real>(
        &self,
        a: &CsrMatrix<T>,
        shift: f64,
        factors: &mut CsrFactors<T>,
    ) -> Result<Option<BadPivot>, DeviceError> {
        factors.values.copy_from_slice(&a.values);
        let (pattern, scale) = (Arc::clone(&factors.pattern), T::narrow(1.0 + shift));
        for row in 0..pattern.rows() {
            let at = pattern.diagonal[row];
            if at == ABSENT {
                return Ok(Some(BadPivot { row, value: 0.0 }));
            }
            factors.values[at] *= scale;
            for k in pattern.row(row).start..at {
                let column = pattern.columns[k] as usize;
                let factor = factors.values[k] * factors.inverse[column];
                factors.values[k] = factor;
                let upper = pattern.diagonal[column] + 1..pattern.row(column).end;
                for m in upper {
                    let target = pattern.columns[m] as usize;
                    let full = matches!(factors.kind, Incomplete::Ilu0 | Incomplete::Ic0);
                    if (full || target == row)
                        && let Some(to) = pattern.find(row, target)
                    {
                        let update = factor * factors.values[m];
                        factors.values[to] -= update;
                    }
                }
            }
            let pivot = factors.values[at];
            factors.inverse[row] = pivot.recip();
            let symmetric = matches!(factors.kind, Incomplete::Dic | Incomplete::Ic0);
            if pivot == T::zero() || !pivot.is_finite() || symmetric && pivot < T::zero() {
                return Ok(Some(BadPivot { row, value: pivot.widen() }));
            }
        }
        Ok(None)
    }

    fn csr_solve<T: Real>(
        &self,
        factors: &mut CsrFactors<T>,
        r: &Vec<T>,
        z: &mut Vec<T>,
    ) -> Result<(), DeviceError> {
        let CsrFactors { pattern, values, inverse, .. } = factors;
        for row in 0..pattern.rows() {
            let lower = pattern.row(row).start..pattern.diagonal[row];
            z[row] = lower.fold(r[row], |sum, k| sum - values[k] * z[pattern.columns[k] as usize]);
        }
        for row in (0..pattern.rows()).rev() {
            let upper = pattern.diagonal[row] + 1..pattern.row(row).end;
            let sum = upper.fold(z[row], |sum, k| sum - values[k] * z[pattern.columns[k] as usize]);
            z[row] = sum * inverse[row];
        }
        Ok(())
    }
}
