//! Factors by rows: both triangles, their pivots, and the solves.

use super::pattern::{EliminationPattern, link, slim};
use super::triangle::{FactorTriangle, PIVOT_LANES, RowOrder, Waiting, level_launches};
use crate::backend::cuda::algebra::CudaVector;
use crate::backend::cuda::backend::{CudaBackend, CudaRecording};
use crate::backend::cuda::device::Buffer;
use crate::backend::cuda::launch::constants::{BLOCK_TILES, ELIMINATION_LANES};
use crate::backend::cuda::launch::shared::{PivotRows, SolveVectors};
use crate::backend::cuda::launch::{
    Argument, Arguments, LaunchShape, Result, WARP, kernels, launch,
};
use crate::backend::error::check_lengths;
use crate::backend::{Backend, BadPivot, Incomplete, Real};
use crate::sparse::{ROW_TILE, Triangle};
use std::sync::Arc;

/// Pairs of vectors for which the launches of a solve are kept.
const RECORDINGS: usize = 8;

/// L, D and U by rows.
pub(crate) struct RowFactors<T> {
    pub(crate) kind: Incomplete,
    a: Arc<EliminationPattern>,
    /// The values that are eliminated, if they are not A's own.
    copy: Option<Buffer<T>>,
    lower: FactorTriangle<T>,
    upper: FactorTriangle<T>,
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

impl<T: Real> RowFactors<T> {
    /// Memory for the factors of `a`, their rows sorted by level or in natural order.
    pub(crate) fn new(
        backend: &CudaBackend,
        a: Arc<EliminationPattern>,
        kind: Incomplete,
        by_level: bool,
    ) -> Result<Self> {
        let (device, rows) = (&backend.device, a.pattern.rows);
        let order = if by_level { RowOrder::by_level } else { RowOrder::natural };
        let below = order(backend, &a, Triangle::Lower)?;
        let above = if by_level && a.is_matched(backend)? {
            below.turned(backend, &a)?
        } else {
            order(backend, &a, Triangle::Upper)?
        };
        let lower = FactorTriangle::new(backend, &a, Triangle::Lower, below)?;
        let upper = FactorTriangle::new(backend, &a, Triangle::Upper, above)?;
        let inner = link(backend, &upper.order.rows, &lower.order.place)?;
        let diagonal = kind.diagonal_only();
        let zeros = |needed: bool, n: usize| needed.then(|| Buffer::zeros(device, n)).transpose();
        Ok(Self {
            copy: zeros(!diagonal || a.source.is_some(), a.pattern.entries)?,
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
    pub(crate) fn prepare_launches(&mut self) -> Result<()> {
        for triangle in [&mut self.lower, &mut self.upper] {
            if let Some(starts) = &triangle.order.levels {
                triangle.launches = level_launches(&starts.to_host()?);
            }
        }
        Ok(())
    }

    /// Levels of both triangles, if their rows are sorted by them and a lane takes each.
    pub(super) fn levels(&self) -> Option<usize> {
        let levels = self.lower.order.depth()? + self.upper.order.depth()?;
        (self.lower.lanes == 1).then_some(levels)
    }

    /// Factors of a matrix with these values.
    pub(crate) fn factor(
        &mut self,
        backend: &CudaBackend,
        values: &Buffer<T>,
        shift: f64,
        waiting: Waiting,
    ) -> Result<Option<BadPivot>> {
        match (&self.copy, &self.a.source) {
            (Some(copy), Some(source)) => {
                launch!(backend => gather[T; copy.len()](source, values, copy))?;
            }
            (Some(copy), None) => copy.copy_from(values)?,
            _ => {}
        }
        let values = self.eliminated(values);
        self.tickets.clear()?;
        self.inverse.clear()?;
        // DILU needs the products of L and U before the pivots; ILU(0) changes the entries themselves.
        if self.products.is_some() {
            self.lower.take(backend, &self.a, values, self.products.as_ref())?;
        }
        let bad = backend.own_first_index(|first| {
            let positive = u64::from(self.kind.symmetric());
            let (pivots, inverse) = ((&self.pivots).into(), (&self.inverse).into());
            let to = PivotRows { pivots, inverse, first, positive };
            let scale = Argument::real(T::narrow(1.0 + shift));
            self.pivots(backend, waiting, (self.a.shared(), values, scale, to))
        })?;
        if self.products.is_none() {
            self.lower.take(backend, &self.a, values, None)?;
        }
        self.upper.take(backend, &self.a, values, None)?;
        // Nothing is left of a solve that was not finished.
        self.tickets.clear()?;
        self.w.clear()?;
        self.z.clear()?;
        let Some(row) = bad else { return Ok(None) };
        let value = self.pivots.get(self.lower.order.place.get(row)? as usize)?;
        Ok(Some(BadPivot { row: self.a.row_of_a(row)?, value: value.widen() }))
    }

    /// D of DILU, or ILU(0) in place: `own` are the last arguments of both.
    fn pivots(&self, backend: &CudaBackend, waiting: Waiting, own: impl Arguments) -> Result<()> {
        let RowOrder { rows: order, place, .. } = &self.lower.order;
        if let Some(products) = &self.products {
            let arguments = (self.lower.arguments(products), order, own);
            let kernels = [kernels::dilu_levels, kernels::dilu_flags, kernels::dilu_slim];
            let tickets = (&self.tickets, PIVOT_LANES);
            return self.lower.work(backend, waiting, kernels, arguments, tickets);
        }
        let arguments = (order, place, own);
        if waiting == Waiting::Launches {
            let arguments = arguments.list();
            return self.lower.launch_levels(backend, kernels::eliminate_levels, &arguments);
        }
        let rows = self.a.pattern.rows;
        let shape = slim(rows * ELIMINATION_LANES);
        launch!(backend => eliminate_flags[T, shape](rows as u64, arguments, &self.tickets))
    }

    /// The factors that `other` has of a matrix with these values, in the order of this one.
    pub(super) fn adopt(
        &mut self,
        backend: &CudaBackend,
        other: &Self,
        values: &Buffer<T>,
    ) -> Result<()> {
        let values = other.eliminated(values);
        self.lower.take(backend, &self.a, values, None)?;
        self.upper.take(backend, &self.a, values, None)?;
        let places = link(backend, &self.lower.order.rows, &other.lower.order.place)?;
        launch!(backend => gather[T; places.len()](&places, &other.inverse, &self.inverse))
    }

    /// The values that were eliminated last, where they are not A's own.
    pub(super) fn eliminated<'a>(&'a self, values: &'a Buffer<T>) -> &'a Buffer<T> {
        self.copy.as_ref().unwrap_or(values)
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
        let recording = known.map(|at| self.recordings.swap_remove(at).1);
        let mut recording = recording.unwrap_or_default();
        let done = backend.replay(&mut recording, || self.solve_triangles(backend, waiting, r, z));
        if self.recordings.len() == RECORDINGS {
            self.recordings.remove(0);
        }
        self.recordings.push((vectors, recording));
        done
    }

    pub(crate) fn solve_triangles(
        &self,
        backend: &CudaBackend,
        waiting: Waiting,
        r: &CudaVector<T>,
        z: &CudaVector<T>,
    ) -> Result<()> {
        check_lengths(self.a.pattern.rows, [r.len(), z.len()])?;
        let (inverse, w) = ((&self.inverse).into(), (&self.w).into());
        let vectors = SolveVectors { inverse, w, z: (&self.z).into() };
        let Self { lower, upper, tickets, .. } = self;
        let arguments = (lower.arguments(&lower.values), &lower.rows_of_a, vectors, r);
        let kernels = [kernels::lower_levels, kernels::lower_flags, kernels::lower_slim];
        lower.work(backend, waiting, kernels, arguments, (tickets, WARP))?;
        let arguments = (upper.arguments(&upper.values), &upper.rows_of_a, &self.inner, vectors, z);
        let kernels = [kernels::upper_levels, kernels::upper_flags, kernels::upper_slim];
        upper.work(backend, waiting, kernels, arguments, (tickets, WARP))
    }

    /// The rows are in natural order.
    fn solve_within_tiles(
        &self,
        backend: &CudaBackend,
        r: &CudaVector<T>,
        z: &CudaVector<T>,
    ) -> Result<()> {
        check_lengths(self.a.pattern.rows, [r.len(), z.len()])?;
        let Self { lower, upper, inverse, .. } = self;
        let (below, above) = (lower.arguments(&lower.values), upper.arguments(&upper.values));
        let tiles = self.a.pattern.rows.div_ceil(ROW_TILE);
        let shape = LaunchShape::new(tiles.div_ceil(BLOCK_TILES), 32 * BLOCK_TILES as u32);
        launch!(backend => solve_row_tiles[T, shape](below, above, inverse, r, z))
    }
}
