//! Factors by rows: both triangles, their pivots, and the solves.

use super::eliminated::Eliminated;
use super::pattern::{link, slim};
use super::triangle::{Order, PIVOT_LANES, Side, Triangle, Waiting};
use crate::backend::cuda::algebra::CudaVector;
use crate::backend::cuda::backend::{CudaBackend, CudaRecording};
use crate::backend::cuda::device::{Address, Buffer};
use crate::backend::cuda::launch::constants::{BLOCK_TILES, ELIMINATION_LANES};
use crate::backend::cuda::launch::shared::{PivotRows, Pointer, SolveVectors};
use crate::backend::cuda::launch::{Argument, LaunchShape, Result, Source, WARP, arguments};
use crate::backend::{Backend, BadPivot, Incomplete, Real};
use crate::sparse::ROW_TILE;
use std::sync::Arc;

/// Pairs of vectors for which the launches of a solve are kept.
const RECORDINGS: usize = 8;

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
    lower: Triangle<T>,
    upper: Triangle<T>,
    /// Place in the lower order of each row of the upper one.
    inner: Buffer<u32>,
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
fn orders(backend: &CudaBackend, a: &Eliminated, sorting: Sorting) -> Result<[Order; 2]> {
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
    pub(super) fn new(
        backend: &CudaBackend,
        a: Arc<Eliminated>,
        kind: Incomplete,
        sorting: Sorting,
    ) -> Result<Self> {
        let (device, rows) = (&backend.device, a.pattern.rows);
        let [below, above] = orders(backend, &a, sorting)?;
        let lower = Triangle::new(backend, &a, Side::Lower, below)?;
        let upper = Triangle::new(backend, &a, Side::Upper, above)?;
        let inner = link(backend, &upper.order.rows, &lower.order.place)?;
        let diagonal = matches!(kind, Incomplete::Dilu | Incomplete::Dic);
        let zeros = |needed: bool, n: usize| needed.then(|| Buffer::zeros(device, n)).transpose();
        Ok(Self {
            copy: zeros(!diagonal || a.is_moved(), a.pattern.entries)?,
            inner,
            products: zeros(diagonal, lower.slices.capacity)?,
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
    pub(super) fn prepare_launches(&mut self) -> Result<()> {
        self.lower.prepare_launches()?;
        self.upper.prepare_launches()
    }

    pub(super) fn shares_rows(&self) -> bool {
        self.lower.lanes > 1
    }

    /// Levels of both triangles, if their rows are sorted by them.
    pub(super) fn depths(&self) -> Option<[usize; 2]> {
        Some([self.lower.order.depth()?, self.upper.order.depth()?])
    }

    /// Factors of a matrix with these values.
    pub(super) fn factor(
        &mut self,
        backend: &CudaBackend,
        values: &Buffer<T>,
        shift: f64,
        waiting: Waiting,
    ) -> Result<Option<BadPivot>> {
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
        bad.map(|row| self.bad_pivot(row)).transpose()
    }

    /// The factors that `other` has of a matrix with these values, in the order of this one.
    pub(super) fn adopt(
        &mut self,
        backend: &CudaBackend,
        other: &Self,
        values: &Buffer<T>,
    ) -> Result<()> {
        let values = other.eliminated(values);
        self.take_lower(backend, values, None)?;
        self.take_upper(backend, values)?;
        let places = link(backend, &self.lower.order.rows, &other.lower.order.place)?;
        let arguments = arguments![&places, &other.inverse, &self.inverse];
        backend.for_each::<T>(Source::Triangular, "take_values", places.len(), arguments)
    }

    /// The values that were eliminated last, where they are not A's own.
    pub(super) fn eliminated<'a>(&'a self, values: &'a Buffer<T>) -> &'a Buffer<T> {
        self.copy.as_ref().unwrap_or(values)
    }

    fn bad_pivot(&self, row: usize) -> Result<BadPivot> {
        let value = self.pivots.get(self.lower.order.place.get(row)? as usize)?;
        Ok(BadPivot { row: self.a.row_of_a(row)?, value: value.widen() })
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
    ) -> Result<()> {
        let slices = &self.lower.slices;
        let mut arguments = arguments![slices.lanes() as u32, &self.lower.order.rows];
        arguments.extend(arguments![self.a.shared(), values, slices.shared(), &self.lower.values]);
        arguments.push(products.map_or(0, Buffer::address).into());
        backend.launch::<T>(Source::Triangular, "take_lower", slices.shape_of_teams(), &arguments)
    }

    fn take_upper(&self, backend: &CudaBackend, values: &Buffer<T>) -> Result<()> {
        let slices = &self.upper.slices;
        let mut arguments = arguments![slices.lanes() as u32, &self.upper.order.rows];
        arguments.extend(arguments![&self.a.pattern.row_start, values]);
        arguments.extend(arguments![slices.shared(), &self.upper.values]);
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
    ) -> Result<()> {
        let mut arguments = self.lower.arguments(products);
        arguments.extend(arguments![&self.lower.order.rows, self.a.shared(), values]);
        arguments.extend(arguments![Argument::real(scale), self.pivot_rows(first)]);
        let kernels = ["dilu_levels", "dilu_flags", "dilu_slim"];
        self.lower.work(backend, waiting, kernels, arguments, (&self.tickets, PIVOT_LANES))
    }

    /// ILU(0) in place.
    fn eliminate(
        &self,
        backend: &CudaBackend,
        values: &Buffer<T>,
        scale: T,
        waiting: Waiting,
        first: Address,
    ) -> Result<()> {
        let Order { rows: order, place, .. } = &self.lower.order;
        let mut arguments = arguments![order, place, self.a.shared(), values];
        arguments.extend(arguments![Argument::real(scale), self.pivot_rows(first)]);
        if waiting == Waiting::Launches {
            let kernel = (Source::Gauss, "eliminate_levels");
            return self.lower.launch_levels(backend, kernel, &arguments);
        }
        let rows = self.a.pattern.rows;
        arguments.insert(0, (rows as u64).into());
        arguments.push((&self.tickets).into());
        let shape = slim(rows * ELIMINATION_LANES);
        backend.launch::<T>(Source::Gauss, "eliminate_flags", shape, &arguments)
    }

    pub(super) fn solve(
        &mut self,
        backend: &CudaBackend,
        waiting: Waiting,
        r: &CudaVector<T>,
        z: &CudaVector<T>,
    ) -> Result<()> {
        match waiting {
            Waiting::RowByRow => return self.solve_triangles(backend, waiting, r, z),
            Waiting::WithinTiles => return self.solve_within_tiles(backend, r, z),
            Waiting::Launches => {}
        }
        let vectors = [r.address(), z.address()];
        let known = self.recordings.iter().position(|(of, _)| *of == vectors);
        let mut recording = match known {
            Some(at) => self.recordings.swap_remove(at).1,
            None => CudaRecording::default(),
        };
        let done = backend.replay(&mut recording, || self.solve_triangles(backend, waiting, r, z));
        if self.recordings.len() == RECORDINGS {
            self.recordings.remove(0);
        }
        self.recordings.push((vectors, recording));
        done
    }

    fn solve_triangles(
        &self,
        backend: &CudaBackend,
        waiting: Waiting,
        r: &CudaVector<T>,
        z: &CudaVector<T>,
    ) -> Result<()> {
        let (inverse, w) = ((&self.inverse).into(), (&self.w).into());
        let vectors = SolveVectors { inverse, w, z: (&self.z).into() };
        let Self { lower, upper, tickets, .. } = self;
        let mut arguments = lower.arguments(&lower.values);
        arguments.extend(arguments![&lower.rows_of_a, vectors, r]);
        let kernels = ["lower_levels", "lower_flags", "lower_slim"];
        lower.work(backend, waiting, kernels, arguments, (tickets, WARP))?;
        let mut arguments = upper.arguments(&upper.values);
        arguments.extend(arguments![&upper.rows_of_a, &self.inner, vectors, z]);
        let kernels = ["upper_levels", "upper_flags", "upper_slim"];
        upper.work(backend, waiting, kernels, arguments, (tickets, WARP))
    }

    /// The rows are in natural order.
    fn solve_within_tiles(
        &self,
        backend: &CudaBackend,
        r: &CudaVector<T>,
        z: &CudaVector<T>,
    ) -> Result<()> {
        let mut arguments = self.lower.arguments(&self.lower.values);
        arguments.extend(self.upper.arguments(&self.upper.values));
        arguments.extend(arguments![&self.inverse, r, z]);
        let tiles = self.a.pattern.rows.div_ceil(ROW_TILE);
        let shape = LaunchShape::new(tiles.div_ceil(BLOCK_TILES), 32 * BLOCK_TILES as u32);
        backend.launch::<T>(Source::Triangular, "solve_row_tiles", shape, &arguments)
    }
}
