//! Factors of the lines of one panel.

use super::panel::{LANES, Lane, PanelShape, Storage};
use crate::backend::Real;
use crate::backend::cpu::block::{self, invert, mul, sub, transposed};
use crate::simd::Kernel;
use std::ops::Range;

type Block2x2<M> = block::Block2x2<M, LANES>;

/// Condition under which the borders of lines are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Guard {
    /// All, whatever their pivots.
    All,
    /// Borders whose pivot G keeps the sign of B₁: X = B₁⁻¹ G has X_pp, X_qq > θ and det X > θ².
    SameSign,
    /// None: the wall terms of the level stay zero.
    Nothing,
}

/// θ of [`Guard::SameSign`]. X is 1 plus something positive as long as a line's coupling N with the
/// point after is positive.
const SMALLEST_PIVOT: f64 = 0.1;

/// Pivots of one panel; lanes that are not among `lanes` are padding, or are not solved, and keep
/// inverse pivots of zero: their solution is zero.
///
/// Closed lines without their last point are open lines T; H = T⁻¹ (P₀ at the first point,
/// N at the last one) is kept beside the pivots, and the last point's pivot is
/// D = C − P H_{last−1} − N H_0.
///
/// The first point of a bordered line is held at zero: T is the line from its second point on. Its
/// place is taken by the line's wall terms d with the columns B, which stand where V = T⁻¹ B
/// replaces them, and at the first point the inverse of the pivot G = B_0 − N_0 V_1 of d (theory
/// eq. 13). At the last point, m, the same with terms d' and columns B'. A line with both ends has the pivot
/// [G_0, B'_0 − N_0 V'_1; B_m − P_m V_{m−1}, G'_m], whose inverse stands by rows at the ends. The rows Bᵀ of
/// transposed equations have Vᵀ = Bᵀ T⁻¹ and the inverses of the transposed pivots.
pub(super) struct Factor<'a, M> {
    pub(super) operator: &'a mut [M],
    pub(super) storage: Storage,
    pub(super) shape: PanelShape,
    pub(super) lanes: Range<usize>,
    /// The conditions of both borders.
    pub(super) guards: [Guard; 2],
    pub(super) finite: &'a mut bool,
}

impl<M: Real> Kernel for Factor<'_, M> {
    #[inline(always)]
    fn run(self) {
        let Self { operator, storage, shape, lanes, guards, finite } = self;
        let mut panel = LinePanel {
            points: operator.as_chunks_mut::<LANES>().0,
            width: storage.width(shape),
            storage,
            lanes,
        };
        let open = shape.along - usize::from(shape.closed);
        let mut watch = Finite([M::zero(); LANES]);
        panel.factor_open(shape.inner(open), open, &mut watch);
        if shape.closed {
            panel.factor_closing(open, &mut watch);
        }
        if shape.borders.contains(&true) {
            panel.factor_borders(shape, guards, &mut watch);
        }
        *finite = watch.holds();
    }
}

struct LinePanel<'a, M> {
    points: &'a mut [Lane<M>],
    width: usize,
    storage: Storage,
    lanes: Range<usize>,
}

