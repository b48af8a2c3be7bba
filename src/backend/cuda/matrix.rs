//! ELL matrices of the CUDA backend.

use super::factors::CudaFactors;
use super::jacobi::{InverseDiagonal, Jacobi};
use super::kernel::{Argument, Shape, Source, arguments};
use super::ranks::{CLOSED, Halo};
use super::{Buffer, CudaBackend, CudaCsr, CudaVector};
use crate::backend::preconditioner::Identity;
use crate::backend::{
    Algebraic, DeviceError, Format, LinearOperator, Preconditioner, Product, Real, SparseBackend,
    SparseMatrix,
};
use crate::sparse::{Csr, EllPattern, Structure};
use std::borrow::Cow;

/// Entries of which a slot of a matrix of the grid equations takes a multiple: `SLOT_UNIT` of
/// `kernels/common.cuh`.
const SLOT_UNIT: usize = 64;

/// A matrix in ELL format in a GPU's memory: `values[k * stride + r]` is slot k of row r.
///
/// The columns of a matrix of the grid equations follow from the place of a row on the grid and
/// are not read by a product.
pub struct CudaMatrix<T> {
    pub(super) structure: Structure,
    rows: usize,
    width: usize,
    /// Entries from a slot to the next: the rows, and padding that keeps slots aligned.
    stride: usize,
    pub(super) values: Buffer<T>,
    /// Column of each slot, of matrices with another pattern.
    columns: Option<Buffer<u32>>,
    /// That pattern on the host.
    general: Option<EllPattern>,
    /// Columns of the bands beside this one, of a nine-point matrix on several ranks.
    halo: Option<Halo<T>>,
}

impl<T: Real> CudaMatrix<T> {
    /// A matrix with given values, column-major like its pattern; slots left over must be zero.
    pub fn from_values(
        backend: &CudaBackend,
        pattern: &EllPattern,
        values: &[T],
    ) -> Result<Self, DeviceError> {
        let matrix: Self = backend.matrix(pattern)?;
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

    /// Entries from a slot to the next.
    pub(super) fn stride(&self) -> usize {
        self.stride
    }

    /// Values by slot, column-major, [`Self::stride`] entries each.
    pub(super) fn values(&self) -> &Buffer<T> {
        &self.values
    }

    /// Where the entries stand, made anew if it follows from the grid.
    pub(super) fn pattern(&self) -> Cow<'_, EllPattern> {
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

    /// Points of the grid, two rows each.
    fn points(&self) -> usize {
        self.rows / 2
    }
}

impl SparseBackend for CudaBackend {
    type Matrix<T: Real> = CudaMatrix<T>;
    type CsrMatrix<T: Real> = CudaCsr<T>;

    fn matrix<T: Real>(&self, pattern: &EllPattern) -> Result<CudaMatrix<T>, DeviceError> {
        let general = (pattern.structure() == Structure::General).then(|| pattern.clone());
        let columns = match &general {
            Some(pattern) => Some(Buffer::from_host(&self.device, pattern.columns())?),
            None => None,
        };
        let halo = match (&self.place, pattern.structure()) {
            (Some(_), Structure::NinePoint { mj, .. }) => Some(Halo::new(&self.device, 2 * mj)?),
            _ => None,
        };
        let (rows, width) = (pattern.rows(), pattern.width());
        let stride = if general.is_some() { rows } else { rows.next_multiple_of(SLOT_UNIT) };
        Ok(CudaMatrix {
            structure: pattern.structure(),
            rows,
            width,
            stride,
            values: Buffer::zeros(&self.device, stride * width)?,
            columns,
            general,
            halo,
        })
    }

    fn matrix_values<T: Real>(&self, a: &CudaMatrix<T>) -> Result<Vec<T>, DeviceError> {
        let mut padded = vec![T::zero(); a.values.len()];
        a.values.download(&mut padded)?;
        let slots = padded.chunks(a.stride.max(1));
        Ok(slots.flat_map(|slot| &slot[..a.rows]).copied().collect())
    }

    fn multiply<T: Real>(
        &self,
        a: &CudaMatrix<T>,
        x: &CudaVector<T>,
        product: Product,
        y: &mut CudaVector<T>,
    ) -> Result<(), DeviceError> {
        let (skip, add) = (product.skip_columns as u64, u32::from(product.add));
        let (name, threads, mut arguments) = match (a.structure, &a.columns) {
            (Structure::NinePoint { mi, mj, periodic }, _) => {
                let arguments = self.grid_arguments(mi, mj, periodic);
                ("multiply_nine_point", a.points(), arguments)
            }
            (Structure::WallColumns { mi, .. }, _) => {
                let arguments = arguments![mi as u32, a.points() as u64];
                ("multiply_wall_columns", a.points(), arguments)
            }
            (Structure::General, columns) => {
                let mut arguments = arguments![a.rows as u64, a.width as u32];
                arguments.extend(columns.iter().map(Argument::from));
                // Two rows a thread.
                ("multiply_explicit", a.rows.div_ceil(2), arguments)
            }
        };
        arguments.extend(arguments![&a.values, x]);
        // The wall columns have no column to skip.
        if !matches!(a.structure, Structure::WallColumns { .. }) {
            arguments.push(skip.into());
        }
        arguments.extend(arguments![add, &*y]);
        self.start_halo(a, None, x)?;
        self.launch::<T>(Source::Matrix, name, Shape::threads(threads), &arguments)?;
        self.add_halo(a, skip, y)
    }

