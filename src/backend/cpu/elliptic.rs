//! Grids and the grid equations on the CPU, row by row of points.

use super::block::{Block2x2, invert, mul, product, sub, subtract};
use super::points::{JacobianRow, PointRow, ResidualRow, WallRow};
use super::vector::{clear, reduce};
use super::{CpuBackend, EllMatrix};
use crate::backend::elliptic::WALL_ENTRIES;
use crate::backend::error::{check_length, check_room};
use crate::backend::{
    EllipticBackend, EllipticData, Evaluation, GridBackend, LevelSize, Real, Result,
};
use crate::grid::initial::{InitialSettings, Outline, hyperbolic};
use crate::grid::quality::{Quality, larger, measure};
use crate::grid::{Grid, Symmetry, Topology};
use crate::pde::{EllipticSettings, moved};
use crate::simd;
use crate::sparse::{EllPattern, WalledSides};
use rayon::prelude::*;
use std::ops::Range;

impl GridBackend for CpuBackend {
    type Grid = Grid;

    fn march(
        &self,
        outline: &Outline,
        settings: &InitialSettings,
        dissipation: f64,
    ) -> Result<Option<(Grid, usize)>> {
        Ok(hyperbolic::march(outline, settings, dissipation))
    }

    fn take(&self, grid: Grid) -> Result<Grid> {
        Ok(grid)
    }

    fn restore(&self, symmetry: Symmetry, grid: &mut Grid) -> Result<()> {
        symmetry.restore(grid);
        Ok(())
    }

    fn half(&self, symmetry: Symmetry, grid: &Grid) -> Result<Grid> {
        Ok(symmetry.half(grid))
    }

    fn measure(&self, grid: &Grid) -> Result<Quality> {
        Ok(measure(grid))
    }

    fn fetch(&self, grid: &Grid, host: &mut Grid) -> Result<()> {
        host.x.copy_from_slice(&grid.x);
        host.y.copy_from_slice(&grid.y);
        Ok(())
    }

    fn placed(&self, grid: &Grid, shift: [f64; 2], scale: f64) -> Result<Grid> {
        let mut placed = grid.clone();
        placed.place(shift, scale);
        Ok(placed)
    }
}

/// State of the grid equations: the frame of nodes, the amplitudes of the wall terms, and the weights of the merit.
#[derive(Debug)]
pub struct EllipticState {
    pub(super) data: EllipticData,
    /// (p, q) of each point beside a side, interleaved; zero where there are no wall terms.
    pub(super) amplitudes: [Vec<f64>; 4],
    /// Weights of the merit, those of the last residual and those that are kept.
    merit_weights: [Vec<f64>; 2],
}

impl EllipticState {
    /// Nodes in a row of the frame.
    fn stride(&self) -> usize {
        self.data.mi + 2
    }

    /// Cells whose area is not positive, and the smallest area.
    fn cells(&self) -> (usize, f64) {
        let (stride, x, y) = (self.stride(), &self.data.x, &self.data.y);
        let area = |k: usize| {
            let (a, b, c, d) = (k, k + 1, k + stride + 1, k + stride);
            0.5 * ((x[c] - x[a]) * (y[d] - y[b]) - (x[d] - x[b]) * (y[c] - y[a]))
        };
        // The first column of a periodic frame repeats the last one.
        let first = usize::from(self.data.periodic);
        let row = |j: usize| {
            let (mut folded, mut min_area) = (0, f64::INFINITY);
            for k in j * stride + first..(j + 1) * stride - 1 {
                let area = area(k);
                // A NaN counts as folded.
                folded += usize::from(area.is_nan() || area <= 0.0);
                min_area = area.min(min_area);
            }
            (folded, min_area)
        };
        let worse = |a: (usize, f64), b: (usize, f64)| (a.0 + b.0, a.1.min(b.1));
        let of_rows = |rows: Range<usize>| rows.map(row).fold((0, f64::INFINITY), worse);
        reduce(0..self.data.mj + 1, 8, &of_rows, &worse)
    }
}

impl EllipticBackend for CpuBackend {
    type Elliptic = EllipticState;

    fn equations(
        &self,
        grid: &Grid,
        normals: &[[f64; 2]],
        settings: &EllipticSettings,
    ) -> Result<(EllipticState, Vec<f64>)> {
        self.elliptic(&EllipticData::new(grid, normals, settings))
    }

