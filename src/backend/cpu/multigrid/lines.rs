//! The lines of one direction with their operator, right side and solution.

use super::factor::{Factor, Guard};
use super::panel::{LANES, Nine, STORED, Shape, Storage, WallPlace};
use super::sweep::{Neighbours, Relax, Residual, Walls};
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
}

impl<M: Real> LineSet<M> {
    pub(super) fn new(shape: Shape, storage: Storage) -> Self {
        let room = |width: usize| {
            [0, 1].map(|colour| {
                let panels = shape.lines(colour).div_ceil(LANES);
                vec![M::zero(); panels * LANES * shape.along * width]
            })
        };
        let operator = room(storage.width(shape));
        Self { shape, storage, operator, u: room(2), f: room(2) }
    }

    /// Colour and position of component `component` of the pair at (line, point along).
    pub(super) fn pair_at(&self, line: usize, point: usize, component: usize) -> (usize, usize) {
        let (colour, m) = (line % 2, line / 2);
        (colour, ((m / LANES * self.shape.along + point) * 2 + component) * LANES + m % LANES)
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
        let (width, panel_len) = (storage.width(shape), self.operator_len());
        let [_, _, _, inverse] = storage.line_blocks();
        (0..2).all(|colour| {
            let count = shape.lines(colour);
            self.operator[colour]
                .par_chunks_mut(panel_len)
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
        let (colour, m) = (line % 2, line / 2);
        let (shape, width) = (self.shape, self.storage.width(self.shape));
        let start = (m / LANES * shape.along + point) * width * LANES + m % LANES;
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

    fn operator_len(&self) -> usize {
        self.shape.along * self.storage.width(self.shape) * LANES
    }

    /// One zebra sweep: solves the lines of `first`, then those of the other colour. `walls` are the
    /// wall columns of lines that are not bordered, `terms` takes the wall terms of those that are:
    /// by colour, `[panel][component][lane]`.
    pub(super) fn relax(
        &mut self,
        first: usize,
        walls: Option<&Walls<'_, M>>,
        terms: &mut [Vec<M>; 2],
    ) {
        for colour in [first, 1 - first] {
            let coefficients = self.operator_len();
            let [even, odd] = &mut self.u;
            let (own, other) = if colour == 0 { (even, &*odd) } else { (odd, &*even) };
            let neighbours = Neighbours { u: other, colour, shape: self.shape };
            let storage = self.storage;
            let pairs = self.shape.panel_len();
            let relax = |panel, u, f, operator, terms| {
                let (neighbours, walls) = (&neighbours, walls.map(|walls| walls.of(colour, panel)));
                simd::run(Relax { neighbours, panel, storage, operator, walls, f, u, terms });
            };
            let panels = own
                .par_chunks_mut(pairs)
                .zip(self.f[colour].par_chunks(pairs))
                .zip(self.operator[colour].par_chunks(coefficients))
                .with_min_len(self.shape.panels_together());
            if self.shape.wall == WallPlace::Start {
                panels.zip(terms[colour].par_chunks_mut(2 * LANES)).enumerate().for_each(
                    |(panel, (((u, f), operator), terms))| relax(panel, u, f, operator, terms),
                );
            } else {
                panels.enumerate().for_each(|(panel, ((u, f), operator))| {
                    relax(panel, u, f, operator, &mut []);
                });
            }
        }
    }

    /// r ← f − A u − B d on the lines of one colour, in the layout of its pairs.
    pub(super) fn residual(&self, colour: usize, walls: Option<&Walls<'_, M>>, r: &mut [M]) {
        let neighbours = Neighbours { u: &self.u[1 - colour], colour, shape: self.shape };
        let storage = self.storage;
        let pairs = self.shape.panel_len();
        let coefficients = self.operator_len();
        r.par_chunks_mut(pairs)
            .zip(self.f[colour].par_chunks(pairs))
            .zip(self.u[colour].par_chunks(pairs))
            .zip(self.operator[colour].par_chunks(coefficients))
            .with_min_len(self.shape.panels_together())
            .enumerate()
            .for_each(|(panel, (((r, f), u), operator))| {
                let (neighbours, walls) = (&neighbours, walls.map(|walls| walls.of(colour, panel)));
                simd::run(Residual { neighbours, panel, storage, operator, walls, f, u, r });
            });
    }

    /// u ← 0.
    pub(super) fn clear_solution(&mut self) {
        self.u.iter_mut().for_each(|u| clear(u));
    }
}
