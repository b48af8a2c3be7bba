//! The solution of a coarsest level by inverses of runs of its columns, which takes less time than sweeps.

use super::level::{CudaLevel, Inverse, LevelContents};
use crate::backend::Real;
use crate::backend::cuda::backend::CudaBackend;
use crate::backend::cuda::device::Buffer;
use crate::backend::cuda::launch::constants::{BLOCK_VALUES, ROW_BLOCKS, inverse_points};
use crate::backend::cuda::launch::shared::{ColumnRuns, Pointer};
use crate::backend::cuda::launch::{LaunchShape, Result, WARP, launch};
use crate::backend::multigrid::ColumnBlocks;

impl ColumnRuns {
    fn of(columns: ColumnBlocks) -> Self {
        let [count, points, length] =
            [columns.count(), columns.points(), columns.run()].map(|number| number as u32);
        Self { count, points, length }
    }

    /// The equations of the separators, as one run.
    fn reduced(self) -> Self {
        let count = self.count / (self.length + 1);
        Self { count, length: count, ..self }
    }

    /// Number of runs.
    fn runs(self) -> usize {
        self.count.div_ceil(self.length + 1) as usize
    }

    /// Values of the blocks of all rows, and of the inverses of all runs.
    fn values(self) -> [usize; 2] {
        let [count, points, length] =
            [self.count, self.points, self.length].map(|number| number as usize);
        let block = points * points * BLOCK_VALUES;
        [ROW_BLOCKS * count * block, self.runs() * length * length * block]
    }

    /// Finds the inverse of each run.
    fn invert<M: Real>(
        self,
        backend: &CudaBackend,
        [rows, inverse]: [Pointer<M>; 2],
        bad: &Buffer<u32>,
    ) -> Result<()> {
        let threads = self.threads();
        let shape =
            LaunchShape { grid: [2, self.runs() as u32, 1], ..LaunchShape::new(1, threads) };
        launch!(backend => eliminate_columns[M, shape](self, rows, bad))?;
        let shape = LaunchShape { grid: [self.count, 2, 1], ..shape };
        launch!(backend => invert_columns[M, shape](self, rows, inverse, bad))
    }

    /// Threads of a block that holds a block of the matrix.
    fn threads(self) -> u32 {
        (self.points * self.points).next_multiple_of(WARP as u32)
    }

    /// A warp for each point.
    fn warps(self) -> LaunchShape {
        LaunchShape::threads(WARP * (self.count * self.points) as usize)
    }
}

impl<M: Real> CudaLevel<M> {
    /// Finds the inverses, if all blocks are stored, and here, and no wall terms reach all columns.
    pub(super) fn invert(&mut self, backend: &CudaBackend) -> Result<()> {
        let columns = ColumnBlocks::of(self.size);
        let other = self.kind.compact || self.kind.walls.has_beside() || self.part.is_some();
        if other || columns.points() > inverse_points::<M>() {
            return Ok(());
        }
        let runs = ColumnRuns::of(columns);
        let reduced = runs.reduced();
        let ([rows, inverses], [more_rows, inverse]) = (runs.values(), reduced.values());
        let new = || -> Result<_> {
            Ok(Inverse {
                runs,
                rows: Buffer::unset(&backend.device, rows + more_rows)?,
                values: Buffer::unset(&backend.device, inverses + inverse)?,
                right: Buffer::unset(&backend.device, self.size.values())?,
            })
        };
        let found = self.inverse.take().map_or_else(new, Ok)?;
        let shape = LaunchShape::threads(3 * rows / (ROW_BLOCKS * BLOCK_VALUES));
        launch!(backend => gather_columns[M, shape](self.layout(), &self.operator, &found.rows))?;
        runs.invert(backend, [found.rows.at(0), found.values.at(0)], &self.bad)?;
        if reduced.count > 0 {
            let to = found.rows.at(rows);
            let shape =
                LaunchShape { grid: [reduced.count, 3, 1], ..LaunchShape::new(1, runs.threads()) };
            launch!(backend => reduce_columns[M, shape](runs, &found.rows, to))?;
            reduced.invert(backend, [to, found.values.at(inverses)], &self.bad)?;
        }
        self.inverse = Some(found);
        Ok(())
    }

    /// u ← A⁻¹ f, if the inverses were found; returns whether they were.
    pub(super) fn solve(&self, backend: &CudaBackend) -> Result<bool> {
        let Some(Inverse { runs, rows, values, right }) = &self.inverse else { return Ok(false) };
        let (layout, shape, reduced) = (self.layout(), runs.warps(), runs.reduced());
        launch!(backend => apply_inverse[M, shape](layout, *runs, values, &self.f, self.u()))?;
        if reduced.count > 0 {
            let few = reduced.warps();
            launch!(backend => reduce_right[M, few](layout, *runs, rows, &self.f, self.u(), right))?;
            launch!(backend => apply_reduced[M, few](layout, *runs, values, right, self.u()))?;
            launch!(backend => correct_runs[M, shape](layout, *runs, rows, self.u()))?;
        }
        self.set_contents(backend, LevelContents::Unknown);
        Ok(true)
    }
}
