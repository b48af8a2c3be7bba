//! The entries that preconditioners read, and the inverse of the diagonal as one of them.

use super::{CpuBackend, PIECE};
use crate::backend::error::check_lengths;
use crate::backend::{
    BadPivot, Incomplete, Preconditioner, PreconditionerFailure, Real, Result, SolverError,
};
use rayon::prelude::*;

/// A matrix of whose entries preconditioners are made.
pub(super) trait Entries<T>: Sync {
    /// Its values, in the order by which its pattern knows the entries.
    fn values(&self) -> &[T];

    /// The entry of a row on the diagonal, if there is one.
    fn diagonal(&self, row: usize) -> Option<T>;

    /// The failure to be reported for a pivot.
    fn failure(kind: Incomplete, bad: BadPivot) -> PreconditionerFailure;
}

/// z ← d ∘ r with d = diag(A)⁻¹.
pub(super) struct Jacobi<T> {
    pub(super) inverse: Vec<T>,
}

impl<T: Real, A: Entries<T>> Preconditioner<CpuBackend, T, A> for Jacobi<T> {
    fn update(&mut self, _: &CpuBackend, a: &A) -> Result<(), SolverError> {
        let rows = self.inverse.par_iter_mut().with_min_len(PIECE).enumerate();
        rows.for_each(|(row, d)| *d = a.diagonal(row).unwrap_or(T::zero()).recip());
        match self.inverse.iter().position(|d| !d.is_finite() || *d == T::zero()) {
            Some(row) => Err(PreconditionerFailure::Pivot { preconditioner: "Jacobi", row }.into()),
            None => Ok(()),
        }
    }

    fn apply(&mut self, _: &CpuBackend, _: &A, r: &Vec<T>, z: &mut Vec<T>) -> Result<()> {
        check_lengths(self.inverse.len(), [r.len(), z.len()])?;
        let operands = self.inverse.par_chunks(PIECE).zip(r.par_chunks(PIECE));
        z.par_chunks_mut(PIECE).zip(operands).for_each(|(z, (d, r))| {
            for (z, (d, r)) in z.iter_mut().zip(d.iter().zip(r)) {
                *z = *d * *r;
            }
        });
        Ok(())
    }
}
