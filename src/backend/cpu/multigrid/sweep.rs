//! Line solves and residuals of one panel, in lockstep.

use super::panel::{LANES, Lane, PanelShape, PanelWalls, Storage, WallSet};
use crate::backend::Real;
use crate::backend::cpu::block::{product, subtract};
use crate::simd::Kernel;
use std::ops::Range;

/// The lines of one colour: their equations, and the solution on the lines beside them.
pub(super) struct ColourLines<'a, M> {
    pub(super) colour: usize,
    pub(super) shape: PanelShape,
    pub(super) storage: Storage,
    pub(super) operator: &'a [M],
    pub(super) f: &'a [M],
    /// The wall terms that the lines are not solved for.
    pub(super) walls: &'a WallSet<'a, M>,
    /// The solution on the lines of the other colour.
    pub(super) beside: &'a [M],
}

/// (left, right) pairs of a panel's lines at one point along.
type Beside<M> = [[Lane<M>; 2]; 2];

impl<M: Real> ColourLines<'_, M> {
    /// The operator of a panel in `storage`, that of the lines.
    #[inline(always)]
    fn operator(&self, panel: usize, storage: Storage) -> PanelOperator<'_, M> {
        let width = storage.width(self.shape);
        let length = self.shape.along * width;
        let points = &self.operator.as_chunks::<LANES>().0[panel * length..][..length];
        PanelOperator { points, width, storage }
    }

    /// The surroundings of the lines of a panel at their first point. It is called once a panel: one copy of the code,
    /// without the vector unit, serves all loops.
    #[inline(never)]
    fn surroundings(&self, panel: usize) -> Surroundings<'_, M> {
        let f = &self.f[panel * self.shape.panel_len()..][..self.shape.panel_len()];
        Surroundings {
            lines: self,
            panel,
            f: as_pairs(f),
            walls: self.walls.each_ref().map(|walls| Some(walls.as_ref()?.of(self.colour, panel))),
            prev: self.at_optional(panel, self.shape.prev(0)),
            here: self.at(panel, 0),
        }
    }

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
            let before = match from {
                Some(from) => self.pair(from, l),
                None => [[M::zero(); LANES]; 2],
            };
            for k in 0..2 {
                shifted[k][1..].copy_from_slice(&aligned[k][..LANES - 1]);
                shifted[k][0] = before[k][lane];
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

    /// [`Self::at`] for a point that may be absent: zero then.
    #[inline(always)]
    fn at_optional(&self, panel: usize, l: Option<usize>) -> Beside<M> {
        match l {
            Some(l) => self.at(panel, l),
            None => [[[M::zero(); LANES]; 2]; 2],
        }
    }

    /// Both components at a point of a panel; zero where there is no such panel.
    #[inline(always)]
    fn pair(&self, panel: usize, l: usize) -> [Lane<M>; 2] {
        let start = (panel * self.shape.along + l) * 2 * LANES;
        match self.beside.get(start..start + 2 * LANES) {
            Some(pair) => as_pairs(pair)[0],
            None => [[M::zero(); LANES]; 2],
        }
    }
}

/// The operator of the lines of a panel.
struct PanelOperator<'a, M> {
    points: &'a [Lane<M>],
    width: usize,
    storage: Storage,
}

