//! Wall terms of a level.

use super::factor::Guard;
use super::lines::LineSet;
use super::panel::{LANES, PanelShape, Walls};
use crate::backend::Real;
use crate::backend::cpu::EllMatrix;
use crate::backend::multigrid::{LevelSize, SMALLEST_NORTH};
use crate::sparse::WalledSides;
use rayon::prelude::*;

/// Wall terms d = (p, q) of the points of a side on a level, and their columns B.
#[derive(Debug)]
pub(super) struct LevelWall<M> {
    /// The side, by its place among the sides.
    pub(super) side: usize,
    /// B in the layout of the lines of transfers between levels.
    columns: SideColumns<M>,
    /// B in that of the eta-lines, where those are smoothed with d held and are not the lines of transfers.
    across: Option<SideColumns<M>>,
    /// d, a pair for each point of the side.
    pub(super) terms: Vec<[M; 2]>,
    /// Σ_j B_ijᵀ u_ij for each i, or Σ_i B_ijᵀ u_ij for each j, for transposed equations alone.
    sums: Vec<[M; 2]>,
    /// Whether the level has wall terms; where it has none, d stays zero.
    live: bool,
}

/// Columns of the wall terms of a side by colour of some lines: `[panel][point along][entry of the block][lane]`.
#[derive(Debug)]
struct SideColumns<M> {
    shape: PanelShape,
    /// Whether the lines are xi-lines.
    xi: bool,
    values: [Vec<M>; 2],
}

impl<M: Real> SideColumns<M> {
    fn new(shape: PanelShape, xi: bool) -> Self {
        Self { shape, xi, values: shape.room(4) }
    }

    /// Line and point along of grid point (i, j).
    fn place(&self, i: usize, j: usize) -> (usize, usize) {
        if self.xi { (j, i) } else { (i, j) }
    }

    /// B ← `block(i, j)`.
    fn fill(&mut self, block: impl Fn(usize, usize) -> [M; 4] + Sync) {
        let (shape, swapped) = (self.shape, self.xi);
        for (colour, columns) in self.values.iter_mut().enumerate() {
            columns.par_chunks_mut(shape.along * 4 * LANES).enumerate().for_each(|(panel, to)| {
                for (point, to) in to.chunks_mut(4 * LANES).enumerate() {
                    for lane in 0..LANES.min(shape.lines(colour) - panel * LANES) {
                        let line = 2 * (panel * LANES + lane) + colour;
                        let block = if swapped { block(point, line) } else { block(line, point) };
                        for (entry, value) in block.into_iter().enumerate() {
                            to[entry * LANES + lane] = value;
                        }
                    }
                }
            });
        }
    }

    /// These columns with the terms d of a side, one of constant j or of constant i.
    fn with_terms<'a>(&'a self, of_j: bool, terms: &'a [[M; 2]]) -> Walls<'a, M> {
        let [even, odd] = &self.values;
        Walls { columns: [even, odd], terms, shape: self.shape, along: self.xi == of_j }
    }
}

impl<M: Real> LevelWall<M> {
    /// The terms of a side on a level with these eta-lines and, where it is smoothed along them, xi-lines.
    pub(super) fn new(side: usize, eta: &LineSet<M>, xi: Option<&LineSet<M>>) -> Self {
        let columns = SideColumns::new(xi.unwrap_or(eta).shape, xi.is_some());
        let held = side >= 2 && xi.is_some() && !eta.shape.transposed;
        let across = held.then(|| SideColumns::new(eta.shape, false));
        let points = if side < 2 { eta.shape.across } else { eta.shape.along };
        let terms = vec![[M::zero(); 2]; points];
        let sums = if eta.shape.transposed { terms.clone() } else { Vec::new() };
        Self { side, columns, across, terms, sums, live: true }
    }

    /// B at (i, j), row-major.
    pub(super) fn column(&self, i: usize, j: usize) -> [M; 4] {
        let SideColumns { shape, values, .. } = &self.columns;
        let (line, point) = self.columns.place(i, j);
        let (colour, start) = shape.place(line, point, 4);
        [0, 1, 2, 3].map(|entry| values[colour][start + entry * LANES])
    }

    /// B ← `block(i, j)`.
    fn fill(&mut self, block: impl Fn(usize, usize) -> [M; 4] + Sync) {
        self.columns.fill(&block);
        if let Some(across) = &mut self.across {
            across.fill(&block);
        }
    }

