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
    /// Lanes a point, those of closed lines at the end: H of [`factor_panel`].
    fn width(self, closed: bool) -> usize {
        let [_, _, _, inverse] = self.line_blocks();
        inverse + if closed { 8 } else { 4 }
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
    fn prev(&self, l: usize) -> Option<usize> {
        if l > 0 { Some(l - 1) } else { self.closed.then(|| self.along - 1) }
    }

    /// The point after `l`, if there is one.
    pub(super) fn next(&self, l: usize) -> Option<usize> {
        if l + 1 < self.along { Some(l + 1) } else { self.closed.then_some(0) }
    }
}

/// Operator, right side and solution of a level, by lines of one direction.
#[derive(Debug)]
pub(super) struct LineSet<M> {
    pub(super) shape: Shape,
    storage: Storage,
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
        let operator = room(storage.width(shape.closed));
        Self { shape, storage, operator, u: room(2), f: room(2) }
    }

    /// Colour and position of component `component` of the pair at (line, point along).
    pub(super) fn pair_at(&self, line: usize, point: usize, component: usize) -> (usize, usize) {
        let (colour, m) = (line % 2, line / 2);
        (colour, ((m / LANES * self.shape.along + point) * 2 + component) * LANES + m % LANES)
    }

    /// Takes the operator from `blocks(line, point along)` and factors the lines: pivots
    /// D_l = C_l − P_l D_{l−1}⁻¹ N_{l−1}, kept as D⁻¹. Returns whether all of them are finite.
    pub(super) fn fill(&mut self, blocks: impl Fn(usize, usize) -> PointBlocks<M> + Sync) -> bool {
        let (shape, storage) = (self.shape, self.storage);
        let (width, panel_len) = (storage.width(shape.closed), self.operator_len());
        (0..2).all(|colour| {
            let lines = shape.lines(colour);
            self.operator[colour]
                .par_chunks_mut(panel_len)
                .enumerate()
                .map(|(p, panel)| {
                    let lanes = LANES.min(lines - p * LANES);
                    let points = panel.as_chunks_mut::<LANES>().0.chunks_mut(width);
                    for (l, point) in points.enumerate() {
                        for lane in 0..lanes {
                            let line = 2 * (p * LANES + lane) + colour;
                            storage.put(point, lane, &blocks(line, l));
                        }
                    }
                    factor_panel(panel, storage, shape, lanes)
                })
                .reduce(|| true, |a, b| a && b)
        })
    }

    /// The operator at (line, point along).
    pub(super) fn blocks(&self, line: usize, point: usize) -> PointBlocks<M> {
        let (colour, m) = (line % 2, line / 2);
        let width = self.storage.width(self.shape.closed);
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
        self.shape.along * self.storage.width(self.shape.closed) * LANES
    }

    /// One zebra sweep: solves the lines of `first`, then those of the other colour.
    pub(super) fn relax(&mut self, first: usize) {
        for colour in [first, 1 - first] {
            let coefficients = self.operator_len();
            let [even, odd] = &mut self.u;
            let (own, other) = if colour == 0 { (even, &*odd) } else { (odd, &*even) };
            let neighbours = Neighbours { u: other, colour, shape: self.shape };
            let storage = self.storage;
            let pairs = self.shape.panel_len();
            own.par_chunks_mut(pairs)
                .zip(self.f[colour].par_chunks(pairs))
                .zip(self.operator[colour].par_chunks(coefficients))
                .with_min_len(self.shape.panels_together())
                .enumerate()
                .for_each(|(p, ((u, f), a))| relax_panel(&neighbours, p, storage, a, f, u));
        }
    }

    /// r ← f − A u on the lines of one colour, in the layout of its pairs.
    pub(super) fn residual(&self, colour: usize, r: &mut [M]) {
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
    shape: Shape,
}

/// (left, right) pairs of a panel's lines at one point along.
type Beside<M> = [[Lane<M>; 2]; 2];

