//! Incomplete factors on the CUDA backend.

mod level_sets;
mod rows;
mod tiles;

use self::rows::RowFactors;
use self::tiles::TileFactors;
use crate::backend::cuda::algebra::{CudaMatrix, CudaVector};
use crate::backend::cuda::backend::CudaBackend;
use crate::backend::{
    DeviceError, Incomplete, Preconditioner, PreconditionerFailure, Real, SolverError,
};
use crate::sparse::{Schedule, Structure};

/// M = (I + L)(D + U) in a GPU's memory.
///
/// Tiles of the nine-point pattern have kernels of their own for DILU; all else is factored by
/// rows, level after level.
pub(super) struct CudaFactors<T> {
    kind: Incomplete,
    storage: FactorStorage<T>,
}

enum FactorStorage<T> {
    Rows(Box<RowFactors<T>>),
    Tiles(TileFactors<T>),
}

impl<T: Real> CudaFactors<T> {
    pub(super) fn new(
        backend: &CudaBackend,
        a: &CudaMatrix<T>,
        kind: Incomplete,
        schedule: Schedule,
    ) -> Result<Self, DeviceError> {
        let tiles = match schedule {
            Schedule::Auto | Schedule::Tiles => kind.diagonal_only(),
            _ => false,
        };
        let storage = match a.structure {
            Structure::NinePoint { mi, mj, periodic } if tiles => {
                FactorStorage::Tiles(TileFactors::new(backend, (mi, mj), periodic)?)
            }
            _ => FactorStorage::Rows(Box::new(RowFactors::new(backend, &a.pattern(), schedule)?)),
        };
        Ok(Self { kind, storage })
    }
}

impl<T: Real> Preconditioner<CudaBackend, T, CudaMatrix<T>> for CudaFactors<T> {
    fn update(&mut self, backend: &CudaBackend, a: &CudaMatrix<T>) -> Result<(), SolverError> {
        let kernel = if self.kind.diagonal_only() { "factor_dilu" } else { "factor_ilu0" };
        let bad = match &mut self.storage {
            FactorStorage::Rows(rows) => rows.factor(backend, a, kernel)?,
            FactorStorage::Tiles(tiles) => tiles.factor(backend, a)?,
        };
        let preconditioner = self.kind.name();
        bad.map_or(Ok(()), |row| Err(PreconditionerFailure::Pivot { preconditioner, row }.into()))
    }

    fn apply(
        &mut self,
        backend: &CudaBackend,
        _: &CudaMatrix<T>,
        r: &CudaVector<T>,
        z: &mut CudaVector<T>,
    ) -> Result<(), DeviceError> {
        match &self.storage {
            FactorStorage::Rows(rows) => rows.solve(backend, r, z),
            FactorStorage::Tiles(tiles) => tiles.solve(backend, r, z),
        }
    }
}
