//! The grid equations on the CUDA backend.

use super::nodes::{Columns, CudaGrid, first_line};
use crate::backend::cuda::algebra::{CudaMatrix, CudaVector};
use crate::backend::cuda::backend::CudaBackend;
use crate::backend::cuda::comm::Halo;
use crate::backend::cuda::device::Buffer;
use crate::backend::cuda::launch::constants::WALL_SUMS;
use crate::backend::cuda::launch::shared::{EquationState, ExchangedColumns, Pointer, WallState};
use crate::backend::cuda::launch::{LaunchShape, Result, WARP, kernels, launch};
use crate::backend::elliptic::WALL_ENTRIES;
use crate::backend::error::{check_length, check_room};
use crate::backend::{
    DeviceError, EllipticBackend, EllipticData, Evaluation, GridBackend, LevelSize, Real, Receivers,
};
use crate::grid::quality::larger;
use crate::grid::{Grid, Seam, Topology};
use crate::pde::{EllipticSettings, WallTerms, moved};
use crate::sparse::{EllPattern, WalledSides};
use std::ops::Range;
use std::sync::Arc;

/// Threads of the block that solves the wall's reduced system.
const WALL_THREADS: u32 = 512;

/// State of the grid equations on a GPU.
pub struct CudaElliptic {
    /// Size of its unknown points.
    pub(super) size: LevelSize,
    pub(super) frame: CudaGrid,
    /// y of a closed line's column beyond its end less that at its other end: [`EllipticData::shift`].
    pub(super) shift: f64,
    /// Shared with the state of the same equations at other nodes.
    pub(super) terms: Arc<FixedTerms>,
    /// Amplitudes (p, q) of the wall terms of the sides, interleaved.
    amplitudes: [Option<Buffer<f64>>; 4],
    /// Weights of the merit, those of the last residual and those that are kept.
    pub(crate) merit_weights: [Buffer<f64>; 2],
    /// Columns of the neighbouring bands, on several ranks.
    pub(crate) halo: Option<Halo<f64>>,
}

/// Terms that do not depend on the nodes: P0 and Q0, and the decay φ, ψ of the wall terms of the sides.
pub(super) struct FixedTerms {
    pub(super) control: [Buffer<f64>; 2],
    pub(super) walls: [Option<[Buffer<f64>; 2]>; 4],
}

impl CudaElliptic {
    pub(crate) fn points(&self) -> usize {
        self.size.mi * self.size.mj
    }

    /// The first arguments of most kernels.
    pub(super) fn extents(&self) -> [u32; 2] {
        [self.size.mi as u32, self.size.mj as u32]
    }

    /// Coordinates, control functions and wall terms.
    pub(super) fn shared(&self) -> EquationState {
        let FixedTerms { control, walls } = &*self.terms;
        let [control_p, control_q] = control.each_ref().map(Pointer::from);
        let wall = |side: usize| {
            let [phi, psi] = [0, 1].map(|k| walls[side].as_ref().map(|decay| &decay[k]).into());
            WallState { phi, psi, amplitudes: self.amplitudes[side].as_ref().into() }
        };
        let [x, y] = self.frame.nodes().map(Pointer::from);
        let walls = std::array::from_fn(wall);
        EquationState { x, y, control_p, control_q, walls }
    }
}

impl EllipticBackend for CudaBackend {
    type Elliptic = CudaElliptic;

    fn equations(
        &self,
        grid: &CudaGrid,
        normals: &[[f64; 2]],
        settings: &EllipticSettings,
    ) -> Result<(CudaElliptic, CudaVector<f64>)> {
        if settings.walled_sides().has_others() {
            // The grid of a domain has been made on the host.
            let Columns { topology, ni, .. } = grid.columns;
            let mut whole = Grid::new(topology, ni, grid.nj);
            self.gather(grid, Receivers::All, Some(&mut whole))?;
            return self.elliptic(&EllipticData::new(&whole, normals, settings));
        }
        self.with_first_guess(self.grid_equations(grid, normals, settings)?)
    }