    fn csr<T: Real>(&self, a: &Csr, format: Format) -> Result<CudaCsr<T>, DeviceError> {
        CudaCsr::new(self, a, format)
    }
}

impl<T: Real> LinearOperator<CudaBackend, T> for CudaMatrix<T> {
    fn apply(
        &self,
        backend: &CudaBackend,
        x: &CudaVector<T>,
        y: &mut CudaVector<T>,
    ) -> Result<(), DeviceError> {
        backend.multiply(self, x, Product::default(), y)
    }
}

impl<T: Real> SparseMatrix<CudaBackend, T> for CudaMatrix<T> {
    fn preconditioner(
        &self,
        backend: &CudaBackend,
        kind: Algebraic,
    ) -> Result<Box<dyn Preconditioner<CudaBackend, T, Self>>, DeviceError> {
        Ok(match kind {
            Algebraic::None => Box::new(Identity),
            Algebraic::Jacobi => Box::new(Jacobi::new(backend, self.rows)?),
            Algebraic::Factors { shift, .. } if shift != 0.0 => {
                return Err(DeviceError::NotInEll { what: "shifted factors" });
            }
            Algebraic::Factors { kind, .. } if kind.symmetric() => {
                return Err(DeviceError::NotInEll { what: kind.name() });
            }
            Algebraic::Factors { kind, schedule, .. } => {
                Box::new(CudaFactors::new(backend, self, kind, schedule)?)
            }
        })
    }
}

impl<T: Real> InverseDiagonal<T> for CudaMatrix<T> {
    fn inverse_diagonal(
        &self,
        backend: &CudaBackend,
        d: &CudaVector<T>,
    ) -> Result<Option<usize>, DeviceError> {
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
        backend.find_first::<T>(Source::Matrix, name, Shape::threads(threads), &arguments, 2)
    }

    fn scale_and_multiply(
        &self,
        backend: &CudaBackend,
        d: &CudaVector<T>,
        r: &CudaVector<T>,
        z: &mut CudaVector<T>,
        y: &mut CudaVector<T>,
    ) -> Result<(), DeviceError> {
        let Structure::NinePoint { mi, mj, periodic } = self.structure else {
            backend.scale(d, r, z)?;
            return self.apply(backend, z, y);
        };
        let mut arguments = backend.grid_arguments(mi, mj, periodic);
        arguments.extend(arguments![&self.values, d, r, &*z, &*y]);
        let shape = Shape::threads(self.points());
        backend.start_halo(self, Some(d), r)?;
        backend.launch::<T>(Source::Matrix, "scale_and_multiply", shape, &arguments)?;
        backend.add_halo(self, 0, y)
    }
}

impl CudaBackend {
    /// The arguments by which a kernel knows the place of a row on the grid.
    pub(super) fn grid_arguments(&self, mi: usize, mj: usize, periodic: bool) -> Vec<Argument> {
        arguments![mi as u32, mj as u32, self.rim(periodic)]
    }

    /// What lies beyond the ends of the rows of the grid, as kernels take it.
    pub(super) fn rim(&self, periodic: bool) -> u32 {
        match &self.place {
            Some(place) => place.rim(),
            None if periodic => CLOSED,
            None => 0,
        }
    }

    /// Begins to exchange the outer columns of x, or of d ∘ x, with the bands beside this one, if A
    /// needs them.
    fn start_halo<T: Real>(
        &self,
        a: &CudaMatrix<T>,
        d: Option<&CudaVector<T>>,
        x: &CudaVector<T>,
    ) -> Result<(), DeviceError> {
        let (Some(place), Some(halo)) = (&self.place, &a.halo) else { return Ok(()) };
        let Structure::NinePoint { mi, mj, .. } = a.structure else { return Ok(()) };
        let d = d.map_or(Argument::from(0_u64), Argument::from);
        let own = arguments![mi as u32, mj as u32, place.rim(), d, x];
        // The product of the band's own columns need not wait for it.
        halo.start_passing(&*self.device, place, place.neighbours(), |borders| {
            let arguments = [own.as_slice(), &borders].concat();
            let shape = Shape::threads(mj);
            self.launch::<T>(Source::Columns, "exchange_columns", shape, &arguments)
        })
    }

    /// y ← y + what the columns of those bands give to the product.
    fn add_halo<T: Real>(
        &self,
        a: &CudaMatrix<T>,
        skip: u64,
        y: &mut CudaVector<T>,
    ) -> Result<(), DeviceError> {
        let Some(halo) = &a.halo else { return Ok(()) };
        let Structure::NinePoint { mi, mj, periodic } = a.structure else { return Ok(()) };
        self.finish_exchange()?;
        let mut arguments = self.grid_arguments(mi, mj, periodic);
        arguments.extend(arguments![&a.values, halo.received(), skip, &*y]);
        self.launch::<T>(Source::Matrix, "add_halo", Shape::threads(2 * mj), &arguments)
    }
}