    /// B of the finest level from the wall columns of the Jacobian, those of the wall `k` among the walls.
    pub(super) fn load<T: Real>(&mut self, columns: &EllMatrix<T>, k: usize, size: LevelSize) {
        let (n, values) = (columns.pattern().rows(), columns.values());
        let first = 2 * k * n;
        self.fill(|i, j| {
            let row = first + 2 * (j * size.mi + i);
            [row, n + row, row + 1, n + row + 1].map(|at| M::narrow(values[at].widen()))
        });
        self.live = true;
    }

    /// B ← full weighting of B of the fine level, in xi and, if it is coarsened too, in eta. No wall
    /// terms from the level on where fewer than half of the lines from the side keep
    /// tr N > [`SMALLEST_NORTH`] tr S in their second point, traces that `north_and_south(i)` gives: N couples it to the
    /// point farther from the side.
    pub(super) fn coarsen(
        &mut self,
        fine: &Self,
        [size, fine_size]: [LevelSize; 2],
        north_and_south: impl Fn(usize) -> [M; 2],
    ) -> Guard {
        let kept = |i: usize| {
            let [north, south] = north_and_south(i);
            north / south > M::narrow(SMALLEST_NORTH)
        };
        let lines = self.terms.len();
        self.live = fine.live && 2 * (0..lines).filter(|&i| kept(i)).count() >= lines;
        if !self.live {
            return Guard::Nothing;
        }
        let coarsen_eta = size.mj != fine_size.mj;
        let weights = [0.25, 0.5, 0.25].map(M::narrow);
        self.fill(|i, j| {
            let mut sum = [M::zero(); 4];
            let mut take = |di: usize, j: usize, weight: M| {
                let i = 2 * i + di;
                let i = if fine_size.wraps() && i == fine_size.mi { 0 } else { i };
                if i < fine_size.mi && j < fine_size.mj {
                    let block = fine.column(i, j);
                    sum.iter_mut().zip(block).for_each(|(sum, b)| *sum += weight * b);
                }
            };
            for di in 0..3 {
                if coarsen_eta {
                    for dj in 0..3 {
                        take(di, 2 * j + dj, weights[di] * weights[dj]);
                    }
                } else {
                    take(di, j, weights[di]);
                }
            }
            sum
        });
        Guard::SameSign
    }

