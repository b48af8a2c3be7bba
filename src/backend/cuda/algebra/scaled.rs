//! Products of a matrix of the grid equations with a scaled vector d ∘ p, and operations of a Krylov method
//! before and after them.

use super::vector::{CudaVector, factor, step_vectors};
use crate::backend::cuda::backend::CudaBackend;
use crate::backend::cuda::device::Buffer;
use crate::backend::cuda::launch::constants::SLOT_SUMS;
use crate::backend::cuda::launch::shared::{ScalarReduction, ScaledMatrix};
use crate::backend::cuda::launch::{LaunchShape, Result, kernels, launch};
use crate::backend::error::check_length;
use crate::backend::scalars::{LOG, SLOTS};
use crate::backend::{Fused, Real, Update};
use bytemuck::Zeroable;

impl CudaBackend {
    /// Does the update before a product by points of the grid, and sends the outer columns if there are neighbours.
    pub(super) fn update_and_send<T: Real>(
        &self,
        of: ScaledMatrix,
        scalars: &Buffer<f64>,
        update: Update<'_, CudaVector<T>>,
        p: &CudaVector<T>,
        former: [&CudaVector<T>; 2],
    ) -> Result<()> {
        check_length(scalars.len(), SLOTS + LOG)?;
        let shape = LaunchShape::elementwise(p.len() / 2);
        match update {
            Update::Add(alpha, x) => {
                check_length(x.len(), p.len())?;
                launch!(self => add_and_send[T, shape](of, scalars, p, factor(alpha), x))
            }
            Update::Step(step) => {
                launch!(self => step_and_send[T, shape](of, scalars, step_vectors(&step, p, former)?))
            }
        }
    }

    /// z ← d ∘ p, y ← A z with the columns that arrive, and the inner products after it.
    pub(super) fn multiply_scaled<T: Real>(
        &self,
        of: ScaledMatrix,
        p: &CudaVector<T>,
        [z, y]: [&CudaVector<T>; 2],
        fused: Option<Fused<'_, CudaBackend, T>>,
    ) -> Result<()> {
        let (name, points) = (kernels::scale_multiply_and_sum, p.len() / 2);
        let product = |sums, with| (ScaledMatrix { sums, ..of }, p, z, y, with);
        let Some(Fused { scalars, first, with, all, epilogue, .. }) = fused else {
            let (none, shape) = (ScalarReduction::zeroed(), LaunchShape::threads(points));
            return launch!(self => (name)[T, shape](product(0, None), none));
        };
        check_length(with.len(), p.len())?;
        let sums = if all { SLOT_SUMS } else { 2 };
        let arguments = product(sums as u32, Some(with));
        let kernel = (name, LaunchShape::product(points));
        self.reduce_into::<T>(kernel, arguments, scalars, (first, sums), epilogue)
    }
}
