//! ELL matrices of the CUDA backend.

use super::jacobi::InverseDiagonal;
use super::vector::CudaVector;
use crate::backend::cuda::backend::CudaBackend;
use crate::backend::cuda::comm::{Halo, PERIODIC_ROW};
use crate::backend::cuda::device::Buffer;
use crate::backend::cuda::launch::constants::SLOT_UNIT;
use crate::backend::cuda::launch::{Argument, LaunchShape, Result, Source, arguments};
use crate::backend::{LinearOperator, Product, Real};
use crate::sparse::{EllPattern, Structure};
use std::borrow::Cow;

/// A matrix in ELL format in a GPU's memory: `values[k * stride + r]` is slot k of row r.
///
/// The columns of a matrix of the grid equations follow from the place of a row on the grid and
/// are not read by a product.
pub struct CudaMatrix<T> {
    pub(crate) structure: Structure,
    pub(crate) rows: usize,
    width: usize,
    /// Entries from a slot to the next: the rows, and padding that keeps slots aligned.
    pub(crate) stride: usize,
    pub(crate) values: Buffer<T>,
    /// Column of each slot, of matrices with another pattern.
    columns: Option<Buffer<u32>>,
    general: Option<EllPattern>,
    /// Columns of the neighbouring bands, of a nine-point matrix on several ranks.
    halo: Option<Halo<T>>,
}

impl<T: Real> CudaMatrix<T> {
    /// A matrix with given values, column-major like its pattern; slots left over must be zero.
    pub fn from_values(backend: &CudaBackend, pattern: &EllPattern, values: &[T]) -> Result<Self> {
        let matrix = Self::new(backend, pattern)?;
        if matrix.stride == matrix.rows {
            matrix.values.upload(values)?;
            return Ok(matrix);
        }
        let mut padded = vec![T::zero(); matrix.values.len()];
        for (to, from) in padded.chunks_mut(matrix.stride).zip(values.chunks(matrix.rows)) {
            to[..matrix.rows].copy_from_slice(from);
        }
        matrix.values.upload(&padded)?;
        Ok(matrix)
    }

    /// Slots a row.
    #[must_use]
    pub fn width(&self) -> usize {
        self.width
    }

    /// Where the entries stand, computed if it follows from the grid.
    pub(crate) fn pattern(&self) -> Cow<'_, EllPattern> {
        match (self.structure, &self.general) {
            (_, Some(pattern)) => Cow::Borrowed(pattern),
            (Structure::WallColumns { mi, mj }, _) => Cow::Owned(EllPattern::wall_columns(mi, mj)),
            (Structure::NinePoint { mi, mj, periodic }, _) => {
                Cow::Owned(EllPattern::nine_point(mi, mj, periodic))
            }
            (Structure::General, None) => {
                Cow::Owned(EllPattern::new(self.rows, self.width, |_| None))
            }
        }
    }

    fn points(&self) -> usize {
        self.rows / 2
    }

    /// A zero matrix with this pattern.
    pub(crate) fn new(backend: &CudaBackend, pattern: &EllPattern) -> Result<Self> {
        let general = (pattern.structure() == Structure::General).then(|| pattern.clone());
        let columns = match &general {
            Some(pattern) => Some(Buffer::from_host(&backend.device, pattern.columns())?),
            None => None,
        };
        let halo = match (&backend.ranks, pattern.structure()) {
            (Some(_), Structure::NinePoint { mj, .. }) => Some(Halo::new(&backend.device, 2 * mj)?),
            _ => None,
        };
        let (rows, width) = (pattern.rows(), pattern.width());
        let stride = if general.is_some() { rows } else { rows.next_multiple_of(SLOT_UNIT) };
        Ok(Self {
            structure: pattern.structure(),
            rows,
            width,
            stride,
            values: Buffer::zeros(&backend.device, stride * width)?,
            columns,
            general,
            halo,
        })
    }

    /// The values on the host, column-major without padding.
    pub(crate) fn host_values(&self) -> Result<Vec<T>> {
        let padded = self.values.to_host()?;
        let slots = padded.chunks(self.stride.max(1));
        Ok(slots.flat_map(|slot| &slot[..self.rows]).copied().collect())
    }

    /// y ← A x, or y + A x; `product` says which, and which columns are skipped.
    pub(crate) fn multiply(
        &self,
        backend: &CudaBackend,
        x: &CudaVector<T>,
        product: Product,
        y: &mut CudaVector<T>,
    ) -> Result<()> {
        let (skip, add) = (product.skip_columns as u64, u32::from(product.add));
        let (name, threads, mut arguments) = match (self.structure, &self.columns) {
            (Structure::NinePoint { mi, mj, periodic }, _) => {
                let arguments = backend.grid_arguments(mi, mj, periodic);
                ("multiply_nine_point", self.points(), arguments)
            }
            (Structure::WallColumns { mi, .. }, _) => {
                let arguments = arguments![mi as u32, self.points() as u64];
                ("multiply_wall_columns", self.points(), arguments)
            }
            (Structure::General, columns) => {
                let mut arguments = arguments![self.rows as u64, self.width as u32];
                arguments.extend(columns.iter().map(Argument::from));
                // Two rows a thread.
                ("multiply_explicit", self.rows.div_ceil(2), arguments)
            }
        };
        arguments.extend(arguments![&self.values, x]);
        // The wall columns have no column to skip.
        if !matches!(self.structure, Structure::WallColumns { .. }) {
            arguments.push(skip.into());
        }
        arguments.extend(arguments![add, &*y]);
        backend.start_halo(self, None, x)?;
        backend.launch::<T>(Source::Matrix, name, LaunchShape::threads(threads), &arguments)?;
        backend.add_halo(self, skip, y)
    }
}

