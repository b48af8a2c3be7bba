//! Incomplete factors on the CUDA backend.

use super::{CudaBackend, CudaMatrix, CudaVector};
use crate::backend::{DeviceError, Real};
use std::marker::PhantomData;

/// M = (I + L)(D + U) in a GPU's memory.
pub struct CudaFactors<T> {
    values: PhantomData<T>,
}

impl<T: Real> CudaFactors<T> {
    pub(super) fn new(_: &CudaBackend, _: &CudaMatrix<T>) -> Result<Self, DeviceError> {
        Err(DeviceError::NotBuilt { backend: "cuda factors" })
    }
    pub(super) fn dilu(
        &mut self,
        _: &CudaBackend,
        _: &CudaMatrix<T>,
    ) -> Result<Option<usize>, DeviceError> {
        Err(DeviceError::NotBuilt { backend: "cuda factors" })
    }
    pub(super) fn ilu0(
        &mut self,
        _: &CudaBackend,
        _: &CudaMatrix<T>,
    ) -> Result<Option<usize>, DeviceError> {
        Err(DeviceError::NotBuilt { backend: "cuda factors" })
    }
    pub(super) fn solve(
        &self,
        _: &CudaBackend,
        _: &CudaVector<T>,
        _: &mut CudaVector<T>,
    ) -> Result<(), DeviceError> {
        Err(DeviceError::NotBuilt { backend: "cuda factors" })
    }
}