    fn elliptic(&self, data: &EllipticData) -> Result<(CudaElliptic, CudaVector<f64>)> {
        let EllipticData { mi, mj, periodic, shift, .. } = *data;
        let walls = data.walled_sides();
        if (walls.has_beside() && self.ranks.is_some()) || (walls.has_others() && !walls.0[0]) {
            return Err(DeviceError::OtherWalls);
        }
        if shift != 0.0 && self.ranks.is_some() {
            return Err(DeviceError::Shifted);
        }
        let (stride, outer) = (mi + 2, usize::from(periodic));
        let (ni, seam) = (stride - outer, if periodic { Seam::Periodic } else { Seam::Held });
        // Unknown columns of this device, of which I is column I + 1 of the frame.
        let own = self.ranks.as_ref().map_or(0..mi, |ranks| ranks.bands.of(ranks.rank));
        let size = LevelSize { mi: own.len(), mj, periodic: periodic && self.ranks.is_none() };
        // The outer columns of a periodic frame are the opposite unknown ones, a shift away.
        let at = |row: &[f64], i: usize, shift: f64| match i {
            0 if periodic => moved(row[mi], -shift),
            i if periodic && i == mi + 1 => moved(row[1], shift),
            i => row[i],
        };
        let frame = |values: &[f64], shift: f64| {
            let columns = |row| (own.start..own.end + 2).map(move |i| at(row, i, shift));
            let part: Vec<f64> = values.chunks(stride).flat_map(columns).collect();
            Buffer::from_host(&self.device, &part)
        };
        let inner = |values: &[f64]| {
            let part: Vec<f64> =
                values.chunks(mi).flat_map(|row| &row[own.clone()]).copied().collect();
            Buffer::from_host(&self.device, &part)
        };
        let on_line = |nodes: &[f64], shift: f64| -> Vec<f64> {
            (outer..stride).map(|i| at(&nodes[..stride], i, shift)).collect()
        };
        let line = first_line(Topology::O(seam), &on_line(&data.x, 0.0), &on_line(&data.y, shift));
        let terms = |wall: &WallTerms| -> Result<_> { Ok([inner(&wall.phi)?, inner(&wall.psi)?]) };
        let [below, above, before, behind] =
            data.walls.each_ref().map(|wall| wall.as_ref().map(terms).transpose());
        let terms = FixedTerms {
            control: [inner(&data.control_p)?, inner(&data.control_q)?],
            walls: [below?, above?, before?, behind?],
        };
        let all = Columns::all(line.topology, ni, self.ranks.as_ref());
        let (first, count) = (own.start.cast_signed() - outer.cast_signed(), size.mi + 2);
        let columns = Columns { first, count, ..all };
        let (x, y) = (frame(&data.x, 0.0)?, frame(&data.y, shift)?);
        let frame = CudaGrid { columns, nj: mj + 2, line, x, y };
        let state = self.state(size, frame, Arc::new(terms))?;
        self.with_first_guess(CudaElliptic { shift, ..state })
    }

    fn size(&self, state: &CudaElliptic) -> LevelSize {
        state.size
    }

    fn walls(&self, state: &CudaElliptic) -> WalledSides {
        WalledSides(state.amplitudes.each_ref().map(Option::is_some))
    }

    fn load_state(&self, state: &mut CudaElliptic, u: &CudaVector<f64>) -> Result<()> {
        check_length(u.len(), state.size.values())?;
        let own = self.grid_arguments(state.size);
        launch!(self => load_state[f64, LaunchShape::threads(state.points())](own, state.shift,
            state.shared(), u))?;
        // Neighbouring bands have the outer columns of the frame.
        let (Some(ranks), Some(halo)) = (&self.ranks, &state.halo) else { return Ok(()) };
        let [mi, mj, edges] = own;
        let of = ExchangedColumns {
            x: (&state.frame.x).into(),
            y: (&state.frame.y).into(),
            row: u64::from(mi) + 2,
            step: 1,
            own: [1, mi],
            ghosts: [0, mi + 1],
            planes: 1,
            rows: mj + 2,
            edges,
            ..ExchangedColumns::default()
        };
        self.exchange_columns(halo, ranks.neighbours, of)
    }

