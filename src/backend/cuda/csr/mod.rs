//! Matrices of any pattern on the CUDA backend, their incomplete factors, and what a backend offers for all matrices.

mod eliminated;
mod factors;
mod halo;
mod pattern;
mod product;
mod rows;
mod triangle;

pub use self::halo::border_lanes;
pub use self::product::RowChunks;
pub use self::triangle::{level_launches, row_lanes};

pub(super) use self::eliminated::EliminationPattern;
pub(super) use self::rows::RowFactors;
pub(super) use self::triangle::Waiting;

use self::halo::RowHalo;
use self::pattern::CsrPattern;
use self::product::RowProduct;
use crate::backend::cuda::algebra::{CudaMatrix, CudaVector, InvertibleDiagonal, outer_columns};
use crate::backend::cuda::backend::CudaBackend;
use crate::backend::cuda::comm::{Halo, RankContext};
use crate::backend::cuda::device::Buffer;
use crate::backend::cuda::launch::constants::SLOTS_OF_POINT;
use crate::backend::cuda::launch::shared::ExchangedColumns;
use crate::backend::cuda::launch::{LaunchShape, Result, kernels, launch};
use crate::backend::error::{check_length, check_lengths};
use crate::backend::matrices::check_product;
use crate::backend::{LevelSize, LinearOperator, MatrixFormat, Product, Real, SparseBackend};
use crate::sparse::{Csr, EllPattern, RowPart};
use std::sync::Arc;

/// A matrix by rows in a GPU's memory.
pub struct CudaCsr<T> {
    pattern: Arc<CsrPattern>,
    values: Buffer<T>,
    product: RowProduct<T>,
    /// The couplings with rows of other ranks, of a part of a larger matrix.
    halo: Option<Box<RowHalo<T>>>,
}

impl<T: Real> CudaCsr<T> {
    /// The rows that the rank of `backend` has of a matrix. Vectors have as many entries; factors are made
    /// of the entries in its own columns.
    ///
    /// # Errors
    /// If the device has too little memory, or there are too many entries.
    pub fn of_rows(backend: &CudaBackend, part: &RowPart, format: MatrixFormat) -> Result<Self> {
        let own = backend.csr(&part.own, format)?;
        Ok(Self { halo: Some(Box::new(RowHalo::new(backend, part)?)), ..own })
    }

    /// Exchanges what a product with x needs of other ranks, and does no more: for measurements.
    ///
    /// # Errors
    /// If the device or another rank fails.
    pub fn exchange(&self, backend: &CudaBackend, x: &CudaVector<T>) -> Result<()> {
        check_length(x.len(), self.pattern.rows)?;
        let Some(halo) = &self.halo else { return Ok(()) };
        halo.start(backend, x)?;
        backend.finish_exchange()
    }
}

impl<T: Real> LinearOperator<CudaBackend, T> for CudaCsr<T> {
    fn apply(&self, backend: &CudaBackend, x: &CudaVector<T>, y: &mut CudaVector<T>) -> Result<()> {
        check_lengths(self.pattern.rows, [x.len(), y.len()])?;
        let multiply = || self.product.multiply(backend, (&self.pattern, &self.values), x, y);
        let Some(halo) = &self.halo else { return multiply() };
        halo.start(backend, x)?;
        multiply()?;
        backend.finish_exchange()?;
        halo.add(backend, y)
    }
}

impl<T: Real> InvertibleDiagonal<T> for CudaCsr<T> {
    fn inverse_diagonal(&self, backend: &CudaBackend, d: &CudaVector<T>) -> Result<Option<usize>> {
        let CsrPattern { rows, row_start, columns, .. } = &*self.pattern;
        check_length(d.len(), *rows)?;
        let shape = LaunchShape::threads(*rows);
        let of = (*rows as u64, row_start, columns, &self.values, d);
        backend.find_first::<T>(kernels::invert_diagonal, shape, of, 1)
    }
}

impl SparseBackend for CudaBackend {
    type Matrix<T: Real> = CudaMatrix<T>;
    type CsrMatrix<T: Real> = CudaCsr<T>;

    fn matrix<T: Real>(&self, pattern: EllPattern) -> Result<CudaMatrix<T>> {
        CudaMatrix::new(self, pattern)
    }

    fn matrix_values<T: Real>(&self, a: &CudaMatrix<T>) -> Result<Vec<T>> {
        let padded = a.values.to_host()?;
        let slots = padded.chunks(a.stride.max(1));
        Ok(slots.flat_map(|slot| &slot[..a.pattern.rows()]).copied().collect())
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

    fn multiply_with_walls<T: Real>(
        &self,
        a: &CudaMatrix<T>,
        b: &CudaMatrix<T>,
        x: &CudaVector<T>,
        skipped: [usize; 2],
        y: &mut CudaVector<T>,
    ) -> Result<()> {
        // A whole matrix by ten numbers a point takes one launch.
        let of = (a.pattern, b.pattern, &self.ranks);
        let (EllPattern::TenNumbers(size), EllPattern::WallColumns(_, walls), None) = of else {
            self.multiply(a, x, Product { skipped, add: false }, y)?;
            return self.multiply(b, x, Product { skipped: [0; 2], add: true }, y);
        };
        for pattern in [a.pattern, b.pattern] {
            check_product(pattern, x.len(), y.len())?;
        }
        let [before, after] = skipped;
        let kept = (before as u64, (x.len() - before - after) as u64);
        let of = (self.grid_arguments(size), &a.values, walls.bits(), &b.values);
        let LevelSize { mi, mj, .. } = size;
        launch!(self => multiply_with_walls[T, LaunchShape::threads(mi * mj)](of, x, kept, &*y))
    }

    fn transpose<T: Real>(&self, a: &CudaMatrix<T>, t: &mut CudaMatrix<T>) -> Result<()> {
        let size = a.nine_points()?;
        let LevelSize { mi, mj, .. } = size;
        check_length(t.pattern.rows(), a.pattern.rows())?;
        let received = |ranks: &RankContext| -> Result<Halo<T>> {
            let halo = Halo::new(&self.device, 2 * SLOTS_OF_POINT * mj)?;
            let of = ExchangedColumns {
                plane: a.stride as u64,
                planes: SLOTS_OF_POINT as u32,
                edges: self.edges(false),
                ..outer_columns([mi, mj], &a.values)
            };
            self.exchange_columns(&halo, ranks.neighbours, of)?;
            Ok(halo)
        };
        let halo = self.ranks.as_ref().map(received).transpose()?;
        launch!(self => transpose_nine_point[T, LaunchShape::threads(mi * mj)](
            self.grid_arguments(size), &a.values, halo.as_ref().map(|halo| &halo.received), &t.values))
    }

    fn entries<T: Real>(&self, numbers: &CudaMatrix<T>, entries: &mut CudaMatrix<T>) -> Result<()> {
        let EllPattern::TenNumbers(size) = numbers.pattern else { return Ok(()) };
        check_length(entries.pattern.rows(), numbers.pattern.rows())?;
        launch!(self => entries_of_ten_numbers[T, LaunchShape::threads(size.mi * size.mj)](
            self.grid_arguments(size), &numbers.values, &entries.values))
    }

    fn csr<T: Real>(&self, a: &Csr, format: MatrixFormat) -> Result<CudaCsr<T>> {
        let (pattern, values) = CsrPattern::with_values(self, a)?;
        let product = RowProduct::new(self, a, format, (&pattern, &values))?;
        Ok(CudaCsr { pattern: Arc::new(pattern), values, product, halo: None })
    }
}
