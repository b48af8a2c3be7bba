//! Matrices of any pattern as operators, and their preconditioners.

use super::{LinearOperator, Preconditioner, PreconditionerFailure, SolverError};
use crate::backend::{BadPivot, CsrBackend, DeviceError, Incomplete, Real, RowSchedule};

/// A matrix by rows as a linear map.
pub struct GeneralOperator<B: CsrBackend, T: Real> {
    /// The matrix.
    pub matrix: B::CsrMatrix<T>,
    /// Number of its rows.
    pub rows: usize,
}

impl<B: CsrBackend, T: Real> LinearOperator<B, T> for GeneralOperator<B, T> {
    fn apply(
        &self,
        backend: &B,
        x: &B::Vector<T>,
        y: &mut B::Vector<T>,
    ) -> Result<(), DeviceError> {
        backend.csr_multiply(&self.matrix, x, y)
    }
}

/// Choice of preconditioner for a matrix of any pattern.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum GeneralKind {
    /// The identity.
    None,
    /// The inverse of the diagonal.
    Jacobi,
    /// Incomplete factors.
    Factors {
        /// Which ones.
        kind: Incomplete,
        /// In which order their rows are worked on.
        schedule: RowSchedule,
        /// They are those of A + `shift` diag(A).
        shift: f64,
    },
}

/// A preconditioner of a matrix of any pattern. Its storage is made at the first update and kept.
pub struct GeneralPreconditioner<B: CsrBackend, T: Real> {
    kind: GeneralKind,
    diagonal: Option<B::Vector<T>>,
    factors: Option<B::CsrFactors<T>>,
}

impl<B: CsrBackend, T: Real> GeneralPreconditioner<B, T> {
    /// A preconditioner of this kind, not prepared for a matrix yet.
    #[must_use]
    pub fn new(kind: GeneralKind) -> Self {
        Self { kind, diagonal: None, factors: None }
    }

    /// Analysis alone: what depends on the pattern of the matrix and not on its values.
    ///
    /// # Errors
    /// If the device fails.
    pub fn analyse(&mut self, backend: &B, a: &GeneralOperator<B, T>) -> Result<(), DeviceError> {
        match self.kind {
            GeneralKind::None => {}
            GeneralKind::Jacobi => self.diagonal = Some(backend.zeros(a.rows)?),
            GeneralKind::Factors { kind, schedule, .. } => {
                self.factors = Some(backend.csr_factors(&a.matrix, kind, schedule)?);
            }
        }
        Ok(())
    }
}

impl<B: CsrBackend, T: Real> Preconditioner<B, T, GeneralOperator<B, T>>
    for GeneralPreconditioner<B, T>
{
    fn update(&mut self, backend: &B, a: &GeneralOperator<B, T>) -> Result<(), SolverError> {
        if self.diagonal.is_none() && self.factors.is_none() {
            self.analyse(backend, a)?;
        }
        let failure = match (self.kind, &mut self.diagonal, &mut self.factors) {
            (GeneralKind::Jacobi, Some(diagonal), _) => {
                let bad = backend.csr_inverse_diagonal(&a.matrix, diagonal)?;
                bad.map(|row| PreconditionerFailure::Pivot { preconditioner: "Jacobi", row })
            }
            (GeneralKind::Factors { kind, shift, .. }, _, Some(factors)) => {
                let bad = backend.csr_factor(&a.matrix, shift, factors)?;
                bad.map(|BadPivot { row, value }| PreconditionerFailure::Factor {
                    preconditioner: name(kind),
                    row,
                    value,
                })
            }
            _ => None,
        };
        failure.map_or(Ok(()), |failure| Err(failure.into()))
    }

    fn apply(
        &mut self,
        backend: &B,
        _: &GeneralOperator<B, T>,
        r: &B::Vector<T>,
        z: &mut B::Vector<T>,
    ) -> Result<(), DeviceError> {
        match (&self.diagonal, &mut self.factors) {
            (Some(diagonal), _) => backend.scale(diagonal, r, z),
            (_, Some(factors)) => backend.csr_solve(factors, r, z),
            (None, None) => backend.lincomb(z, 0.0, [(1.0, r)]),
        }
    }
}

fn name(kind: Incomplete) -> &'static str {
    match kind {
        Incomplete::Dilu => "DILU",
        Incomplete::Dic => "DIC",
        Incomplete::Ilu0 => "ILU(0)",
        Incomplete::Ic0 => "IC(0)",
    }
}