impl<'a, M: Real> PanelOperator<'a, M> {
    /// The lanes of point `l` up to those of its inverse pivot. Their number is a constant wherever the storage is one.
    #[inline(always)]
    fn at(&self, l: usize) -> &'a [Lane<M>] {
        &self.points[l * self.width..][..self.storage.inverse() + 4]
    }

    /// The block of point `l` from this lane on.
    #[inline(always)]
    fn block(&self, l: usize, lane: usize) -> &'a [Lane<M>] {
        &self.points[l * self.width + lane..][..4]
    }

    /// u_l ← u_l − D_l⁻¹ N_l u_{l+1} for these points but the last, backward; the last one has `solved`.
    #[inline(always)]
    fn substitute_back(
        &self,
        points: Range<usize>,
        mut solved: [Lane<M>; 2],
        u: &mut [[Lane<M>; 2]],
    ) {
        let at_inverse = self.storage.inverse();
        for l in points.rev().skip(1) {
            let a = self.at(l);
            let pull = self.storage.product_along(a, 1, &solved);
            subtract(&mut u[l], &a[at_inverse..at_inverse + 4], &pull);
            solved = u[l];
        }
    }

    /// The values at an end of bordered lines, point `l`: the inverse of the pivot of the ends times their `sums`.
    #[inline(always)]
    fn end_values(
        &self,
        shape: &PanelShape,
        (end, l): (usize, usize),
        sums: &[[Lane<M>; 2]; 2],
    ) -> [Lane<M>; 2] {
        let at = [0, 1].map(|end| shape.border(self.storage.inverse(), end));
        let mut values = product(self.block(l, at[end]), &sums[end]);
        if shape.borders[1 - end] {
            add(&mut values, &product(self.block(l, at[1 - end]), &sums[1 - end]));
        }
        values
    }
}

/// Right side of the lines of a panel and the solution beside them, point by point along.
struct Surroundings<'a, M> {
    lines: &'a ColourLines<'a, M>,
    panel: usize,
    f: &'a [[Lane<M>; 2]],
    /// The wall terms of up to four sides, the absent ones last.
    walls: [Option<PanelWalls<'a, M>>; 4],
    prev: Beside<M>,
    here: Beside<M>,
}

impl<M: Real> Surroundings<'_, M> {
    /// f minus all surrounding terms at point `l`; the next call is for the next point.
    #[inline(always)]
    fn right_side(&mut self, l: usize, a: &[Lane<M>], storage: Storage) -> [Lane<M>; 2] {
        let next = self.lines.at_optional(self.panel, self.lines.shape.next(l));
        let mut b = self.f[l];
        subtract_beside(&mut b, a, storage, [&self.prev, &self.here, &next]);
        for walls in self.walls.iter().map_while(Option::as_ref) {
            walls.subtract_from(&mut b, l);
        }
        (self.prev, self.here) = (self.here, next);
        b
    }
}

/// Values of a panel by point along: both components of each lane.
#[inline(always)]
fn as_pairs<M: Real>(values: &[M]) -> &[[Lane<M>; 2]] {
    values.as_chunks::<LANES>().0.as_chunks::<2>().0
}

/// d ← d + e.
#[inline(always)]
fn add<M: Real>(d: &mut [Lane<M>; 2], e: &[Lane<M>; 2]) {
    for (d, e) in d.as_flattened_mut().iter_mut().zip(e.as_flattened()) {
        *d += *e;
    }
}

/// b ← b minus all terms beside the line.
#[inline(always)]
fn subtract_beside<M: Real>(
    b: &mut [Lane<M>; 2],
    a: &[Lane<M>],
    storage: Storage,
    [prev, here, next]: [&Beside<M>; 3],
) {
    match storage {
        Storage::TenNumbers { along_xi } => {
            let [_, beside] = Storage::couplings(along_xi, a);
            let (mut sum, mut difference) = ([[M::zero(); LANES]; 2], [[M::zero(); LANES]; 2]);
            for c in 0..2 {
                for k in 0..LANES {
                    let corners = (prev[0][c][k] - prev[1][c][k]) + (next[1][c][k] - next[0][c][k]);
                    b[c][k] -= a[1][k] * corners;
                }
            }
            for c in 0..2 {
                for k in 0..LANES {
                    sum[c][k] = here[0][c][k] + here[1][c][k];
                }
            }
            for c in 0..2 {
                for k in 0..LANES {
                    b[c][k] -= beside[k] * sum[c][k];
                }
            }
            for c in 0..2 {
                for k in 0..LANES {
                    difference[c][k] = here[1][c][k] - here[0][c][k];
                }
            }
            subtract(b, &a[2..6], &difference);
        }
        Storage::Full => {
            subtract(b, &a[..4], &here[0]);
            subtract(b, &a[4..8], &here[1]);
            subtract(b, &a[8..12], &prev[0]);
            subtract(b, &a[12..16], &prev[1]);
            subtract(b, &a[16..20], &next[0]);
            subtract(b, &a[20..24], &next[1]);
        }
    }
}

