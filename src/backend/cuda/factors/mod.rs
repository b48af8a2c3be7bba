//! Incomplete factors on the CUDA backend.

mod levels;
mod rows;
mod tiles;

use self::rows::RowFactors;
use self::tiles::TileFactors;
use super::{CudaBackend, CudaMatrix, CudaVector};
use crate::backend::{DeviceError, Real};
use crate::sparse::{Schedule, Structure};

/// M = (I + L)(D + U) in a GPU's memory, eliminated by the backend's [`Schedule`].
///
/// Tiles of the nine-point pattern have kernels of their own for DILU; all else is factored by
/// rows, level after level.
pub struct CudaFactors<T>(Layout<T>);

enum Layout<T> {
    Rows(Box<RowFactors<T>>),
    Tiles(TileFactors<T>),
}

impl<T: Real> CudaFactors<T> {
    pub(super) fn new(backend: &CudaBackend, a: &CudaMatrix<T>) -> Result<Self, DeviceError> {
        Ok(Self(match (backend.schedule, a.structure) {
            (Schedule::Tiles, Structure::NinePoint { mi, mj, periodic }) => {
                Layout::Tiles(TileFactors::new(backend, (mi, mj), periodic)?)
            }
            _ => Layout::Rows(Box::new(RowFactors::new(backend, &a.pattern())?)),
        }))
    }

    pub(super) fn dilu(
        &mut self,
        backend: &CudaBackend,
        a: &CudaMatrix<T>,
    ) -> Result<Option<usize>, DeviceError> {
        match &mut self.0 {
            Layout::Rows(rows) => rows.factor(backend, a, "factor_dilu"),
            Layout::Tiles(tiles) => tiles.factor(backend, a),
        }
    }

    pub(super) fn ilu0(
        &mut self,
        backend: &CudaBackend,
        a: &CudaMatrix<T>,
    ) -> Result<Option<usize>, DeviceError> {
        // The tiles' kernels are DILU's alone.
        let rows = match &mut self.0 {
            Layout::Rows(rows) => rows,
            tiles @ Layout::Tiles(_) => {
                *tiles = Layout::Rows(Box::new(RowFactors::new(backend, &a.pattern())?));
                return self.ilu0(backend, a);
            }
        };
        rows.factor(backend, a, "factor_ilu0")
    }

    pub(super) fn solve(
        &self,
        backend: &CudaBackend,
        r: &CudaVector<T>,
        z: &mut CudaVector<T>,
    ) -> Result<(), DeviceError> {
        match &self.0 {
            Layout::Rows(rows) => rows.solve(backend, r, z),
            Layout::Tiles(tiles) => tiles.solve(backend, r, z),
        }
    }
}
