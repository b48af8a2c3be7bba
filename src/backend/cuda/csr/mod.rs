//! Matrices of any pattern on the CUDA backend, and their incomplete factors.

mod border;
mod columns;
mod factors;
mod layout;
mod order;
mod product;
mod rows;
mod slices;
mod source;
mod triangle;

pub use self::product::ProductKernel;

use self::border::Border;
use self::factors::CudaCsrFactors;
use self::product::Product;
use super::jacobi::{InverseDiagonal, Jacobi};
use super::kernel::{Shape, Source, arguments};
use super::{Buffer, CudaBackend, CudaVector};
use crate::backend::preconditioner::Identity;
use crate::backend::{
    Algebraic, DeviceError, Format, LinearOperator, Preconditioner, PreconditionerFailure, Real,
    SolverError, SparseBackend, SparseMatrix,
};
use crate::sparse::{Csr, RowPart};
use std::sync::Arc;

/// Where the entries of a square matrix stand, by rows; 32 bits an entry.
pub(super) struct CsrPattern {
    pub(super) rows: usize,
    pub(super) entries: usize,
    pub(super) row_start: Buffer<u32>,
    pub(super) columns: Buffer<u32>,
}

impl CsrPattern {
    fn new(backend: &CudaBackend, row_start: &[u32], columns: &[u32]) -> Result<Self, DeviceError> {
        Ok(Self {
            rows: row_start.len() - 1,
            entries: columns.len(),
            row_start: Buffer::from_host(&backend.device, row_start)?,
            columns: Buffer::from_host(&backend.device, columns)?,
        })
    }

    /// The pattern on the host.
    fn download(&self) -> Result<(Vec<u32>, Vec<u32>), DeviceError> {
        let (mut row_start, mut columns) = (vec![0; self.rows + 1], vec![0; self.entries]);
        self.row_start.download(&mut row_start)?;
        self.columns.download(&mut columns)?;
        Ok((row_start, columns))
    }
}

/// A matrix by rows in a GPU's memory.
pub struct CudaCsr<T> {
    pattern: Arc<CsrPattern>,
    values: Arc<Buffer<T>>,
    product: Product<T>,
    /// What other ranks have to do with it, of a part of a larger matrix.
    border: Option<Box<Border<T>>>,
}

impl<T: Real> CudaCsr<T> {
    /// A copy of `a`, prepared for products.
    pub(super) fn new(backend: &CudaBackend, a: &Csr, format: Format) -> Result<Self, DeviceError> {
        let kernel = match format {
            Format::Csr => ProductKernel::for_rows(&a.row_start),
            Format::Ell => ProductKernel::Slices,
        };
        Self::with_kernel(backend, a, kernel)
    }

    /// A copy of `a` whose products are formed by a kernel of this kind.
    ///
    /// # Errors
    /// If the device has no room, or there are too many entries.
    pub fn with_kernel(
        backend: &CudaBackend,
        a: &Csr,
        kernel: ProductKernel,
    ) -> Result<Self, DeviceError> {
        if u32::try_from(a.columns.len()).is_err() {
            return Err(DeviceError::TooManyEntries { entries: a.columns.len() });
        }
        let row_start: Vec<u32> = a.row_start.iter().map(|&start| start as u32).collect();
        let pattern = CsrPattern::new(backend, &row_start, &a.columns)?;
        let values: Vec<T> = a.values.iter().map(|&value| T::narrow(value)).collect();
        let values = Buffer::from_host(&backend.device, &values)?;
        let product = Product::new(backend, &row_start, &pattern, &values, kernel)?;
        Ok(Self { pattern: Arc::new(pattern), values: Arc::new(values), product, border: None })
    }

    /// The rows that the rank of `backend` has of a matrix. Vectors have as many entries; factors are
    /// those of the entries in columns of its own.
    ///
    /// # Errors
    /// If the device has no room, or there are too many entries.
    pub fn of_rows(
        backend: &CudaBackend,
        part: &RowPart,
        format: Format,
    ) -> Result<Self, DeviceError> {
        let own = backend.csr(&part.own, format)?;
        Ok(Self { border: Some(Box::new(Border::new(backend, part)?)), ..own })
    }

    /// Exchanges what a product with x needs of other ranks, and does no more: for measurements.
    ///
    /// # Errors
    /// If the device or another rank fails.
    pub fn exchange(&self, backend: &CudaBackend, x: &CudaVector<T>) -> Result<(), DeviceError> {
        let Some(border) = &self.border else { return Ok(()) };
        border.start(backend, x)?;
        backend.finish_exchange()
    }

    /// The kernel of its products.
    #[must_use]
    pub fn kernel(&self) -> ProductKernel {
        self.product.kernel()
    }
}

impl<T: Real> LinearOperator<CudaBackend, T> for CudaCsr<T> {
    fn apply(
        &self,
        backend: &CudaBackend,
        x: &CudaVector<T>,
        y: &mut CudaVector<T>,
    ) -> Result<(), DeviceError> {
        let Some(border) = &self.border else {
            return self.product.multiply(backend, &self.pattern, &self.values, x, y);
        };
        border.start(backend, x)?;
        self.product.multiply(backend, &self.pattern, &self.values, x, y)?;
        backend.finish_exchange()?;
        border.add(backend, y)
    }
}

impl<T: Real> SparseMatrix<CudaBackend, T> for CudaCsr<T> {
    fn preconditioner(
        &self,
        backend: &CudaBackend,
        kind: Algebraic,
    ) -> Result<Box<dyn Preconditioner<CudaBackend, T, Self>>, DeviceError> {
        Ok(match kind {
            Algebraic::None => Box::new(Identity),
            Algebraic::Jacobi => Box::new(Jacobi::new(backend, self.pattern.rows)?),
            Algebraic::Factors { kind, schedule, shift } => {
                Box::new(CudaCsrFactors::new(backend, &self.pattern, (kind, shift), schedule)?)
            }
        })
    }
}

impl<T: Real> InverseDiagonal<T> for CudaCsr<T> {
    fn inverse_diagonal(
        &self,
        backend: &CudaBackend,
        d: &CudaVector<T>,
    ) -> Result<Option<usize>, DeviceError> {
        let CsrPattern { rows, row_start, columns, .. } = &*self.pattern;
        let arguments = arguments![*rows as u64, row_start, columns, &*self.values, d];
        let shape = Shape::threads(*rows);
        backend.find_first::<T>(Source::Csr, "invert_diagonal", shape, &arguments, 1)
    }
}

impl<T: Real> Preconditioner<CudaBackend, T, CudaCsr<T>> for CudaCsrFactors<T> {
    fn update(&mut self, backend: &CudaBackend, a: &CudaCsr<T>) -> Result<(), SolverError> {
        let own = self.factor(backend, &a.values)?;
        let bad = match &backend.place {
            Some(place) => place.first_pivot(own)?,
            None => own,
        };
        bad.map_or(Ok(()), |bad| Err(PreconditionerFailure::factor(self.kind(), bad).into()))
    }

    fn apply(
        &mut self,
        backend: &CudaBackend,
        _: &CudaCsr<T>,
        r: &CudaVector<T>,
        z: &mut CudaVector<T>,
    ) -> Result<(), DeviceError> {
        self.solve(backend, r, z)
    }
}
