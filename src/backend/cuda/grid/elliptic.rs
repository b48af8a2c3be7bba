//! The grid equations on the CUDA backend.

use super::march::CudaGrid;
use crate::backend::cuda::algebra::{CudaMatrix, CudaVector, sum};
use crate::backend::cuda::backend::CudaBackend;
use crate::backend::cuda::comm::{Halo, RankContext};
use crate::backend::cuda::device::{Buffer, GRANTED};
use crate::backend::cuda::launch::shared::{EllipticState, Pointer};
use crate::backend::cuda::launch::{Argument, LaunchShape, Result, Source, arguments};
use crate::backend::elliptic::{store_frame, wrap};
use crate::backend::{CellGuard, EllipticBackend, EllipticData, Real, Scaling};
use crate::grid::{Grid, Topology};
use crate::pde::EllipticSettings;

/// Threads of the block that solves the wall's reduced system.
const WALL_THREADS: u32 = 512;
/// Bytes of a chunk's affine map: a 2×2 block and a pair, aligned like the block.
const fn affine_bytes<T>() -> u32 {
    let bytes = 6 * size_of::<T>();
    bytes.next_multiple_of(16) as u32
}

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

    /// Coordinates, control functions and wall terms.
    fn shared(&self) -> EllipticState {
        let wall = |values: fn(&Wall) -> &Buffer<f64>| {
            self.wall.as_ref().map_or(Pointer::NULL, |wall| values(wall).into())
        };
        EllipticState {
            x: (&self.x).into(),
            y: (&self.y).into(),
            control_p: (&self.control_p).into(),
            control_q: (&self.control_q).into(),
            phi: wall(|wall| &wall.phi),
            psi: wall(|wall| &wall.psi),
            amplitudes: wall(|wall| &wall.amplitudes),
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
            self.elliptic(&EllipticData::new(&grid.to_host()?, normals, settings))
        }
    }

    fn elliptic(&self, data: &EllipticData) -> Result<(CudaElliptic, CudaVector<f64>)> {
        let from = |host: &[f64]| Buffer::from_host(&self.device, host);
        let zeros = |n: usize| Buffer::zeros(&self.device, n);
        let points = data.mi * data.mj;
        let wall = match &data.wall {
            Some(wall) => Some(Wall {
                phi: from(&wall.phi)?,
                psi: from(&wall.psi)?,
                amplitudes: zeros(2 * data.mi)?,
            }),
            None => None,
        };
        let (mut x, mut y) = (data.x.clone(), data.y.clone());
        if data.periodic {
            x.chunks_mut(data.mi + 2).chain(y.chunks_mut(data.mi + 2)).for_each(wrap);
        }
        let halo = match &self.ranks {
            Some(_) => Some(Halo::new(&self.device, 2 * (data.mj + 2))?),
            None => None,
        };
        let state = CudaElliptic {
            mi: data.mi,
            mj: data.mj,
            periodic: data.periodic,
            x: from(&x)?,
            y: from(&y)?,
            control_p: from(&data.control_p)?,
            control_q: from(&data.control_q)?,
            wall,
            row_weights: zeros(points)?,
            merit_weights: zeros(points)?,
            halo,
        };
        let guess = self.first_guess(&state)?;
        Ok((state, guess))
    }

    fn load_state(&self, state: &mut CudaElliptic, u: &CudaVector<f64>) -> Result<()> {
        let mut arguments = self.grid_arguments(state.mi, state.mj, state.periodic);
        let amplitudes = state.wall.as_ref().map(|wall| &wall.amplitudes);
        arguments.extend(arguments![
            u32::from(amplitudes.is_some()),
            u,
            &state.x,
            &state.y,
            amplitudes.map_or(Argument::from(0_u64), Argument::from),
        ]);
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
        let arguments = arguments![
            state.mi as u32,
            state.mj as u32,
            state.shared(),
            u32::from(scaling == Scaling::Renewed),
            &state.row_weights,
            &state.merit_weights,
            &*f,
        ];
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
        let mut arguments = self.grid_arguments(state.mi, state.mj, state.periodic);
        arguments.extend(arguments![state.shared(), &state.row_weights, &a.values]);
        let shape = LaunchShape::threads(state.points());
        self.launch::<T>(Source::Elliptic, "jacobian", shape, &arguments)?;
        let (Some(_), Some(b)) = (&state.wall, b) else { return Ok(()) };
        let arguments = arguments![
            state.mi as u32,
            state.mj as u32,
            state.shared(),
            &state.row_weights,
            &b.values,
        ];
        self.launch::<T>(Source::Elliptic, "wall_columns", shape, &arguments)
    }

    fn cell_guard(&self, state: &CudaElliptic) -> Result<CellGuard> {
        // The first column of cells of a closed frame repeats the last one, and that of a band is
        // the last one of the band before it.
        let counted = match &self.ranks {
            Some(ranks) => ranks.neighbours()[0],
            None => state.periodic,
        };
        let first = u32::from(counted);
        let arguments = arguments![state.mi as u32, state.mj as u32, first, &state.x, &state.y,];
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
        for (from, to) in [(&state.x, &mut grid.x), (&state.y, &mut grid.y)] {
            if self.ranks.is_none() && !state.periodic {
                // A held frame is the grid.
                from.download(to)?;
                continue;
            }
            let mut frame = vec![0.0; from.len()];
            from.download(&mut frame)?;
            match &self.ranks {
                Some(ranks) => store_band(&frame, state.mi + 2, ranks, to, grid.ni),
                None => store_frame(&frame, state.mi + 2, state.periodic, to, grid.ni),
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
        let mut arguments = arguments![walls as u32];
        arguments.extend(responses.map(Argument::from));
        arguments.push(Argument::from(&*s));
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
        let shared = WALL_THREADS * affine_bytes::<T>();
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
    /// Exchanges the outer columns of the frame with the neighbouring bands.
    fn refresh_frame(&self, state: &CudaElliptic) -> Result<()> {
        let (Some(ranks), Some(halo)) = (&self.ranks, &state.halo) else { return Ok(()) };
        let shape = LaunchShape::threads(2 * (state.mj + 2));
        let size = arguments![state.mi as u32, state.mj as u32];
        let mut arguments = size.clone();
        arguments.extend(arguments![&state.x, &state.y, halo.sent()]);
        self.launch::<f64>(Source::Elliptic, "pack_frame", shape, &arguments)?;
        halo.exchange(ranks, ranks.neighbours())?;
        let mut arguments = size;
        arguments.extend(arguments![ranks.edges(), halo.received(), &state.x, &state.y]);
        self.launch::<f64>(Source::Elliptic, "unpack_frame", shape, &arguments)
    }
}

/// Writes one coordinate of a band's nodes into the nodes of the whole grid, `ni` in a row: its own
/// columns, and a held seam if it is at the end.
fn store_band(frame: &[f64], stride: usize, ranks: &RankContext, nodes: &mut [f64], ni: usize) {
    let bands = &ranks.bands;
    let [before, after] = ranks.neighbours();
    // Frame columns kept, and the node of the first of them.
    let kept = usize::from(before)..stride - usize::from(after);
    let first = ranks.first() + kept.start - usize::from(bands.periodic());
    for (from, to) in frame.chunks(stride).zip(nodes.chunks_mut(ni)) {
        to[first..first + kept.len()].copy_from_slice(&from[kept.clone()]);
        // A periodic seam is one line: its copy is bit for bit the same.
        if first == 0 && bands.periodic() {
            to[ni - 1] = to[0];
        }
    }
}
