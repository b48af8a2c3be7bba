//! Moving vectors between layouts and levels.

use super::lines::LineSet;
use super::panel::{LANES, Lane, PanelShape};
use crate::backend::Real;
use crate::simd::{self, Kernel};
use rayon::prelude::*;

/// Tasks below this number of points are not split further.
const PIECE: usize = 16_384;

/// Runs `work(colour, panel, values of the panel)` over all panels of a pair array.
fn for_each_panel<M: Real>(
    pairs: &mut [Vec<M>; 2],
    panel_len: usize,
    work: &(dyn Fn(usize, usize, &mut [M]) + Sync),
) {
    let together = (PIECE * 2 / panel_len).max(1);
    for (colour, values) in pairs.iter_mut().enumerate() {
        values
            .par_chunks_mut(panel_len)
            .with_min_len(together)
            .enumerate()
            .for_each(|(panel, values)| work(colour, panel, values));
    }
}

/// Lines of a panel that exist: (lane, line).
fn lanes(colour: usize, panel: usize, across: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..LANES)
        .map(move |lane| (lane, 2 * (panel * LANES + lane) + colour))
        .filter(move |&(_, line)| line < across)
}

/// to ← the pair array `values` of `from`, whose lines run across those of `to`.
pub(super) fn transpose<M: Real>(from: &LineSet<M>, values: &[Vec<M>; 2], to: &mut [Vec<M>; 2]) {
    let from = from.shape;
    for_each_panel(to, from.across * 2 * LANES, &|colour, panel, target| {
        simd::run(Turned { from, values, colour, panel, target });
    });
}

/// The pairs of one panel from lines that run across its lines.
struct Turned<'a, M> {
    from: PanelShape,
    values: &'a [Vec<M>; 2],
    colour: usize,
    panel: usize,
    target: &'a mut [M],
}

impl<M: Real> Kernel for Turned<'_, M> {
    #[inline(always)]
    fn run(self) {
        let Self { from, values, colour, panel, target } = self;
        let target = target.as_chunks_mut::<LANES>().0.as_chunks_mut::<2>().0;
        // Lines of `from` are points of the panel: take them panel by panel.
        for (from_colour, values) in values.iter().enumerate() {
            let lines = from.lines(from_colour);
            let source = values.as_chunks::<LANES>().0.as_chunks::<2>().0;
            for (from_panel, source) in source.chunks(from.along).enumerate() {
                let first = 2 * from_panel * LANES + from_colour;
                let width = LANES.min(lines - from_panel * LANES);
                let line = |lane: usize| source.get(2 * (panel * LANES + lane) + colour);
                let rows: [[Lane<M>; 2]; LANES] = std::array::from_fn(|lane| {
                    line(lane).copied().unwrap_or([[M::zero(); LANES]; 2])
                });
                for (m, point) in target[first..].iter_mut().step_by(2).take(width).enumerate() {
                    for (c, to) in point.iter_mut().enumerate() {
                        *to = std::array::from_fn(|lane| rows[lane][c][m]);
                    }
                }
            }
        }
    }
}

/// f ← r, a vector of pairs; `strides` are the points of r from line to line and from point to point along.
pub(super) fn load<T: Real, M: Real>(r: &[T], strides: [usize; 2], to: &mut LineSet<M>) {
    let (panel_len, across) = (to.shape.panel_len(), to.shape.across);
    for_each_panel(&mut to.f, panel_len, &|colour, panel, f| {
        for (point, f) in f.chunks_mut(2 * LANES).enumerate() {
            for (lane, line) in lanes(colour, panel, across) {
                let k = 2 * (line * strides[0] + point * strides[1]);
                f[lane] = M::narrow(r[k].widen());
                f[LANES + lane] = M::narrow(r[k + 1].widen());
            }
        }
    });
}

/// z ← u, a vector of pairs by rows of `mi` points, of which (i, j) is `place(i, j)` of the lines.
pub(super) fn store<T: Real, M: Real>(
    lines: &LineSet<M>,
    place: impl Fn(usize, usize) -> (usize, usize) + Sync,
    mi: usize,
    z: &mut [T],
) {
    z.par_chunks_mut(2 * mi).enumerate().for_each(|(j, row)| {
        for (i, pair) in row.chunks_exact_mut(2).enumerate() {
            let found = lines.shape.pair(&lines.u, place(i, j));
            pair[0] = T::narrow(found[0].widen());
            pair[1] = T::narrow(found[1].widen());
        }
    });
}

/// Coarse f ← R r. Coarse line L takes ¼ ½ ¼ of the fine lines 2L, 2L + 1, 2L + 2; along the lines
/// the same where they are coarsened too. A colour whose residual is zero is `None`.
pub(super) fn restrict<M: Real>(
    residual: [Option<&[M]>; 2],
    shape: PanelShape,
    coarsen_along: bool,
    coarse: &mut LineSet<M>,
) {
    let to = coarse.shape;
    for_each_panel(&mut coarse.f, to.panel_len(), &|colour, panel, f| {
        let lanes = LANES.min(to.lines(colour) - panel * LANES);
        let fine = FineLines { residual, shape, panel, lanes };
        if colour == 0 {
            simd::run(Restriction::<M, 0, 1> { fine, coarsen_along, f });
        } else {
            simd::run(Restriction::<M, 1, 2> { fine, coarsen_along, f });
        }
    });
}

/// The residual of the fine lines that a coarse panel takes from.
struct FineLines<'a, M> {
    residual: [Option<&'a [M]>; 2],
    shape: PanelShape,
    panel: usize,
    /// Coarse lines of the panel.
    lanes: usize,
}

