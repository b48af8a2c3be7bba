//! Matrices in ELL format, and matrices of any pattern.

use super::{Backend, DeviceError, Real, SparseMatrix};
use crate::sparse::{Csr, EllPattern};

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

/// Which part of a product A x is formed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Product {
    /// Leading columns of A taken as zero.
    pub skip_columns: usize,
    /// y ← y + A x instead of y ← A x.
    pub add: bool,
}

/// Sparse matrices: those of the grid equations in ELL format, others by rows.
pub trait SparseBackend: Backend {
    /// A matrix in ELL format.
    type Matrix<T: Real>: SparseMatrix<Self, T>;
    /// A square matrix by rows.
    type CsrMatrix<T: Real>: SparseMatrix<Self, T>;

    /// A zero matrix with the given pattern.
    fn matrix<T: Real>(&self, pattern: &EllPattern) -> Result<Self::Matrix<T>, DeviceError>;

    /// Values of A by slot, column-major, padding included.
    fn matrix_values<T: Real>(&self, a: &Self::Matrix<T>) -> Result<Vec<T>, DeviceError>;

    /// The part of y ← A x that `product` names.
    fn multiply<T: Real>(
        &self,
        a: &Self::Matrix<T>,
        x: &Self::Vector<T>,
        product: Product,
        y: &mut Self::Vector<T>,
    ) -> Result<(), DeviceError>;

    /// A copy of `a`, prepared for products.
    fn csr<T: Real>(&self, a: &Csr, format: Format) -> Result<Self::CsrMatrix<T>, DeviceError>;
}