impl<M: Real> Neighbours<'_, M> {
    /// Left and right neighbours at point `l`: line 2m has left neighbour m − 1 and right
    /// neighbour m of the other colour, line 2m + 1 has m and m + 1. Around a ring the first
    /// even line and the last odd line are neighbours.
    #[inline(always)]
    fn at(&self, panel: usize, l: usize) -> Beside<M> {
        let aligned = self.pair(panel, l);
        let mut shifted = [[M::zero(); LANES]; 2];
        let last = self.shape.lines(1) - 1;
        if self.colour == 0 {
            let (from, lane) = if panel > 0 {
                (Some(panel - 1), LANES - 1)
            } else {
                (self.shape.ring.then_some(last / LANES), last % LANES)
            };
            let before = from.map(|from| self.pair(from, l));
            for k in 0..2 {
                shifted[k][1..].copy_from_slice(&aligned[k][..LANES - 1]);
                shifted[k][0] = before.map_or(M::zero(), |before| before[k][lane]);
            }
            [shifted, aligned]
        } else {
            let after = self.pair(panel + 1, l);
            for k in 0..2 {
                shifted[k][..LANES - 1].copy_from_slice(&aligned[k][1..]);
                shifted[k][LANES - 1] = after[k][0];
            }
            if self.shape.ring && panel == last / LANES {
                let first = self.pair(0, l);
                for k in 0..2 {
                    shifted[k][last % LANES] = first[k][0];
                }
            }
            [aligned, shifted]
        }
    }

    /// The same at a point that need not be there.
    #[inline(always)]
    fn at_optional(&self, panel: usize, l: Option<usize>) -> Beside<M> {
        l.map_or([[[M::zero(); LANES]; 2]; 2], |l| self.at(panel, l))
    }

    /// Both components at a point of a panel; zero where there is no such panel.
    #[inline(always)]
    fn pair(&self, panel: usize, l: usize) -> [Lane<M>; 2] {
        let start = (panel * self.shape.along + l) * 2 * LANES;
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
/// u_l = g_l − D_l⁻¹ N_l u_{l+1}. Closed lines: the last point is condensed out,
/// u_l ← u_l − H_l u_last with u_last = D⁻¹ (b − P u_{last−1} − N u_0).
fn relax_panel<M: Real>(
    neighbours: &Neighbours<'_, M>,
    panel: usize,
    storage: Storage,
    operator: &[M],
    f: &[M],
    u: &mut [M],
) {
    let relax = match (storage, neighbours.shape.closed) {
        (Storage::Compact, false) => relax_lines::<M, 22>,
        (Storage::Compact, true) => relax_lines::<M, 26>,
        (Storage::Full, false) => relax_lines::<M, 40>,
        (Storage::Full, true) => relax_lines::<M, 44>,
    };
    relax(neighbours, panel, storage, operator, f, u);
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
    let shape = neighbours.shape;
    let [at_prev, at_next, _, at_inverse] = storage.line_blocks();
    let a = operator.as_chunks::<LANES>().0.as_chunks::<WIDTH>().0;
    let f = f.as_chunks::<LANES>().0.as_chunks::<2>().0;
    let u = u.as_chunks_mut::<LANES>().0.as_chunks_mut::<2>().0;
    // Points of the open line; the last point of a closed one is not among them.
    let open = shape.along - usize::from(shape.closed);
    let mut prev = neighbours.at_optional(panel, shape.prev(0));
    let mut here = neighbours.at(panel, 0);
    let mut solved = [[M::zero(); LANES]; 2];
    for l in 0..shape.along {
        let next = neighbours.at_optional(panel, shape.next(l));
        let a = &a[l];
        let mut b = f[l];
        subtract_beside(&mut b, a, storage, [&prev, &here, &next]);
        if l < open {
            subtract(&mut b, &a[at_prev..at_prev + 4], &solved);
            solved = product(&a[at_inverse..at_inverse + 4], &b);
            u[l] = solved;
        } else {
            u[l] = b;
        }
        (prev, here) = (here, next);
    }
    for l in (0..open - 1).rev() {
        let a = &a[l];
        let pull = product(&a[at_next..at_next + 4], &solved);
        let mut b = u[l];
        subtract(&mut b, &a[at_inverse..at_inverse + 4], &pull);
        u[l] = b;
        solved = b;
    }
    if shape.closed {
        let (last, mut b) = (&a[open], u[open]);
        subtract(&mut b, &last[at_prev..at_prev + 4], &u[open - 1]);
        subtract(&mut b, &last[at_next..at_next + 4], &u[0]);
        let closing = product(&last[at_inverse..at_inverse + 4], &b);
        u[open] = closing;
        for (u, a) in u[..open].iter_mut().zip(a) {
            subtract(u, &a[at_inverse + 4..at_inverse + 8], &closing);
        }
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
    let shape = neighbours.shape;
    let [at_prev, at_next, at_centre, _] = storage.line_blocks();
    let operator = operator.as_chunks::<LANES>().0.chunks(storage.width(shape.closed));
    let f = f.as_chunks::<LANES>().0.as_chunks::<2>().0;
    let u = u.as_chunks::<LANES>().0.as_chunks::<2>().0;
    let r = r.as_chunks_mut::<LANES>().0.as_chunks_mut::<2>().0;
    let mut prev = neighbours.at_optional(panel, shape.prev(0));
    let mut here = neighbours.at(panel, 0);
    for (l, (a, (f, r))) in operator.zip(f.iter().zip(r)).enumerate() {
        let next = neighbours.at_optional(panel, shape.next(l));
        let mut b = *f;
        subtract_beside(&mut b, a, storage, [&prev, &here, &next]);
        if let Some(before) = shape.prev(l) {
            subtract(&mut b, &a[at_prev..at_prev + 4], &u[before]);
        }
        if let Some(after) = shape.next(l) {
            subtract(&mut b, &a[at_next..at_next + 4], &u[after]);
        }
        match storage {
            Storage::Compact => {
                for c in 0..2 {
                    for k in 0..LANES {
                        b[c][k] -= a[at_centre][k] * u[l][c][k];
                    }
                }
            }
            Storage::Full => subtract(&mut b, &a[at_centre..at_centre + 4], &u[l]),
        }
        *r = b;
        (prev, here) = (here, next);
    }
}

/// Pivots of one panel; lanes from `lines` on are padding and keep inverse pivots of zero.
///
/// Closed lines without their last point are open lines T; H = T⁻¹ (P₀ at the first point,
/// N at the last one) is kept beside the pivots, and the last point's pivot is
/// D = C − P H_{last−1} − N H_0.
fn factor_panel<M: Real>(operator: &mut [M], storage: Storage, shape: Shape, lines: usize) -> bool {
    let [at_prev, at_next, at_centre, at_inverse] = storage.line_blocks();
    let points: &mut [Lane<M>] = operator.as_chunks_mut::<LANES>().0;
    let width = storage.width(shape.closed);
    let at_closing = at_inverse + 4;
    let open = shape.along - usize::from(shape.closed);
    let mut finite = true;
    for k in 0..lines.min(LANES) {
        let get = |points: &[Lane<M>], l: usize, at: usize| -> [M; 4] {
            [0, 1, 2, 3].map(|e| points[l * width + at + e][k])
        };
        let put = |points: &mut [Lane<M>], l: usize, at: usize, block: [M; 4]| {
            for (e, value) in block.into_iter().enumerate() {
                points[l * width + at + e][k] = value;
            }
        };
        let centre = |points: &[Lane<M>], l: usize| match storage {
            Storage::Compact => {
                let c = points[l * width + at_centre][k];
                [c, M::zero(), M::zero(), c]
            }
            Storage::Full => get(points, l, at_centre),
        };
        let mut carried = [M::zero(); 4];
        for l in 0..open {
            let fill = mul(get(points, l, at_prev), carried);
            let inverse = invert(sub(centre(points, l), fill));
            finite &= inverse.iter().all(|value| value.is_finite());
            carried = mul(inverse, get(points, l, at_next));
            put(points, l, at_inverse, inverse);
        }
        if !shape.closed {
            continue;
        }
        let mut h = [M::zero(); 4];
        for l in 0..open {
            let mut right = if l == 0 {
                get(points, 0, at_prev)
            } else {
                mul(get(points, l, at_prev), h).map(|value| -value)
            };
            if l == open - 1 {
                let next = get(points, l, at_next);
                right = [0, 1, 2, 3].map(|e| right[e] + next[e]);
            }
            h = mul(get(points, l, at_inverse), right);
            put(points, l, at_closing, h);
        }
        for l in (0..open - 1).rev() {
            let pull = mul(get(points, l, at_inverse), mul(get(points, l, at_next), h));
            h = sub(get(points, l, at_closing), pull);
            put(points, l, at_closing, h);
        }
        let before = mul(get(points, open, at_prev), get(points, open - 1, at_closing));
        let after = mul(get(points, open, at_next), get(points, 0, at_closing));
        let inverse = invert(sub(sub(centre(points, open), before), after));
        finite &= inverse.iter().all(|value| value.is_finite());
        put(points, open, at_inverse, inverse);
    }
    finite
}

fn sub<M: Real>(a: [M; 4], b: [M; 4]) -> [M; 4] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2], a[3] - b[3]]
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
