//! Lines of one direction, laid out for the vector unit.
//!
//! A line set holds the points of a level by lines of one direction ("along") and colour: line
//! `a` across has colour a mod 2 and number m = a div 2 within it. Lines are kept in panels of
//! [`LANES`] lines of one colour, `[panel][point along][component][lane]`, so that a panel's line
//! solves run in lockstep with unit stride, one stream of memory feeds each sweep, and panels are
//! disjoint slices for the threads. Lanes beyond the last line hold zero everywhere.

use crate::backend::Real;
use rayon::prelude::*;

/// Lines that are solved in lockstep.
pub(super) const LANES: usize = 8;

/// One value a lane.
pub(super) type Lane<M> = [M; LANES];

/// Work, in points, below which threads cost more than they give.
const PARALLEL: usize = 16_384;

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
    /// Lanes a point.
    pub(super) fn width(self) -> usize {
        match self {
            Self::Compact => 22,
            Self::Full => 40,
        }
    }

    /// Writes the blocks of one lane of a point; its pivot follows in [`factor_panel`].
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
                for values in [&b.left[..], &b.right, &b.right_next[..1], &b.prev, &b.next] {
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
    fn line_blocks(self) -> [usize; 4] {
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

/// Operator, right side and solution of a level, by lines of one direction.
#[derive(Debug)]
pub(super) struct LineSet<M> {
    /// Points along a line.
    pub(super) along: usize,
    /// Lines.
    pub(super) across: usize,
    storage: Storage,
    operator: [Vec<M>; 2],
    pub(super) u: [Vec<M>; 2],
    pub(super) f: [Vec<M>; 2],
}

impl<M: Real> LineSet<M> {
    pub(super) fn new(along: usize, across: usize, storage: Storage) -> Self {
        let room = |width: usize| {
            [0, 1].map(|colour| {
                let lines = (across + 1 - colour) / 2;
                vec![M::zero(); lines.div_ceil(LANES) * LANES * along * width]
            })
        };
        Self { along, across, storage, operator: room(storage.width()), u: room(2), f: room(2) }
    }

    /// Colour and position of component `component` of the pair at (line, point along).
    pub(super) fn pair_at(&self, line: usize, point: usize, component: usize) -> (usize, usize) {
        let (colour, m) = (line % 2, line / 2);
        (colour, ((m / LANES * self.along + point) * 2 + component) * LANES + m % LANES)
    }

    /// Values of a pair array that one panel holds.
    pub(super) fn panel_len(&self) -> usize {
        self.along * 2 * LANES
    }

    /// Takes the operator from `blocks(line, point along)` and factors the lines: pivots
    /// D_l = C_l − P_l D_{l−1}⁻¹ N_{l−1}, kept as D⁻¹. Returns whether all of them are finite.
    pub(super) fn fill(&mut self, blocks: impl Fn(usize, usize) -> PointBlocks<M> + Sync) -> bool {
        let (along, across, storage) = (self.along, self.across, self.storage);
        let panel_len = along * storage.width() * LANES;
        (0..2).all(|colour| {
            let lines = (across + 1 - colour) / 2;
            self.operator[colour]
                .par_chunks_mut(panel_len)
                .enumerate()
                .map(|(p, panel)| {
                    let lanes = LANES.min(lines - p * LANES);
                    let points = panel.as_chunks_mut::<LANES>().0.chunks_mut(storage.width());
                    for (l, point) in points.enumerate() {
                        for lane in 0..lanes {
                            let line = 2 * (p * LANES + lane) + colour;
                            storage.put(point, lane, &blocks(line, l));
                        }
                    }
                    factor_panel(panel, storage, lanes)
                })
                .reduce(|| true, |a, b| a && b)
        })
    }

    /// The operator at (line, point along).
    pub(super) fn blocks(&self, line: usize, point: usize) -> PointBlocks<M> {
        let (colour, m) = (line % 2, line / 2);
        let width = self.storage.width();
        let start = (m / LANES * self.along + point) * width * LANES + m % LANES;
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
                (blocks.left_prev, blocks.right_next) = ([d, zero, zero, d], [d, zero, zero, d]);
                (blocks.right_prev, blocks.left_next) =
                    ([-d, zero, zero, -d], [-d, zero, zero, -d]);
                blocks.centre = [c, zero, zero, c];
            }
            Storage::Full => {
                (blocks.left_prev, blocks.right_prev) = (block(8), block(12));
                (blocks.left_next, blocks.right_next) = (block(16), block(20));
                blocks.centre = block(centre);
            }
        }
        blocks
    }

    /// One zebra sweep: solves the lines of `first`, then those of the other colour.
    pub(super) fn relax(&mut self, first: usize) {
        for colour in [first, 1 - first] {
            let [even, odd] = &mut self.u;
            let (own, other) = if colour == 0 { (even, &*odd) } else { (odd, &*even) };
            let neighbours = Neighbours { u: other, colour, along: self.along };
            let (along, storage) = (self.along, self.storage);
            let (operator, f) = (&self.operator[colour], &self.f[colour]);
            let pairs = along * 2 * LANES;
            let sweep = |(p, ((u, f), a)): (usize, ((&mut [M], &[M]), &[M]))| {
                relax_panel(&neighbours, p, storage, a, f, u);
            };
            let coefficients = along * storage.width() * LANES;
            if along * self.across < PARALLEL {
                own.chunks_mut(pairs)
                    .zip(f.chunks(pairs))
                    .zip(operator.chunks(coefficients))
                    .enumerate()
                    .for_each(sweep);
            } else {
                own.par_chunks_mut(pairs)
                    .zip(f.par_chunks(pairs))
                    .zip(operator.par_chunks(coefficients))
                    .enumerate()
                    .for_each(sweep);
            }
        }
    }

    /// r ← f − A u on the lines of one colour, in the layout of its pairs.
    pub(super) fn residual(&self, colour: usize, r: &mut [M]) {
        let neighbours = Neighbours { u: &self.u[1 - colour], colour, along: self.along };
        let (along, storage) = (self.along, self.storage);
        let pairs = along * 2 * LANES;
        let coefficients = along * storage.width() * LANES;
        r.par_chunks_mut(pairs)
            .zip(self.f[colour].par_chunks(pairs))
            .zip(self.u[colour].par_chunks(pairs))
            .zip(self.operator[colour].par_chunks(coefficients))
            .with_min_len(PARALLEL / (along * LANES) + 1)
            .enumerate()
            .for_each(|(p, (((r, f), u), a))| {
                residual_panel(&neighbours, p, storage, a, f, u, r);
            });
    }

    /// u ← 0.
    pub(super) fn clear_solution(&mut self) {
        self.u.iter_mut().for_each(|u| u.fill(M::zero()));
    }
}

