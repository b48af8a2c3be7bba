//! Vectors of the CPU backend.

use super::reduce::reduce;
use super::{CpuBackend, PIECE};
use crate::backend::scalars::{Coefficient, Ending, HALTED, LOG, LOGGED, ONE, SLOTS, Slot};
use crate::backend::{Advance, Backend, DeviceError, Pair, Real};
use rayon::prelude::*;

impl Backend for CpuBackend {
    type Vector<T: Real> = Vec<T>;
    type Scalars = Vec<f64>;
    type Look = [f64; SLOTS + LOG];
    type Recording = ();

    fn zeros<T: Real>(&self, n: usize) -> Result<Vec<T>, DeviceError> {
        Ok(vec![T::zero(); n])
    }

    fn upload<T: Real>(&self, host: &[T], v: &mut Vec<T>) -> Result<(), DeviceError> {
        v.copy_from_slice(host);
        Ok(())
    }

    fn download<T: Real>(&self, v: &Vec<T>, host: &mut [T]) -> Result<(), DeviceError> {
        host.copy_from_slice(v);
        Ok(())
    }

    fn convert<S: Real, T: Real>(
        &self,
        scale: f64,
        x: &Vec<S>,
        y: &mut Vec<T>,
    ) -> Result<(), DeviceError> {
        y.par_chunks_mut(PIECE).zip(x.par_chunks(PIECE)).for_each(|(y, x)| {
            for (y, x) in y.iter_mut().zip(x) {
                *y = T::narrow(scale * x.widen());
            }
        });
        Ok(())
    }

    fn dots<T: Real, const K: usize>(
        &self,
        pairs: [(&Vec<T>, &Vec<T>); K],
    ) -> Result<[f64; K], DeviceError> {
        let n = pairs.first().map_or(0, |(a, _)| a.len());
        Ok(reduce(
            0..n,
            PIECE,
            &|range| pairs.map(|(a, b)| dot(&a[range.clone()], &b[range.clone()])),
            &|low: [f64; K], high: [f64; K]| std::array::from_fn(|k| low[k] + high[k]),
        ))
    }

    fn max_abs<T: Real>(&self, x: &Vec<T>) -> Result<f64, DeviceError> {
        // f64::max would drop a NaN.
        let larger = |a: f64, b: f64| if a.is_nan() || a > b { a } else { b };
        Ok(reduce(
            0..x.len(),
            PIECE,
            &|range| x[range].iter().fold(0.0, |m, v| larger(v.widen().abs(), m)),
            &larger,
        ))
    }

