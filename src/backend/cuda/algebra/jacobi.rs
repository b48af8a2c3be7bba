//! The inverse of the diagonal as a preconditioner.

use super::vector::CudaVector;
use crate::backend::cuda::backend::CudaBackend;
use crate::backend::cuda::launch::{LaunchShape, Result, launch};
use crate::backend::error::check_lengths;
use crate::backend::{
    Fused, LinearOperator, Preconditioner, PreconditionerFailure, Real, SolverError,
};

/// A matrix whose diagonal can be inverted.
pub(crate) trait InvertibleDiagonal<T: Real>: LinearOperator<CudaBackend, T> {
    /// d ← diag(A)⁻¹, and the first row whose diagonal is absent, zero or not finite, if any.
    fn inverse_diagonal(&self, backend: &CudaBackend, d: &CudaVector<T>) -> Result<Option<usize>>;

    /// z ← d ∘ p and y ← A z, with the work around the product: in few passes where that saves time.
    fn scale_and_multiply(
        &self,
        backend: &CudaBackend,
        d: &CudaVector<T>,
        p: &mut CudaVector<T>,
        [z, y]: [&mut CudaVector<T>; 2],
        fused: Option<Fused<'_, CudaBackend, T>>,
    ) -> Result<()> {
        Fused::in_sequence(fused, backend, p, [z, y], |p, z, y| {
            backend.scale(d, p, z)?;
            self.apply(backend, z, y)
        })
    }

    /// Whether `scale_and_multiply` does nothing where the scalars are halted and something is asked for before
    /// the product.
    fn halts_products(&self) -> bool {
        false
    }
}

/// z ← d ∘ r with d = diag(A)⁻¹.
pub(crate) struct CudaJacobi<T> {
    pub(crate) inverse: CudaVector<T>,
}

/// The error of a preconditioner with a pivot that is zero or not finite, if there is one.
pub(crate) fn checked(preconditioner: &'static str, bad: Option<usize>) -> Result<(), SolverError> {
    bad.map_or(Ok(()), |row| Err(PreconditionerFailure::Pivot { preconditioner, row }.into()))
}

impl<T: Real, A: InvertibleDiagonal<T>> Preconditioner<CudaBackend, T, A> for CudaJacobi<T> {
    fn update(&mut self, backend: &CudaBackend, a: &A) -> Result<(), SolverError> {
        checked("Jacobi", a.inverse_diagonal(backend, &self.inverse)?)
    }

    fn apply(
        &mut self,
        backend: &CudaBackend,
        _: &A,
        r: &CudaVector<T>,
        z: &mut CudaVector<T>,
    ) -> Result<()> {
        backend.scale(&self.inverse, r, z)
    }

    fn apply_and_multiply(
        &mut self,
        backend: &CudaBackend,
        a: &A,
        p: &mut CudaVector<T>,
        z: &mut CudaVector<T>,
        y: &mut CudaVector<T>,
        fused: Option<Fused<'_, CudaBackend, T>>,
    ) -> Result<()> {
        a.scale_and_multiply(backend, &self.inverse, p, [z, y], fused)
    }

    fn is_idle_when_halted(&self, _: &CudaBackend, a: &A) -> bool {
        a.halts_products()
    }
}

impl CudaBackend {
    /// z ← d ∘ r, entry by entry.
    pub(crate) fn scale<T: Real>(
        &self,
        d: &CudaVector<T>,
        r: &CudaVector<T>,
        z: &CudaVector<T>,
    ) -> Result<()> {
        check_lengths(z.len(), [d.len(), r.len()])?;
        launch!(self => scale[T, LaunchShape::elementwise(z.len())](z.len() as u64, d, r, z))
    }
}
