//! ELL matrices of the CUDA backend, and the inverse of the diagonal of any matrix as a preconditioner.

use super::vector::{CudaVector, factor, step_vectors};
use crate::backend::cuda::backend::CudaBackend;
use crate::backend::cuda::comm::{Halo, PERIODIC_ROW, edges};
use crate::backend::cuda::device::Buffer;
use crate::backend::cuda::launch::constants::{NO_GHOSTS, SLOT_SUMS, SLOT_UNIT};
use crate::backend::cuda::launch::shared::{
    ExchangedColumns, HaloColumns, Pointer, ScalarReduction, ScaledMatrix,
};
use crate::backend::cuda::launch::{LaunchShape, Result, kernels, launch};
use crate::backend::error::{check_length, check_lengths};
use crate::backend::matrices::check_product;
use crate::backend::scalars::{LOG, SLOTS};
use crate::backend::{
    DeviceError, Fused, LevelSize, LinearOperator, Preconditioner, PreconditionerFailure, Product,
    Real, SolverError, Update,
};
use crate::sparse::EllPattern;

/// A matrix in ELL format in a GPU's memory: `values[k * stride + r]` is slot k of row r.
///
/// The columns follow from the place of a row on the grid and are not read by a product.
pub struct CudaMatrix<T> {
    pub(crate) pattern: EllPattern,
    /// Entries from a slot to the next: the rows, and padding that keeps slots aligned.
    pub(crate) stride: usize,
    pub(crate) values: Buffer<T>,
    /// Columns of the neighbouring bands, of a nine-point matrix on several ranks.
    halo: Option<Halo<T>>,
}

impl<T: Real> CudaMatrix<T> {
    /// A matrix with given values, column-major like its pattern; slots left over must be zero.
    pub fn from_values(backend: &CudaBackend, pattern: EllPattern, values: &[T]) -> Result<Self> {
        let matrix = Self::new(backend, pattern)?;
        let mut padded = vec![T::zero(); matrix.values.len()];
        let rows = pattern.rows();
        for (to, from) in padded.chunks_mut(matrix.stride.max(1)).zip(values.chunks(rows.max(1))) {
            to[..rows].copy_from_slice(from);
        }
        matrix.values.upload(&padded)?;
        Ok(matrix)
    }

    /// A zero matrix with this pattern.
    pub(crate) fn new(backend: &CudaBackend, pattern: EllPattern) -> Result<Self> {
        let (device, rows) = (&backend.device, pattern.rows());
        let stride = rows.next_multiple_of(SLOT_UNIT);
        let halo = match pattern {
            EllPattern::NinePoint(size) | EllPattern::TenNumbers(size)
                if backend.ranks.is_some() =>
            {
                Some(Halo::new(device, 2 * size.mj)?)
            }
            _ => None,
        };
        let values = Buffer::zeros(device, stride * pattern.width())?;
        Ok(Self { pattern, stride, values, halo })
    }

    /// The size of the grid of a matrix by entries. Other matrices have no entries of
    /// which preconditioners could be made.
    pub(crate) fn nine_points(&self) -> Result<LevelSize> {
        match self.pattern {
            EllPattern::NinePoint(size) => Ok(size),
            _ => Err(DeviceError::NotInEll { what: "entries by the nine-point pattern" }),
        }
    }

    /// y ← A x, or y + A x; `product` says which, and which columns are skipped.
    pub(crate) fn multiply(
        &self,
        backend: &CudaBackend,
        x: &CudaVector<T>,
        product: Product,
        y: &mut CudaVector<T>,
    ) -> Result<()> {
        check_product(self.pattern, x.len(), y.len())?;
        let (rows, [before, after]) = (self.pattern.rows(), product.skipped);
        let kept = before..rows - after;
        let (from, count, add) = (before as u64, kept.len() as u64, u32::from(product.add));
        let points = rows.div_ceil(2);
        let (own, shape) = ((&self.values, x), LaunchShape::threads(points));
        match self.pattern {
            EllPattern::NinePoint(size) | EllPattern::TenNumbers(size) => {
                let LevelSize { mi, mj, .. } = size;
                let by_entries = matches!(self.pattern, EllPattern::NinePoint(_));
                let product = if by_entries {
                    kernels::multiply_nine_point
                } else {
                    kernels::multiply_ten_numbers
                };
                let send = |columns| self.launch_exchange(backend, [mi, mj], (None, x), columns);
                let columns = self.send_columns(backend, send)?;
                let grid = backend.grid_arguments(size);
                let arguments = (grid, own, from, count, add, &*y);
                launch!(backend => (product)[T, shape](arguments))?;
                let Some(ranks) = &backend.ranks else { return Ok(()) };
                // The product of the band's own columns did not wait for those of others.
                ranks.finish_columns(columns)?;
                let [from, to] = [kept.start, kept.end].map(|column| (column / (2 * mi)) as u32);
                let arguments = (u32::from(by_entries), &self.values, columns, from, to, &*y);
                launch!(backend => add_halo[T, LaunchShape::threads(2 * mj)](grid, arguments))
            }
            // The wall columns have no column to skip.
            EllPattern::WallColumns(LevelSize { mi, .. }, walls) => {
                let size = (mi as u32, points as u64, walls.bits());
                let arguments = (size, own, add, &*y);
                launch!(backend => multiply_wall_columns[T, shape](arguments))
            }
        }
    }

