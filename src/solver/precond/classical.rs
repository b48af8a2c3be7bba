//! Preconditioners from the entries of a matrix alone: none, Jacobi, DILU, ILU(0).

use super::Kind;
use crate::backend::{DeviceError, Real, SparseBackend};
use crate::solver::{Preconditioner, PreconditionerFailure, SolverError};

/// A preconditioner made from the entries of a matrix. Its storage is made at the first update
/// and kept.
pub struct Classical<B: SparseBackend, T: Real> {
    kind: Kind,
    diagonal: Option<B::Vector<T>>,
    factors: Option<B::Factors<T>>,
}

impl<B: SparseBackend, T: Real> Classical<B, T> {
    /// A preconditioner of this kind, not prepared for a matrix yet.
    #[must_use]
    pub fn new(kind: Kind) -> Self {
        Self { kind, diagonal: None, factors: None }
    }

    pub(super) fn kind(&self) -> Kind {
        self.kind
    }

    /// D⁻¹, if that is all there is to this preconditioner.
    pub(super) fn diagonal(&self) -> Option<&B::Vector<T>> {
        self.diagonal.as_ref()
    }

    fn update_diagonal(
        &mut self,
        backend: &B,
        a: &B::Matrix<T>,
        n: usize,
    ) -> Result<Option<usize>, DeviceError> {
        let mut diagonal = match self.diagonal.take() {
            Some(diagonal) => diagonal,
            None => backend.zeros(n)?,
        };
        let pivot = backend.inverse_diagonal(a, &mut diagonal)?;
        self.diagonal = Some(diagonal);
        Ok(pivot)
    }

    fn update_factors(
        &mut self,
        backend: &B,
        a: &B::Matrix<T>,
    ) -> Result<Option<usize>, DeviceError> {
        let mut factors = match self.factors.take() {
            Some(factors) => factors,
            None => backend.factors(a)?,
        };
        let pivot = match self.kind {
            Kind::Dilu => backend.factor_dilu(a, &mut factors)?,
            _ => backend.factor_ilu0(a, &mut factors)?,
        };
        self.factors = Some(factors);
        Ok(pivot)
    }
}

impl<B: SparseBackend, T: Real> Preconditioner<B, T, B::Matrix<T>> for Classical<B, T> {
    fn update(&mut self, backend: &B, a: &B::Matrix<T>) -> Result<(), SolverError> {
        let (preconditioner, pivot) = match self.kind {
            Kind::None | Kind::Multigrid => return Ok(()),
            Kind::Jacobi => {
                let n = backend.rows(a);
                ("Jacobi", self.update_diagonal(backend, a, n)?)
            }
            Kind::Dilu => ("DILU", self.update_factors(backend, a)?),
            Kind::Ilu0 => ("ILU(0)", self.update_factors(backend, a)?),
        };
        match pivot {
            Some(row) => Err(PreconditionerFailure::Pivot { preconditioner, row }.into()),
            None => Ok(()),
        }
    }

    fn apply(
        &mut self,
        backend: &B,
        _a: &B::Matrix<T>,
        r: &B::Vector<T>,
        z: &mut B::Vector<T>,
    ) -> Result<(), DeviceError> {
        match (&self.diagonal, &self.factors) {
            (Some(diagonal), _) => backend.scale(diagonal, r, z),
            (_, Some(factors)) => backend.solve_factors(factors, r, z),
            (None, None) => backend.lincomb(z, 0.0, [(1.0, r)]),
        }
    }
}