/// Kind of the work on one panel.
pub(super) enum PanelWork<'a, M> {
    /// Line solves: forward g_l = D_l⁻¹ (f_l − beside − P_l g_{l−1}), then backward
    /// u_l = g_l − D_l⁻¹ N_l u_{l+1}. Closed lines: the last point is condensed out,
    /// u_l ← u_l − H_l u_last with u_last = D⁻¹ (b − P u_{last−1} − N u_0). Bordered lines: with the held
    /// points at zero, u_l ← u_l − V_l d with d = G⁻¹ (b_0 − N_0 u_1), which `terms` gets, and so at the last
    /// point: `[end][component][lane]`.
    Relax { u: &'a mut [M], terms: &'a mut [M] },
    /// r ← f − A u − B d.
    Residual { u: &'a [M], r: &'a mut [M] },
}

/// Work on one panel.
pub(super) struct Sweep<'a, M> {
    pub(super) lines: &'a ColourLines<'a, M>,
    pub(super) panel: usize,
    pub(super) work: PanelWork<'a, M>,
}

impl<M: Real> Kernel for Sweep<'_, M> {
    #[inline(always)]
    fn run(self) {
        // The storage is a constant within each case, and the loops have no branches for it.
        match self.lines.storage {
            Storage::TenNumbers { along_xi: false } => {
                self.with(Storage::TenNumbers { along_xi: false });
            }
            Storage::TenNumbers { along_xi: true } => {
                self.with(Storage::TenNumbers { along_xi: true });
            }
            Storage::Full => self.with(Storage::Full),
        }
    }
}

impl<M: Real> Sweep<'_, M> {
    #[inline(always)]
    fn with(self, storage: Storage) {
        let Self { lines, panel, work } = self;
        match work {
            PanelWork::Relax { u, terms } => lines.relax(panel, storage, u, terms),
            PanelWork::Residual { u, r } => lines.residual(panel, storage, u, r),
        }
    }
}

