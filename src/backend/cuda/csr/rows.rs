//! Factors by rows: both triangles, their pivots, and the solves.

use super::eliminated::Eliminated;
use super::order::{Order, Side};
use super::sort::slim;
use super::triangle::{PIVOT_LANES, Triangle};
use crate::backend::cuda::algebra::CudaVector;
use crate::backend::cuda::backend::CudaBackend;
use crate::backend::cuda::device::{Address, Buffer};
use crate::backend::cuda::launch::shared::{
    BLOCK_TILES, ELIMINATION_LANES, PivotRows, Pointer, SolveVectors,
};
use crate::backend::cuda::launch::{Argument, LaunchShape, Source, WARP, arguments};
use crate::backend::cuda::recording::CudaRecording;
use crate::backend::{BadPivot, DeviceError, Incomplete, Real};
use crate::sparse::ROW_TILE;
use std::sync::Arc;

/// Pairs of vectors for which the launches of a solve are kept.
const RECORDINGS: usize = 8;

/// How rows wait for those that they need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Waiting {
    /// Each for its own entries, which are flagged one by one.
    RowByRow,
    /// A level for the launch of the one before; runs of small levels are one block's.
    Launches,
    /// As row by row, within tiles that a warp takes each.
    WithinTiles,
}

/// Whether the rows are sorted by level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sorting {
    Natural,
    ByLevel,
}

/// L, D and U by rows.
pub(super) struct RowFactors<T> {
    kind: Incomplete,
    pub(super) a: Arc<Eliminated>,
    /// The values that are eliminated, if they are not A's own.
    copy: Option<Buffer<T>>,
    lower: Triangle,
    upper: Triangle,
    /// Rows of A in the order of each triangle.
    lower_rows: Arc<Buffer<u32>>,
    upper_rows: Arc<Buffer<u32>>,
    /// Place in the lower order of each row of the upper one.
    inner: Buffer<u32>,
    lower_values: Buffer<T>,
    upper_values: Buffer<T>,
    /// Entries of L ∘ Uᵀ, for DILU and DIC.
    products: Option<Buffer<T>>,
    pivots: Buffer<T>,
    pub(super) inverse: Buffer<T>,
    w: Buffer<T>,
    z: Buffer<T>,
    tickets: Buffer<u32>,
    recordings: Vec<([u64; 2], CudaRecording)>,
}

/// The orders in which the rows of L and of U are worked on.
fn orders(
    backend: &CudaBackend,
    a: &Eliminated,
    sorting: Sorting,
) -> Result<[Order; 2], DeviceError> {
    let order = |side| match sorting {
        Sorting::Natural => Order::natural(backend, a.pattern.rows, side),
        Sorting::ByLevel => Order::by_level(backend, a, side),
    };
    let below = order(Side::Lower)?;
    let above = if sorting == Sorting::ByLevel && a.is_matched(backend)? {
        below.turned(backend)?
    } else {
        order(Side::Upper)?
    };
    Ok([below, above])
}

impl<T: Real> RowFactors<T> {
    /// Analysis.
    pub(super) fn new(
        backend: &CudaBackend,
        a: Arc<Eliminated>,
        kind: Incomplete,
        sorting: Sorting,
    ) -> Result<Self, DeviceError> {
        let (device, rows) = (&backend.device, a.pattern.rows);
        let [below, above] = orders(backend, &a, sorting)?;
        let lower = Triangle::new(backend, &a, Side::Lower, below)?;
        let upper = Triangle::new(backend, &a, Side::Upper, above)?;
        let inner = Buffer::zeros(device, rows)?;
        let arguments = arguments![rows as u64, &*upper.order.rows, &lower.order.place, &inner];
        backend.launch::<f64>(
            Source::Order,
            "link_rows",
            LaunchShape::threads(rows),
            &arguments,
        )?;
        let diagonal = matches!(kind, Incomplete::Dilu | Incomplete::Dic);
        Ok(Self {
            copy: if diagonal && !a.is_moved() {
                None
            } else {
                Some(Buffer::zeros(device, a.pattern.entries)?)
            },
            lower_rows: a.rows_of_a(backend, &lower.order.rows)?,
            upper_rows: a.rows_of_a(backend, &upper.order.rows)?,
            inner,
            lower_values: lower.zeros(backend)?,
            upper_values: upper.zeros(backend)?,
            products: if diagonal { Some(lower.zeros(backend)?) } else { None },
            pivots: Buffer::zeros(device, rows)?,
            inverse: Buffer::zeros(device, rows)?,
            w: Buffer::zeros(device, rows)?,
            z: Buffer::zeros(device, rows)?,
            tickets: Buffer::zeros(device, 3)?,
            recordings: Vec::new(),
            kind,
            a,
            lower,
            upper,
        })
    }

