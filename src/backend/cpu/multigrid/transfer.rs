//! Moving vectors between layouts and levels.

use super::lines::LineSet;
use super::panel::{LANES, Lane, PanelShape};
use crate::backend::Real;
use rayon::prelude::*;

/// Tasks below this number of points are not split further.
const PIECE: usize = 16_384;

/// Runs `work(colour, panel, values of the panel)` over all panels of a pair array.
fn for_each_panel<M: Real>(
    pairs: &mut [Vec<M>; 2],
    panel_len: usize,
    work: impl Fn(usize, usize, &mut [M]) + Sync,
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
pub(super) fn transpose<M: Real>(
    from: &LineSet<M>,
    values: &[Vec<M>; 2],
    to: &mut [Vec<M>; 2],
    across: usize,
    along: usize,
) {
    for_each_panel(to, along * 2 * LANES, |colour, panel, target| {
        let target = target.as_chunks_mut::<LANES>().0.as_chunks_mut::<2>().0;
        // Lines of `from` are points of `to`: take them panel by panel.
        for (from_colour, values) in values.iter().enumerate() {
            let lines = from.shape.lines(from_colour);
            let source = values.as_chunks::<LANES>().0.as_chunks::<2>().0;
            for (from_panel, source) in source.chunks(from.shape.along).enumerate() {
                let first = 2 * from_panel * LANES + from_colour;
                let width = LANES.min(lines - from_panel * LANES);
                for (lane, line) in lanes(colour, panel, across) {
                    let pair = &source[line];
                    let points = target[first..].iter_mut().step_by(2).take(width);
                    for (point, (x, y)) in points.zip(pair[0].iter().zip(&pair[1])) {
                        point[0][lane] = *x;
                        point[1][lane] = *y;
                    }
                }
            }
        }
    });
}

/// f ← r, a vector of pairs; `strides` are the points of r from line to line and from point to point along.
pub(super) fn load<T: Real, M: Real>(r: &[T], strides: [usize; 2], to: &mut LineSet<M>) {
    let (panel_len, across) = (to.shape.panel_len(), to.shape.across);
    for_each_panel(&mut to.f, panel_len, |colour, panel, f| {
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
            let (line, point) = place(i, j);
            let (colour, at) = lines.shape.place(line, point, 2);
            pair[0] = T::narrow(lines.u[colour][at].widen());
            pair[1] = T::narrow(lines.u[colour][at + LANES].widen());
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
    let (panel_len, across) = (coarse.shape.panel_len(), coarse.shape.across);
    let (half, quarter) = (M::narrow(0.5), M::narrow(0.25));
    let fine_line = |colour: usize, m: usize, weight: M| {
        let m = if shape.ring && m == shape.lines(colour) { 0 } else { m };
        residual[colour].and_then(|r| {
            let (_, start) = shape.place(2 * m + colour, 0, 2);
            // The panel of a line beyond the last one need not be there.
            r.get(start..).filter(|line| !line.is_empty()).map(|line| (line, weight))
        })
    };
    for_each_panel(&mut coarse.f, panel_len, |colour, panel, f| {
        for (lane, line) in lanes(colour, panel, across) {
            let sources = [
                fine_line(0, line, quarter),
                fine_line(1, line, half),
                fine_line(0, line + 1, quarter),
            ];
            for (point, f) in f.chunks_mut(2 * LANES).enumerate() {
                for component in 0..2 {
                    let at = |point: usize| {
                        let offset = (point * 2 + component) * LANES;
                        let mut sum = M::zero();
                        for (r, weight) in sources.iter().flatten() {
                            sum += *weight * r[offset];
                        }
                        sum
                    };
                    f[component * LANES + lane] = if coarsen_along {
                        let centre = 2 * point + 1;
                        let after = shape.next(centre).map_or_else(M::zero, at);
                        half * at(centre) + quarter * (at(centre - 1) + after)
                    } else {
                        at(point)
                    };
                }
            }
        }
    });
}

/// Fine u ← u + P coarse u: fine line 2L + 1 takes coarse line L, fine line 2L the mean of L − 1
/// and L; along the lines the same where they are coarsened too.
pub(super) fn prolong<M: Real>(coarse: &LineSet<M>, coarsen_along: bool, fine: &mut LineSet<M>) {
    let PanelShape { along, across, closed, ring, .. } = fine.shape;
    let panel_len = fine.shape.panel_len();
    let half = M::narrow(0.5);
    for_each_panel(&mut fine.u, panel_len, |colour, panel, u| {
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
        let mut before =
            if closed { across_mean(coarse.shape.along - 1) } else { [[M::zero(); LANES]; 2] };
        for point in 0..along.div_ceil(2) {
            let here = if point < coarse.shape.along {
                across_mean(point)
            } else {
                [[M::zero(); LANES]; 2]
            };
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
