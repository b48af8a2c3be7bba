//! The grid equations on the CPU, row by row of points.

use super::points::{JacobianRow, ResidualRow, WallRow};
use super::reduce::reduce;
use super::vector::clear;
use super::{CpuBackend, EllMatrix, wall};
use crate::backend::elliptic::{first_guess, store_frame, wrap};
use crate::backend::{
    CellGuard, DeviceError, EllipticBackend, EllipticData, Real, Scaling, WallTerms,
};
use crate::grid::{Grid, Topology};
use crate::pde::EllipticSettings;
use crate::simd;
use rayon::prelude::*;

/// State of the grid equations: the frame of nodes, the amplitudes of the wall terms, and the
/// row weights kept since their last renewal.
#[derive(Debug)]
pub struct EllipticState {
    data: EllipticData,
    /// (p_i, q_i) of each line, interleaved; zero where there are no wall terms.
    amplitudes: Vec<f64>,
    row_weights: Vec<f64>,
    merit_weights: Vec<f64>,
    /// Squared merit of each row of points: one partial sum a row.
    row_sums: Vec<f64>,
}

impl EllipticState {
    /// Nodes in a row of the frame.
    fn stride(&self) -> usize {
        self.data.mi + 2
    }
}

impl EllipticBackend for CpuBackend {
    type Elliptic = EllipticState;

    fn equations(
        &self,
        grid: &Grid,
        normals: &[[f64; 2]],
        settings: &EllipticSettings,
    ) -> Result<(EllipticState, Vec<f64>), DeviceError> {
        self.elliptic(&EllipticData::new(grid, normals, settings))
    }

    fn elliptic(&self, data: &EllipticData) -> Result<(EllipticState, Vec<f64>), DeviceError> {
        let (mi, mj) = (data.mi, data.mj);
        let mut state = EllipticState {
            data: copy_of(data),
            amplitudes: vec![0.0; 2 * mi],
            row_weights: vec![0.0; mi * mj],
            merit_weights: vec![0.0; mi * mj],
            row_sums: vec![0.0; mj],
        };
        if data.periodic {
            state.data.x.chunks_mut(mi + 2).for_each(wrap);
            state.data.y.chunks_mut(mi + 2).for_each(wrap);
        }
        Ok((state, first_guess(data)))
    }