    /// Prepares to go through the levels launch by launch.
    pub(super) fn prepare_launches(&mut self) -> Result<(), DeviceError> {
        self.lower.prepare_launches()?;
        self.upper.prepare_launches()
    }

    /// Whether several lanes take a row.
    pub(super) fn shares_rows(&self) -> bool {
        self.lower.lanes > 1
    }

    /// Levels of both triangles, if their rows are sorted by them.
    pub(super) fn depths(&self) -> Option<[usize; 2]> {
        Some([self.lower.depth()?, self.upper.depth()?])
    }

    /// Factors of a matrix with these values.
    pub(super) fn factor(
        &mut self,
        backend: &CudaBackend,
        values: &Buffer<T>,
        shift: f64,
        waiting: Waiting,
    ) -> Result<Option<BadPivot>, DeviceError> {
        if let Some(copy) = &self.copy {
            self.a.values(backend, values, copy)?;
        }
        let values = self.copy.as_ref().unwrap_or(values);
        self.tickets.clear()?;
        self.inverse.clear()?;
        let scale = T::narrow(1.0 + shift);
        let bad = if let Some(products) = &self.products {
            self.take_lower(backend, values, Some(products))?;
            backend.own_first_index(|first| {
                self.diagonal_pivots(backend, values, products, scale, waiting, first)
            })?
        } else {
            let bad = backend
                .own_first_index(|first| self.eliminate(backend, values, scale, waiting, first))?;
            self.take_lower(backend, values, None)?;
            bad
        };
        self.take_upper(backend, values)?;
        // Nothing is left of a solve that was not finished.
        self.tickets.clear()?;
        self.w.clear()?;
        self.z.clear()?;
        bad.map(|row| self.bad_pivot(backend, row)).transpose()
    }

    /// The factors that `other` has of a matrix with these values, in the order of this one.
    pub(super) fn adopt(
        &mut self,
        backend: &CudaBackend,
        other: &Self,
        values: &Buffer<T>,
    ) -> Result<(), DeviceError> {
        let values = other.eliminated(values);
        self.take_lower(backend, values, None)?;
        self.take_upper(backend, values)?;
        let rows = self.a.pattern.rows;
        let places = Buffer::<u32>::zeros(&backend.device, rows)?;
        let arguments =
            arguments![rows as u64, &*self.lower.order.rows, &other.lower.order.place, &places];
        let shape = LaunchShape::threads(rows);
        backend.launch::<f64>(Source::Order, "link_rows", shape, &arguments)?;
        let arguments = arguments![rows as u64, &places, &other.inverse, &self.inverse];
        backend.launch::<T>(Source::Triangular, "take_values", shape, &arguments)
    }

    /// The values that were eliminated last, where they are not A's own.
    pub(super) fn eliminated<'a>(&'a self, values: &'a Buffer<T>) -> &'a Buffer<T> {
        self.copy.as_ref().unwrap_or(values)
    }

