//! Vectors of the CPU backend.

use super::reduce::reduce;
use super::{CpuBackend, PIECE};
use crate::backend::{Backend, DeviceError, Real};
use rayon::prelude::*;

impl Backend for CpuBackend {
    type Vector<T: Real> = Vec<T>;

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
