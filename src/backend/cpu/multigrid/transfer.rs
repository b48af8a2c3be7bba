//! Moving vectors between layouts and levels, and operators of the levels: from the Jacobian, and
//! Galerkin products.

use super::lines::LineSet;
use super::panel::{LANES, Lane, Nine, Shape};
use crate::backend::Real;
use crate::backend::cpu::EllMatrix;
use crate::backend::multigrid::LevelSize;
use crate::sparse::STENCIL;
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
    shape: Shape,
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
    let Shape { along, across, closed, ring, .. } = fine.shape;
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

/// Triples of blocks along xi, by rising eta offset.
const ALONG_XI: [[usize; 3]; 3] = [[0, 1, 2], [3, 4, 5], [6, 7, 8]];
/// Triples of blocks along eta, by rising xi offset.
const ALONG_ETA: [[usize; 3]; 3] = [[0, 3, 6], [1, 4, 7], [2, 5, 8]];

/// Compass of the thirteen entries of a row, and whether the entry is of the other variable.
const ENTRIES: [(usize, bool); STENCIL.len()] = {
    let mut entries = [(0, false); STENCIL.len()];
    let mut k = 0;
    while k < STENCIL.len() {
        let (di, dj, other) = STENCIL[k];
        entries[k] = ((3 * (dj + 1) + di + 1).cast_unsigned(), other);
        k += 1;
    }
    entries
};

/// Blocks of unknown point (i, j) of a matrix with the nine-point pattern; couplings across a
/// periodic seam are dropped where the level does not wrap.
pub(super) fn finest_blocks<T: Real, M: Real>(
    a: &EllMatrix<T>,
    size: LevelSize,
    i: usize,
    j: usize,
) -> Nine<M> {
    let (west, east) = (i > 0, i + 1 < size.mi);
    let columns = [west, true, east];
    let rows = [j > 0, true, j + 1 < size.mj];
    let (n, values) = (a.pattern().rows(), a.values());
    let mut nine = Nine::default();
    for variable in 0..2 {
        let mut at = 2 * (j * size.mi + i) + variable;
        for (compass, other) in ENTRIES {
            let here = columns[compass % 3];
            if !rows[compass / 3] || !(here || size.periodic) {
                continue;
            }
            if here || size.wraps() {
                let column = if other { 1 - variable } else { variable };
                nine.0[compass][2 * variable + column] = M::narrow(values[at].widen());
            }
            at += n;
        }
    }
    nine
}

/// Galerkin blocks of coarse point (i, j) from those of the fine points around it.
pub(super) fn galerkin<M: Real>(
    fine: &impl Fn(usize, usize) -> Nine<M>,
    i: usize,
    j: usize,
    coarsen_eta: bool,
) -> Nine<M> {
    let along_xi = |j: usize| {
        let f = 2 * i + 1;
        coarsen_line(&[fine(f - 1, j), fine(f, j), fine(f + 1, j)], ALONG_XI)
    };
    if !coarsen_eta {
        return along_xi(j);
    }
    let f = 2 * j + 1;
    coarsen_line(&[along_xi(f - 1), along_xi(f), along_xi(f + 1)], ALONG_ETA)
}

/// One dimension of R A P with P = (½ 1 ½), R = (¼ ½ ¼), at the fine points f − 1, f, f + 1 with
/// blocks w, c, e along the dimension (theory eq. 12):
///
/// C = ½ (c₀ + ½ w₀ + ½ e₀) + ¼ (w₊ + ½ c₊) + ¼ (e₋ + ½ c₋),
/// E = ¼ e₀ + ¼ (e₊ + ½ c₊),  W = ¼ w₀ + ¼ (w₋ + ½ c₋).
fn coarsen_line<M: Real>([minus, zero, plus]: &[Nine<M>; 3], triples: [[usize; 3]; 3]) -> Nine<M> {
    let (half, quarter) = (M::narrow(0.5), M::narrow(0.25));
    let mut coarse = Nine::default();
    for [w, c, e] in triples {
        for k in 0..4 {
            let at = |nine: &Nine<M>| [nine.0[w][k], nine.0[c][k], nine.0[e][k]];
            let ([wm, cm, em], [w0, c0, e0], [wp, cp, ep]) = (at(minus), at(zero), at(plus));
            coarse.0[c][k] = half * (c0 + half * (w0 + e0))
                + quarter * (wp + half * cp)
                + quarter * (em + half * cm);
            coarse.0[e][k] = quarter * (e0 + ep + half * cp);
            coarse.0[w][k] = quarter * (w0 + wm + half * cm);
        }
    }
    coarse
}
