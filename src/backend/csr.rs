//! What a machine offers for matrices of any pattern: products, and incomplete factors whose
//! triangular solves follow one of several schedules.

use super::{DeviceError, Real, SparseBackend};
use crate::sparse::Csr;

/// How the entries of a matrix are stored for products.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// By rows.
    #[default]
    Csr,
    /// By slots, every row as wide as the longest.
    Ell,
}

/// Incomplete factors M = (I + L)(D + U) of A, L and U strictly triangular with the pattern of A.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Incomplete {
    /// Diagonal incomplete LU: D_i = a_ii − Σ_{j<i} a_ij a_ji / D_j over entries present on both
    /// sides, L_ij = a_ij / D_j, U_ij = a_ij (Pommerell 1992; Wang and Liu 2022).
    Dilu,
    /// The same for a symmetric A, of which only the lower triangle is read; pivots must be
    /// positive.
    Dic,
    /// Gaussian elimination that drops every entry outside the pattern (Meijerink and van der Vorst
    /// 1977).
    Ilu0,
    /// The same for a symmetric A, of which only the lower triangle is read: M = L D Lᵀ; pivots must
    /// be positive.
    Ic0,
}

/// In which order, and with which waiting, the rows of triangular factors are worked on.
///
/// All but [`Self::Multicolour`] and [`Self::Tile`] apply the same M.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RowSchedule {
    /// The fastest of those that apply the same M, timed in the first applications.
    #[default]
    Auto,
    /// Level sets: rows that wait for nobody, then those that wait only for them, and so on
    /// (Anderson and Saad 1989; Wang and Liu 2022, algorithm 2).
    Levels,
    /// Every row waits for its own entries, flagged one by one (Liu, Li, Hogg, Duff and Vinter
    /// 2016).
    SyncFree,
    /// Rows are renumbered by colour, no two neighbours having the same: few levels, another M.
    Multicolour,
    /// Natural order within blocks of consecutive rows, whose couplings with other blocks are
    /// dropped: another M.
    Tile,
    /// Known values are pushed along columns, a counter a row saying how many are still to come
    /// (Liu, Jin et al. 2020).
    Correlation,
}

/// A pivot that cannot be used.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BadPivot {
    /// Row of A.
    pub row: usize,
    /// Its value: zero, not finite, or negative where it must be positive.
    pub value: f64,
}

/// Matrices by rows, and incomplete factors made from them.
pub trait CsrBackend: SparseBackend {
    /// A square matrix.
    type CsrMatrix<T: Real>: Send;
    /// Incomplete factors, and the order in which they are applied.
    type CsrFactors<T: Real>: Send;

    /// A copy of `a`, prepared for products.
    fn csr<T: Real>(&self, a: &Csr, format: Format) -> Result<Self::CsrMatrix<T>, DeviceError>;

    /// y ← A x.
    fn csr_multiply<T: Real>(
        &self,
        a: &Self::CsrMatrix<T>,
        x: &Self::Vector<T>,
        y: &mut Self::Vector<T>,
    ) -> Result<(), DeviceError>;

    /// d ← diag(A)⁻¹, and the first row whose diagonal is absent, zero or not finite, if any.
    fn csr_inverse_diagonal<T: Real>(
        &self,
        a: &Self::CsrMatrix<T>,
        d: &mut Self::Vector<T>,
    ) -> Result<Option<usize>, DeviceError>;

    /// Analysis: room for factors of matrices with the pattern of `a`, and the order of their rows.
    fn csr_factors<T: Real>(
        &self,
        a: &Self::CsrMatrix<T>,
        kind: Incomplete,
        schedule: RowSchedule,
    ) -> Result<Self::CsrFactors<T>, DeviceError>;

    /// Factors of A + `shift` diag(A) (Manteuffel 1980). Returns the first pivot, in the order of
    /// elimination, that cannot be used; the factors must then not be applied.
    fn csr_factor<T: Real>(
        &self,
        a: &Self::CsrMatrix<T>,
        shift: f64,
        factors: &mut Self::CsrFactors<T>,
    ) -> Result<Option<BadPivot>, DeviceError>;

    /// z ← M⁻¹ r: (I + L) y = r, then (D + U) z = y.
    fn csr_solve<T: Real>(
        &self,
        factors: &mut Self::CsrFactors<T>,
        r: &Self::Vector<T>,
        z: &mut Self::Vector<T>,
    ) -> Result<(), DeviceError>;
}
