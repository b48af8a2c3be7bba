//! Random numbers with a seed: the same in every run.

/// `SplitMix64` (Steele, Lea and Flood 2014, doi:10.1145/2660193.2660195).
pub(crate) struct Random(u64);

impl Random {
    /// The sequence of this seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number, uniform in [0, 1).
    pub(crate) fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
        (z >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// The next whole number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.unit() * end as f64) as usize
    }
}