impl<M: Real> FineLines<'_, M> {
    /// The pairs at a point of every other line of a colour, from line `FROM` of the panel on; zero where there is none.
    #[inline(always)]
    fn every_other<const FROM: usize>(&self, colour: usize, point: usize) -> [Lane<M>; 2] {
        let (mut pair, shape) = ([[M::zero(); LANES]; 2], &self.shape);
        let Some(values) = self.residual[colour] else { return pair };
        let values = values.as_chunks::<LANES>().0.as_chunks::<2>().0;
        let of = |panel: usize| values.get(panel * shape.along + point).copied();
        let panels = [0, 1, 2].map(|k| of(2 * self.panel + k).unwrap_or(pair));
        for c in 0..2 {
            for k in 0..LANES {
                pair[c][k] = panels[(FROM + 2 * k) / LANES][c][(FROM + 2 * k) % LANES];
            }
        }
        // Around a ring the first line follows the last one.
        let last = shape.lines(colour).wrapping_sub(2 * self.panel * LANES + FROM);
        let lane = last / 2;
        if shape.ring && last.is_multiple_of(2) && lane < LANES {
            let first = of(0).unwrap_or(pair);
            (pair[0][lane], pair[1][lane]) = (first[0][0], first[1][0]);
        }
        pair
    }
}

/// f of a coarse panel whose lines are of colour `COLOUR`; `AFTER` is `COLOUR` + 1.
struct Restriction<'a, M, const COLOUR: usize, const AFTER: usize> {
    fine: FineLines<'a, M>,
    coarsen_along: bool,
    f: &'a mut [M],
}

impl<M: Real, const COLOUR: usize, const AFTER: usize> Kernel
    for Restriction<'_, M, COLOUR, AFTER>
{
    #[inline(always)]
    fn run(self) {
        let Self { fine, coarsen_along, f } = self;
        let (half, quarter) = (M::narrow(0.5), M::narrow(0.25));
        let across = |point: usize| {
            let before = fine.every_other::<COLOUR>(0, point);
            let here = fine.every_other::<COLOUR>(1, point);
            let after = fine.every_other::<AFTER>(0, point);
            let mut sum = [[M::zero(); LANES]; 2];
            for c in 0..2 {
                for k in 0..LANES {
                    sum[c][k] = quarter * before[c][k] + half * here[c][k] + quarter * after[c][k];
                }
                sum[c][fine.lanes..].fill(M::zero());
            }
            sum
        };
        let f = f.as_chunks_mut::<LANES>().0.as_chunks_mut::<2>().0;
        if !coarsen_along {
            f.iter_mut().enumerate().for_each(|(point, f)| *f = across(point));
            return;
        }
        let mut before = across(0);
        for (point, f) in f.iter_mut().enumerate() {
            let centre = 2 * point + 1;
            let here = across(centre);
            let after = fine.shape.next(centre).map_or([[M::zero(); LANES]; 2], across);
            for c in 0..2 {
                for k in 0..LANES {
                    f[c][k] = half * here[c][k] + quarter * (before[c][k] + after[c][k]);
                }
            }
            before = after;
        }
    }
}

/// Fine u ← u + P coarse u: fine line 2L + 1 takes coarse line L, fine line 2L the mean of L − 1
/// and L; along the lines the same where they are coarsened too.
pub(super) fn prolong<M: Real>(coarse: &LineSet<M>, coarsen_along: bool, fine: &mut LineSet<M>) {
    let PanelShape { along, across, closed, ring, .. } = fine.shape;
    let panel_len = fine.shape.panel_len();
    let half = M::narrow(0.5);
    for_each_panel(&mut fine.u, panel_len, &|colour, panel, u| {
        let across_mean = |point: usize| -> [Lane<M>; 2] {
            let mut pair = [[M::zero(); LANES]; 2];
            for (lane, line) in lanes(colour, panel, across) {
                for (component, values) in pair.iter_mut().enumerate() {
                    let value = |line: usize| {
                        let (colour, at) = coarse.shape.place(line, point, 2);
                        let u = &coarse.u[colour];
                        if line < coarse.shape.across {
                            u[at + component * LANES]
                        } else {
                            M::zero()
                        }
                    };
                    values[lane] = match (colour, line / 2) {
                        (1, m) => value(m),
                        (_, 0) if ring => half * (value(coarse.shape.across - 1) + value(0)),
                        (_, 0) => half * value(0),
                        (_, m) => half * (value(m - 1) + value(m)),
                    };
                }
            }
            pair
        };
        let u = u.as_chunks_mut::<LANES>().0.as_chunks_mut::<2>().0;
        if !coarsen_along {
            for (point, u) in u.iter_mut().enumerate() {
                add(u, &across_mean(point), M::one());
            }
            return;
        }
        let coarse_along = coarse.shape.along;
        let mean = |point: Option<usize>| point.map_or([[M::zero(); LANES]; 2], across_mean);
        let mut before = mean(closed.then(|| coarse_along - 1));
        for point in 0..along.div_ceil(2) {
            let here = mean(Some(point).filter(|&point| point < coarse_along));
            add(&mut u[2 * point], &before, half);
            add(&mut u[2 * point], &here, half);
            if 2 * point + 1 < along {
                add(&mut u[2 * point + 1], &here, M::one());
            }
            before = here;
        }
    });
}

#[inline(always)]
fn add<M: Real>(u: &mut [Lane<M>; 2], pair: &[Lane<M>; 2], weight: M) {
    for (u, pair) in u.iter_mut().zip(pair) {
        for (u, value) in u.iter_mut().zip(pair) {
            *u += weight * *value;
        }
    }
}