    /// The columns and d, where there are any, in the layout of the lines of transfers.
    pub(super) fn walls(&self) -> Option<Walls<'_, M>> {
        self.live.then(|| self.columns.with_terms(self.side < 2, &self.terms))
    }

    /// [`Self::walls`] in the layout of the eta-lines or of the xi-lines, for lines that are not solved for d.
    pub(super) fn held_by(&self, xi: bool) -> Option<Walls<'_, M>> {
        let columns = if xi == self.columns.xi { &self.columns } else { self.across.as_ref()? };
        (self.live && xi == (self.side < 2)).then(|| columns.with_terms(self.side < 2, &self.terms))
    }

    /// d ← the wall terms that the bordered lines were solved for.
    pub(super) fn take_solved(&mut self, lines: &LineSet<M>) {
        let shape = PanelShape { along: 1, ..lines.shape };
        let end = self.side % 2 * 2 * LANES;
        for (i, pair) in self.terms.iter_mut().enumerate() {
            let (colour, at) = shape.place(i, 0, 4);
            let terms = &lines.terms[colour][at + end..];
            *pair = [terms[0], terms[LANES]];
        }
    }

    /// The line along the side, of this many.
    pub(super) fn line(&self, lines: usize) -> usize {
        if self.side.is_multiple_of(2) { 0 } else { lines - 1 }
    }

    /// Point k of the side as a line and a point along it.
    fn place(&self, k: usize, LevelSize { mi, mj, .. }: LevelSize, xi: bool) -> (usize, usize) {
        let point = WalledSides::point(self.side, k, mi, mj);
        if xi { (point / mi, point % mi) } else { (point % mi, point / mi) }
    }

    /// d ← u of the side, where it is a line.
    pub(super) fn take_line(&mut self, lines: &LineSet<M>) {
        let line = self.line(lines.shape.across);
        for (i, pair) in self.terms.iter_mut().enumerate() {
            *pair = lines.shape.pair(&lines.u, (line, i));
        }
    }

    /// u of the side ← d, where it is a line.
    pub(super) fn put_line(&self, lines: &mut LineSet<M>) {
        let line = self.line(lines.shape.across);
        for (i, pair) in self.terms.iter().enumerate() {
            lines.shape.set_pair(&mut lines.u, (line, i), *pair);
        }
    }

    /// The residual of the equations of a side where equations are transposed, in the layout of the lines that hold the
    /// columns: f − Σ Bᵀ u; zero where the level has no wall terms.
    pub(super) fn transposed_residual(
        &mut self,
        size: LevelSize,
        lines: &LineSet<M>,
        residual: &mut [Vec<M>; 2],
    ) {
        let Self { side, columns: SideColumns { shape, xi, values: columns }, sums, live, .. } =
            &mut *self;
        let (shape, xi, live) = (*shape, *xi, *live);
        // Whether the lines run along the side, and not from it.
        let along = xi == (*side < 2);
        let add = |sum: &mut [M; 2], colour: usize, at: usize, lane: usize| {
            let b = |entry: usize| columns[colour][at * 4 * LANES + entry * LANES + lane];
            let u = [0, 1].map(|c| lines.u[colour][at * 2 * LANES + c * LANES + lane]);
            sum[0] += b(0) * u[0] + b(2) * u[1];
            sum[1] += b(1) * u[0] + b(3) * u[1];
        };
        sums.par_iter_mut().with_min_len(64).enumerate().for_each(|(k, sum)| {
            *sum = [M::zero(); 2];
            if along {
                for colour in 0..2 {
                    for panel in 0..shape.lines(colour).div_ceil(LANES) {
                        for lane in 0..LANES {
                            add(sum, colour, panel * shape.along + k, lane);
                        }
                    }
                }
            } else {
                for point in 0..shape.along {
                    add(sum, k % 2, k / 2 / LANES * shape.along + point, k / 2 % LANES);
                }
            }
        });
        for (k, sum) in self.sums.iter().enumerate() {
            let place = self.place(k, size, xi);
            let f = shape.pair(&lines.f, place);
            let rest = if live { [f[0] - sum[0], f[1] - sum[1]] } else { [M::zero(); 2] };
            shape.set_pair(residual, place, rest);
        }
    }

    /// Coarse f of a side ← its fine residual, ⅛ ¼ ⅛ along it, or ¼ ½ ¼ where the level is coarsened in xi alone: the
    /// transpose of the prolongation of wall terms.
    pub(super) fn restrict_transposed(
        &self,
        residual: &[Vec<M>; 2],
        [size, fine]: [LevelSize; 2],
        (coarse, coarse_xi): (&mut LineSet<M>, bool),
    ) {
        let whole = if size.mj == fine.mj { M::one() } else { M::narrow(0.5) };
        let weights = [0.25, 0.5, 0.25].map(|weight| whole * M::narrow(weight));
        let [points, fine_points] =
            [size, fine].map(|size| if self.side < 2 { size.mi } else { size.mj });
        for i in 0..points {
            let mut sum = [M::zero(); 2];
            for (k, weight) in weights.into_iter().enumerate() {
                let near = 2 * i + k;
                let near = if fine.wraps() && near == fine_points { 0 } else { near };
                if near < fine_points {
                    let place = self.place(near, fine, self.columns.xi);
                    let pair = self.columns.shape.pair(residual, place);
                    sum = [sum[0] + weight * pair[0], sum[1] + weight * pair[1]];
                }
            }
            let place = self.place(i, size, coarse_xi);
            coarse.shape.set_pair(&mut coarse.f, place, sum);
        }
    }

    /// Fine d ← d + P coarse d, linear along the side.
    pub(super) fn prolong(&mut self, coarse: &Self, wraps: bool) {
        if !coarse.live {
            return;
        }
        let (coarse, half) = (&coarse.terms, M::narrow(0.5));
        for (i, d) in self.terms.iter_mut().enumerate() {
            let at = |i: Option<usize>, component: usize| {
                i.and_then(|i| coarse.get(i)).map_or(M::zero(), |pair| pair[component])
            };
            let before = (i / 2).checked_sub(1).or(wraps.then_some(coarse.len() - 1));
            for (component, d) in d.iter_mut().enumerate() {
                let after = at(Some(i / 2), component);
                *d += if i % 2 == 1 { after } else { half * (at(before, component) + after) };
            }
        }
    }

    /// The points of the side in z ← d.
    pub(super) fn store<T: Real>(&self, LevelSize { mi, mj, .. }: LevelSize, z: &mut [T]) {
        for (k, d) in self.terms.iter().enumerate() {
            let z = &mut z[2 * WalledSides::point(self.side, k, mi, mj)..][..2];
            z.iter_mut().zip(d).for_each(|(z, d)| *z = T::narrow(d.widen()));
        }
    }
}