    /// Sends the outer columns of a vector to the neighbouring bands, by `send` or another kernel; the product
    /// receives theirs. Without neighbours `send` has nothing to send.
    fn send_columns(
        &self,
        backend: &CudaBackend,
        send: impl FnOnce(HaloColumns) -> Result<()>,
    ) -> Result<HaloColumns> {
        match (&backend.ranks, &self.halo) {
            (Some(ranks), Some(halo)) => halo.send_columns(ranks, ranks.neighbours, send),
            _ => send(HaloColumns::default()).map(|()| HaloColumns::default()),
        }
    }

    /// Launches the exchange of the outer columns of x, or of d ∘ x, if there are neighbours.
    fn launch_exchange(
        &self,
        backend: &CudaBackend,
        points: [usize; 2],
        (d, x): (Option<&CudaVector<T>>, &CudaVector<T>),
        columns: HaloColumns,
    ) -> Result<()> {
        if self.halo.is_none() {
            return Ok(());
        }
        let of = ExchangedColumns {
            scale: d.map_or(Pointer::NULL, Pointer::from),
            edges: backend.edges(false),
            ..outer_columns(points, x)
        };
        launch!(backend => exchange_columns[T, LaunchShape::threads(points[1])](of, columns))
    }
}

/// The outer columns of a vector, or of the first slot of a matrix, of two values a point; those received stay in the
/// buffer.
pub(crate) fn outer_columns<T: Real>([mi, mj]: [usize; 2], values: &Buffer<T>) -> ExchangedColumns {
    ExchangedColumns {
        x: values.into(),
        y: Pointer::to(values.address_of(1)),
        row: 2 * mi as u64,
        step: 2,
        own: [0, mi as u32 - 1],
        ghosts: [NO_GHOSTS; 2],
        planes: 1,
        rows: mj as u32,
        ..ExchangedColumns::default()
    }
}

impl<T: Real> LinearOperator<CudaBackend, T> for CudaMatrix<T> {
    fn apply(&self, backend: &CudaBackend, x: &CudaVector<T>, y: &mut CudaVector<T>) -> Result<()> {
        self.multiply(backend, x, Product::default(), y)
    }
}

impl<T: Real> InvertibleDiagonal<T> for CudaMatrix<T> {
    fn inverse_diagonal(&self, backend: &CudaBackend, d: &CudaVector<T>) -> Result<Option<usize>> {
        let grid = backend.grid_arguments(self.nine_points()?);
        check_length(d.len(), self.pattern.rows())?;
        let (name, shape) = (kernels::inverse_diagonal, LaunchShape::threads(d.len() / 2));
        backend.find_first::<T>(name, shape, (grid, &self.values, d), 2)
    }

    fn scale_and_multiply(
        &self,
        backend: &CudaBackend,
        d: &CudaVector<T>,
        p: &mut CudaVector<T>,
        [z, y]: [&mut CudaVector<T>; 2],
        mut fused: Option<Fused<'_, CudaBackend, T>>,
    ) -> Result<()> {
        let size = self.nine_points()?;
        check_lengths(size.values(), [d, p, &*z, &*y].map(Buffer::len))?;
        let [mi, mj, edges] = backend.grid_arguments(size);
        let (values, d_values) = ((&self.values).into(), d.into());
        let of = |columns| ScaledMatrix { mi, mj, edges, sums: 0, values, d: d_values, columns };
        let update = fused.as_mut().and_then(|fused| Some((&*fused.scalars, fused.update.take()?)));
        if let Some((scalars, _)) = &update {
            check_length(scalars.len(), SLOTS + LOG)?;
        }
        let shape = LaunchShape::elementwise(p.len() / 2);
        // The launch before the product sends, and the product receives.
        let columns = self.send_columns(backend, |columns| match update {
            Some((scalars, Update::Add(alpha, x))) => {
                check_length(x.len(), p.len())?;
                let of = (of(columns), scalars, &*p, factor(alpha), x);
                launch!(backend => add_and_send[T, shape](of))
            }
            Some((scalars, Update::Step(step))) => {
                let step = step_vectors(&step, p, [&*z, &*y])?;
                launch!(backend => step_and_send[T, shape](of(columns), scalars, step))
            }
            None => self.launch_exchange(backend, [size.mi, size.mj], (Some(d), p), columns),
        })?;
        if let Some(ranks) = &backend.ranks {
            ranks.finish_columns(columns)?;
        }
        let (name, points) = (kernels::scale_multiply_and_sum, p.len() / 2);
        let product = |sums, with| (ScaledMatrix { sums, ..of(columns) }, &*p, &*z, &*y, with);
        let Some(Fused { scalars, first, with, all, epilogue, .. }) = fused else {
            let (none, shape) = (ScalarReduction::default(), LaunchShape::threads(points));
            return launch!(backend => (name)[T, shape](product(0, None), none));
        };
        check_length(with.len(), p.len())?;
        let sums = if all { SLOT_SUMS } else { 2 };
        let arguments = product(sums as u32, Some(with));
        let kernel = (name, LaunchShape::product(points));
        backend.reduce_into::<T>(kernel, arguments, scalars, (first, sums), epilogue)
    }