    fn upload_unknowns(&self, whole: &[f64], u: &mut CudaVector<f64>) -> Result<()> {
        match &self.ranks {
            Some(ranks) => u.upload(&ranks.bands.part_of_state(ranks.rank, whole)),
            None => u.upload(whole),
        }
    }

    fn gather_unknowns(
        &self,
        u: &CudaVector<f64>,
        receivers: Receivers,
        whole: Option<&mut [f64]>,
    ) -> Result<()> {
        let Some(ranks) = &self.ranks else {
            return whole.map_or(Ok(()), |whole| u.download(whole));
        };
        let whole = whole.unwrap_or_default();
        let doubled = |columns: Range<usize>| 2 * columns.start..2 * columns.end;
        let columns: Vec<_> = (0..ranks.size).map(|rank| doubled(ranks.bands.of(rank))).collect();
        let (own, row) = (columns[ranks.rank].len(), 2 * ranks.bands.columns());
        let of = (&[u][..], (u.len() / own, own), 0);
        self.gather_lines(ranks, of, &columns, receivers, |_, line, columns, values| {
            whole[line * row..][columns].copy_from_slice(values);
        })
    }

    fn residual(&self, state: &mut CudaElliptic, f: &mut CudaVector<f64>) -> Result<Evaluation> {
        check_length(f.len(), state.size.values())?;
        let [merits, kept] = &state.merit_weights;
        // The first column of cells of a closed frame repeats the last one, and that of a band is
        // the last one of the band before it.
        let counted = self.ranks.as_ref().map_or(state.size.periodic, |ranks| ranks.neighbours[0]);
        let of = (state.extents(), u32::from(counted), state.shared(), merits, kept, &*f);
        let combine = |k, a: f64, b| match k {
            0 => larger(a, b),
            4 => a.min(b),
            _ => a + b,
        };
        let [largest, own, kept, folded, min_area] =
            self.reduce::<f64, _>(kernels::residual, state.points(), of, combine)?;
        let columns = self.ranks.as_ref().map_or(state.size.mi, |ranks| ranks.bands.columns());
        let merit = |square: f64| (square / (2 * columns * state.size.mj) as f64).sqrt();
        let (merit, kept_merit) = (merit(own), merit(kept));
        Ok(Evaluation { merit, kept_merit, largest, folded: folded as usize, min_area })
    }

    fn keep_weights(&self, state: &mut CudaElliptic) {
        state.merit_weights.reverse();
    }

    fn jacobian<T: Real>(
        &self,
        state: &CudaElliptic,
        a: &mut CudaMatrix<T>,
        b: Option<&mut CudaMatrix<T>>,
    ) -> Result<()> {
        state.size.check_matrices(a.pattern, b.as_ref().map(|b| b.pattern))?;
        // A Newton step begins.
        self.device.align()?;
        let shape = LaunchShape::threads(state.points());
        let of = (state.shared(), &a.values);
        match a.pattern {
            EllPattern::TenNumbers(_) => {
                launch!(self => jacobian_by_ten_numbers[T, shape](state.extents(), of))?;
            }
            _ => launch!(self => jacobian[T, shape](self.grid_arguments(state.size), of))?,
        }
        let (Some(_), Some(b)) = (&state.amplitudes[0], b) else { return Ok(()) };
        launch!(self => wall_columns[T, shape](state.extents(), state.shared(), &b.values))
    }

    fn nodes(&self, state: CudaElliptic, topology: Topology) -> Result<CudaGrid> {
        let mut frame = state.frame;
        frame.columns.topology = topology;
        if frame.columns.first == 0 || self.ranks.is_some() {
            return Ok(frame);
        }
        // The frame of a periodic grid has one more column at its start.
        let all = Columns::all(topology, frame.columns.ni, None);
        let [x, y] = self.cut_grid(&frame, &all.own)?;
        Ok(CudaGrid { columns: all, x, y, ..frame })
    }