impl<M: Real> ColourLines<'_, M> {
    #[inline(always)]
    fn relax(&self, panel: usize, storage: Storage, u: &mut [M], terms: &mut [M]) {
        let shape = self.shape;
        if shape.transposed && shape.borders.contains(&true) {
            self.relax_transposed(panel, storage, u);
            return;
        }
        let at_inverse = storage.inverse();
        let operator = self.operator(panel, storage);
        let u = u.as_chunks_mut::<LANES>().0.as_chunks_mut::<2>().0;
        // Points of the open line; the last point of a closed one is not among them.
        let open = shape.along - usize::from(shape.closed);
        let mut solved = [[M::zero(); LANES]; 2];
        // The right sides of the first and of the last point.
        let mut ends = [solved; 2];
        let mut surroundings = self.surroundings(panel);
        for l in 0..shape.along {
            let a = operator.at(l);
            let mut b = surroundings.right_side(l, a, storage);
            if l == 0 {
                ends[0] = b;
            }
            if l + 1 == shape.along {
                ends[1] = b;
            }
            if l < open {
                storage.subtract_along(&mut b, a, 0, &solved);
                solved = product(&a[at_inverse..at_inverse + 4], &b);
                u[l] = solved;
            } else {
                u[l] = b;
            }
        }
        operator.substitute_back(0..open, solved, u);
        if shape.closed {
            let (last, mut b) = (operator.at(open), u[open]);
            storage.subtract_along(&mut b, last, 0, &u[open - 1]);
            storage.subtract_along(&mut b, last, 1, &u[0]);
            let closing = product(&last[at_inverse..at_inverse + 4], &b);
            u[open] = closing;
            for (l, u) in u[..open].iter_mut().enumerate() {
                subtract(u, operator.block(l, at_inverse + 4), &closing);
            }
        }
        if shape.borders.contains(&true) {
            let last = open - 1;
            if let Some(second) = u.get(1) {
                storage.subtract_along(&mut ends[0], operator.at(0), 1, second);
            }
            if last > 0 {
                storage.subtract_along(&mut ends[1], operator.at(last), 0, &u[last - 1]);
            }
            for (end, point) in [0, last].into_iter().enumerate() {
                if shape.borders[end] {
                    let d = operator.end_values(&shape, (end, point), &ends);
                    let at = shape.border(at_inverse, end);
                    for l in shape.inner(open) {
                        subtract(&mut u[l], operator.block(l, at), &d);
                    }
                    terms[2 * LANES * end..][..2 * LANES].copy_from_slice(d.as_flattened());
                }
            }
        }
    }

    /// [`Self::relax`] for bordered lines of transposed equations: the values of the bordered ends are G⁻ᵀ times
    /// f − Σ V_lᵀ b_l of the borders, and then those of the line between follow.
    #[inline(always)]
    fn relax_transposed(&self, panel: usize, storage: Storage, u: &mut [M]) {
        let at_inverse = storage.inverse();
        let (shape, operator) = (self.shape, self.operator(panel, storage));
        let (inner, ends) = (shape.inner(shape.along), [0, shape.along - 1]);
        let at = [0, 1].map(|end| shape.border(at_inverse, end));
        let u = u.as_chunks_mut::<LANES>().0.as_chunks_mut::<2>().0;
        let mut surroundings = self.surroundings(panel);
        let mut sums = ends.map(|end| surroundings.f[end]);
        for l in 0..shape.along {
            let b = surroundings.right_side(l, operator.at(l), storage);
            if inner.contains(&l) {
                for border in (0..2).filter(|&border| shape.borders[border]) {
                    subtract(&mut sums[border], operator.block(l, at[border]), &b);
                }
                u[l] = b;
            }
        }
        for end in (0..2).filter(|&end| shape.borders[end]) {
            u[ends[end]] = operator.end_values(&shape, (end, ends[end]), &sums);
        }
        if let Some(last) = inner.clone().next_back().filter(|_| shape.borders[1]) {
            let after = u[ends[1]];
            storage.subtract_along(&mut u[last], operator.at(last), 1, &after);
        }
        let mut solved = if shape.borders[0] { u[0] } else { [[M::zero(); LANES]; 2] };
        for l in inner.clone() {
            let (a, mut b) = (operator.at(l), u[l]);
            storage.subtract_along(&mut b, a, 0, &solved);
            solved = product(&a[at_inverse..at_inverse + 4], &b);
            u[l] = solved;
        }
        operator.substitute_back(inner, solved, u);
    }

    #[inline(always)]
    fn residual(&self, panel: usize, storage: Storage, u: &[M], r: &mut [M]) {
        let shape = self.shape;
        let (u, r) = (as_pairs(u), r.as_chunks_mut::<LANES>().0.as_chunks_mut::<2>().0);
        let mut surroundings = self.surroundings(panel);
        let operator = self.operator(panel, storage);
        for l in 0..shape.along {
            let a = operator.at(l);
            let mut b = surroundings.right_side(l, a, storage);
            if let Some(before) = shape.prev(l) {
                storage.subtract_along(&mut b, a, 0, &u[before]);
            }
            if let Some(after) = shape.next(l) {
                storage.subtract_along(&mut b, a, 1, &u[after]);
            }
            match storage {
                Storage::TenNumbers { .. } => add(&mut b, &u[l]),
                Storage::Full => subtract(&mut b, &a[32..36], &u[l]),
            }
            r[l] = b;
        }
    }
}
