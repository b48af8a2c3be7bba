//! Incomplete factors on the CUDA backend.

mod levels;
mod rows;
mod tiles;

use self::rows::RowFactors;
use self::tiles::TileFactors;
use super::{CudaBackend, CudaMatrix, CudaVector};
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
    layout: Layout<T>,
}

enum Layout<T> {
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
        let layout = match a.structure {
            Structure::NinePoint { mi, mj, periodic } if tiles => {
                Layout::Tiles(TileFactors::new(backend, (mi, mj), periodic)?)
            }
            _ => Layout::Rows(Box::new(RowFactors::new(backend, &a.pattern(), schedule)?)),
        };
        Ok(Self { kind, layout })
    }
}

impl<T: Real> Preconditioner<CudaBackend, T, CudaMatrix<T>> for CudaFactors<T> {
    fn update(&mut self, backend: &CudaBackend, a: &CudaMatrix<T>) -> Result<(), SolverError> {
        let kernel = if self.kind.diagonal_only() { "factor_dilu" } else { "factor_ilu0" };
        let bad = match &mut self.layout {
            Layout::Rows(rows) => rows.factor(backend, a, kernel)?,
            Layout::Tiles(tiles) => tiles.factor(backend, a)?,
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
        match &self.layout {
            Layout::Rows(rows) => rows.solve(backend, r, z),
            Layout::Tiles(tiles) => tiles.solve(backend, r, z),
        }
    }
}
