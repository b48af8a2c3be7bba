//! What a machine must offer so that the solvers, written once, run on it.
//!
//! Three traits, each building on the one before: [`Backend`] (vectors), [`SparseBackend`]
//! (ELL matrices and incomplete factors) and [`EllipticBackend`] (the grid equations). A vector
//! may live in one memory or be spread over several devices; solver code never asks.

pub mod cpu;
pub mod cuda;
mod elliptic;
mod multigrid;
mod real;

pub use elliptic::{CellGuard, EllipticBackend, EllipticData, Scaling, WallTerms};
pub use multigrid::{Coarsening, LevelSize, MultigridBackend, Order};
pub use real::Real;

use crate::sparse::EllPattern;

/// Trouble with the device that should do the work. The CPU backend reports none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DeviceError {
    /// The device asked for is not part of this build.
    #[error("this build of gridgen has no {backend} backend")]
    NotBuilt {
        /// Name of the backend.
        backend: &'static str,
    },
    /// The worker threads could not be started.
    #[error("{threads} worker threads could not be started: {reason}")]
    Threads {
        /// Threads asked for.
        threads: usize,
        /// What the system said.
        reason: String,
    },
}

impl DeviceError {
    /// What the user can do about it.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NotBuilt { .. } => {
                "run with --backend cpu, or --backend auto to use what is there"
            }
            Self::Threads { .. } => "give a smaller number with --threads",
        }
    }
}

/// Two vectors of which the inner product is wanted.
pub type Pair<'a, V> = (&'a V, &'a V);

/// Vectors and the two operations that carry every Krylov method.
///
/// Vectors of a backend hold `f64` or `f32`; scalars are `f64`, and inner products are
/// accumulated in `f64` in an order that does not depend on the number of threads.
pub trait Backend: Sync {
    /// A vector of `T`.
    type Vector<T: Real>: Send;

    /// A vector of `n` zeros.
    fn zeros<T: Real>(&self, n: usize) -> Result<Self::Vector<T>, DeviceError>;

    /// v ← host. Both have the same length.
    fn upload<T: Real>(&self, host: &[T], v: &mut Self::Vector<T>) -> Result<(), DeviceError>;

    /// host ← v. Both have the same length.
    fn download<T: Real>(&self, v: &Self::Vector<T>, host: &mut [T]) -> Result<(), DeviceError>;

    /// y ← scale · x, from one precision to another.
    fn convert<S: Real, T: Real>(
        &self,
        scale: f64,
        x: &Self::Vector<S>,
        y: &mut Self::Vector<T>,
    ) -> Result<(), DeviceError>;

    /// Several inner products in one reduction.
    fn dots<T: Real, const K: usize>(
        &self,
        pairs: [Pair<'_, Self::Vector<T>>; K],
    ) -> Result<[f64; K], DeviceError>;

    /// max |x_i|; NaN if any entry is NaN.
    fn max_abs<T: Real>(&self, x: &Self::Vector<T>) -> Result<f64, DeviceError>;

    /// y ← β y + Σ αₖ xₖ in one pass; β = 0 overwrites y, even where it is NaN.
    fn lincomb<T: Real, const K: usize>(
        &self,
        y: &mut Self::Vector<T>,
        beta: f64,
        terms: [(f64, &Self::Vector<T>); K],
    ) -> Result<(), DeviceError>;
}

/// Which part of a product A x is formed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Product {
    /// Leading columns of A taken as zero.
    pub skip_columns: usize,
    /// y ← y + A x instead of y ← A x.
    pub add: bool,
}

/// ELL matrices and the incomplete factors made from them.
pub trait SparseBackend: Backend {
    /// A matrix in ELL format.
    type Matrix<T: Real>: Send;
    /// Incomplete factors M = (I + L)(D + U), L and U strictly triangular.
    type Factors<T: Real>: Send;

    /// A zero matrix with the given pattern.
    fn matrix<T: Real>(&self, pattern: &EllPattern) -> Result<Self::Matrix<T>, DeviceError>;

    /// Number of rows of A.
    fn rows<T: Real>(&self, a: &Self::Matrix<T>) -> usize;

    /// y ← A x, or the part of it that `product` names.
    fn multiply<T: Real>(
        &self,
        a: &Self::Matrix<T>,
        x: &Self::Vector<T>,
        product: Product,
        y: &mut Self::Vector<T>,
    ) -> Result<(), DeviceError>;

    /// d ← diag(A)⁻¹, and the first row whose diagonal is zero or not finite, if any.
    fn inverse_diagonal<T: Real>(
        &self,
        a: &Self::Matrix<T>,
        d: &mut Self::Vector<T>,
    ) -> Result<Option<usize>, DeviceError>;

    /// z ← d ∘ r, entry by entry.
    fn scale<T: Real>(
        &self,
        d: &Self::Vector<T>,
        r: &Self::Vector<T>,
        z: &mut Self::Vector<T>,
    ) -> Result<(), DeviceError>;

    /// Room for factors of matrices with the pattern of `a`.
    fn factors<T: Real>(&self, a: &Self::Matrix<T>) -> Result<Self::Factors<T>, DeviceError>;

    /// DILU in natural order: D_i = a_ii − Σ_{j<i} a_ij a_ji / D_j, L = strict lower part of A
    /// times D⁻¹, U = strict upper part of A, so that diag(M) = diag(A). Returns the first row
    /// with a pivot that is zero or not finite.
    fn factor_dilu<T: Real>(
        &self,
        a: &Self::Matrix<T>,
        factors: &mut Self::Factors<T>,
    ) -> Result<Option<usize>, DeviceError>;

    /// ILU(0) in natural order. Returns the first row with a pivot that is zero or not finite.
    fn factor_ilu0<T: Real>(
        &self,
        a: &Self::Matrix<T>,
        factors: &mut Self::Factors<T>,
    ) -> Result<Option<usize>, DeviceError>;

    /// z ← M⁻¹ r: (I + L) y = r, then (D + U) z = y.
    fn solve_factors<T: Real>(
        &self,
        factors: &Self::Factors<T>,
        r: &Self::Vector<T>,
        z: &mut Self::Vector<T>,
    ) -> Result<(), DeviceError>;
}