impl<T: Real> LinearOperator<CudaBackend, T> for CudaMatrix<T> {
    fn apply(&self, backend: &CudaBackend, x: &CudaVector<T>, y: &mut CudaVector<T>) -> Result<()> {
        self.multiply(backend, x, Product::default(), y)
    }
}

impl<T: Real> InverseDiagonal<T> for CudaMatrix<T> {
    fn inverse_diagonal(&self, backend: &CudaBackend, d: &CudaVector<T>) -> Result<Option<usize>> {
        let (name, threads, mut arguments) = match (self.structure, &self.columns) {
            (Structure::NinePoint { mi, mj, periodic }, _) => {
                let arguments = backend.grid_arguments(mi, mj, periodic);
                ("inverse_diagonal_nine_point", self.points(), arguments)
            }
            (_, columns) => {
                let mut arguments = arguments![self.rows as u64, self.width as u32];
                arguments.extend(columns.iter().map(Argument::from));
                ("inverse_diagonal", self.rows, arguments)
            }
        };
        arguments.extend(arguments![&self.values, d]);
        backend.find_first::<T>(Source::Matrix, name, LaunchShape::threads(threads), &arguments, 2)
    }

    fn scale_and_multiply(
        &self,
        backend: &CudaBackend,
        d: &CudaVector<T>,
        r: &CudaVector<T>,
        z: &mut CudaVector<T>,
        y: &mut CudaVector<T>,
    ) -> Result<()> {
        let Structure::NinePoint { mi, mj, periodic } = self.structure else {
            backend.scale(d, r, z)?;
            return self.apply(backend, z, y);
        };
        let mut arguments = backend.grid_arguments(mi, mj, periodic);
        arguments.extend(arguments![&self.values, d, r, &*z, &*y]);
        let shape = LaunchShape::threads(self.points());
        backend.start_halo(self, Some(d), r)?;
        backend.launch::<T>(Source::Matrix, "scale_and_multiply", shape, &arguments)?;
        backend.add_halo(self, 0, y)
    }
}

impl CudaBackend {
    /// The arguments by which a kernel knows the place of a row on the grid.
    pub(crate) fn grid_arguments(&self, mi: usize, mj: usize, periodic: bool) -> Vec<Argument> {
        arguments![mi as u32, mj as u32, self.edges(periodic)]
    }

    /// What lies beyond the ends of the rows of the grid, as kernels take it.
    pub(crate) fn edges(&self, periodic: bool) -> u32 {
        match &self.ranks {
            Some(ranks) => ranks.edges(),
            None if periodic => PERIODIC_ROW,
            None => 0,
        }
    }

    /// Begins to exchange the outer columns of x, or of d ∘ x, with the neighbouring bands, if A
    /// needs them.
    fn start_halo<T: Real>(
        &self,
        a: &CudaMatrix<T>,
        d: Option<&CudaVector<T>>,
        x: &CudaVector<T>,
    ) -> Result<()> {
        let (Some(ranks), Some(halo)) = (&self.ranks, &a.halo) else { return Ok(()) };
        let Structure::NinePoint { mi, mj, .. } = a.structure else { return Ok(()) };
        let d = d.map_or(Argument::from(0_u64), Argument::from);
        let own = arguments![mi as u32, mj as u32, ranks.edges(), d, x];
        // The product of the band's own columns need not wait for it.
        halo.start_columns(&*self.device, ranks, ranks.neighbours, |columns| {
            let arguments = [own.as_slice(), &[columns.into()]].concat();
            let shape = LaunchShape::threads(mj);
            self.launch::<T>(Source::Halo, "exchange_columns", shape, &arguments)
        })
    }

    /// y ← y + what the columns of those bands give to the product.
    fn add_halo<T: Real>(&self, a: &CudaMatrix<T>, skip: u64, y: &mut CudaVector<T>) -> Result<()> {
        let Some(halo) = &a.halo else { return Ok(()) };
        let Structure::NinePoint { mi, mj, periodic } = a.structure else { return Ok(()) };
        self.finish_exchange()?;
        let mut arguments = self.grid_arguments(mi, mj, periodic);
        arguments.extend(arguments![&a.values, &halo.received, skip, &*y]);
        self.launch::<T>(Source::Matrix, "add_halo", LaunchShape::threads(2 * mj), &arguments)
    }
}
