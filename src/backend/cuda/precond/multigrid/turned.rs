//! The turned level by which a level with walls at the ends of its xi-lines is smoothed along them.

use super::level::CudaLevel;
use crate::backend::Real;
use crate::backend::cuda::backend::CudaBackend;
use crate::backend::cuda::launch::shared::Pointer;
use crate::backend::cuda::launch::{Result, launch};

impl<M: Real> CudaLevel<M> {
    /// Makes the operator of the turned level, if there is one. All wall terms of the `finest` level stay.
    pub(super) fn turn_operator(&self, backend: &CudaBackend, finest: bool) -> Result<()> {
        let (Some(turned), Some((_, mirrored))) = (&self.turned, self.kind.turned()) else {
            return Ok(());
        };
        let borders = finest.then_some(&turned.borders);
        launch!(backend => turn_level[M, self.points()](self.layout(), &self.operator,
            turned.layout(), u32::from(mirrored), &turned.operator, borders))
    }

    /// Right side and solution of the turned level ← those of this one.
    pub(super) fn turn_values(&self, backend: &CudaBackend) -> Result<()> {
        self.turn(backend, (false, false), |level| level.f.at(0))?;
        self.turn(backend, (false, false), Self::u)
    }

    /// Values of the turned level ← those of this one, or `back`; `of_walls` those of lines along walls alone.
    pub(super) fn turn(
        &self,
        backend: &CudaBackend,
        (back, of_walls): (bool, bool),
        values: impl Fn(&Self) -> Pointer<M>,
    ) -> Result<()> {
        let (Some(turned), Some((_, mirrored))) = (&self.turned, self.kind.turned()) else {
            return Ok(());
        };
        let how = [mirrored, back, of_walls].map(u32::from);
        launch!(backend => turn_values[M, self.points()](self.layout(), turned.layout(), how,
            values(self), values(turned)))
    }
}
