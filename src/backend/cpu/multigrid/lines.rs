//! The lines of one direction with their operator, right side and solution.

use super::factor::{Factor, Guard};
use super::panel::{LANES, Nine, STORED, Shape, Storage, WallPlace};
use super::sweep::{Lines, Sweep, Walls, Work};
use crate::backend::Real;
use crate::backend::cpu::vector::clear;
use crate::simd;
use rayon::prelude::*;

/// Operator, right side and solution of a level, by lines of one direction.
#[derive(Debug)]
pub(super) struct LineSet<M> {
    pub(super) shape: Shape,
    pub(super) storage: Storage,
    operator: [Vec<M>; 2],
    pub(super) u: [Vec<M>; 2],
    pub(super) f: [Vec<M>; 2],
    /// The wall terms of bordered lines: `[panel][component][lane]`.
    pub(super) terms: [Vec<M>; 2],
}

impl<M: Real> LineSet<M> {
    pub(super) fn new(shape: Shape, storage: Storage) -> Self {
        let operator = shape.room(storage.width(shape));
        let terms = Shape { along: 1, ..shape }.room(2);
        Self { shape, storage, operator, u: shape.room(2), f: shape.room(2), terms }
    }

    /// Takes the operator from `blocks(line, point along)` and factors the lines: pivots
    /// D_l = C_l − P_l D_{l−1}⁻¹ N_{l−1}, kept as D⁻¹. Bordered lines take their wall columns from
    /// `column(line, point along)`. Returns whether all pivots are finite.
    pub(super) fn fill(
        &mut self,
        blocks: impl Fn(usize, usize) -> Nine<M> + Sync,
        column: impl Fn(usize, usize) -> [M; 4] + Sync,
        guard: Guard,
    ) -> bool {
        let (shape, storage) = (self.shape, self.storage);
        let width = storage.width(shape);
        let [_, _, _, inverse] = storage.line_blocks();
        (0..2).all(|colour| {
            let count = shape.lines(colour);
            self.operator[colour]
                .par_chunks_mut(shape.along * width * LANES)
                .enumerate()
                .map(|(p, panel)| {
                    let lanes = LANES.min(count - p * LANES);
                    let points = panel.as_chunks_mut::<LANES>().0.chunks_mut(width);
                    for (l, point) in points.enumerate() {
                        for lane in 0..lanes {
                            let line = 2 * (p * LANES + lane) + colour;
                            storage.put(point, lane, &blocks(line, l));
                            if shape.wall == WallPlace::Start {
                                let to = point[inverse + 4..].iter_mut();
                                to.zip(column(line, l)).for_each(|(to, b)| to[lane] = b);
                            }
                        }
                    }
                    let held = shape.wall == WallPlace::Line && (colour, p) == (0, 0);
                    let mut finite = true;
                    simd::run(Factor {
                        operator: panel,
                        storage,
                        shape,
                        lanes: usize::from(held)..lanes,
                        guard,
                        finite: &mut finite,
                    });
                    finite
                })
                .reduce(|| true, |a, b| a && b)
        })
    }

    /// The operator at (line, point along).
    pub(super) fn blocks(&self, line: usize, point: usize) -> Nine<M> {
        let shape = self.shape;
        let (colour, start) = shape.place(line, point, self.storage.width(shape));
        let operator = &self.operator[colour];
        let value = |k: usize| operator[start + k * LANES];
        let block = |k: usize| [value(k), value(k + 1), value(k + 2), value(k + 3)];
        let mut nine = Nine::default();
        match self.storage {
            Storage::Compact => {
                let [prev, next, centre, _] = self.storage.line_blocks();
                for (at, k) in [(3, 0), (5, 4), (1, prev), (7, next)] {
                    nine.0[at] = block(k);
                }
                let left = shape.ring || line > 0;
                let right = shape.ring || line + 1 < shape.across;
                let (prev, next) = (shape.prev(point).is_some(), shape.next(point).is_some());
                let d = value(8);
                for (at, present, scale) in [
                    (0, left && prev, d),
                    (2, right && prev, -d),
                    (6, left && next, -d),
                    (8, right && next, d),
                    (4, true, value(centre)),
                ] {
                    if present {
                        (nine.0[at][0], nine.0[at][3]) = (scale, scale);
                    }
                }
            }
            Storage::Full => {
                for (k, at) in STORED.into_iter().enumerate() {
                    nine.0[at] = block(4 * k);
                }
            }
        }
        nine
    }

    /// One zebra sweep: solves the lines of `first`, then those of the other colour, and bordered ones for
    /// their wall terms. `walls` are the wall columns of lines that are not bordered.
    pub(super) fn relax(&mut self, first: usize, walls: Option<&Walls<'_, M>>) {
        for colour in [first, 1 - first] {
            self.relax_colour(colour, walls);
        }
    }

    /// Half of [`Self::relax`]: the lines of one colour.
    pub(super) fn relax_colour(&mut self, colour: usize, walls: Option<&Walls<'_, M>>) {
        let Self { shape, storage, operator, u, f, terms } = self;
        let (shape, storage) = (*shape, *storage);
        let [even, odd] = &mut *u;
        let (own, beside) = if colour == 0 { (even, odd) } else { (odd, even) };
        let (operator, f) = (&operator[colour], &f[colour]);
        let lines = &Lines { colour, shape, storage, operator, f, walls, beside };
        own.par_chunks_mut(shape.panel_len())
            .zip(terms[colour].par_chunks_mut(2 * LANES))
            .with_min_len(shape.panels_together())
            .enumerate()
            .for_each(|(panel, (u, terms))| {
                simd::run(Sweep { lines, panel, work: Work::Relax { u, terms } });
            });
    }

    /// r ← f − A u − B d on the lines of one colour, in the layout of its pairs.
    pub(super) fn residual(&self, colour: usize, walls: Option<&Walls<'_, M>>, r: &mut [M]) {
        let Self { shape, storage, operator, u, f, .. } = self;
        let (shape, storage, beside) = (*shape, *storage, &u[1 - colour]);
        let (operator, f) = (&operator[colour], &f[colour]);
        let lines = &Lines { colour, shape, storage, operator, f, walls, beside };
        r.par_chunks_mut(shape.panel_len())
            .zip(u[colour].par_chunks(shape.panel_len()))
            .with_min_len(shape.panels_together())
            .enumerate()
            .for_each(|(panel, (r, u))| {
                simd::run(Sweep { lines, panel, work: Work::Residual { u, r } });
            });
    }

    /// u ← 0.
    pub(super) fn clear_solution(&mut self) {
        self.u.iter_mut().for_each(|u| clear(u));
    }
}