/// The solution on the lines beside those of one colour.
struct Neighbours<'a, M> {
    u: &'a [M],
    colour: usize,
    along: usize,
}

/// (left, right) pairs of a panel's lines at one point along.
type Beside<M> = [[Lane<M>; 2]; 2];

impl<M: Real> Neighbours<'_, M> {
    /// Left and right neighbours at point `l`: line 2m has left neighbour m − 1 and right
    /// neighbour m of the other colour, line 2m + 1 has m and m + 1.
    #[inline(always)]
    fn at(&self, panel: usize, l: usize) -> Beside<M> {
        let aligned = self.pair(panel, l);
        let mut shifted = [[M::zero(); LANES]; 2];
        if self.colour == 0 {
            if panel > 0 {
                let before = self.pair(panel - 1, l);
                shifted[0][0] = before[0][LANES - 1];
                shifted[1][0] = before[1][LANES - 1];
            }
            for k in 0..2 {
                shifted[k][1..].copy_from_slice(&aligned[k][..LANES - 1]);
            }
            [shifted, aligned]
        } else {
            let after = self.pair(panel + 1, l);
            for k in 0..2 {
                shifted[k][..LANES - 1].copy_from_slice(&aligned[k][1..]);
                shifted[k][LANES - 1] = after[k][0];
            }
            [aligned, shifted]
        }
    }

    /// Both components at a point of a panel; zero where there is no such panel.
    #[inline(always)]
    fn pair(&self, panel: usize, l: usize) -> [Lane<M>; 2] {
        let start = (panel * self.along + l) * 2 * LANES;
        match self.u.get(start..start + 2 * LANES) {
            Some(pair) => as_pair(pair),
            None => [[M::zero(); LANES]; 2],
        }
    }
}