    fn elliptic(&self, data: &EllipticData) -> Result<(EllipticState, Vec<f64>)> {
        let mut data = data.clone();
        let (mi, mj) = (data.mi, data.mj);
        if data.periodic {
            data.x.chunks_mut(mi + 2).for_each(|row| wrap(row, 0.0));
            let shift = data.shift;
            data.y.chunks_mut(mi + 2).for_each(|row| wrap(row, shift));
        }
        let guess = first_guess(&data);
        let state = EllipticState {
            data,
            amplitudes: [mi, mi, mj, mj].map(|points| vec![0.0; 2 * points]),
            merit_weights: [(); 2].map(|()| vec![0.0; mi * mj]),
        };
        Ok((state, guess))
    }

    fn each<I: Send, R: Send>(&self, items: Vec<I>, work: impl Fn(&Self, I) -> R + Sync) -> Vec<R> {
        items.into_par_iter().map(|item| work(self, item)).collect()
    }

    fn size(&self, state: &EllipticState) -> LevelSize {
        let EllipticData { mi, mj, periodic, .. } = state.data;
        LevelSize { mi, mj, periodic }
    }

    fn walls(&self, state: &EllipticState) -> WalledSides {
        state.data.walled_sides()
    }

    fn load_state(&self, state: &mut EllipticState, u: &Vec<f64>) -> Result<()> {
        check_length(u.len(), self.size(state).values())?;
        let (mi, stride, periodic) = (state.data.mi, state.stride(), state.data.periodic);
        let walls = state.data.walled_sides();
        let EllipticState { data, amplitudes, .. } = state;
        let EllipticData { mj, shift, x, y, .. } = data;
        for side in walls.sides() {
            for (k, pair) in amplitudes[side].chunks_exact_mut(2).enumerate() {
                pair.copy_from_slice(&u[2 * WalledSides::point(side, k, mi, *mj)..][..2]);
            }
        }
        let WalledSides([below, above, before, behind]) = walls;
        let (first, last) = (usize::from(below), *mj - usize::from(above));
        let inner = usize::from(before)..mi - usize::from(behind);
        let rows = |v: &'_ mut Vec<f64>, component: usize, shift: f64| {
            v.par_chunks_mut(stride)
                .skip(1 + first)
                .zip(u.par_chunks(2 * mi).take(last).skip(first))
                .for_each(|(row, u)| {
                    let points = u.chunks_exact(2).take(inner.end).skip(inner.start);
                    for (value, u) in row[1 + inner.start..=inner.end].iter_mut().zip(points) {
                        *value = u[component];
                    }
                    if periodic {
                        wrap(row, shift);
                    }
                });
        };
        rows(x, 0, 0.0);
        rows(y, 1, *shift);
        Ok(())
    }

    fn residual(&self, state: &mut EllipticState, f: &mut Vec<f64>) -> Result<Evaluation> {
        check_length(f.len(), self.size(state).values())?;
        let EllipticState { data, amplitudes, merit_weights } = state;
        let (mi, [merit_weights, kept]) = (data.mi, merit_weights);
        // The largest residual of each row of points, and its squared merits with both weights.
        let mut row_results = vec![[0.0; 3]; data.mj];
        let weights = merit_weights.par_chunks_mut(mi).zip(kept.par_chunks(mi));
        let rows = f.par_chunks_mut(2 * mi).zip(weights).zip(&mut row_results);
        rows.enumerate().for_each(|(j, ((f, (merit_weights, kept)), found))| {
            let row = PointRow::new(data, amplitudes, j);
            simd::run(ResidualRow { row, merit_weights, kept, f, found });
        });
        let merit =
            |k: usize| (row_results.iter().map(|row| row[k]).sum::<f64>() / f.len() as f64).sqrt();
        let largest = row_results.iter().map(|row| row[0]).fold(0.0, larger);
        let (merit, kept_merit) = (merit(1), merit(2));
        let (folded, min_area) = state.cells();
        Ok(Evaluation { merit, kept_merit, largest, folded, min_area })
    }

    fn keep_weights(&self, state: &mut EllipticState) {
        state.merit_weights.reverse();
    }

    fn jacobian<T: Real>(
        &self,
        state: &EllipticState,
        a: &mut EllMatrix<T>,
        b: Option<&mut EllMatrix<T>>,
    ) -> Result<()> {
        self.size(state).check_matrices(a.pattern, b.as_ref().map(|b| b.pattern))?;
        let EllipticState { data, amplitudes, .. } = state;
        let row = |j: usize| PointRow::new(data, amplitudes, j);
        let rows = a.row_blocks_mut(2 * data.mi).into_par_iter().enumerate();
        rows.for_each(|(j, slots)| simd::run(JacobianRow { row: row(j), slots }));
        if let Some(b) = b {
            let rows = b.row_blocks_mut(2 * data.mi).into_par_iter().enumerate();
            rows.for_each(|(j, slots)| simd::run(WallRow { row: row(j), slots }));
        }
        Ok(())
    }

    fn nodes(&self, state: EllipticState, topology: Topology) -> Result<Grid> {
        let (stride, nj) = (state.stride(), state.data.mj + 2);
        let EllipticData { x, y, periodic, shift, .. } = state.data;
        if !periodic {
            // A held frame is the grid.
            return Ok(Grid { topology, ni: stride, nj, x, y, outside: None });
        }
        let mut grid = Grid::new(topology, stride - 1, nj);
        store_frame(&x, &mut grid.x, grid.ni, 0.0);
        store_frame(&y, &mut grid.y, grid.ni, shift);
        Ok(grid)
    }

    fn clear_walls<T: Real>(
        &self,
        walls: WalledSides,
        LevelSize { mi, mj, .. }: LevelSize,
        x: &mut Vec<T>,
    ) -> Result<()> {
        check_length(x.len(), 2 * mi * mj)?;
        for side in walls.sides() {
            for k in 0..if side < 2 { mi } else { mj } {
                x[2 * WalledSides::point(side, k, mi, mj)..][..2].fill(T::zero());
            }
        }
        Ok(())
    }

    fn wall_sums<T: Real>(&self, b: &EllMatrix<T>, x: &Vec<T>, g: &mut Vec<T>) -> Result<()> {
        let EllPattern::WallColumns(LevelSize { mi, mj, .. }, walls) = b.pattern else {
            return Ok(());
        };
        let n = b.pattern.rows();
        check_room(n, [x.len()])?;
        for (k, side) in walls.sides().enumerate() {
            let first = 2 * WalledSides::point(side, 0, mi, mj);
            check_room(if side < 2 { first + 2 * mi } else { n }, [g.len()])?;
            let values = &b.values[2 * k * n..];
            let terms = |here: Range<usize>| {
                let of_p = values[here.clone()].as_chunks::<2>().0;
                let of_q = values[n..][here.clone()].as_chunks::<2>().0;
                let x = x[here].as_chunks::<2>().0;
                let products = |((p, q), x): ((&[T; 2], &[T; 2]), &[T; 2])| {
                    [p[0] * x[0] + p[1] * x[1], q[0] * x[0] + q[1] * x[1]]
                };
                of_p.iter().zip(of_q).zip(x).map(products)
            };
            let plus = |sum: [T; 2], term: [T; 2]| [sum[0] + term[0], sum[1] + term[1]];
            if side >= 2 {
                g[..n].par_chunks_mut(2 * mi).enumerate().for_each(|(j, row)| {
                    let sum = terms(2 * mi * j..2 * mi * (j + 1)).fold([T::zero(); 2], plus);
                    row[first..][..2].copy_from_slice(&sum);
                });
                continue;
            }
            let sums = g[first..][..2 * mi].par_chunks_mut(COLUMNS);
            sums.enumerate().for_each(|(chunk, g)| {
                g.fill(T::zero());
                for start in (chunk * COLUMNS..n).step_by(2 * mi) {
                    let here = terms(start..start + g.len());
                    for (sum, term) in g.as_chunks_mut::<2>().0.iter_mut().zip(here) {
                        *sum = plus(*sum, term);
                    }
                }
            });
        }
        Ok(())
    }

    fn factor_wall_blocks<T: Real>(
        &self,
        walls: usize,
        responses: [&Vec<T>; 4],
        s: &mut Vec<T>,
    ) -> Result<Option<usize>> {
        check_room(2 * walls, responses.map(Vec::len))?;
        check_room(WALL_ENTRIES * walls, [s.len()])?;
        let [even_p, even_q, odd_p, odd_q] = responses;
        let (half, quarter, zero) = (T::narrow(0.5), T::narrow(0.25), [[T::zero()]; 4]);
        // D⁻¹ U of the point before.
        let mut carried = zero;
        for (i, s) in s.chunks_exact_mut(WALL_ENTRIES).take(walls).enumerate() {
            let k = 2 * i;
            // The sign of the probes that are ±1 by turns.
            let sign = if i.is_multiple_of(2) { T::one() } else { -T::one() };
            let a = [even_p[k], even_q[k], even_p[k + 1], even_q[k + 1]];
            let b = [odd_p[k], odd_q[k], odd_p[k + 1], odd_q[k + 1]].map(|value| sign * value);
            let (first, last) = (i == 0, i + 1 == walls);
            let share = if first || last { half } else { quarter };
            let beside: Block2x2<T, 1> = std::array::from_fn(|e| [share * (a[e] - b[e])]);
            let diagonal = std::array::from_fn(|e| [half * (a[e] + b[e])]);
            let inverse = invert(&sub(&diagonal, &mul(&beside, &carried)), &(0..1));
            if inverse.iter().any(|[value]| !value.is_finite()) {
                return Ok(Some(i));
            }
            carried = if last { zero } else { mul(&inverse, &beside) };
            let blocks = [inverse, carried, if first { zero } else { beside }];
            s.copy_from_slice(blocks.as_flattened().as_flattened());
        }
        Ok(None)
    }

    fn solve_wall_blocks<T: Real>(
        &self,
        walls: usize,
        s: &Vec<T>,
        z: &Vec<T>,
        d: &mut Vec<T>,
    ) -> Result<()> {
        check_room(2 * walls, [z.len(), d.len()])?;
        check_room(WALL_ENTRIES * walls, [s.len()])?;
        let (lead, rest) = d.split_at_mut(2 * walls);
        clear(rest);
        let s = s.as_chunks::<1>().0.as_chunks::<WALL_ENTRIES>().0;
        let z = z.as_chunks::<1>().0.as_chunks::<2>().0;
        let d = lead.as_chunks_mut::<1>().0.as_chunks_mut::<2>().0;
        let mut before = [[T::zero()]; 2];
        for ((d, z), s) in d.iter_mut().zip(z).zip(s) {
            let mut right = *z;
            subtract(&mut right, &s[8..], &before);
            before = product(&s[..4], &right);
            *d = before;
        }
        let mut after = [[T::zero()]; 2];
        for (d, s) in d.iter_mut().zip(s).rev() {
            subtract(d, &s[4..8], &after);
            after = *d;
        }
        Ok(())
    }

    fn copy_points<T: Real>(
        &self,
        points: usize,
        (d, from): (&Vec<T>, usize),
        (z, to): (&mut Vec<T>, usize),
    ) -> Result<()> {
        check_room(2 * (from + points), [d.len()])?;
        check_room(2 * (to + points), [z.len()])?;
        z[2 * to..][..2 * points].copy_from_slice(&d[2 * from..][..2 * points]);
        Ok(())
    }
}

