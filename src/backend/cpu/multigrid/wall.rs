//! Wall terms of a level.

use super::factor::Guard;
use super::lines::LineSet;
use super::panel::{LANES, Nine, Shape, WallPlace};
use super::sweep::Walls;
use crate::backend::Real;
use crate::backend::cpu::EllMatrix;
use crate::backend::cpu::vector::clear;
use crate::backend::multigrid::{LevelSize, SMALLEST_NORTH};
use rayon::prelude::*;

/// Wall terms d_i = (p_i, q_i) of a level and their columns B.
#[derive(Debug)]
pub(super) struct Wall<M> {
    /// Shape of the lines that hold the columns: those of transfers between levels.
    shape: Shape,
    /// B, by colour of these lines: `[panel][point along][entry of the block][lane]`.
    columns: [Vec<M>; 2],
    /// d, a pair for each i.
    terms: Vec<M>,
    /// Whether the level has wall terms; where it has none, d stays zero.
    live: bool,
}

impl<M: Real> Wall<M> {
    pub(super) fn new(lines: &LineSet<M>, eta: &LineSet<M>) -> Self {
        Self {
            shape: lines.shape,
            columns: lines.shape.room(4),
            terms: vec![M::zero(); 2 * eta.shape.across],
            live: true,
        }
    }

    /// Line and point along of grid point (i, j) in the lines that hold the columns.
    fn place(&self, i: usize, j: usize) -> (usize, usize) {
        if self.shape.wall == WallPlace::Line { (j, i) } else { (i, j) }
    }

    /// B at (i, j), row-major.
    pub(super) fn column(&self, i: usize, j: usize) -> [M; 4] {
        let (line, point) = self.place(i, j);
        let (colour, start) = self.shape.place(line, point, 4);
        [0, 1, 2, 3].map(|entry| self.columns[colour][start + entry * LANES])
    }

    /// B ← `block(i, j)`.
    fn fill(&mut self, block: impl Fn(usize, usize) -> [M; 4] + Sync) {
        let (shape, swapped) = (self.shape, self.shape.wall == WallPlace::Line);
        for (colour, columns) in self.columns.iter_mut().enumerate() {
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

    /// B of the finest level from the wall columns of the Jacobian, which always stay.
    pub(super) fn load<T: Real>(&mut self, columns: &EllMatrix<T>, size: LevelSize) -> Guard {
        let (n, values) = (columns.pattern().rows(), columns.values());
        self.fill(|i, j| {
            let row = 2 * (j * size.mi + i);
            [row, n + row, row + 1, n + row + 1].map(|at| M::narrow(values[at].widen()))
        });
        self.live = true;
        Guard::All
    }

    /// B ← full weighting of B of the fine level, in xi and, if it is coarsened too, in eta. No wall
    /// terms from the level on where fewer than half of the lines keep
    /// tr N > [`SMALLEST_NORTH`] tr S in their second point, whose operator is `second(i)`.
    pub(super) fn coarsen(
        &mut self,
        fine: &Self,
        [size, fine_size]: [LevelSize; 2],
        second: impl Fn(usize) -> Nine<M>,
    ) -> Guard {
        let kept = |i: usize| {
            let [_, s, .., n, _] = second(i).0;
            (n[0] + n[3]) / (s[0] + s[3]) > M::narrow(SMALLEST_NORTH)
        };
        self.live = fine.live && 2 * (0..size.mi).filter(|&i| kept(i)).count() >= size.mi;
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

    /// The columns and d, where there are any.
    pub(super) fn walls(&self) -> Option<Walls<'_, M>> {
        let [even, odd] = &self.columns;
        let (columns, terms, shape) = ([even.as_slice(), odd.as_slice()], &self.terms, self.shape);
        self.live.then_some(Walls { columns, terms, shape })
    }

    /// d ← what the bordered lines left.
    pub(super) fn take_solved(&mut self, eta: &LineSet<M>) {
        let shape = Shape { along: 1, ..eta.shape };
        for (i, pair) in self.terms.chunks_exact_mut(2).enumerate() {
            let (colour, at) = shape.place(i, 0, 2);
            (pair[0], pair[1]) = (eta.terms[colour][at], eta.terms[colour][at + LANES]);
        }
    }

    /// d ← 0.
    pub(super) fn clear(&mut self) {
        clear(&mut self.terms);
    }

    /// Fine d ← d + P coarse d, linear along xi.
    pub(super) fn prolong(&mut self, coarse: &Self, wraps: bool) {
        if !coarse.live {
            return;
        }
        let coarse = coarse.terms.as_chunks::<2>().0;
        let half = M::narrow(0.5);
        for (i, d) in self.terms.as_chunks_mut::<2>().0.iter_mut().enumerate() {
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

    /// The first row of z ← d.
    pub(super) fn store<T: Real>(&self, z: &mut [T]) {
        for (z, d) in z.iter_mut().zip(&self.terms) {
            *z = T::narrow(d.widen());
        }
    }
}