    fn halts_products(&self) -> bool {
        true
    }
}

impl CudaBackend {
    /// The arguments by which a kernel knows the place of a row on the grid.
    pub(crate) fn grid_arguments(&self, size: LevelSize) -> [u32; 3] {
        [size.mi as u32, size.mj as u32, self.edges(size.periodic)]
    }

    /// Flags for the neighbours beyond the ends of the rows of the grid.
    pub(crate) fn edges(&self, periodic: bool) -> u32 {
        match &self.ranks {
            Some(ranks) => edges(ranks.neighbours),
            None if periodic => PERIODIC_ROW,
            None => 0,
        }
    }

    /// Exchanges columns with the neighbours by a halo, if there are several ranks.
    pub(crate) fn exchange_columns<T: Real>(
        &self,
        halo: &Halo<T>,
        neighbours: [bool; 2],
        of: ExchangedColumns,
    ) -> Result<()> {
        let Some(ranks) = &self.ranks else { return Ok(()) };
        let shape = LaunchShape::threads((of.planes * of.rows) as usize);
        halo.exchange_columns(
            ranks,
            neighbours,
            |columns| launch!(self => exchange_columns[T, shape](of, columns)),
        )
    }
}

/// A matrix whose diagonal can be inverted.
pub(crate) trait InvertibleDiagonal<T: Real>: LinearOperator<CudaBackend, T> {
    /// d ← diag(A)⁻¹, and the first row whose diagonal is absent, zero or not finite, if any.
    fn inverse_diagonal(&self, backend: &CudaBackend, d: &CudaVector<T>) -> Result<Option<usize>>;

    /// z ← d ∘ p and y ← A z, with the work around the product: in few passes where that saves time.
    fn scale_and_multiply(
        &self,
        backend: &CudaBackend,
        d: &CudaVector<T>,
        p: &mut CudaVector<T>,
        [z, y]: [&mut CudaVector<T>; 2],
        fused: Option<Fused<'_, CudaBackend, T>>,
    ) -> Result<()> {
        Fused::in_sequence(fused, backend, p, [z, y], |p, z, y| {
            backend.scale(d, p, z)?;
            self.apply(backend, z, y)
        })
    }

    /// Whether `scale_and_multiply` does nothing where the scalars are halted and something is asked for before
    /// the product.
    fn halts_products(&self) -> bool {
        false
    }
}

/// z ← d ∘ r with d = diag(A)⁻¹.
pub(crate) struct CudaJacobi<T> {
    pub(crate) inverse: CudaVector<T>,
}

/// The error of a preconditioner with a pivot that is zero or not finite, if there is one.
pub(crate) fn checked(preconditioner: &'static str, bad: Option<usize>) -> Result<(), SolverError> {
    bad.map_or(Ok(()), |row| Err(PreconditionerFailure::Pivot { preconditioner, row }.into()))
}

impl<T: Real, A: InvertibleDiagonal<T>> Preconditioner<CudaBackend, T, A> for CudaJacobi<T> {
    fn update(&mut self, backend: &CudaBackend, a: &A) -> Result<(), SolverError> {
        checked("Jacobi", a.inverse_diagonal(backend, &self.inverse)?)
    }

    fn apply(
        &mut self,
        backend: &CudaBackend,
        _: &A,
        r: &CudaVector<T>,
        z: &mut CudaVector<T>,
    ) -> Result<()> {
        backend.scale(&self.inverse, r, z)
    }

    fn apply_and_multiply(
        &mut self,
        backend: &CudaBackend,
        a: &A,
        p: &mut CudaVector<T>,
        z: &mut CudaVector<T>,
        y: &mut CudaVector<T>,
        fused: Option<Fused<'_, CudaBackend, T>>,
    ) -> Result<()> {
        a.scale_and_multiply(backend, &self.inverse, p, [z, y], fused)
    }

    fn is_idle_when_halted(&self, _: &CudaBackend, a: &A) -> bool {
        a.halts_products()
    }
}

impl CudaBackend {
    /// z ← d ∘ r, entry by entry.
    pub(crate) fn scale<T: Real>(
        &self,
        d: &CudaVector<T>,
        r: &CudaVector<T>,
        z: &CudaVector<T>,
    ) -> Result<()> {
        check_lengths(z.len(), [d.len(), r.len()])?;
        launch!(self => scale[T, LaunchShape::elementwise(z.len())](z.len() as u64, d, r, z))
    }
}
