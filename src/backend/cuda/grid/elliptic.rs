//! The grid equations on the CUDA backend.

use super::march::CudaGrid;
use crate::backend::cuda::algebra::{CudaMatrix, CudaVector, sum};
use crate::backend::cuda::backend::CudaBackend;
use crate::backend::cuda::comm::Halo;
use crate::backend::cuda::device::{Buffer, GRANTED};
use crate::backend::cuda::launch::shared::EllipticState;
use crate::backend::cuda::launch::{Argument, LaunchShape, Result, Source, arguments};
use crate::backend::elliptic::wrap;
use crate::backend::{CellGuard, EllipticBackend, EllipticData, GridBackend, Real, Scaling};
use crate::grid::{Grid, Topology};
use crate::pde::EllipticSettings;

/// Threads of the block that solves the wall's reduced system.
const WALL_THREADS: u32 = 512;

/// State of the grid equations on a GPU.
pub struct CudaElliptic {
    pub(crate) mi: usize,
    pub(crate) mj: usize,
    pub(crate) periodic: bool,
    pub(crate) x: Buffer<f64>,
    pub(crate) y: Buffer<f64>,
    pub(crate) control_p: Buffer<f64>,
    pub(crate) control_q: Buffer<f64>,
    pub(crate) wall: Option<Wall>,
    pub(crate) row_weights: Buffer<f64>,
    pub(crate) merit_weights: Buffer<f64>,
    /// Columns of the neighbouring bands, on several ranks.
    pub(crate) halo: Option<Halo<f64>>,
}

/// The wall terms: their decay and their amplitudes (p_i, q_i), interleaved.
pub(crate) struct Wall {
    pub(crate) phi: Buffer<f64>,
    pub(crate) psi: Buffer<f64>,
    pub(crate) amplitudes: Buffer<f64>,
}

impl CudaElliptic {
    pub(crate) fn points(&self) -> usize {
        self.mi * self.mj
    }

    /// The first arguments of most kernels.
    pub(super) fn size(&self) -> Vec<Argument> {
        arguments![self.mi as u32, self.mj as u32]
    }

    /// Coordinates, control functions and wall terms.
    fn shared(&self) -> EllipticState {
        let wall = self.wall.as_ref();
        EllipticState {
            x: (&self.x).into(),
            y: (&self.y).into(),
            control_p: (&self.control_p).into(),
            control_q: (&self.control_q).into(),
            phi: wall.map(|wall| &wall.phi).into(),
            psi: wall.map(|wall| &wall.psi).into(),
            amplitudes: wall.map(|wall| &wall.amplitudes).into(),
        }
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
        if grid.topology.closed() {
            let state = self.ring_equations(grid, normals, settings)?;
            let guess = self.first_guess(&state)?;
            Ok((state, guess))
        } else {
            // The kernels know rings alone: the data of a C-grid are made on the host.
            let mut host = Grid::new(grid.topology, grid.ni, grid.nj);
            self.fetch(grid, &mut host)?;
            self.elliptic(EllipticData::new(&host, normals, settings))
        }
    }

    fn elliptic(&self, mut data: EllipticData) -> Result<(CudaElliptic, CudaVector<f64>)> {
        let from = |host: &[f64]| Buffer::from_host(&self.device, host);
        let zeros = |n: usize| Buffer::zeros(&self.device, n);
        let points = data.mi * data.mj;
        let wall = data.wall.as_ref().map(|wall| -> Result<_> {
            let (phi, psi) = (from(&wall.phi)?, from(&wall.psi)?);
            Ok(Wall { phi, psi, amplitudes: zeros(2 * data.mi)? })
        });
        if data.periodic {
            let rows = data.x.chunks_mut(data.mi + 2).chain(data.y.chunks_mut(data.mi + 2));
            rows.for_each(wrap);
        }
        let halo = self.ranks.as_ref().map(|_| Halo::new(&self.device, 2 * (data.mj + 2)));
        let state = CudaElliptic {
            mi: data.mi,
            mj: data.mj,
            periodic: data.periodic,
            x: from(&data.x)?,
            y: from(&data.y)?,
            control_p: from(&data.control_p)?,
            control_q: from(&data.control_q)?,
            wall: wall.transpose()?,
            row_weights: zeros(points)?,
            merit_weights: zeros(points)?,
            halo: halo.transpose()?,
        };
        let guess = self.first_guess(&state)?;
        Ok((state, guess))
    }

    fn load_state(&self, state: &mut CudaElliptic, u: &CudaVector<f64>) -> Result<()> {
        let amplitudes = state.wall.as_ref().map(|wall| &wall.amplitudes);
        let (own, coupled) = (self.own_grid(state), u32::from(amplitudes.is_some()));
        let arguments = arguments![own, coupled, u, &state.x, &state.y, amplitudes];
        let shape = LaunchShape::threads(state.points());
        self.launch::<f64>(Source::Elliptic, "load_state", shape, &arguments)?;
        self.refresh_frame(state)
    }

    fn residual(
        &self,
        state: &mut CudaElliptic,
        scaling: Scaling,
        f: &mut CudaVector<f64>,
    ) -> Result<f64> {
        let (renewed, weights) = (u32::from(scaling == Scaling::Renewed), &state.row_weights);
        let arguments =
            arguments![state.size(), state.shared(), renewed, weights, &state.merit_weights, &*f];
        let points = state.points();
        let [square] =
            self.reduce::<f64, 1>(Source::Elliptic, "residual", points, &arguments, sum)?;
        let columns = self.ranks.as_ref().map_or(state.mi, |ranks| ranks.bands.columns());
        Ok((square / (2 * columns * state.mj) as f64).sqrt())
    }