    fn load_state(&self, state: &mut EllipticState, u: &Vec<f64>) -> Result<(), DeviceError> {
        let (mi, stride, periodic) = (state.data.mi, state.stride(), state.data.periodic);
        let fixed = usize::from(state.data.wall.is_some());
        if fixed == 1 {
            state.amplitudes.copy_from_slice(&u[..2 * mi]);
        }
        let rows = |v: &'_ mut Vec<f64>, component: usize| {
            v.par_chunks_mut(stride)
                .skip(1 + fixed)
                .zip(u.par_chunks(2 * mi).skip(fixed))
                .for_each(|(row, u)| {
                    for (value, u) in row[1..=mi].iter_mut().zip(u.chunks_exact(2)) {
                        *value = u[component];
                    }
                    if periodic {
                        wrap(row);
                    }
                });
        };
        rows(&mut state.data.x, 0);
        rows(&mut state.data.y, 1);
        Ok(())
    }

    fn residual(
        &self,
        state: &mut EllipticState,
        scaling: Scaling,
        f: &mut Vec<f64>,
    ) -> Result<f64, DeviceError> {
        let EllipticState { data, amplitudes, row_weights, merit_weights, row_sums } = state;
        let mi = data.mi;
        let rows = f.par_chunks_mut(2 * mi).zip(row_weights.par_chunks_mut(mi));
        let rows = rows.zip(merit_weights.par_chunks_mut(mi)).zip(&mut *row_sums);
        rows.enumerate().for_each(|(j, (((f, row_weights), merit_weights), sum))| {
            simd::run(ResidualRow {
                data,
                amplitudes,
                j,
                scaling,
                row_weights,
                merit_weights,
                f,
                sum,
            });
        });
        Ok((row_sums.iter().sum::<f64>() / f.len() as f64).sqrt())
    }

    fn jacobian<T: Real>(
        &self,
        state: &EllipticState,
        a: &mut EllMatrix<T>,
        b: Option<&mut EllMatrix<T>>,
    ) -> Result<(), DeviceError> {
        let EllipticState { data, amplitudes, row_weights, .. } = state;
        let rows = a.row_blocks_mut(2 * data.mi).into_par_iter();
        rows.zip(row_weights.par_chunks(data.mi)).enumerate().for_each(
            |(j, (mut slots, row_weights))| {
                simd::run(JacobianRow { data, amplitudes, j, row_weights, slots: &mut slots });
            },
        );
        let Some(b) = b else { return Ok(()) };
        let rows = b.row_blocks_mut(2 * data.mi).into_par_iter();
        rows.zip(row_weights.par_chunks(data.mi)).enumerate().for_each(
            |(j, (mut slots, row_weights))| {
                simd::run(WallRow { data, amplitudes, j, row_weights, slots: &mut slots });
            },
        );
        Ok(())
    }

    fn cell_guard(&self, state: &EllipticState) -> Result<CellGuard, DeviceError> {
        let stride = state.stride();
        let (x, y) = (&state.data.x, &state.data.y);
        let area = |k: usize| {
            let (a, b, c, d) = (k, k + 1, k + stride + 1, k + stride);
            0.5 * ((x[c] - x[a]) * (y[d] - y[b]) - (x[d] - x[b]) * (y[c] - y[a]))
        };
        // The first column of a periodic frame repeats the last one.
        let first = usize::from(state.data.periodic);
        let row = |j: usize| {
            let mut guard = CellGuard { folded: 0, min_area: f64::INFINITY };
            for k in j * stride + first..(j + 1) * stride - 1 {
                let area = area(k);
                // A NaN counts as folded.
                guard.folded += usize::from(area.is_nan() || area <= 0.0);
                guard.min_area = guard.min_area.min(area);
            }
            guard
        };
        let worse = |a: CellGuard, b: CellGuard| CellGuard {
            folded: a.folded + b.folded,
            min_area: a.min_area.min(b.min_area),
        };
        let none = CellGuard { folded: 0, min_area: f64::INFINITY };
        Ok(reduce(0..state.data.mj + 1, 8, &|rows| rows.map(row).fold(none, worse), &worse))
    }

    fn nodes(&self, state: EllipticState, topology: Topology) -> Result<Grid, DeviceError> {
        let (ni, nj) = (state.stride() - usize::from(state.data.periodic), state.data.mj + 2);
        if state.data.periodic {
            let mut grid = Grid::new(topology, ni, nj);
            self.store_grid(&state, &mut grid)?;
            return Ok(grid);
        }
        // A held frame is the grid.
        let EllipticData { x, y, .. } = state.data;
        Ok(Grid { topology, ni, nj, x, y })
    }

    fn store_grid(&self, state: &EllipticState, grid: &mut Grid) -> Result<(), DeviceError> {
        for (from, to) in [(&state.data.x, &mut grid.x), (&state.data.y, &mut grid.y)] {
            store_frame(from, state.stride(), state.data.periodic, to, grid.ni);
        }
        Ok(())
    }

    fn factor_wall_blocks<T: Real>(
        &self,
        walls: usize,
        responses: [&Vec<T>; 4],
        s: &mut Vec<T>,
    ) -> Result<Option<usize>, DeviceError> {
        Ok(wall::factor(walls, responses, s))
    }

    fn solve_wall_blocks<T: Real>(
        &self,
        walls: usize,
        s: &Vec<T>,
        z: &Vec<T>,
        d: &mut Vec<T>,
    ) -> Result<(), DeviceError> {
        let (lead, rest) = d.split_at_mut(2 * walls);
        clear(rest);
        wall::solve(s, &z[..2 * walls], lead);
        Ok(())
    }

    fn copy_wall<T: Real>(
        &self,
        walls: usize,
        d: &Vec<T>,
        z: &mut Vec<T>,
    ) -> Result<(), DeviceError> {
        z[..2 * walls].copy_from_slice(&d[..2 * walls]);
        Ok(())
    }
}

/// A copy made by all threads.
fn copy_of(data: &EllipticData) -> EllipticData {
    let copy = |values: &[f64]| -> Vec<f64> { values.par_iter().copied().collect() };
    EllipticData {
        x: copy(&data.x),
        y: copy(&data.y),
        control_p: copy(&data.control_p),
        control_q: copy(&data.control_q),
        wall: data
            .wall
            .as_ref()
            .map(|wall| WallTerms { phi: copy(&wall.phi), psi: copy(&wall.psi) }),
        ..*data
    }
}
