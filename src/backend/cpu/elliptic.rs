//! The grid equations on the CPU: loops over the point functions of [`crate::pde`].

use super::reduce::reduce;
use super::{CpuBackend, EllMatrix, wall};
use crate::backend::elliptic::{CellGuard, EllipticBackend, EllipticData, Scaling};
use crate::backend::{DeviceError, Real};
use crate::grid::Grid;
use crate::pde::{Blocks, Metrics, Stencil, merit_weight, residual, row_weight};
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

    /// The nine nodes around unknown point (i, j).
    #[inline(always)]
    fn stencil(&self, i: usize, j: usize) -> Stencil {
        let stride = self.stride();
        let (x, y) = (&self.data.x, &self.data.y);
        let row = |j: usize| {
            let k = j * stride + i;
            [[x[k], y[k]], [x[k + 1], y[k + 1]], [x[k + 2], y[k + 2]]]
        };
        Stencil { south: row(j), middle: row(j + 1), north: row(j + 2) }
    }

    /// Metrics and control functions P, Q at unknown point (i, j) (theory eq. 6).
    #[inline(always)]
    fn point(&self, i: usize, j: usize) -> (Metrics, f64, f64) {
        let k = j * self.data.mi + i;
        let (mut p, mut q) = (self.data.control_p[k], self.data.control_q[k]);
        if let Some(wall) = &self.data.wall {
            p += self.amplitudes[2 * i] * wall.phi[k];
            q += self.amplitudes[2 * i + 1] * wall.psi[k];
        }
        (self.stencil(i, j).metrics(), p, q)
    }

    /// Copies the outer columns of a row of the frame from the opposite unknown columns.
    fn wrap(row: &mut [f64]) {
        let mi = row.len() - 2;
        row[0] = row[mi];
        row[mi + 1] = row[1];
    }
}

impl EllipticBackend for CpuBackend {
    type Elliptic = EllipticState;

    fn elliptic(&self, data: &EllipticData) -> Result<EllipticState, DeviceError> {
        let (mi, mj) = (data.mi, data.mj);
        let mut state = EllipticState {
            data: data.clone(),
            amplitudes: vec![0.0; 2 * mi],
            row_weights: vec![0.0; mi * mj],
            merit_weights: vec![0.0; mi * mj],
            row_sums: vec![0.0; mj],
        };
        if data.periodic {
            state.data.x.chunks_mut(mi + 2).for_each(EllipticState::wrap);
            state.data.y.chunks_mut(mi + 2).for_each(EllipticState::wrap);
        }
        Ok(state)
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
                        EllipticState::wrap(row);
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
        let mi = state.data.mi;
        let mut weights = std::mem::take(&mut state.row_weights);
        let mut merits = std::mem::take(&mut state.merit_weights);
        let mut row_sums = std::mem::take(&mut state.row_sums);
        let present = &*state;
        let rows = f.par_chunks_mut(2 * mi).zip(weights.par_chunks_mut(mi));
        let rows = rows.zip(merits.par_chunks_mut(mi)).zip(&mut row_sums);
        rows.enumerate().for_each(|(j, (((f, weights), merits), sum))| {
            *sum = 0.0;
            let points = f.chunks_exact_mut(2).zip(weights.iter_mut().zip(merits));
            for (i, (f, (weight, merit))) in points.enumerate() {
                let (metrics, p, q) = present.point(i, j);
                if scaling == Scaling::Renewed {
                    *weight = row_weight(&metrics);
                    *merit = merit_weight(&metrics);
                }
                let r = residual(&metrics, p, q);
                f[0] = *weight * r[0];
                f[1] = *weight * r[1];
                *sum += *merit * *merit * (r[0] * r[0] + r[1] * r[1]);
            }
        });
        let merit = (row_sums.iter().sum::<f64>() / f.len() as f64).sqrt();
        (state.row_weights, state.merit_weights, state.row_sums) = (weights, merits, row_sums);
        Ok(merit)
    }

    fn jacobian<T: Real>(
        &self,
        state: &EllipticState,
        a: &mut EllMatrix<T>,
    ) -> Result<(), DeviceError> {
        let EllipticData { mi, mj, periodic, .. } = state.data;
        a.row_blocks_mut(2 * mi).into_par_iter().enumerate().for_each(|(j, mut slots)| {
            for i in 0..mi {
                let (metrics, p, q) = state.point(i, j);
                let blocks = Blocks::new(&metrics, p, q);
                let weight = state.row_weights[j * mi + i];
                let present = present_entries(i, j, mi, mj, periodic);
                for variable in 0..2 {
                    let row = 2 * i + variable;
                    let values = blocks.row(variable);
                    let mut slot = 0;
                    for (value, present) in values.iter().zip(present) {
                        if present {
                            slots[slot][row] = T::narrow(weight * value);
                            slot += 1;
                        }
                    }
                }
            }
        });
        Ok(())
    }

    fn wall_columns<T: Real>(
        &self,
        state: &EllipticState,
        b: &mut EllMatrix<T>,
    ) -> Result<(), DeviceError> {
        let mi = state.data.mi;
        let Some(wall) = &state.data.wall else { return Ok(()) };
        b.row_blocks_mut(2 * mi).into_par_iter().enumerate().for_each(|(j, mut slots)| {
            for i in 0..mi {
                let k = j * mi + i;
                let metrics = state.stencil(i, j).metrics();
                let weight = state.row_weights[k];
                let along_p = weight * metrics.g22 * wall.phi[k];
                let along_q = weight * metrics.g11 * wall.psi[k];
                for variable in 0..2 {
                    slots[0][2 * i + variable] = T::narrow(along_p * metrics.xi[variable]);
                    slots[1][2 * i + variable] = T::narrow(along_q * metrics.eta[variable]);
                }
            }
        });
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

    fn store_grid(&self, state: &EllipticState, grid: &mut Grid) -> Result<(), DeviceError> {
        let (stride, ni) = (state.stride(), grid.ni);
        // A held frame is the grid itself; a periodic one has one node more at its start.
        let first = usize::from(state.data.periodic);
        for (from, to) in [(&state.data.x, &mut grid.x), (&state.data.y, &mut grid.y)] {
            for (from, to) in from.chunks(stride).zip(to.chunks_mut(ni)) {
                to.copy_from_slice(&from[first..first + ni]);
                // The seam is one line: its copy is bit for bit the same.
                to[ni - 1] = to[0];
            }
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
        rest.fill(T::zero());
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

    fn wall_probe<T: Real>(
        &self,
        walls: usize,
        component: usize,
        alternating: bool,
        v: &mut Vec<T>,
    ) -> Result<(), DeviceError> {
        v.fill(T::zero());
        for (i, pair) in v[..2 * walls].chunks_exact_mut(2).enumerate() {
            pair[component] = if alternating { wall::sign(i) } else { T::one() };
        }
        Ok(())
    }
}

/// Which of the 13 entries of a row have a neighbour, in the order of [`Blocks::row`].
#[inline(always)]
fn present_entries(i: usize, j: usize, mi: usize, mj: usize, periodic: bool) -> [bool; 13] {
    let (west, east) = (periodic || i > 0, periodic || i + 1 < mi);
    let (south, north) = (j > 0, j + 1 < mj);
    [
        south && west,
        south,
        south,
        south && east,
        west,
        west,
        true,
        east,
        east,
        north && west,
        north,
        north,
        north && east,
    ]
}