#[inline(always)]
fn as_pair<M: Real>(values: &[M]) -> [Lane<M>; 2] {
    let lanes = values.as_chunks::<LANES>().0;
    [lanes[0], lanes[1]]
}

/// b ← b − A u for one 2×2 block a lane.
#[inline(always)]
fn subtract<M: Real>(b: &mut [Lane<M>; 2], a: &[Lane<M>], u: &[Lane<M>; 2]) {
    for k in 0..LANES {
        b[0][k] -= a[0][k] * u[0][k] + a[1][k] * u[1][k];
        b[1][k] -= a[2][k] * u[0][k] + a[3][k] * u[1][k];
    }
}

/// A u for one 2×2 block a lane.
#[inline(always)]
fn product<M: Real>(a: &[Lane<M>], u: &[Lane<M>; 2]) -> [Lane<M>; 2] {
    let mut b = [[M::zero(); LANES]; 2];
    for k in 0..LANES {
        b[0][k] = a[0][k] * u[0][k] + a[1][k] * u[1][k];
        b[1][k] = a[2][k] * u[0][k] + a[3][k] * u[1][k];
    }
    b
}

/// b ← b minus all terms beside the line.
#[inline(always)]
fn subtract_beside<M: Real>(
    b: &mut [Lane<M>; 2],
    a: &[Lane<M>],
    storage: Storage,
    [prev, here, next]: [&Beside<M>; 3],
) {
    subtract(b, &a[..4], &here[0]);
    subtract(b, &a[4..8], &here[1]);
    match storage {
        Storage::Compact => {
            for c in 0..2 {
                for k in 0..LANES {
                    let corners = (prev[0][c][k] - prev[1][c][k]) + (next[1][c][k] - next[0][c][k]);
                    b[c][k] -= a[8][k] * corners;
                }
            }
        }
        Storage::Full => {
            subtract(b, &a[8..12], &prev[0]);
            subtract(b, &a[12..16], &prev[1]);
            subtract(b, &a[16..20], &next[0]);
            subtract(b, &a[20..24], &next[1]);
        }
    }
}

/// Line solves of one panel: forward g_l = D_l⁻¹ (f_l − beside − P_l g_{l−1}), then backward
/// u_l = g_l − D_l⁻¹ N_l u_{l+1}.
fn relax_panel<M: Real>(
    neighbours: &Neighbours<'_, M>,
    panel: usize,
    storage: Storage,
    operator: &[M],
    f: &[M],
    u: &mut [M],
) {
    match storage {
        Storage::Compact => relax_lines::<M, 22>(neighbours, panel, storage, operator, f, u),
        Storage::Full => relax_lines::<M, 40>(neighbours, panel, storage, operator, f, u),
    }
}

#[inline(always)]
fn relax_lines<M: Real, const WIDTH: usize>(
    neighbours: &Neighbours<'_, M>,
    panel: usize,
    storage: Storage,
    operator: &[M],
    f: &[M],
    u: &mut [M],
) {
    let along = neighbours.along;
    let [at_prev, at_next, _, at_inverse] = storage.line_blocks();
    let none: Beside<M> = [[[M::zero(); LANES]; 2]; 2];
    let a = operator.as_chunks::<LANES>().0.as_chunks::<WIDTH>().0;
    let f = f.as_chunks::<LANES>().0.as_chunks::<2>().0;
    let u = u.as_chunks_mut::<LANES>().0.as_chunks_mut::<2>().0;
    let (mut prev, mut here) = (none, neighbours.at(panel, 0));
    let mut solved = [[M::zero(); LANES]; 2];
    for l in 0..along {
        let next = if l + 1 < along { neighbours.at(panel, l + 1) } else { none };
        let a = &a[l];
        let mut b = f[l];
        subtract_beside(&mut b, a, storage, [&prev, &here, &next]);
        subtract(&mut b, &a[at_prev..at_prev + 4], &solved);
        solved = product(&a[at_inverse..at_inverse + 4], &b);
        u[l] = solved;
        (prev, here) = (here, next);
    }
    for l in (0..along - 1).rev() {
        let a = &a[l];
        let pull = product(&a[at_next..at_next + 4], &solved);
        let mut b = u[l];
        subtract(&mut b, &a[at_inverse..at_inverse + 4], &pull);
        u[l] = b;
        solved = b;
    }
}

