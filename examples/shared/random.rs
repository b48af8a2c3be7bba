//! Random numbers that follow from a seed alone.
#![allow(dead_code, reason = "each program uses some of it")]

use std::f64::consts::TAU;

/// `SplitMix64` (G. Steele, D. Lea, C. Flood 2014, doi:10.1145/2660193.2660195).
pub(crate) struct Random(u64);

impl Random {
    /// The numbers of item k of the series that has this seed.
    pub(crate) fn new(seed: u64, k: u64) -> Self {
        Self(seed.wrapping_add(k.wrapping_mul(0xA076_1D64_78BD_642F)))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// In [0, 1).
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A whole number below n.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    /// In [low, high).
    pub(crate) fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// In [low, high), evenly in the logarithm.
    pub(crate) fn logarithmic(&mut self, low: f64, high: f64) -> f64 {
        low * (high / low).powf(self.unit())
    }

    /// Of mean 0 and deviation 1, by Box and Muller.
    pub(crate) fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        radius * (TAU * self.unit()).cos()
    }
}
