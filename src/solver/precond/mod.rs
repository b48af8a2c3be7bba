//! Preconditioners of one sparse matrix.

mod classical;
mod multigrid;

pub use crate::backend::Coarsening;
pub use classical::Classical;
pub use multigrid::{Cycle, Multigrid, MultigridSettings};

use super::linear::Precision;
use super::{Preconditioner, SolverError};
use crate::backend::{DeviceError, LevelSize, MultigridBackend, Real};
use crate::sparse::Schedule;

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

/// Choice of the order in which incomplete factors are eliminated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ordering {
    /// Tiles for DILU, levels for ILU(0).
    Auto,
    /// [`Schedule::Levels`].
    Levels,
    /// [`Schedule::Colours`].
    Colours,
    /// [`Schedule::Tiles`].
    Tiles,
}

impl Ordering {
    /// The schedule for factors of this kind.
    #[must_use]
    pub fn schedule(self, kind: Kind) -> Schedule {
        match (self, kind) {
            (Self::Tiles, _) | (Self::Auto, Kind::Dilu) => Schedule::Tiles,
            (Self::Colours, _) => Schedule::Colours,
            (Self::Levels | Self::Auto, _) => Schedule::Levels,
        }
    }
}

/// Residual factor an iteration of BiCGStab beyond which multigrid does not contract. Where it
/// does, measured factors are below 0.15.
const CONTRACTION: f64 = 0.5;

/// A preconditioner of a matrix with the nine-point pattern.
///
/// Multigrid has forms to fall back on where a line has no finite pivot or the residual falls by
/// less than the bound: W cycles of two sweeps or more in double precision, then ILU(0). The
/// others have none.
pub enum MatrixPreconditioner<B: MultigridBackend, T: Real> {
    /// Made from the entries alone.
    Classical(Classical<B, T>),
    /// Made from the entries and their place on the grid, in single precision.
    Single(Multigrid<B, f32>),
    /// The same in double precision.
    Double(Multigrid<B, f64>),
}

impl<B: MultigridBackend, T: Real> MatrixPreconditioner<B, T> {
    /// A preconditioner of this kind for matrices of the grid equations on `size` unknown points,
    /// not prepared for a matrix yet.
    #[must_use]
    pub fn new(kind: Kind, multigrid: MultigridSettings, size: LevelSize) -> Self {
        match (kind, multigrid.precision) {
            (Kind::Multigrid, Precision::Single) => Self::Single(Multigrid::new(multigrid, size)),
            (Kind::Multigrid, Precision::Double) => Self::Double(Multigrid::new(multigrid, size)),
            _ => Self::Classical(Classical::new(kind)),
        }
    }

    /// Prepares for K = A (I − E Eᵀ) + B Eᵀ, where wall terms with the columns B take the places of
    /// the first row of points, if this form can: multigrid can, the others prepare for A alone.
    ///
    /// # Errors
    /// If the device fails or a pivot vanishes.
    pub fn update_with_walls(
        &mut self,
        backend: &B,
        a: &B::Matrix<T>,
        columns: &B::Matrix<T>,
    ) -> Result<(), SolverError> {
        match self {
            Self::Classical(classical) => classical.update(backend, a),
            Self::Single(multigrid) => multigrid.update(backend, a, Some(columns)),
            Self::Double(multigrid) => multigrid.update(backend, a, Some(columns)),
        }
    }

    /// A preconditioner of the same form, not prepared for a matrix yet.
    #[must_use]
    pub fn renewed(&self) -> Self {
        match self {
            Self::Classical(classical) => Self::Classical(Classical::new(classical.kind())),
            Self::Single(multigrid) => {
                Self::Single(Multigrid::new(multigrid.settings, multigrid.size))
            }
            Self::Double(multigrid) => {
                Self::Double(Multigrid::new(multigrid.settings, multigrid.size))
            }
        }
    }

    /// d, where an application is no more than z ← d ∘ r.
    pub fn diagonal(&self) -> Option<&B::Vector<T>> {
        match self {
            Self::Classical(classical) => classical.diagonal(),
            Self::Single(_) | Self::Double(_) => None,
        }
    }

    /// Settings and size of a multigrid form.
    fn multigrid(&self) -> Option<(MultigridSettings, LevelSize)> {
        match self {
            Self::Classical(_) => None,
            Self::Single(multigrid) => Some((multigrid.settings, multigrid.size)),
            Self::Double(multigrid) => Some((multigrid.settings, multigrid.size)),
        }
    }
}

impl<B: MultigridBackend, T: Real> Preconditioner<B, T, B::Matrix<T>>
    for MatrixPreconditioner<B, T>
{
    fn update(&mut self, backend: &B, a: &B::Matrix<T>) -> Result<(), SolverError> {
        match self {
            Self::Classical(classical) => classical.update(backend, a),
            Self::Single(multigrid) => multigrid.update(backend, a, None),
            Self::Double(multigrid) => multigrid.update(backend, a, None),
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
            Self::Single(multigrid) => multigrid.apply(backend, r, z),
            Self::Double(multigrid) => multigrid.apply(backend, r, z),
        }
    }

    fn bound(&self) -> Option<f64> {
        self.multigrid().map(|_| CONTRACTION)
    }

    fn fall_back(&mut self) -> Option<&'static str> {
        let (settings, size) = self.multigrid()?;
        let strong = settings.strengthened();
        if settings == strong {
            *self = Self::Classical(Classical::new(Kind::Ilu0));
            Some("ILU(0)")
        } else {
            *self = Self::new(Kind::Multigrid, strong, size);
            Some("multigrid with W cycles in double precision")
        }
    }
}
