//! Products of a matrix of the grid equations with a scaled vector d ∘ r, and what a Krylov method does before
//! and after them.

use super::vector::{CudaVector, lincomb_arguments};
use crate::backend::cuda::backend::CudaBackend;
use crate::backend::cuda::device::Buffer;
use crate::backend::cuda::launch::shared::{HaloColumns, ScalarReduction, ScaledMatrix};
use crate::backend::cuda::launch::{Argument, LaunchShape, Result, Source, arguments};
use crate::backend::{Around, Real};
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
    /// The sum before the product, which sends the columns; then the product.
    pub(super) fn in_two_passes(
        &self,
        columns: HaloColumns,
        r: &mut CudaVector<T>,
        [z, y]: [&mut CudaVector<T>; 2],
        around: Option<Around<'_, CudaBackend, T>>,
    ) -> Result<()> {
        match &around {
            Some(Around { scalars, update: Some(update), .. }) if columns != HaloColumns::NONE => {
                let (terms, count) = update.terms(y);
                let sum = lincomb_arguments(scalars, r, update.beta, &terms[..count]);
                let arguments = arguments![self.matrix(0, columns), sum];
                let shape = LaunchShape::elementwise(self.points());
                self.backend.launch::<T>(Source::Scalars, "lincomb_and_send", shape, &arguments)?;
            }
            _ => around.iter().try_for_each(|around| around.update(self.backend, r, y))?,
        }
        self.multiply(columns, r, [z, y], around)
    }

    /// z ← d ∘ r, y ← A z with the columns that arrive, and the inner products after it.
    pub(super) fn multiply(
        &self,
        columns: HaloColumns,
        r: &CudaVector<T>,
        [z, y]: [&mut CudaVector<T>; 2],
        around: Option<Around<'_, CudaBackend, T>>,
    ) -> Result<()> {
        let (name, points) = ("scale_multiply_and_sum", self.points());
        let product =
            |sums, with: Argument| arguments![self.matrix(sums, columns), r, &*z, &*y, with];
        let Some(Around { scalars, first, with, square, ending, .. }) = around else {
            let mut arguments = product(0, Argument::from(0_u64));
            arguments.push(ScalarReduction::zeroed().into());
            let shape = LaunchShape::threads(points);
            return self.backend.launch::<T>(Source::Scalars, name, shape, &arguments);
        };
        let sums = if square { 3 } else { 2 };
        let arguments = product(sums, with.unwrap_or(r).into());
        let kernel = (name, LaunchShape::product(points));
        self.backend.reduce_into::<T>(kernel, arguments, scalars, (first, sums as usize), ending)
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
