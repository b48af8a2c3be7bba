//! ELL matrices of the CPU backend.

use super::factors::LuFactors;
use super::jacobi::{InverseDiagonal, Jacobi};
use super::{CpuBackend, CsrMatrix, product};
use crate::backend::preconditioner::Identity;
use crate::backend::{
    Algebraic, DeviceError, Format, Incomplete, LinearOperator, Preconditioner, Product, Real,
    SparseBackend, SparseMatrix,
};
use crate::sparse::{Csr, EllPattern, Schedule};
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

    /// Room for DILU or ILU(0) factors, eliminated by this schedule: those that GPUs have.
    /// [`SparseMatrix::preconditioner`] keeps to the natural order.
    ///
    /// # Errors
    /// [`DeviceError::FactorsTooLarge`] for more entries than 32 bits number.
    pub fn factors(
        &self,
        kind: Incomplete,
        schedule: Schedule,
    ) -> Result<EllPreconditioner<T>, DeviceError> {
        Ok(Box::new(LuFactors::new(self.pattern(), kind, schedule)?))
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

impl<T: Real> LinearOperator<CpuBackend, T> for EllMatrix<T> {
    fn apply(&self, backend: &CpuBackend, x: &Vec<T>, y: &mut Vec<T>) -> Result<(), DeviceError> {
        backend.multiply(self, x, Product::default(), y)
    }
}

impl<T: Real> SparseMatrix<CpuBackend, T> for EllMatrix<T> {
    fn preconditioner(
        &self,
        _: &CpuBackend,
        kind: Algebraic,
    ) -> Result<EllPreconditioner<T>, DeviceError> {
        Ok(match kind {
            Algebraic::None => Box::new(Identity),
            Algebraic::Jacobi => Box::new(Jacobi::new(self.pattern.rows())),
            Algebraic::Factors { shift, .. } if shift != 0.0 => {
                return Err(DeviceError::NotInEll { what: "shifted factors" });
            }
            Algebraic::Factors { kind, .. } if kind.symmetric() => {
                return Err(DeviceError::NotInEll { what: kind.name() });
            }
            // One thread goes through the rows, which is fastest where they are beside each other.
            Algebraic::Factors { kind, .. } => self.factors(kind, Schedule::Levels)?,
        })
    }
}

/// A preconditioner of a matrix in ELL format on the CPU.
type EllPreconditioner<T> = Box<dyn Preconditioner<CpuBackend, T, EllMatrix<T>>>;

impl<T: Real> InverseDiagonal<T> for EllMatrix<T> {
    fn inverse_diagonal(&self, d: &mut [T]) -> Option<usize> {
        d.par_iter_mut().enumerate().for_each(|(row, d)| {
            let diagonal = self.row(row).find(|&(column, _)| column == row);
            *d = diagonal.map_or_else(T::zero, |(_, value)| value).recip();
        });
        d.iter().position(|d| !d.is_finite())
    }
}

impl SparseBackend for CpuBackend {
    type Matrix<T: Real> = EllMatrix<T>;
    type CsrMatrix<T: Real> = CsrMatrix<T>;

    fn matrix<T: Real>(&self, pattern: &EllPattern) -> Result<EllMatrix<T>, DeviceError> {
        let values = vec![T::zero(); pattern.rows() * pattern.width()];
        Ok(EllMatrix { pattern: Arc::new(pattern.clone()), values })
    }

    fn matrix_values<T: Real>(&self, a: &EllMatrix<T>) -> Result<Vec<T>, DeviceError> {
        Ok(a.values.clone())
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

    fn csr<T: Real>(&self, a: &Csr, format: Format) -> Result<CsrMatrix<T>, DeviceError> {
        Ok(CsrMatrix::new(a, format))
    }
}