/// The unknowns of the frame's nodes; wall terms start at zero.
fn first_guess(data: &EllipticData) -> Vec<f64> {
    let (mi, mj, stride) = (data.mi, data.mj, data.mi + 2);
    let walls = data.walled_sides();
    let mut u = vec![0.0; 2 * mi * mj];
    u.par_chunks_mut(2 * mi).enumerate().for_each(|(j, row)| {
        for (i, point) in row.chunks_exact_mut(2).enumerate() {
            let k = (j + 1) * stride + i + 1;
            if !walls.holds((i, j), mi, mj) {
                point[0] = data.x[k];
                point[1] = data.y[k];
            }
        }
    });
    u
}

/// Copies the outer columns of a row of a periodic frame from the opposite unknown columns, which are `shift` away.
fn wrap(row: &mut [f64], shift: f64) {
    let mi = row.len() - 2;
    (row[0], row[mi + 1]) = (moved(row[mi], -shift), moved(row[1], shift));
}

/// Writes one coordinate of a periodic frame's nodes, which has one node more at the start of a row, into
/// the nodes of a grid, `ni` in a row. The seam is one line: its copy is bit for bit the same but for the `shift`.
fn store_frame(frame: &[f64], nodes: &mut [f64], ni: usize, shift: f64) {
    for (from, to) in frame.chunks(ni + 1).zip(nodes.chunks_mut(ni)) {
        to.copy_from_slice(&from[1..]);
        to[ni - 1] = moved(to[0], shift);
    }
}

/// Unknowns of a row that are summed up together over all rows.
const COLUMNS: usize = 256;
