//! Vectors of the CPU backend, and reductions whose order of additions is fixed.

use super::{CpuBackend, PIECE};
use crate::backend::error::{check_length, check_lengths, check_room};
use crate::backend::scalars::{Coefficient, Epilogue, HALTED, LOG, ONE, SLOTS, Slot};
use crate::backend::{Advance, Backend, Pair, Projection, Real, Result, Step};
use crate::grid::quality::larger;
use rayon::prelude::*;
use std::ops::Range;

impl Backend for CpuBackend {
    type Vector<T: Real> = Vec<T>;
    type ReadBack = [f64; SLOTS + LOG];
    type Recording = ();

    fn zeros<T: Real>(&self, n: usize) -> Result<Vec<T>> {
        Ok(vec![T::zero(); n])
    }

    fn upload<T: Real>(&self, host: &[T], v: &mut Vec<T>) -> Result<()> {
        check_length(v.len(), host.len())?;
        v.copy_from_slice(host);
        Ok(())
    }

    fn download<T: Real>(&self, v: &Vec<T>, host: &mut [T]) -> Result<()> {
        check_length(v.len(), host.len())?;
        host.copy_from_slice(v);
        Ok(())
    }

    fn convert<S: Real, T: Real>(&self, scale: f64, x: &Vec<S>, y: &mut Vec<T>) -> Result<()> {
        check_length(x.len(), y.len())?;
        y.par_chunks_mut(PIECE).zip(x.par_chunks(PIECE)).for_each(|(y, x)| {
            for (y, x) in y.iter_mut().zip(x) {
                *y = T::narrow(scale * x.widen());
            }
        });
        Ok(())
    }

    fn max_abs<T: Real>(&self, x: &Vec<T>) -> Result<f64> {
        Ok(reduce(
            0..x.len(),
            PIECE,
            &|range| x[range].iter().fold(0.0, |m, v| larger(v.widen().abs(), m)),
            &larger,
        ))
    }

    fn project<T: Real>(&self, basis: &[Vec<T>], w: &mut Vec<T>) -> Result<Projection> {
        basis.iter().try_for_each(|v| check_length(v.len(), w.len()))?;
        let mut with: Vec<&[T]> = basis.iter().map(Vec::as_slice).collect();
        let first = products(w, &with);
        let terms: Vec<(f64, &Vec<T>)> = first.iter().map(|h| -h).zip(basis).collect();
        self.lincomb(None, w, 1.0, &terms)?;
        with.push(&*w);
        let mut again = products(w, &with);
        let square = again.pop().unwrap_or_default();
        Ok(Projection { first, again, square })
    }

    fn read_back(&self, scalars: &Vec<f64>) -> Result<[f64; SLOTS + LOG]> {
        check_length(scalars.len(), SLOTS + LOG)?;
        Ok(std::array::from_fn(|slot| scalars[slot]))
    }

    fn wait_for(&self, read_back: [f64; SLOTS + LOG], host: &mut [f64; SLOTS + LOG]) -> Result<()> {
        *host = read_back;
        Ok(())
    }