    fn clear_walls<T: Real>(
        &self,
        walls: WalledSides,
        LevelSize { mi, mj, .. }: LevelSize,
        x: &mut CudaVector<T>,
    ) -> Result<()> {
        check_length(x.len(), 2 * mi * mj)?;
        launch!(self => clear_walls[T, LaunchShape::threads(mi * mj)](mi as u32, mj as u32,
            walls.bits(), &*x))
    }

    fn wall_sums<T: Real>(
        &self,
        b: &CudaMatrix<T>,
        x: &CudaVector<T>,
        g: &mut CudaVector<T>,
    ) -> Result<()> {
        let EllPattern::WallColumns(LevelSize { mi, mj, .. }, walls) = b.pattern else {
            return Ok(());
        };
        let needed = if walls.has_others() { b.pattern.rows() } else { 2 * mi };
        check_room(b.pattern.rows(), [x.len()])?;
        check_room(needed, [g.len()])?;
        let lines = if walls.has_beside() { mi.max(mj) } else { mi };
        let mut shape = LaunchShape::new(lines.div_ceil(WARP), (WALL_SUMS * WARP) as u32);
        shape.grid[1] = walls.sides().count() as u32;
        launch!(self => sum_wall_columns[T, shape](mi as u32, mj as u32, walls.bits(), &b.values, x,
            &*g))
    }

    fn factor_wall_blocks<T: Real>(
        &self,
        walls: usize,
        responses: [&CudaVector<T>; 4],
        s: &mut CudaVector<T>,
    ) -> Result<Option<usize>> {
        check_room(2 * walls, responses.map(Buffer::len))?;
        check_room(WALL_ENTRIES * walls, [s.len()])?;
        let shape = LaunchShape::new(1, 32);
        self.find_first::<T>(kernels::factor_wall, shape, (walls as u32, responses, &*s), 1)
    }

    fn solve_wall_blocks<T: Real>(
        &self,
        walls: usize,
        s: &CudaVector<T>,
        z: &CudaVector<T>,
        d: &mut CudaVector<T>,
    ) -> Result<()> {
        check_room(2 * walls, [z.len(), d.len()])?;
        check_room(WALL_ENTRIES * walls, [s.len()])?;
        d.clear()?;
        // A chunk's affine map: a 2×2 block and a pair, aligned like the block.
        let shared = WALL_THREADS * (6 * size_of::<T>()).next_multiple_of(16) as u32;
        launch!(self => solve_wall[T, LaunchShape { shared, ..LaunchShape::new(1, WALL_THREADS) }](
            walls as u32, s, z, &*d))
    }

    fn copy_points<T: Real>(
        &self,
        points: usize,
        (d, from): (&CudaVector<T>, usize),
        (z, to): (&mut CudaVector<T>, usize),
    ) -> Result<()> {
        z.copy_part(2 * to, (d, 2 * from), 2 * points)
    }
}

impl CudaBackend {
    /// A state of the unknown points of this size.
    pub(super) fn state(
        &self,
        size: LevelSize,
        frame: CudaGrid,
        terms: Arc<FixedTerms>,
    ) -> Result<CudaElliptic> {
        let zeros = |n: usize| Buffer::zeros(&self.device, n);
        let LevelSize { mi, mj, .. } = size;
        let amplitudes = |wall: Option<_>| wall.map(|_| zeros(2 * mi.max(mj))).transpose();
        let [below, above, before, behind] =
            terms.walls.each_ref().map(|wall| amplitudes(wall.as_ref()));
        let halo = self.ranks.as_ref().map(|_| Halo::new(&self.device, 2 * (mj + 2)));
        Ok(CudaElliptic {
            size,
            frame,
            shift: 0.0,
            terms,
            amplitudes: [below?, above?, before?, behind?],
            merit_weights: [Buffer::unset(&self.device, mi * mj)?, zeros(mi * mj)?],
            halo: halo.transpose()?,
        })
    }
}