    fn bad_pivot(&self, backend: &CudaBackend, row: usize) -> Result<BadPivot, DeviceError> {
        let device = &backend.device;
        let mut place = [0_u32];
        let at = self.lower.order.place.address_of(row);
        device.download(at, bytemuck::cast_slice_mut(&mut place))?;
        let mut pivot = [T::zero()];
        let at = self.pivots.address_of(place[0] as usize);
        device.download(at, bytemuck::cast_slice_mut(&mut pivot))?;
        Ok(BadPivot { row: self.a.row_of_a(backend, row)?, value: pivot[0].widen() })
    }

    /// Where pivots are stored; `first` is the address of the first bad row.
    fn pivot_rows(&self, first: Address) -> PivotRows {
        PivotRows {
            pivots: (&self.pivots).into(),
            inverse: (&self.inverse).into(),
            first: Pointer::to(first),
            positive: u64::from(matches!(self.kind, Incomplete::Dic | Incomplete::Ic0)),
        }
    }

    /// The entries of L, and of L ∘ Uᵀ if they are wanted.
    fn take_lower(
        &self,
        backend: &CudaBackend,
        values: &Buffer<T>,
        products: Option<&Buffer<T>>,
    ) -> Result<(), DeviceError> {
        let slices = &self.lower.slices;
        let arguments = arguments![
            slices.lanes() as u32,
            &*self.lower.order.rows,
            self.a.shared(),
            values,
            slices.shared(),
            &self.lower_values,
            products.map_or(0, Buffer::address)
        ];
        backend.launch::<T>(Source::Triangular, "take_lower", slices.shape_of_teams(), &arguments)
    }

    fn take_upper(&self, backend: &CudaBackend, values: &Buffer<T>) -> Result<(), DeviceError> {
        let slices = &self.upper.slices;
        let arguments = arguments![
            slices.lanes() as u32,
            &*self.upper.order.rows,
            &self.a.pattern.row_start,
            values,
            slices.shared(),
            &self.upper_values
        ];
        backend.launch::<T>(Source::Triangular, "take_upper", slices.shape_of_teams(), &arguments)
    }

    /// D of DILU.
    fn diagonal_pivots(
        &self,
        backend: &CudaBackend,
        values: &Buffer<T>,
        products: &Buffer<T>,
        scale: T,
        waiting: Waiting,
        first: Address,
    ) -> Result<(), DeviceError> {
        let mut arguments = self.lower.arguments();
        arguments.extend(arguments![
            products,
            &*self.lower.order.rows,
            self.a.shared(),
            values,
            Argument::real(scale),
            self.pivot_rows(first)
        ]);
        if waiting == Waiting::Launches {
            let kernel = (Source::Triangular, "dilu_levels");
            return self.lower.launch_levels::<T>(backend, kernel, &arguments);
        }
        let (kernel, shape, lanes) = self.lower.drawing(["dilu_flags", "dilu_slim"], PIVOT_LANES);
        arguments.push((&self.tickets).into());
        arguments.extend(lanes);
        backend.launch::<T>(Source::Triangular, kernel, shape, &arguments)
    }

    /// ILU(0) in place.
    fn eliminate(
        &self,
        backend: &CudaBackend,
        values: &Buffer<T>,
        scale: T,
        waiting: Waiting,
        first: Address,
    ) -> Result<(), DeviceError> {
        let arguments = arguments![
            &*self.lower.order.rows,
            &self.lower.order.place,
            self.a.shared(),
            values,
            Argument::real(scale),
            self.pivot_rows(first)
        ];
        if waiting == Waiting::Launches {
            let kernel = (Source::Gauss, "eliminate_levels");
            return self.lower.launch_levels::<T>(backend, kernel, &arguments);
        }
        let rows = self.a.pattern.rows;
        let mut all = arguments![rows as u64];
        all.extend(arguments);
        all.push((&self.tickets).into());
        let shape = slim(rows * ELIMINATION_LANES);
        backend.launch::<T>(Source::Gauss, "eliminate_flags", shape, &all)
    }

