//! Matrices of any pattern on the CUDA backend, and their incomplete factors.

mod eliminated;
mod factors;
mod halo;
mod pattern;
mod product;
mod rows;
mod triangle;

pub use self::product::ProductKernel;

use self::factors::CudaCsrFactors;
use self::halo::RowHalo;
use self::pattern::CsrPattern;
use self::product::CsrRows;
use crate::backend::cuda::algebra::{CudaMatrix, CudaVector, InverseDiagonal, Jacobi};
use crate::backend::cuda::backend::CudaBackend;
use crate::backend::cuda::launch::{LaunchShape, Result, Source, arguments};
use crate::backend::matrices::Identity;
use crate::backend::{
    Algebraic, Format, LinearOperator, Preconditioner, PreconditionerFailure, Product, Real,
    SolverError, SparseBackend, SparseMatrix,
};
use crate::sparse::{Csr, EllPattern, RowPart};

/// A matrix by rows in a GPU's memory.
pub struct CudaCsr<T> {
    rows: CsrRows<T>,
    /// The couplings with rows of other ranks, of a part of a larger matrix.
    halo: Option<Box<RowHalo<T>>>,
}

impl<T: Real> CudaCsr<T> {
    /// A copy of `a`, prepared for products.
    pub(super) fn new(backend: &CudaBackend, a: &Csr, format: Format) -> Result<Self> {
        let kernel = match format {
            // Chunks read every matrix at the same rate.
            Format::Csr => ProductKernel::Chunks,
            Format::Ell => ProductKernel::Slices,
        };
        Self::with_kernel(backend, a, kernel)
    }

    /// A copy of `a` whose products are formed by a kernel of this kind.
    ///
    /// # Errors
    /// If the device has too little memory, or there are too many entries.
    pub fn with_kernel(backend: &CudaBackend, a: &Csr, kernel: ProductKernel) -> Result<Self> {
        Ok(Self { rows: CsrRows::new(backend, a, kernel)?, halo: None })
    }

    /// The rows that the rank of `backend` has of a matrix. Vectors have as many entries; factors are
    /// those of the entries in columns of its own.
    ///
    /// # Errors
    /// If the device has too little memory, or there are too many entries.
    pub fn of_rows(backend: &CudaBackend, part: &RowPart, format: Format) -> Result<Self> {
        let own = Self::new(backend, &part.own, format)?;
        Ok(Self { halo: Some(Box::new(RowHalo::new(backend, part)?)), ..own })
    }

    /// Exchanges what a product with x needs of other ranks, and does no more: for measurements.
    ///
    /// # Errors
    /// If the device or another rank fails.
    pub fn exchange(&self, backend: &CudaBackend, x: &CudaVector<T>) -> Result<()> {
        let Some(halo) = &self.halo else { return Ok(()) };
        halo.start(backend, x)?;
        backend.finish_exchange()
    }

    /// The kernel of its products.
    #[must_use]
    pub fn kernel(&self) -> ProductKernel {
        self.rows.kernel()
    }
}

impl<T: Real> LinearOperator<CudaBackend, T> for CudaCsr<T> {
    fn apply(&self, backend: &CudaBackend, x: &CudaVector<T>, y: &mut CudaVector<T>) -> Result<()> {
        let Some(halo) = &self.halo else { return self.rows.multiply(backend, x, y) };
        halo.start(backend, x)?;
        self.rows.multiply(backend, x, y)?;
        backend.finish_exchange()?;
        halo.add(backend, y)
    }
}

impl<T: Real> SparseMatrix<CudaBackend, T> for CudaCsr<T> {
    fn preconditioner(
        &self,
        backend: &CudaBackend,
        kind: Algebraic,
    ) -> Result<Box<dyn Preconditioner<CudaBackend, T, Self>>> {
        Ok(match kind {
            Algebraic::None => Box::new(Identity),
            Algebraic::Jacobi => Box::new(Jacobi::new(backend, self.rows.pattern.rows)?),
            Algebraic::Factors { kind, schedule, shift } => {
                Box::new(CudaCsrFactors::new(backend, &self.rows.pattern, (kind, shift), schedule)?)
            }
        })
    }
}

impl<T: Real> InverseDiagonal<T> for CudaCsr<T> {
    fn inverse_diagonal(&self, backend: &CudaBackend, d: &CudaVector<T>) -> Result<Option<usize>> {
        let CsrPattern { rows, row_start, columns, .. } = &*self.rows.pattern;
        let arguments = arguments![*rows as u64, row_start, columns, &self.rows.values, d];
        let shape = LaunchShape::threads(*rows);
        backend.find_first::<T>(Source::Csr, "invert_diagonal", shape, &arguments, 1)
    }
}

impl<T: Real> Preconditioner<CudaBackend, T, CudaCsr<T>> for CudaCsrFactors<T> {
    fn update(&mut self, backend: &CudaBackend, a: &CudaCsr<T>) -> Result<(), SolverError> {
        let own = self.factor(backend, &a.rows.values)?;
        let bad = match &backend.ranks {
            Some(ranks) => ranks.first_pivot(own)?,
            None => own,
        };
        bad.map_or(Ok(()), |bad| Err(PreconditionerFailure::factor(self.kind, bad).into()))
    }

    fn apply(
        &mut self,
        backend: &CudaBackend,
        _: &CudaCsr<T>,
        r: &CudaVector<T>,
        z: &mut CudaVector<T>,
    ) -> Result<()> {
        self.solve(backend, r, z)
    }
}

impl SparseBackend for CudaBackend {
    type Matrix<T: Real> = CudaMatrix<T>;
    type CsrMatrix<T: Real> = CudaCsr<T>;

    fn matrix<T: Real>(&self, pattern: &EllPattern) -> Result<CudaMatrix<T>> {
        CudaMatrix::new(self, pattern)
    }

    fn matrix_values<T: Real>(&self, a: &CudaMatrix<T>) -> Result<Vec<T>> {
        a.host_values()
    }

    fn multiply<T: Real>(
        &self,
        a: &CudaMatrix<T>,
        x: &CudaVector<T>,
        product: Product,
        y: &mut CudaVector<T>,
    ) -> Result<()> {
        a.multiply(self, x, product, y)
    }

    fn csr<T: Real>(&self, a: &Csr, format: Format) -> Result<CudaCsr<T>> {
        CudaCsr::new(self, a, format)
    }
}