    fn lincomb<T: Real, const K: usize>(
        &self,
        y: &mut Vec<T>,
        beta: f64,
        terms: [(f64, &Vec<T>); K],
    ) -> Result<(), DeviceError> {
        let beta = T::narrow(beta);
        let alphas = terms.map(|(alpha, _)| T::narrow(alpha));
        y.par_chunks_mut(PIECE).enumerate().for_each(|(piece, y)| {
            let start = piece * PIECE;
            let xs = terms.map(|(_, x)| &x[start..start + y.len()]);
            let sum = |k: usize| {
                let mut sum = T::zero();
                for (alpha, x) in alphas.iter().zip(&xs) {
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
        Ok(())
    }

    fn scalars(&self) -> Result<Vec<f64>, DeviceError> {
        Ok(vec![0.0; SLOTS + LOG])
    }

    fn set_scalars(&self, scalars: &mut Vec<f64>, values: &[f64]) -> Result<(), DeviceError> {
        scalars.fill(0.0);
        scalars[..values.len()].copy_from_slice(values);
        scalars[usize::from(HALTED)] = 0.0;
        scalars[usize::from(ONE)] = 1.0;
        scalars[usize::from(LOGGED)] = 0.0;
        Ok(())
    }

    fn look(&self, scalars: &Vec<f64>) -> Result<[f64; SLOTS + LOG], DeviceError> {
        Ok(std::array::from_fn(|slot| scalars[slot]))
    }

    fn see(
        &self,
        look: [f64; SLOTS + LOG],
        host: &mut [f64; SLOTS + LOG],
    ) -> Result<(), DeviceError> {
        *host = look;
        Ok(())
    }

    fn dots_into<T: Real, const K: usize>(
        &self,
        scalars: &mut Vec<f64>,
        first: Slot,
        pairs: [Pair<'_, Vec<T>>; K],
        ending: Ending<'_>,
    ) -> Result<(), DeviceError> {
        if scalars[usize::from(HALTED)] != 0.0 {
            return Ok(());
        }
        let products = self.dots(pairs)?;
        end(scalars, first, &products, ending);
        Ok(())
    }

    fn advance<T: Real>(
        &self,
        scalars: &mut Vec<f64>,
        step: Advance<'_, Vec<T>>,
        first: Slot,
        ending: Ending<'_>,
    ) -> Result<(), DeviceError> {
        if scalars[usize::from(HALTED)] != 0.0 {
            return Ok(());
        }
        let Advance { x, along: (a, h), r, change: (b, v), with } = step;
        let [a, b] = [a, b].map(|coefficient| T::narrow(coefficient.value(scalars)));
        let products = advance((x, a, h), (r, b, v), with.map(Vec::as_slice));
        let products = if with.is_some() { &products[..] } else { &products[..1] };
        end(scalars, first, products, ending);
        Ok(())
    }

    fn lincomb_by<T: Real, const K: usize>(
        &self,
        scalars: &Vec<f64>,
        y: &mut Vec<T>,
        beta: Coefficient,
        terms: [(Coefficient, &Vec<T>); K],
    ) -> Result<(), DeviceError> {
        if scalars[usize::from(HALTED)] != 0.0 {
            return Ok(());
        }
        self.lincomb(y, beta.value(scalars), terms.map(|(alpha, x)| (alpha.value(scalars), x)))
    }

    fn replay(
        &self,
        (): &mut (),
        mut work: impl FnMut() -> Result<(), DeviceError>,
    ) -> Result<(), DeviceError> {
        work()
    }
}

/// Puts inner products into the slots from `first` on and does what `ending` says.
fn end(scalars: &mut [f64], first: Slot, products: &[f64], ending: Ending<'_>) {
    let first = usize::from(first);
    scalars[first..first + products.len()].copy_from_slice(products);
    if ending.log {
        let at = scalars[usize::from(LOGGED)] as usize;
        scalars[SLOTS + at % LOG] = products[0];
        scalars[usize::from(LOGGED)] += 1.0;
    }
    if let Some(end) = ending.conditions.iter().find(|condition| condition.holds(scalars)) {
        scalars[usize::from(HALTED)] = f64::from(end.flag);
    }
}

/// x ← x + a h, r ← r + b v; returns (r, r) and (w, r), added over the same tree as other inner
/// products.
fn advance<T: Real>(
    (x, a, h): (&mut [T], T, &[T]),
    (r, b, v): (&mut [T], T, &[T]),
    w: Option<&[T]>,
) -> [f64; 2] {
    let pieces = x.len().div_ceil(PIECE);
    if pieces <= 1 {
        for ((x, h), (r, v)) in x.iter_mut().zip(h).zip(r.iter_mut().zip(v)) {
            *x += a * *h;
            *r += b * *v;
        }
        return [dot(r, r), w.map_or(0.0, |w| dot(w, r))];
    }
    let middle = pieces.div_ceil(2) * PIECE;
    let ((x0, x1), (r0, r1)) = (x.split_at_mut(middle), r.split_at_mut(middle));
    let ((h0, h1), (v0, v1)) = (h.split_at(middle), v.split_at(middle));
    let (w0, w1) = w.map(|w| w.split_at(middle)).unzip();
    let (low, high) = rayon::join(
        || advance((x0, a, h0), (r0, b, v0), w0),
        || advance((x1, a, h1), (r1, b, v1), w1),
    );
    [low[0] + high[0], low[1] + high[1]]
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
