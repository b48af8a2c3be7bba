//! Lines of one direction, laid out for the vector unit.
//!
//! A line set holds the points of a level by lines of one direction ("along") and colour: line
//! `a` across has colour a mod 2 and number m = a div 2 within it. Lines are kept in panels of
//! [`LANES`] lines of one colour, `[panel][point along][component][lane]`, so that a panel's line
//! solves run in lockstep with unit stride, one stream of memory feeds each sweep, and panels are
//! disjoint slices for the threads. Lanes beyond the last line hold zero everywhere.

use super::factor::{Factor, Guard};
use super::sweep::{Neighbours, Relax, Residual, Walls};
use crate::backend::Real;
use crate::backend::cpu::vector::clear;
use crate::simd;
use rayon::prelude::*;

/// Lines that are solved in lockstep.
pub(super) const LANES: usize = 8;

/// One value a lane.
pub(super) type Lane<M> = [M; LANES];

/// Points that one task takes at least.
const PARALLEL: usize = 4096;

/// How the operator is stored at each point, in lanes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Storage {
    /// Four off-line corner blocks are ±d I and the centre is c I, as on the finest level:
    /// left 4, right 4, d, prev 4, next 4, c, inverse pivot 4.
    Compact,
    /// All blocks: left, right, left-prev, right-prev, left-next, right-next, prev, next, centre,
    /// inverse pivot, 4 each.
    Full,
}

impl Storage {
    /// Lanes a point, those of closed or bordered lines at the end: H or V of [`Factor`].
    #[inline(always)]
    pub(super) fn width(self, shape: Shape) -> usize {
        let [_, _, _, inverse] = self.line_blocks();
        inverse + if shape.closed || shape.wall == WallPlace::Start { 8 } else { 4 }
    }

    /// Writes the blocks of one lane of a point; its pivot follows in [`Factor`].
    fn put<M: Real>(self, point: &mut [Lane<M>], lane: usize, blocks: &PointBlocks<M>) {
        let mut rest = point.iter_mut();
        let mut put = |values: &[M]| {
            for (value, to) in values.iter().zip(rest.by_ref()) {
                to[lane] = *value;
            }
        };
        let b = blocks;
        match self {
            Self::Compact => {
                // At the rim some corners are absent and zero.
                let corners = [b.right_next[0], b.left_prev[0], -b.right_prev[0], -b.left_next[0]];
                let d = corners.into_iter().find(|d| *d != M::zero()).unwrap_or(M::zero());
                for values in [&b.left[..], &b.right, &[d], &b.prev, &b.next] {
                    put(values);
                }
                put(&b.centre[..1]);
            }
            Self::Full => {
                let corners = [&b.left_prev, &b.right_prev, &b.left_next, &b.right_next];
                for values in [&b.left, &b.right].into_iter().chain(corners) {
                    put(values);
                }
                for values in [&b.prev, &b.next, &b.centre] {
                    put(values);
                }
            }
        }
    }

    /// Where the blocks of the line itself start: prev, next, centre, inverse.
    #[inline(always)]
    pub(super) fn line_blocks(self) -> [usize; 4] {
        match self {
            Self::Compact => [9, 13, 17, 18],
            Self::Full => [24, 28, 32, 36],
        }
    }
}

/// The 2×2 blocks of a point, row-major, named by direction: `prev` and `next` along the line,
/// `left` and `right` across, the corners by both.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PointBlocks<M> {
    pub(super) left: [M; 4],
    pub(super) right: [M; 4],
    pub(super) left_prev: [M; 4],
    pub(super) right_prev: [M; 4],
    pub(super) left_next: [M; 4],
    pub(super) right_next: [M; 4],
    pub(super) prev: [M; 4],
    pub(super) next: [M; 4],
    pub(super) centre: [M; 4],
}

/// Where a set of lines has the first row of points, if wall terms are unknown in its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WallPlace {
    /// The first row is like the others.
    Nowhere,
    /// At the first point of every line, whose place the wall terms of that line take.
    Start,
    /// On the first line, which is not solved.
    Line,
}

/// Number and kind of the lines of a set.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    /// Points along a line.
    pub(super) along: usize,
    /// Lines.
    pub(super) across: usize,
    /// Whether a line's last point neighbours its first.
    pub(super) closed: bool,
    /// Whether the last line neighbours the first; their number is even then.
    pub(super) ring: bool,
    /// Where the wall terms stand.
    pub(super) wall: WallPlace,
}

impl Shape {
    /// Lines of a colour.
    pub(super) fn lines(&self, colour: usize) -> usize {
        (self.across + 1 - colour) / 2
    }

    /// Values that a panel of pairs holds.
    pub(super) fn panel_len(&self) -> usize {
        self.along * 2 * LANES
    }

    /// Panels that one task takes at least: threads cost more than they give on small levels.
    fn panels_together(&self) -> usize {
        PARALLEL / (self.along * LANES) + 1
    }

    /// The point before `l`, if there is one.
    #[inline(always)]
    pub(super) fn prev(&self, l: usize) -> Option<usize> {
        if l > 0 { Some(l - 1) } else { self.closed.then(|| self.along - 1) }
    }

    /// The point after `l`, if there is one.
    #[inline(always)]
    pub(super) fn next(&self, l: usize) -> Option<usize> {
        if l + 1 < self.along { Some(l + 1) } else { self.closed.then_some(0) }
    }
}

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
        blocks: impl Fn(usize, usize) -> PointBlocks<M> + Sync,
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
    pub(super) fn blocks(&self, line: usize, point: usize) -> PointBlocks<M> {
        let (colour, m) = (line % 2, line / 2);
        let width = self.storage.width(self.shape);
        let start = (m / LANES * self.shape.along + point) * width * LANES + m % LANES;
        let operator = &self.operator[colour];
        let value = |k: usize| operator[start + k * LANES];
        let block = |k: usize| [value(k), value(k + 1), value(k + 2), value(k + 3)];
        let zero = M::zero();
        let [prev, next, centre, _] = self.storage.line_blocks();
        let (left, right) = (block(0), block(4));
        let mut blocks = PointBlocks {
            left,
            right,
            prev: block(prev),
            next: block(next),
            ..PointBlocks::default()
        };
        match self.storage {
            Storage::Compact => {
                let (d, c) = (value(8), value(centre));
                let shape = self.shape;
                let left = shape.ring || line > 0;
                let right = shape.ring || line + 1 < shape.across;
                let (prev, next) = (shape.prev(point).is_some(), shape.next(point).is_some());
                let scaled = |present: bool, s: M| {
                    if present { [s, zero, zero, s] } else { [zero; 4] }
                };
                blocks.left_prev = scaled(left && prev, d);
                blocks.right_prev = scaled(right && prev, -d);
                blocks.left_next = scaled(left && next, -d);
                blocks.right_next = scaled(right && next, d);
                blocks.centre = scaled(true, c);
            }
            Storage::Full => {
                (blocks.left_prev, blocks.right_prev) = (block(8), block(12));
                (blocks.left_next, blocks.right_next) = (block(16), block(20));
                blocks.centre = block(centre);
            }
        }
        blocks
    }

    /// Values of the operator that one panel holds.
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
