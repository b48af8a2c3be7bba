//! The matrices of the backend: ELL and by rows.

use super::algebra::CudaMatrix;
use super::algebra::CudaVector;
use super::backend::CudaBackend;
use super::csr::CudaCsr;
use crate::backend::{DeviceError, Format, Product, Real, SparseBackend};
use crate::sparse::{Csr, EllPattern};

impl SparseBackend for CudaBackend {
    type Matrix<T: Real> = CudaMatrix<T>;
    type CsrMatrix<T: Real> = CudaCsr<T>;

    fn matrix<T: Real>(&self, pattern: &EllPattern) -> Result<CudaMatrix<T>, DeviceError> {
        CudaMatrix::new(self, pattern)
    }

    fn matrix_values<T: Real>(&self, a: &CudaMatrix<T>) -> Result<Vec<T>, DeviceError> {
        a.host_values()
    }

    fn multiply<T: Real>(
        &self,
        a: &CudaMatrix<T>,
        x: &CudaVector<T>,
        product: Product,
        y: &mut CudaVector<T>,
    ) -> Result<(), DeviceError> {
        a.multiply(self, x, product, y)
    }

    fn csr<T: Real>(&self, a: &Csr, format: Format) -> Result<CudaCsr<T>, DeviceError> {
        CudaCsr::new(self, a, format)
    }
}
