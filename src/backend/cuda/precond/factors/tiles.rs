//! DILU of the nine-point pattern within tiles: one launch, one warp a tile.

use crate::backend::cuda::algebra::{CudaMatrix, CudaVector};
use crate::backend::cuda::backend::CudaBackend;
use crate::backend::cuda::device::Buffer;
use crate::backend::cuda::launch::shared::TILE_ENTRIES;
use crate::backend::cuda::launch::{LaunchShape, Source, arguments};
use crate::backend::{DeviceError, Real};
use crate::sparse::TILE;

/// Values of a tile with a frame of one point, two a point.
const FRAME_VALUES: usize = 2 * (TILE + 2) * (TILE + 2);

/// Factors of all tiles of `mi` × `mj` points.
pub(super) struct TileFactors<T> {
    mi: usize,
    mj: usize,
    periodic: bool,
    tiles: usize,
    values: Buffer<T>,
}

impl<T: Real> TileFactors<T> {
    /// Room for the factors of matrices on `mi` × `mj` points.
    pub(super) fn new(
        backend: &CudaBackend,
        (mi, mj): (usize, usize),
        periodic: bool,
    ) -> Result<Self, DeviceError> {
        let tiles = mi.div_ceil(TILE) * mj.div_ceil(TILE);
        let values = Buffer::zeros(&backend.device, tiles * 2 * TILE * TILE * TILE_ENTRIES)?;
        Ok(Self { mi, mj, periodic, tiles, values })
    }

    /// One warp a tile.
    fn shape(&self) -> LaunchShape {
        let shared = (FRAME_VALUES * size_of::<T>()) as u32;
        LaunchShape { grid: [self.tiles as u32, 1, 1], block: [32, 1, 1], shared }
    }

    /// DILU; the first row with a pivot that is zero or not finite.
    pub(super) fn factor(
        &mut self,
        backend: &CudaBackend,
        a: &CudaMatrix<T>,
    ) -> Result<Option<usize>, DeviceError> {
        let mut arguments = backend.grid_arguments(self.mi, self.mj, self.periodic);
        arguments.extend(arguments![self.tiles as u64, a.values(), &self.values]);
        backend.find_first::<T>(Source::Tiles, "factor_tiles", self.shape(), &arguments, 2)
    }

    /// z ← M⁻¹ r.
    pub(super) fn solve(
        &self,
        backend: &CudaBackend,
        r: &CudaVector<T>,
        z: &mut CudaVector<T>,
    ) -> Result<(), DeviceError> {
        let arguments =
            arguments![self.mi as u32, self.mj as u32, self.tiles as u64, &self.values, r, &*z,];
        backend.launch::<T>(Source::Tiles, "solve_tiles", self.shape(), &arguments)
    }
}
