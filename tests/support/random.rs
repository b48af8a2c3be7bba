//! Random numbers from a seed, identical in every run.

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// `SplitMix64` (Steele, Lea and Flood 2014, doi:10.1145/2660193.2660195).
pub struct Random(SplitMix64);

impl Random {
    /// The sequence of this seed.
    pub fn new(seed: u64) -> Self {
        Self(SplitMix64::seed_from_u64(seed))
    }

    /// The next number, uniform in [−1, 1).
    pub fn symmetric(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    /// The next number, uniform in [0, 1).
    pub fn unit(&mut self) -> f64 {
        0.5 * (1.0 + self.symmetric())
    }

    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        (self.unit() * n as f64) as usize
    }

    /// One of these.
    pub fn pick<'a, T>(&mut self, among: &'a [T]) -> &'a T {
        &among[self.below(among.len())]
    }

    /// `n` numbers, uniform in [−1, 1).
    pub fn vector(&mut self, n: usize) -> Vec<f64> {
        (0..n).map(|_| self.symmetric()).collect()
    }
}
