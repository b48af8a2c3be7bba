//! Incomplete factors on the CUDA backend.

mod levels;
mod rows;

use self::rows::RowFactors;
use super::{CudaBackend, CudaMatrix, CudaVector};
use crate::backend::{DeviceError, Real};

/// M = (I + L)(D + U) in a GPU's memory.
pub struct CudaFactors<T>(RowFactors<T>);

impl<T: Real> CudaFactors<T> {
    pub(super) fn new(backend: &CudaBackend, a: &CudaMatrix<T>) -> Result<Self, DeviceError> {
        Ok(Self(RowFactors::new(backend, &a.pattern())?))
    }

    pub(super) fn dilu(
        &mut self,
        backend: &CudaBackend,
        a: &CudaMatrix<T>,
    ) -> Result<Option<usize>, DeviceError> {
        self.0.factor(backend, a, "factor_dilu")
    }

    pub(super) fn ilu0(
        &mut self,
        backend: &CudaBackend,
        a: &CudaMatrix<T>,
    ) -> Result<Option<usize>, DeviceError> {
        self.0.factor(backend, a, "factor_ilu0")
    }

    pub(super) fn solve(
        &self,
        backend: &CudaBackend,
        r: &CudaVector<T>,
        z: &mut CudaVector<T>,
    ) -> Result<(), DeviceError> {
        self.0.solve(backend, r, z)
    }
}
