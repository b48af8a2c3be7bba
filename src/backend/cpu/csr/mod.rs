//! Matrices by rows on the CPU, and their incomplete factors.

mod cells;
mod correlation;
mod elimination;
mod factors;
mod matrix;
mod plan;
mod product;
mod rows;
mod slices;

pub use factors::CsrFactors;
pub use matrix::CsrMatrix;

use super::CpuBackend;
use crate::backend::{BadPivot, CsrBackend, DeviceError, Format, Incomplete, Real, RowSchedule};
use crate::sparse::Csr;

impl CsrBackend for CpuBackend {
    type CsrMatrix<T: Real> = CsrMatrix<T>;
    type CsrFactors<T: Real> = CsrFactors<T>;

    fn csr<T: Real>(&self, a: &Csr, format: Format) -> Result<CsrMatrix<T>, DeviceError> {
        Ok(CsrMatrix::new(a, format))
    }

    fn csr_multiply<T: Real>(
        &self,
        a: &CsrMatrix<T>,
        x: &Vec<T>,
        y: &mut Vec<T>,
    ) -> Result<(), DeviceError> {
        a.multiply(x, y);
        Ok(())
    }

    fn csr_inverse_diagonal<T: Real>(
        &self,
        a: &CsrMatrix<T>,
        d: &mut Vec<T>,
    ) -> Result<Option<usize>, DeviceError> {
        Ok(a.inverse_diagonal(d))
    }

    fn csr_factors<T: Real>(
        &self,
        a: &CsrMatrix<T>,
        kind: Incomplete,
        schedule: RowSchedule,
    ) -> Result<CsrFactors<T>, DeviceError> {
        Ok(CsrFactors::new(a, kind, schedule))
    }

    fn csr_factor<T: Real>(
        &self,
        a: &CsrMatrix<T>,
        shift: f64,
        factors: &mut CsrFactors<T>,
    ) -> Result<Option<BadPivot>, DeviceError> {
        Ok(factors.factor(a, shift))
    }

    fn csr_solve<T: Real>(
        &self,
        factors: &mut CsrFactors<T>,
        r: &Vec<T>,
        z: &mut Vec<T>,
    ) -> Result<(), DeviceError> {
        factors.solve(r, z);
        Ok(())
    }
}