    /// z ← M⁻¹ r.
    pub(super) fn solve(
        &mut self,
        backend: &CudaBackend,
        waiting: Waiting,
        r: &CudaVector<T>,
        z: &CudaVector<T>,
    ) -> Result<(), DeviceError> {
        match waiting {
            Waiting::RowByRow => return self.solve_row_by_row(backend, r, z),
            Waiting::WithinTiles => return self.solve_within_tiles(backend, r, z),
            Waiting::Launches => {}
        }
        let vectors = [r.address(), z.address()];
        let known = self.recordings.iter().position(|(of, _)| *of == vectors);
        let mut recording = match known {
            Some(at) => self.recordings.swap_remove(at).1,
            None => CudaRecording::default(),
        };
        let done = backend.record(&mut recording, || self.solve_by_launches(backend, r, z));
        if self.recordings.len() == RECORDINGS {
            self.recordings.remove(0);
        }
        self.recordings.push((vectors, recording));
        done
    }

    fn solve_vectors(&self) -> SolveVectors {
        SolveVectors { inverse: (&self.inverse).into(), w: (&self.w).into(), z: (&self.z).into() }
    }

    fn lower_arguments(&self, r: &CudaVector<T>) -> Vec<Argument> {
        let mut arguments = self.lower.arguments();
        arguments.extend(arguments![
            &self.lower_values,
            &*self.lower_rows,
            self.solve_vectors(),
            r
        ]);
        arguments
    }

    fn upper_arguments(&self, z: &CudaVector<T>) -> Vec<Argument> {
        let mut arguments = self.upper.arguments();
        arguments.extend(arguments![
            &self.upper_values,
            &*self.upper_rows,
            &self.inner,
            self.solve_vectors(),
            z
        ]);
        arguments
    }

    fn solve_row_by_row(
        &self,
        backend: &CudaBackend,
        r: &CudaVector<T>,
        z: &CudaVector<T>,
    ) -> Result<(), DeviceError> {
        let mut arguments = self.lower_arguments(r);
        let (kernel, shape, lanes) = self.lower.drawing(["lower_flags", "lower_slim"], WARP);
        arguments.push((&self.tickets).into());
        arguments.extend(lanes);
        backend.launch::<T>(Source::Triangular, kernel, shape, &arguments)?;
        let mut arguments = self.upper_arguments(z);
        let (kernel, shape, lanes) = self.upper.drawing(["upper_flags", "upper_slim"], WARP);
        arguments.push((&self.tickets).into());
        arguments.extend(lanes);
        backend.launch::<T>(Source::Triangular, kernel, shape, &arguments)
    }

    /// The rows are in natural order.
    fn solve_within_tiles(
        &self,
        backend: &CudaBackend,
        r: &CudaVector<T>,
        z: &CudaVector<T>,
    ) -> Result<(), DeviceError> {
        let mut arguments = self.lower.arguments();
        arguments.push((&self.lower_values).into());
        arguments.extend(self.upper.arguments());
        arguments.extend(arguments![&self.upper_values, &self.inverse, r, z]);
        let tiles = self.a.pattern.rows.div_ceil(ROW_TILE);
        let shape = LaunchShape {
            block: [32 * BLOCK_TILES as u32, 1, 1],
            ..LaunchShape::blocks(tiles.div_ceil(BLOCK_TILES))
        };
        backend.launch::<T>(Source::Triangular, "solve_row_tiles", shape, &arguments)
    }

    fn solve_by_launches(
        &self,
        backend: &CudaBackend,
        r: &CudaVector<T>,
        z: &CudaVector<T>,
    ) -> Result<(), DeviceError> {
        let kernel = (Source::Triangular, "lower_levels");
        self.lower.launch_levels::<T>(backend, kernel, &self.lower_arguments(r))?;
        let kernel = (Source::Triangular, "upper_levels");
        self.upper.launch_levels::<T>(backend, kernel, &self.upper_arguments(z))
    }
}
