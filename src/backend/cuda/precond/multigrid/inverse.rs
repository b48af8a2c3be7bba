//! The solution of a coarsest level by its inverse, which takes less time than any number of launches.

use super::level::{CudaLevel, Inverse, LevelContents};
use crate::backend::cuda::backend::CudaBackend;
use crate::backend::cuda::device::Buffer;
use crate::backend::cuda::launch::constants::{BLOCK_VALUES, ROW_BLOCKS, inverse_points};
use crate::backend::cuda::launch::{LaunchShape, Result, WARP, launch};
use crate::backend::multigrid::ColumnBlocks;
use crate::backend::{LevelSize, Real};

impl<M: Real> CudaLevel<M> {
    /// Finds the inverse, if all blocks are stored, and here, and no wall terms reach all columns.
    pub(super) fn invert(&mut self, backend: &CudaBackend) -> Result<()> {
        let columns = ColumnBlocks::of(self.size);
        let (count, points) = (columns.count(), columns.points());
        let other = self.kind.compact || self.kind.walls.has_beside() || self.part.is_some();
        if other || points > inverse_points::<M>() {
            return Ok(());
        }
        let (blocks, unknowns) = (count * points * points, self.size.values());
        let new = || -> Result<_> {
            let rows = Buffer::zeros(&backend.device, ROW_BLOCKS * blocks * BLOCK_VALUES)?;
            Ok(Inverse { rows, values: Buffer::zeros(&backend.device, unknowns * unknowns)? })
        };
        let Inverse { rows, values } = self.inverse.take().map_or_else(new, Ok)?;
        let shape = LaunchShape::threads(3 * blocks);
        launch!(backend => gather_columns[M, shape](self.layout(), &self.operator, &rows))?;
        let threads = (points * points).next_multiple_of(WARP) as u32;
        let size = (count as u32, points as u32);
        let shape = LaunchShape::new(2, threads);
        launch!(backend => eliminate_columns[M, shape](size, &rows, &self.bad))?;
        let mut shape = LaunchShape::new(count, threads);
        shape.grid[1] = 2;
        launch!(backend => invert_columns[M, shape](size, &rows, &values, &self.bad))?;
        self.inverse = Some(Inverse { rows, values });
        Ok(())
    }

    /// u ← A⁻¹ f, if the inverse was found; returns whether it was.
    pub(super) fn solve(&self, backend: &CudaBackend) -> Result<bool> {
        let Some(inverse) = &self.inverse else { return Ok(false) };
        let LevelSize { mi, mj, .. } = self.size;
        launch!(backend => apply_inverse[M, LaunchShape::threads(WARP * mi * mj)](self.layout(),
            &inverse.values, &self.f, self.u()))?;
        self.set_contents(backend, LevelContents::Unknown);
        Ok(true)
    }
}
