//! Numbers that some threads read while others write their neighbours.

use crate::backend::Real;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering};

/// Numbers of type `T`, kept as the bits of the same value in double precision.
///
/// Reads and writes are relaxed: which value is read follows from what the threads wait for.
#[derive(Debug)]
pub(super) struct Cells<T> {
    bits: Vec<AtomicU64>,
    kind: PhantomData<T>,
}

impl<T: Real> Cells<T> {
    /// `n` zeros.
    pub(super) fn zeros(n: usize) -> Self {
        Self { bits: (0..n).map(|_| AtomicU64::new(0)).collect(), kind: PhantomData }
    }

    #[inline(always)]
    pub(super) fn get(&self, at: usize) -> T {
        T::narrow(f64::from_bits(self.bits[at].load(Ordering::Relaxed)))
    }

    #[inline(always)]
    pub(super) fn set(&self, at: usize, value: T) {
        self.bits[at].store(value.widen().to_bits(), Ordering::Relaxed);
    }

    /// Adds to a number that others add to as well.
    pub(super) fn add(&self, at: usize, value: T) {
        let add = |bits| Some((T::narrow(f64::from_bits(bits)) + value).widen().to_bits());
        // An update that always gives a value is never refused.
        let _ = self.bits[at].fetch_update(Ordering::Relaxed, Ordering::Relaxed, add);
    }
}