impl<M: Real> LinePanel<'_, M> {
    #[inline(always)]
    fn get(&self, l: usize, at: usize) -> Block2x2<M> {
        let point = &self.points[l * self.width + at..][..4];
        [point[0], point[1], point[2], point[3]]
    }

    #[inline(always)]
    fn put(&mut self, l: usize, at: usize, block: Block2x2<M>) {
        self.points[l * self.width + at..][..4].copy_from_slice(&block);
    }

    #[inline(always)]
    fn centre(&self, l: usize) -> Block2x2<M> {
        match self.storage {
            Storage::TenNumbers { .. } => {
                let (c, zero) = ([-M::one(); LANES], [M::zero(); LANES]);
                [c, zero, zero, c]
            }
            Storage::Full => self.get(l, 32),
        }
    }

    /// The block of the neighbour before (`end` 0) or after (1) point l in the line.
    #[inline(always)]
    fn along(&self, l: usize, end: usize) -> Block2x2<M> {
        self.storage.along(&self.points[l * self.width..][..self.width], end)
    }

    /// Inverse pivots of the points `inner`; zero at the others before `open`.
    #[inline(always)]
    fn factor_open(&mut self, inner: Range<usize>, open: usize, finite: &mut Finite<M>) {
        let at_inverse = self.storage.inverse();
        let mut carried = [[M::zero(); LANES]; 4];
        for l in (0..inner.start).chain(inner.end..open) {
            self.put(l, at_inverse, carried);
        }
        for l in inner {
            let fill = mul(&self.along(l, 0), &carried);
            let inverse = invert(&sub(&self.centre(l), &fill), &self.lanes);
            carried = mul(&inverse, &self.along(l, 1));
            self.put(l, at_inverse, inverse);
            finite.watch(&inverse);
        }
    }

    /// H of the first `open` points, and the inverse pivot of the last one.
    #[inline(always)]
    fn factor_closing(&mut self, open: usize, finite: &mut Finite<M>) {
        let at_inverse = self.storage.inverse();
        let at_closing = at_inverse + 4;
        let zero = [[M::zero(); LANES]; 4];
        let mut h = zero;
        for l in 0..open {
            let mut right =
                if l == 0 { self.along(0, 0) } else { sub(&zero, &mul(&self.along(l, 0), &h)) };
            if l == open - 1 {
                let next = self.along(l, 1);
                right = [0, 1, 2, 3].map(|e| std::array::from_fn(|k| right[e][k] + next[e][k]));
            }
            h = mul(&self.get(l, at_inverse), &right);
            self.put(l, at_closing, h);
        }
        for l in (0..open - 1).rev() {
            let pull = mul(&self.get(l, at_inverse), &mul(&self.along(l, 1), &h));
            h = sub(&self.get(l, at_closing), &pull);
            self.put(l, at_closing, h);
        }
        let before = mul(&self.along(open, 0), &self.get(open - 1, at_closing));
        let after = mul(&self.along(open, 1), &self.get(0, at_closing));
        let pivot = sub(&sub(&self.centre(open), &before), &after);
        let inverse = invert(&pivot, &self.lanes);
        self.put(open, at_inverse, inverse);
        finite.watch(&inverse);
    }

    /// The inverse pivot of T, or of Tᵀ whose pivots are transposed, at point l.
    #[inline(always)]
    fn inverse(&self, l: usize, transposed_line: bool) -> Block2x2<M> {
        let inverse = self.get(l, self.storage.inverse());
        if transposed_line { transposed(&inverse) } else { inverse }
    }

    /// The coupling of point l with the point before (`end` 0) or after it (1) in the line, or in the transposed
    /// line; zero beyond the ends of that.
    #[inline(always)]
    fn coupling(&self, l: usize, end: usize, transposed_line: bool) -> Block2x2<M> {
        if !transposed_line {
            return self.along(l, end);
        }
        let other = if end == 0 { l.checked_sub(1) } else { Some(l + 1) };
        let there = other.filter(|other| other * self.width < self.points.len());
        there.map_or([[M::zero(); LANES]; 4], |l| transposed(&self.along(l, 1 - end)))
    }

    /// V of the points between the held ends, and the inverse of the pivot of the wall terms in its place at the ends.
    /// Of transposed equations, whose columns are rows, these are found for the transposed line and stored transposed.
    #[inline(always)]
    fn factor_borders(&mut self, shape: PanelShape, guards: [Guard; 2], finite: &mut Finite<M>) {
        let at_inverse = self.storage.inverse();
        let zero = [[M::zero(); LANES]; 4];
        let (inner, ends, of) = (shape.inner(shape.along), [0, shape.along - 1], shape.transposed);
        let at = [0, 1].map(|end| shape.border(at_inverse, end));
        let live = [0, 1].map(|end| shape.borders[end] && guards[end] != Guard::Nothing);
        // Columns at the ends, and V beside them: [point's end][border].
        let (mut columns, mut beside) = ([[zero; 2]; 2], [[zero; 2]; 2]);
        for border in (0..2).filter(|&border| shape.borders[border]) {
            if !live[border] {
                for l in 0..shape.along {
                    self.put(l, at[border], zero);
                }
                continue;
            }
            for (end, columns) in columns.iter_mut().enumerate() {
                columns[border] = self.get(ends[end], at[border]);
            }
            let mut v = zero;
            for l in inner.clone() {
                let right = sub(&self.get(l, at[border]), &mul(&self.coupling(l, 0, of), &v));
                v = mul(&self.inverse(l, of), &right);
                self.put(l, at[border], v);
            }
            beside[1][border] = v;
            for l in inner.clone().rev().skip(1) {
                let pull = mul(&self.inverse(l, of), &mul(&self.coupling(l, 1, of), &v));
                v = sub(&self.get(l, at[border]), &pull);
                self.put(l, at[border], v);
            }
            beside[0][border] = v;
        }
        let couplings = [0, 1].map(|end| self.coupling(ends[end], 1 - end, of));
        let pivot = |end: usize, border: usize| {
            sub(&columns[end][border], &mul(&couplings[end], &beside[end][border]))
        };
        let inverse = |border: usize, pivot: &Block2x2<M>| {
            if !live[border] {
                return zero;
            }
            self.border_inverse(&columns[border][border], pivot, guards[border])
        };
        // By blocks: the last end's pivot after the first one's.
        let first = inverse(0, &pivot(0, 0));
        let mut found = [[first, zero], [zero; 2]];
        if shape.borders[1] {
            let (right, below) = (pivot(0, 1), pivot(1, 0));
            let carried = mul(&below, &first);
            let last = inverse(1, &sub(&pivot(1, 1), &mul(&carried, &right)));
            let (up, down) = (mul(&first, &right), mul(&last, &carried));
            let of_first = sub(&first, &sub(&zero, &mul(&up, &down)));
            found = [[of_first, sub(&zero, &mul(&up, &last))], [sub(&zero, &down), last]];
        }
        for border in (0..2).filter(|&border| shape.borders[border]) {
            for end in (0..2).filter(|&end| shape.borders[end]) {
                let block = if of { found[border][end] } else { found[end][border] };
                self.put(ends[end], at[border], block);
            }
            finite.watch(&found[border][border]);
            if of {
                for l in 0..shape.along {
                    let block = transposed(&self.get(l, at[border]));
                    self.put(l, at[border], block);
                }
            }
        }
    }

    /// G⁻¹ of the pivots that are kept, zero for the others.
    #[inline(always)]
    fn border_inverse(
        &self,
        columns: &Block2x2<M>,
        pivot: &Block2x2<M>,
        guard: Guard,
    ) -> Block2x2<M> {
        let mut inverse = invert(pivot, &self.lanes);
        if guard == Guard::SameSign {
            let x = mul(&invert(columns, &self.lanes), pivot);
            let least = M::narrow(SMALLEST_PIVOT);
            for k in 0..LANES {
                let det = x[0][k] * x[3][k] - x[1][k] * x[2][k];
                if !(x[0][k] > least && x[3][k] > least && det > least * least) {
                    for entry in &mut inverse {
                        entry[k] = M::zero();
                    }
                }
            }
        }
        inverse
    }
}

/// Watches for values that are not finite: their product with zero is not zero.
struct Finite<M>(Lane<M>);

impl<M: Real> Finite<M> {
    #[inline(always)]
    fn watch(&mut self, block: &Block2x2<M>) {
        for lane in block {
            for (sum, value) in self.0.iter_mut().zip(lane) {
                *sum += *value * M::zero();
            }
        }
    }

    #[inline(always)]
    fn holds(&self) -> bool {
        self.0.iter().all(|sum| *sum == M::zero())
    }
}
