//! Preconditioners of one sparse matrix.

mod classical;
mod multigrid;

pub use crate::backend::Coarsening;
pub use classical::Classical;
pub use multigrid::{Cycle, Multigrid, MultigridSettings};

use super::{Preconditioner, SolverError};
use crate::backend::{DeviceError, LevelSize, MultigridBackend, Real};

/// Choice of preconditioner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// The identity.
    None,
    /// The inverse of the diagonal.
    Jacobi,
    /// Diagonal incomplete LU in natural order (Pommerell 1992; Wang and Liu 2022).
    Dilu,
    /// Incomplete LU without fill in natural order (Meijerink and van der Vorst 1977).
    Ilu0,
    /// Geometric multigrid with zebra line smoothing.
    Multigrid,
}

/// A preconditioner of a matrix with the nine-point pattern.
pub enum MatrixPreconditioner<B: MultigridBackend, T: Real> {
    /// Made from the entries alone.
    Classical(Classical<B, T>),
    /// Made from the entries and their place on the grid.
    Multigrid(Multigrid<B, T>),
}

impl<B: MultigridBackend, T: Real> MatrixPreconditioner<B, T> {
    /// A preconditioner of this kind for matrices of the grid equations on `size` unknown points,
    /// not prepared for a matrix yet.
    #[must_use]
    pub fn new(kind: Kind, multigrid: MultigridSettings, size: LevelSize) -> Self {
        match kind {
            Kind::Multigrid => Self::Multigrid(Multigrid::new(multigrid, size)),
            _ => Self::Classical(Classical::new(kind)),
        }
    }
}

impl<B: MultigridBackend, T: Real> Preconditioner<B, T, B::Matrix<T>>
    for MatrixPreconditioner<B, T>
{
    fn update(&mut self, backend: &B, a: &B::Matrix<T>) -> Result<(), SolverError> {
        match self {
            Self::Classical(classical) => classical.update(backend, a),
            Self::Multigrid(multigrid) => multigrid.update(backend, a),
        }
    }

    fn apply(
        &mut self,
        backend: &B,
        a: &B::Matrix<T>,
        r: &B::Vector<T>,
        z: &mut B::Vector<T>,
    ) -> Result<(), DeviceError> {
        match self {
            Self::Classical(classical) => classical.apply(backend, a, r, z),
            Self::Multigrid(multigrid) => multigrid.apply(backend, r, z),
        }
    }
}