fn residual_panel<M: Real>(
    neighbours: &Neighbours<'_, M>,
    panel: usize,
    storage: Storage,
    operator: &[M],
    f: &[M],
    u: &[M],
    r: &mut [M],
) {
    let (along, width) = (neighbours.along, storage.width());
    let [at_prev, at_next, at_centre, _] = storage.line_blocks();
    let none: Beside<M> = [[[M::zero(); LANES]; 2]; 2];
    let (mut prev, mut here) = (none, neighbours.at(panel, 0));
    let pair = |l: usize| as_pair(&u[l * 2 * LANES..(l + 1) * 2 * LANES]);
    for l in 0..along {
        let next = if l + 1 < along { neighbours.at(panel, l + 1) } else { none };
        let a = operator[l * width * LANES..(l + 1) * width * LANES].as_chunks::<LANES>().0;
        let mut b = as_pair(&f[l * 2 * LANES..(l + 1) * 2 * LANES]);
        subtract_beside(&mut b, a, storage, [&prev, &here, &next]);
        if l > 0 {
            subtract(&mut b, &a[at_prev..at_prev + 4], &pair(l - 1));
        }
        if l + 1 < along {
            subtract(&mut b, &a[at_next..at_next + 4], &pair(l + 1));
        }
        let own = pair(l);
        match storage {
            Storage::Compact => {
                for c in 0..2 {
                    for k in 0..LANES {
                        b[c][k] -= a[at_centre][k] * own[c][k];
                    }
                }
            }
            Storage::Full => subtract(&mut b, &a[at_centre..at_centre + 4], &own),
        }
        r[l * 2 * LANES..(l + 1) * 2 * LANES].copy_from_slice(b.as_flattened());
        (prev, here) = (here, next);
    }
}

/// Pivots of one panel; lanes from `lines` on are padding and keep inverse pivots of zero.
fn factor_panel<M: Real>(operator: &mut [M], storage: Storage, lines: usize) -> bool {
    let width = storage.width();
    let [at_prev, at_next, at_centre, at_inverse] = storage.line_blocks();
    let mut finite = true;
    // D⁻¹ N of the point before.
    let mut carried = [[M::zero(); LANES]; 4];
    for point in operator.as_chunks_mut::<LANES>().0.chunks_mut(width) {
        for k in 0..lines.min(LANES) {
            let block = |at: usize| [0, 1, 2, 3].map(|e| point[at + e][k]);
            let (p, n) = (block(at_prev), block(at_next));
            let c = match storage {
                Storage::Compact => {
                    let c = point[at_centre][k];
                    [c, M::zero(), M::zero(), c]
                }
                Storage::Full => block(at_centre),
            };
            let before = carried.map(|lane| lane[k]);
            let fill = mul(p, before);
            let inverse = invert([0, 1, 2, 3].map(|e| c[e] - fill[e]));
            let forward = mul(inverse, n);
            for e in 0..4 {
                finite &= inverse[e].is_finite();
                point[at_inverse + e][k] = inverse[e];
                carried[e][k] = forward[e];
            }
        }
    }
    finite
}

fn mul<M: Real>(a: [M; 4], b: [M; 4]) -> [M; 4] {
    [
        a[0] * b[0] + a[1] * b[2],
        a[0] * b[1] + a[1] * b[3],
        a[2] * b[0] + a[3] * b[2],
        a[2] * b[1] + a[3] * b[3],
    ]
}

fn invert<M: Real>(a: [M; 4]) -> [M; 4] {
    let inverse_det = (a[0] * a[3] - a[1] * a[2]).recip();
    [a[3] * inverse_det, -a[1] * inverse_det, -a[2] * inverse_det, a[0] * inverse_det]
}