    fn jacobian<T: Real>(
        &self,
        state: &CudaElliptic,
        a: &mut CudaMatrix<T>,
        b: Option<&mut CudaMatrix<T>>,
    ) -> Result<()> {
        let own = self.own_grid(state);
        let arguments = arguments![own, state.shared(), &state.row_weights, &a.values];
        let shape = LaunchShape::threads(state.points());
        self.launch::<T>(Source::Elliptic, "jacobian", shape, &arguments)?;
        let (Some(_), Some(b)) = (&state.wall, b) else { return Ok(()) };
        let arguments = arguments![state.size(), state.shared(), &state.row_weights, &b.values];
        self.launch::<T>(Source::Elliptic, "wall_columns", shape, &arguments)
    }

    fn cell_guard(&self, state: &CudaElliptic) -> Result<CellGuard> {
        // The first column of cells of a closed frame repeats the last one, and that of a band is
        // the last one of the band before it.
        let counted = self.ranks.as_ref().map_or(state.periodic, |ranks| ranks.neighbours[0]);
        let arguments = arguments![state.size(), u32::from(counted), &state.x, &state.y];
        let [folded, min_area] = self.reduce::<f64, 2>(
            Source::Elliptic,
            "cell_guard",
            state.points(),
            &arguments,
            |k, a, b| if k == 0 { a + b } else { a.min(b) },
        )?;
        Ok(CellGuard { folded: folded as usize, min_area })
    }

    fn nodes(&self, state: CudaElliptic, topology: Topology) -> Result<CudaGrid> {
        let (stride, nj) = (state.mi + 2, state.mj + 2);
        if !state.periodic {
            // The frame of a held seam is the grid.
            return Ok(CudaGrid { topology, ni: stride, nj, x: state.x, y: state.y });
        }
        // That of a periodic one has a node more at the start of its rows.
        let ni = stride - 1;
        let cut = |nodes| self.cut(nodes, stride, (1, ni), nj);
        Ok(CudaGrid { topology, ni, nj, x: cut(&state.x)?, y: cut(&state.y)? })
    }

    fn store_grid(&self, state: &CudaElliptic, grid: &mut Grid) -> Result<()> {
        let stride = state.mi + 2;
        let ([before, after], first, periodic) = match &self.ranks {
            Some(ranks) => {
                (ranks.neighbours, ranks.bands.nodes(ranks.rank).start, ranks.bands.periodic())
            }
            None => ([state.periodic; 2], 0, state.periodic),
        };
        // Frame columns kept: the band's own and a held seam at its end.
        let kept = usize::from(before)..stride - usize::from(after);
        for (from, to) in [(&state.x, &mut grid.x), (&state.y, &mut grid.y)] {
            if from.len() == to.len() {
                // A held frame is the grid.
                from.download(to)?;
                continue;
            }
            for (from, to) in from.to_host()?.chunks(stride).zip(to.chunks_mut(grid.ni)) {
                to[first..first + kept.len()].copy_from_slice(&from[kept.clone()]);
                // A periodic seam is one line: its copy is bit for bit the same.
                if first == 0 && periodic {
                    to[grid.ni - 1] = to[0];
                }
            }
        }
        Ok(())
    }

    fn factor_wall_blocks<T: Real>(
        &self,
        walls: usize,
        responses: [&CudaVector<T>; 4],
        s: &mut CudaVector<T>,
    ) -> Result<Option<usize>> {
        let arguments = arguments![walls as u32, responses.map(Argument::from).to_vec(), &*s];
        let shape = LaunchShape::new(1, 32);
        self.find_first::<T>(Source::Wall, "factor_wall", shape, &arguments, 1)
    }

    fn solve_wall_blocks<T: Real>(
        &self,
        walls: usize,
        s: &CudaVector<T>,
        z: &CudaVector<T>,
        d: &mut CudaVector<T>,
    ) -> Result<()> {
        d.clear()?;
        let arguments = arguments![walls as u32, s, z, &*d];
        // A chunk's affine map: a 2×2 block and a pair, aligned like the block.
        let shared = WALL_THREADS * (6 * size_of::<T>()).next_multiple_of(16) as u32;
        let shape = LaunchShape { shared, ..LaunchShape::new(1, WALL_THREADS) };
        self.launch::<T>(Source::Wall, "solve_wall", shape, &arguments)
    }

    fn copy_wall<T: Real>(
        &self,
        walls: usize,
        d: &CudaVector<T>,
        z: &mut CudaVector<T>,
    ) -> Result<()> {
        self.device.copy(GRANTED, d.address(), z.address(), 2 * walls * size_of::<T>())
    }
}

impl CudaBackend {
    /// The arguments by which a kernel knows the place of a row.
    fn own_grid(&self, state: &CudaElliptic) -> Vec<Argument> {
        self.grid_arguments(state.mi, state.mj, state.periodic)
    }

    /// Exchanges the outer columns of the frame with the neighbouring bands.
    fn refresh_frame(&self, state: &CudaElliptic) -> Result<()> {
        let (Some(ranks), Some(halo)) = (&self.ranks, &state.halo) else { return Ok(()) };
        let shape = LaunchShape::threads(2 * (state.mj + 2));
        let arguments = arguments![state.size(), &state.x, &state.y, &halo.sent];
        self.launch::<f64>(Source::Elliptic, "pack_frame", shape, &arguments)?;
        halo.exchange(ranks, ranks.neighbours)?;
        let (size, edges) = (state.size(), ranks.edges());
        let arguments = arguments![size, edges, &halo.received, &state.x, &state.y];
        self.launch::<f64>(Source::Elliptic, "unpack_frame", shape, &arguments)
    }
}
