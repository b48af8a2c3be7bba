//! Products of a matrix of the grid equations with a scaled vector d ∘ p, and operations of a Krylov method
//! before and after them.

use super::vector::{CudaVector, factor, step_vectors};
use crate::backend::cuda::backend::CudaBackend;
use crate::backend::cuda::device::Buffer;
use crate::backend::cuda::launch::constants::SLOT_SUMS;
use crate::backend::cuda::launch::shared::{HaloColumns, ScalarReduction, ScaledMatrix};
use crate::backend::cuda::launch::{LaunchShape, Result, kernels, launch};
use crate::backend::error::{check_length, check_lengths};
use crate::backend::scalars::{LOG, SLOTS};
use crate::backend::{Around, Real, Update};
use bytemuck::Zeroable;

/// A matrix of `size` points along xi and eta, and d.
pub(super) struct Scaled<'a, T: Real> {
    pub(super) backend: &'a CudaBackend,
    pub(super) size: [usize; 2],
    pub(super) periodic: bool,
    pub(super) values: &'a Buffer<T>,
    pub(super) d: &'a CudaVector<T>,
}

impl<T: Real> Scaled<'_, T> {
    /// Does the update before a product by points of the grid, and sends the outer columns if there are neighbours.
    pub(super) fn update_and_send(
        &self,
        columns: HaloColumns,
        scalars: &Buffer<f64>,
        update: Update<'_, CudaVector<T>>,
        p: &CudaVector<T>,
        former: [&CudaVector<T>; 2],
    ) -> Result<()> {
        check_length(scalars.len(), SLOTS + LOG)?;
        let (backend, shape) = (self.backend, LaunchShape::elementwise(self.points()));
        let of = (self.matrix(0, columns), scalars);
        match update {
            Update::Add(alpha, x) => {
                self.check([x])?;
                let arguments = (of, p, factor(alpha), x);
                launch!(backend => add_and_send[T, shape](arguments))
            }
            Update::Step(step) => {
                let arguments = (of, step_vectors(&step, p, former)?);
                launch!(backend => step_and_send[T, shape](arguments))
            }
        }
    }

    /// z ← d ∘ p, y ← A z with the columns that arrive, and the inner products after it.
    pub(super) fn multiply(
        &self,
        columns: HaloColumns,
        p: &CudaVector<T>,
        [z, y]: [&mut CudaVector<T>; 2],
        around: Option<Around<'_, CudaBackend, T>>,
    ) -> Result<()> {
        self.check([p, &*z, &*y])?;
        let (name, points) = (kernels::scale_multiply_and_sum, self.points());
        let product = |sums, with| (self.matrix(sums, columns), p, &*z, &*y, with);
        let Some(Around { scalars, first, with, all, ending, .. }) = around else {
            let (none, shape) = (ScalarReduction::zeroed(), LaunchShape::threads(points));
            return launch!(self.backend => (name)[T, shape](product(0, None), none));
        };
        self.check([with])?;
        let sums = if all { SLOT_SUMS } else { 2 };
        let arguments = product(sums as u32, Some(with));
        let kernel = (name, LaunchShape::product(points));
        self.backend.reduce_into::<T>(kernel, arguments, scalars, (first, sums), ending)
    }

    /// Refuses vectors of another length than the matrix.
    pub(super) fn check<const N: usize>(&self, vectors: [&CudaVector<T>; N]) -> Result<()> {
        check_lengths(2 * self.points(), vectors.map(Buffer::len))?;
        check_length(self.d.len(), 2 * self.points())
    }

    fn points(&self) -> usize {
        self.size[0] * self.size[1]
    }

    fn matrix(&self, sums: u32, columns: HaloColumns) -> ScaledMatrix {
        let [mi, mj] = self.size.map(|points| points as u32);
        let (values, d) = (self.values.into(), self.d.into());
        ScaledMatrix { mi, mj, edges: self.backend.edges(self.periodic), sums, values, d, columns }
    }
}
