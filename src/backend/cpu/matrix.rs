//! ELL matrices of the CPU backend.

use super::{CpuBackend, LuFactors, product};
use crate::backend::{Backend, DeviceError, Product, Real, SparseBackend};
use crate::sparse::{EllPattern, Schedule};
use rayon::prelude::*;
use std::sync::Arc;

/// A matrix in ELL format: `values[k * rows + r]` is slot k of row r.
#[derive(Debug, Clone)]
pub struct EllMatrix<T> {
    pub(super) pattern: Arc<EllPattern>,
    pub(super) values: Vec<T>,
}

impl<T: Real> EllMatrix<T> {
    /// A matrix with given values, column-major like its pattern; padding must be zero.
    ///
    /// # Panics
    /// If the number of values does not fit the pattern: an error of the caller.
    #[must_use]
    pub fn from_values(pattern: EllPattern, values: Vec<T>) -> Self {
        assert_eq!(values.len(), pattern.rows() * pattern.width());
        Self { pattern: Arc::new(pattern), values }
    }

    /// Where the entries stand.
    #[must_use]
    pub fn pattern(&self) -> &EllPattern {
        &self.pattern
    }

    /// Values by slot, column-major.
    #[must_use]
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// (column, value) of each entry of a row.
    pub fn row(&self, row: usize) -> impl Iterator<Item = (usize, T)> + '_ {
        self.pattern.row(row).map(|(at, column)| (column, self.values[at]))
    }

    /// The values as mutable blocks of `rows` rows: `blocks[b][k]` is slot k of block b.
    pub(super) fn row_blocks_mut(&mut self, rows: usize) -> Vec<Vec<&mut [T]>> {
        let n = self.pattern.rows();
        let mut blocks: Vec<Vec<&mut [T]>> =
            (0..n.div_ceil(rows)).map(|_| Vec::with_capacity(self.pattern.width())).collect();
        for slot in self.values.chunks_mut(n) {
            for (block, part) in blocks.iter_mut().zip(slot.chunks_mut(rows)) {
                block.push(part);
            }
        }
        blocks
    }
}

impl CpuBackend {
    /// Room for factors of matrices with the pattern of `a`, eliminated by this schedule.
    ///
    /// # Errors
    /// [`DeviceError::FactorsTooLarge`] for more entries than 32 bits number.
    pub fn scheduled_factors<T: Real>(
        &self,
        a: &EllMatrix<T>,
        schedule: Schedule,
    ) -> Result<LuFactors<T>, DeviceError> {
        LuFactors::new(a.pattern(), schedule)
    }
}

impl SparseBackend for CpuBackend {
    type Matrix<T: Real> = EllMatrix<T>;
    type Factors<T: Real> = LuFactors<T>;

    fn matrix<T: Real>(&self, pattern: &EllPattern) -> Result<EllMatrix<T>, DeviceError> {
        let values = vec![T::zero(); pattern.rows() * pattern.width()];
        Ok(EllMatrix { pattern: Arc::new(pattern.clone()), values })
    }

    fn matrix_values<T: Real>(&self, a: &EllMatrix<T>) -> Result<Vec<T>, DeviceError> {
        Ok(a.values.clone())
    }

    fn rows<T: Real>(&self, a: &EllMatrix<T>) -> usize {
        a.pattern.rows()
    }

    fn multiply<T: Real>(
        &self,
        a: &EllMatrix<T>,
        x: &Vec<T>,
        part: Product,
        y: &mut Vec<T>,
    ) -> Result<(), DeviceError> {
        product::multiply(a, x, part, y);
        Ok(())
    }

    fn inverse_diagonal<T: Real>(
        &self,
        a: &EllMatrix<T>,
        d: &mut Vec<T>,
    ) -> Result<Option<usize>, DeviceError> {
        d.par_iter_mut().enumerate().for_each(|(row, d)| {
            let diagonal = a.row(row).find(|&(column, _)| column == row);
            *d = diagonal.map_or_else(T::zero, |(_, value)| value).recip();
        });
        Ok(d.iter().position(|d| !d.is_finite()))
    }

    fn scale<T: Real>(&self, d: &Vec<T>, r: &Vec<T>, z: &mut Vec<T>) -> Result<(), DeviceError> {
        let piece = super::PIECE;
        z.par_chunks_mut(piece).zip(d.par_chunks(piece)).zip(r.par_chunks(piece)).for_each(
            |((z, d), r)| {
                for ((z, d), r) in z.iter_mut().zip(d).zip(r) {
                    *z = *d * *r;
                }
            },
        );
        Ok(())
    }

    fn factors<T: Real>(&self, a: &EllMatrix<T>) -> Result<LuFactors<T>, DeviceError> {
        self.scheduled_factors(a, Schedule::default())
    }

    fn factor_dilu<T: Real>(
        &self,
        a: &EllMatrix<T>,
        factors: &mut LuFactors<T>,
    ) -> Result<Option<usize>, DeviceError> {
        Ok(factors.dilu(a))
    }

    fn factor_ilu0<T: Real>(
        &self,
        a: &EllMatrix<T>,
        factors: &mut LuFactors<T>,
    ) -> Result<Option<usize>, DeviceError> {
        Ok(factors.ilu0(a))
    }

    fn solve_factors<T: Real>(
        &self,
        factors: &LuFactors<T>,
        r: &Vec<T>,
        z: &mut Vec<T>,
    ) -> Result<(), DeviceError> {
        self.lincomb(z, 0.0, [(1.0, r)])?;
        factors.solve(z);
        Ok(())
    }
}
