//! Factors of the lines of one panel.

use super::lines::{LANES, Lane, Shape, Storage};
use crate::backend::Real;
use crate::simd::Kernel;

/// A 2×2 block a lane, row-major.
type Block<M> = [Lane<M>; 4];

/// Pivots of one panel; lanes from `lines` on are padding and keep inverse pivots of zero.
///
/// Closed lines without their last point are open lines T; H = T⁻¹ (P₀ at the first point,
/// N at the last one) is kept beside the pivots, and the last point's pivot is
/// D = C − P H_{last−1} − N H_0.
pub(super) struct Factor<'a, M> {
    pub(super) operator: &'a mut [M],
    pub(super) storage: Storage,
    pub(super) shape: Shape,
    pub(super) lines: usize,
    /// Whether all pivots are finite.
    pub(super) finite: &'a mut bool,
}

impl<M: Real> Kernel for Factor<'_, M> {
    #[inline(always)]
    fn run(self) {
        let Self { operator, storage, shape, lines, finite } = self;
        let mut panel = Panel {
            points: operator.as_chunks_mut::<LANES>().0,
            width: storage.width(shape.closed),
            storage,
            lines,
        };
        let open = shape.along - usize::from(shape.closed);
        let mut watch = Finite([M::zero(); LANES]);
        panel.factor_open(open, &mut watch);
        if shape.closed {
            panel.factor_closing(open, &mut watch);
        }
        *finite = watch.holds();
    }
}

/// The operator of one panel while it is factored.
struct Panel<'a, M> {
    points: &'a mut [Lane<M>],
    width: usize,
    storage: Storage,
    lines: usize,
}

impl<M: Real> Panel<'_, M> {
    #[inline(always)]
    fn get(&self, l: usize, at: usize) -> Block<M> {
        let point = &self.points[l * self.width + at..][..4];
        [point[0], point[1], point[2], point[3]]
    }

    #[inline(always)]
    fn put(&mut self, l: usize, at: usize, block: Block<M>) {
        self.points[l * self.width + at..][..4].copy_from_slice(&block);
    }

    #[inline(always)]
    fn centre(&self, l: usize) -> Block<M> {
        let [_, _, at, _] = self.storage.line_blocks();
        match self.storage {
            Storage::Compact => {
                let c = self.points[l * self.width + at];
                [c, [M::zero(); LANES], [M::zero(); LANES], c]
            }
            Storage::Full => self.get(l, at),
        }
    }

    /// Inverse pivots of the first `open` points.
    #[inline(always)]
    fn factor_open(&mut self, open: usize, finite: &mut Finite<M>) {
        let [at_prev, at_next, _, at_inverse] = self.storage.line_blocks();
        let mut carried = [[M::zero(); LANES]; 4];
        for l in 0..open {
            let fill = mul(&self.get(l, at_prev), &carried);
            let inverse = invert(&sub(&self.centre(l), &fill), self.lines);
            carried = mul(&inverse, &self.get(l, at_next));
            self.put(l, at_inverse, inverse);
            finite.watch(&inverse);
        }
    }

    /// H of the first `open` points, and the inverse pivot of the last one.
    #[inline(always)]
    fn factor_closing(&mut self, open: usize, finite: &mut Finite<M>) {
        let [at_prev, at_next, _, at_inverse] = self.storage.line_blocks();
        let at_closing = at_inverse + 4;
        let zero = [[M::zero(); LANES]; 4];
        let mut h = zero;
        for l in 0..open {
            let mut right = if l == 0 {
                self.get(0, at_prev)
            } else {
                sub(&zero, &mul(&self.get(l, at_prev), &h))
            };
            if l == open - 1 {
                let next = self.get(l, at_next);
                right = [0, 1, 2, 3].map(|e| std::array::from_fn(|k| right[e][k] + next[e][k]));
            }
            h = mul(&self.get(l, at_inverse), &right);
            self.put(l, at_closing, h);
        }
        for l in (0..open - 1).rev() {
            let pull = mul(&self.get(l, at_inverse), &mul(&self.get(l, at_next), &h));
            h = sub(&self.get(l, at_closing), &pull);
            self.put(l, at_closing, h);
        }
        let before = mul(&self.get(open, at_prev), &self.get(open - 1, at_closing));
        let after = mul(&self.get(open, at_next), &self.get(0, at_closing));
        let pivot = sub(&sub(&self.centre(open), &before), &after);
        let inverse = invert(&pivot, self.lines);
        self.put(open, at_inverse, inverse);
        finite.watch(&inverse);
    }
}

/// Watches for values that are not finite: their product with zero is not zero.
struct Finite<M>(Lane<M>);

impl<M: Real> Finite<M> {
    #[inline(always)]
    fn watch(&mut self, block: &Block<M>) {
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

#[inline(always)]
fn sub<M: Real>(a: &Block<M>, b: &Block<M>) -> Block<M> {
    [0, 1, 2, 3].map(|e| std::array::from_fn(|k| a[e][k] - b[e][k]))
}

#[inline(always)]
fn mul<M: Real>(a: &Block<M>, b: &Block<M>) -> Block<M> {
    [(0, 1, 0, 2), (0, 1, 1, 3), (2, 3, 0, 2), (2, 3, 1, 3)]
        .map(|(p, q, r, s)| std::array::from_fn(|k| a[p][k] * b[r][k] + a[q][k] * b[s][k]))
}

/// Inverses of the first `lines` lanes; zero in the others.
#[inline(always)]
fn invert<M: Real>(a: &Block<M>, lines: usize) -> Block<M> {
    let inverse_det: Lane<M> = std::array::from_fn(|k| {
        let det = a[0][k] * a[3][k] - a[1][k] * a[2][k];
        if k < lines { det.recip() } else { M::zero() }
    });
    let each = |e: usize, sign: M| std::array::from_fn(|k| sign * a[e][k] * inverse_det[k]);
    let (plus, minus) = (M::one(), -M::one());
    [each(3, plus), each(1, minus), each(2, minus), each(0, plus)]
}
