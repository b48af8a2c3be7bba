//! Products of a matrix of the grid equations with a scaled vector d ∘ r, and what a Krylov method does before
//! and after them.

use super::vector::{CudaVector, lincomb_arguments};
use crate::backend::cuda::backend::CudaBackend;
use crate::backend::cuda::comm::Halo;
use crate::backend::cuda::device::Buffer;
use crate::backend::cuda::launch::shared::{HaloColumns, ScalarReduction, ScaledMatrix};
use crate::backend::cuda::launch::{Argument, LaunchShape, Result, Source, arguments};
use crate::backend::{Around, Real, Update};
use bytemuck::Zeroable;

/// A matrix of `size` points along xi and eta, and d.
pub(super) struct Scaled<'a, T: Real> {
    pub(super) backend: &'a CudaBackend,
    pub(super) size: [usize; 2],
    pub(super) periodic: bool,
    pub(super) values: &'a Buffer<T>,
    pub(super) d: &'a CudaVector<T>,
    pub(super) halo: Option<&'a Halo<T>>,
}

impl<T: Real> Scaled<'_, T> {
    /// The halo exchange of a product that needs no launch of its own: none on one rank; on several the sum
    /// before the product sends, and the product receives. Nothing where there is no such sum, or a rank
    /// does not access its neighbours' memory.
    pub(super) fn columns(
        &self,
        around: Option<&Around<'_, CudaBackend, T>>,
    ) -> Option<HaloColumns> {
        let Some(ranks) = &self.backend.ranks else { return Some(HaloColumns::NONE) };
        around?.update.as_ref()?;
        self.halo?.peer_columns(ranks)
    }

    /// The sum before the product; z ← d ∘ r, y ← A z and the inner products after it.
    pub(super) fn in_two_passes(
        &self,
        columns: HaloColumns,
        r: &mut CudaVector<T>,
        [z, y]: [&mut CudaVector<T>; 2],
        around: Option<Around<'_, CudaBackend, T>>,
    ) -> Result<()> {
        let (backend, points) = (self.backend, self.size[0] * self.size[1]);
        let sends = columns != HaloColumns::NONE;
        match &around {
            Some(Around { scalars, update: Some(update), .. }) if sends => {
                let Update { beta, term, former } = update;
                let second = former.map(|gamma| (gamma, &*y));
                let terms: Vec<_> = [*term].into_iter().chain(second).collect();
                let sum = lincomb_arguments(scalars, r, *beta, &terms);
                let arguments = arguments![self.matrix(0, columns), sum];
                let shape = LaunchShape::elementwise(points);
                backend.launch::<T>(Source::Scalars, "lincomb_and_send", shape, &arguments)?;
            }
            _ => around.iter().try_for_each(|around| around.update(backend, r, y))?,
        }
        let (r, name) = (&*r, "scale_multiply_and_sum");
        let product =
            |sums, with: Argument| arguments![self.matrix(sums, columns), r, &*z, &*y, with];
        let Some(Around { scalars, first, with, square, ending, .. }) = around else {
            let mut arguments = product(0, Argument::from(0_u64));
            arguments.push(ScalarReduction::zeroed().into());
            let shape = LaunchShape::threads(points);
            return backend.launch::<T>(Source::Scalars, name, shape, &arguments);
        };
        let sums = if square { 3 } else { 2 };
        let arguments = product(sums, with.unwrap_or(r).into());
        let kernel = (name, LaunchShape::product(points));
        backend.reduce_into::<T>(kernel, arguments, scalars, (first, sums as usize), ending)
    }

    fn matrix(&self, sums: u32, columns: HaloColumns) -> ScaledMatrix {
        let [mi, mj] = self.size.map(|points| points as u32);
        let (values, d) = (self.values.into(), self.d.into());
        ScaledMatrix { mi, mj, edges: self.backend.edges(self.periodic), sums, values, d, columns }
    }
}