    fn dot_products<T: Real, const K: usize>(
        &self,
        pairs: [Pair<'_, Vec<T>>; K],
    ) -> Result<[f64; K]> {
        let n = pairs.first().map_or(0, |(a, _)| a.len());
        pairs.iter().try_for_each(|(a, b)| check_lengths(n, [a.len(), b.len()]))?;
        Ok(dots(pairs.map(|(a, b)| (a.as_slice(), b.as_slice()))))
    }

    fn dots<T: Real, const K: usize>(
        &self,
        scalars: &mut Vec<f64>,
        first: Slot,
        pairs: [Pair<'_, Vec<T>>; K],
        epilogue: Epilogue<'_>,
    ) -> Result<()> {
        check_slots(scalars, usize::from(first) + K)?;
        if scalars[usize::from(HALTED)] == 0.0 {
            end(scalars, first, &self.dot_products(pairs)?, epilogue);
        }
        Ok(())
    }

    fn advance<T: Real>(
        &self,
        scalars: &mut Vec<f64>,
        step: Advance<'_, Vec<T>>,
        first: Slot,
        epilogue: Epilogue<'_>,
    ) -> Result<()> {
        let (n, h) = (step.r.len(), step.along.map(|(_, h)| h.len()));
        check_lengths(n, [step.x.len(), h.unwrap_or(n), step.change.1.len()])?;
        check_slots(scalars, usize::from(first) + 1)?;
        if scalars[usize::from(HALTED)] != 0.0 {
            return Ok(());
        }
        let Advance { x, along, r, change: (b, v) } = step;
        let value = |coefficient: Coefficient| T::narrow(coefficient.value(scalars));
        let along = along.map(|(a, h)| (value(a), h.as_slice()));
        let square = advance(x, along, (r, value(b), v), 0);
        end(scalars, first, &[square], epilogue);
        Ok(())
    }

    fn step<T: Real>(
        &self,
        scalars: &Vec<f64>,
        step: Step<'_, Vec<T>>,
        p: &mut Vec<T>,
        [z, y]: [&Vec<T>; 2],
    ) -> Result<()> {
        let all = [&*step.x, step.along.1, &*step.r, step.change.1, z, y];
        check_lengths(p.len(), all.map(Vec::len))?;
        check_slots(scalars, SLOTS)?;
        if scalars[usize::from(HALTED)] != 0.0 {
            return Ok(());
        }
        let [a, b, c, beta, gamma] =
            step.coefficients().map(|coefficient| T::narrow(coefficient.value(scalars)));
        let Step { x, along: (_, h), r, change: (_, u), .. } = step;
        let pieces =
            x.par_chunks_mut(PIECE).zip(r.par_chunks_mut(PIECE)).zip(p.par_chunks_mut(PIECE));
        pieces.enumerate().for_each(|(piece, ((x, r), p))| {
            let part = piece * PIECE..piece * PIECE + x.len();
            let [z, h, u, y] = [z, h, u, y].map(|v| &v[part.clone()]);
            for k in 0..x.len() {
                x[k] += a * z[k] + b * h[k];
                r[k] += c * u[k];
                p[k] = r[k] + beta * p[k] + gamma * y[k];
            }
        });
        Ok(())
    }

    fn lincomb<T: Real, C: Into<Coefficient> + Copy>(
        &self,
        scalars: Option<&Vec<f64>>,
        y: &mut Vec<T>,
        beta: C,
        terms: &[(C, &Vec<T>)],
    ) -> Result<()> {
        terms.iter().try_for_each(|(_, x)| check_length(x.len(), y.len()))?;
        scalars.map_or(Ok(()), |scalars| check_slots(scalars, SLOTS))?;
        let slots = scalars.map_or(&NUMBERS[..], Vec::as_slice);
        if slots[usize::from(HALTED)] != 0.0 {
            return Ok(());
        }
        let value = |coefficient: C| T::narrow(coefficient.into().value(slots));
        let term = |(alpha, x)| (value(alpha), x);
        let mut beta = value(beta);
        let mut rest = terms;
        loop {
            let (group, later) = rest.split_at(rest.len().min(GROUP));
            match *group {
                [] => sum(y, beta, []),
                [a] => sum(y, beta, [a].map(term)),
                [a, b] => sum(y, beta, [a, b].map(term)),
                [a, b, c] => sum(y, beta, [a, b, c].map(term)),
                [a, b, c, d, ..] => sum(y, beta, [a, b, c, d].map(term)),
            }
            (beta, rest) = (T::one(), later);
            if rest.is_empty() {
                return Ok(());
            }
        }
    }

    fn replay(&self, (): &mut (), mut work: impl FnMut() -> Result<()>) -> Result<()> {
        work()
    }
}

/// Refuses scalars without their slots and log, and more slots than there are.
fn check_slots(scalars: &[f64], slots: usize) -> Result<()> {
    check_length(scalars.len(), SLOTS + LOG)?;
    check_room(slots, [SLOTS])
}

/// Basis vectors that one pass takes.
const GROUP: usize = 4;

/// Slots for coefficients that are numbers.
const NUMBERS: [f64; 2] = {
    let mut slots = [0.0; 2];
    slots[ONE as usize] = 1.0;
    slots
};

/// y ← β y + Σ αₖ xₖ in one pass.
fn sum<T: Real, const K: usize>(y: &mut [T], beta: T, terms: [(T, &Vec<T>); K]) {
    y.par_chunks_mut(PIECE).enumerate().for_each(|(piece, y)| {
        let start = piece * PIECE;
        let xs = terms.map(|(alpha, x)| (alpha, &x[start..start + y.len()]));
        let sum = |k: usize| {
            let mut sum = T::zero();
            for (alpha, x) in &xs {
                sum += *alpha * x[k];
            }
            sum
        };
        if beta == T::zero() {
            for (k, y) in y.iter_mut().enumerate() {
                *y = sum(k);
            }
        } else {
            for (k, y) in y.iter_mut().enumerate() {
                *y = beta * *y + sum(k);
            }
        }
    });
}

fn dots<T: Real, const K: usize>(pairs: [Pair<'_, [T]>; K]) -> [f64; K] {
    let n = pairs.first().map_or(0, |(a, _)| a.len());
    reduce(
        0..n,
        PIECE,
        &|range| pairs.map(|(a, b)| dot(&a[range.clone()], &b[range.clone()])),
        &|low: [f64; K], high: [f64; K]| std::array::from_fn(|k| low[k] + high[k]),
    )
}

/// Inner products of w with several vectors, a group at a time.
fn products<'a, T: Real>(w: &'a [T], with: &[&'a [T]]) -> Vec<f64> {
    let mut products = Vec::with_capacity(with.len());
    for group in with.chunks(GROUP) {
        match *group {
            [a] => products.extend(dots([(w, a)])),
            [a, b] => products.extend(dots([(w, a), (w, b)])),
            [a, b, c] => products.extend(dots([(w, a), (w, b), (w, c)])),
            [a, b, c, d] => products.extend(dots([(w, a), (w, b), (w, c), (w, d)])),
            _ => {}
        }
    }
    products
}

/// Puts inner products into the slots from `first` on and does what `epilogue` says.
fn end(scalars: &mut [f64], first: Slot, products: &[f64], epilogue: Epilogue<'_>) {
    let first = usize::from(first);
    scalars[first..first + products.len()].copy_from_slice(products);
    epilogue.apply(scalars);
}

/// x ← x + a h, if there is such a term, and r ← r + b v; returns (r, r), added over the same tree as other inner
/// products. h and v are whole vectors, of which x and r are the part from `start` on.
fn advance<T: Real>(
    x: &mut [T],
    along: Option<(T, &[T])>,
    (r, b, v): (&mut [T], T, &[T]),
    start: usize,
) -> f64 {
    let pieces = r.len().div_ceil(PIECE);
    if pieces <= 1 {
        let part = start..start + r.len();
        if let Some((a, h)) = along {
            for (x, h) in x.iter_mut().zip(&h[part.clone()]) {
                *x += a * *h;
            }
        }
        for (r, v) in r.iter_mut().zip(&v[part]) {
            *r += b * *v;
        }
        return dot(r, r);
    }
    let middle = pieces.div_ceil(2) * PIECE;
    let ((x0, x1), (r0, r1)) = (x.split_at_mut(middle), r.split_at_mut(middle));
    let (low, high) = rayon::join(
        || advance(x0, along, (r0, b, v), start),
        || advance(x1, along, (r1, b, v), start + middle),
    );
    low + high
}

/// Inner product with eight running sums, which the compiler keeps in vector registers.
fn dot<T: Real>(a: &[T], b: &[T]) -> f64 {
    const LANES: usize = 8;
    let mut sums = [0.0; LANES];
    let (a_body, b_body) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let tail: f64 =
        a_body.remainder().iter().zip(b_body.remainder()).map(|(a, b)| a.widen() * b.widen()).sum();
    for (a, b) in a_body.zip(b_body) {
        for (sum, (a, b)) in sums.iter_mut().zip(a.iter().zip(b)) {
            *sum += a.widen() * b.widen();
        }
    }
    sums.iter().sum::<f64>() + tail
}

/// v ← 0.
pub(super) fn clear<T: Real>(v: &mut [T]) {
    v.par_chunks_mut(PIECE).for_each(|v| v.fill(T::zero()));
}

/// Combines `leaf` over pieces of at most `piece` indices of `range`, by halves.
///
/// The tree depends on `range` and `piece` alone, so the result is the same for any number of
/// threads, and nothing is allocated.
pub(super) fn reduce<R: Send>(
    range: Range<usize>,
    piece: usize,
    leaf: &(impl Fn(Range<usize>) -> R + Sync),
    combine: &(impl Fn(R, R) -> R + Sync),
) -> R {
    let pieces = range.len().div_ceil(piece);
    if pieces <= 1 {
        return leaf(range);
    }
    let middle = range.start + pieces.div_ceil(2) * piece;
    let (low, high) = rayon::join(
        || reduce(range.start..middle, piece, leaf, combine),
        || reduce(middle..range.end, piece, leaf, combine),
    );
    combine(low, high)
}
