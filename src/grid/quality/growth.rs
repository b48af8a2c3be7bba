//! The distribution of the growth of neighbouring cells.

use rayon::prelude::*;

use crate::geometry::vector::distance;
use crate::grid::Grid;

/// Growth of consecutive edges along i or along j.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Growth {
    /// Largest ratio of two consecutive edges, the longer over the shorter.
    pub largest: f64,
    /// Node i, j between these two.
    pub node: [usize; 2],
    /// Its place, in the unit of the grid.
    pub at: [f64; 2],
    /// 99th percentile of the ratios, to 0.05 %; the largest where that is less.
    pub p99: f64,
}

/// Width of a bin of the logarithm of the ratio, and the number of bins: up to a ratio of 8.
const BIN: f64 = 5e-4;
const BINS: usize = 4160;

/// Counts in bins, and the largest ratio with its node.
struct Counts {
    bins: Vec<usize>,
    largest: (f64, [usize; 2]),
}

impl Counts {
    fn none() -> Self {
        Self { bins: vec![0; BINS], largest: (1.0, [0; 2]) }
    }

    fn count(&mut self, [before, at, after]: [[f64; 2]; 3], node: [usize; 2]) {
        let ratio = distance(at, after) / distance(before, at);
        let ratio = ratio.max(1.0 / ratio);
        // Ratios of edges of length zero are infinite or not a number.
        let ratio = if ratio.is_nan() { f64::INFINITY } else { ratio };
        self.bins[((ratio.ln() / BIN) as usize).min(BINS - 1)] += 1;
        if ratio > self.largest.0 {
            self.largest = (ratio, node);
        }
    }

    /// The counts of both, with the first of the largest ratios.
    fn with(mut self, other: &Self) -> Self {
        self.bins.iter_mut().zip(&other.bins).for_each(|(own, other)| *own += other);
        let ((own, at), (ratio, node)) = (self.largest, other.largest);
        if ratio > own || (ratio.total_cmp(&own).is_eq() && [node[1], node[0]] < [at[1], at[0]]) {
            self.largest = other.largest;
        }
        self
    }

    fn growth(&self, grid: &Grid) -> Growth {
        let all: usize = self.bins.iter().sum();
        let mut below = 0;
        let beyond = |count: &usize| {
            below += count;
            100 * below >= 99 * all
        };
        let bin = self.bins.iter().position(beyond).unwrap_or(0);
        let (largest, node) = self.largest;
        let p99 = ((bin as f64 + 0.5) * BIN).exp().min(largest);
        Growth { largest, node, at: grid.point(node[0], node[1]), p99 }
    }
}

/// Growth along i, without the pair across a seam, and along j. None for a grid without nodes.
pub fn growth(grid: &Grid) -> Option<[Growth; 2]> {
    let row = |[mut along, mut across]: [Counts; 2], j: usize| {
        for i in 1..grid.ni - 1 {
            along.count([i - 1, i, i + 1].map(|i| grid.point(i, j)), [i, j]);
        }
        if (1..grid.nj - 1).contains(&j) {
            for i in 0..grid.ni {
                across.count([j - 1, j, j + 1].map(|j| grid.point(i, j)), [i, j]);
            }
        }
        [along, across]
    };
    let none = || [Counts::none(), Counts::none()];
    let both = |[along, across]: [Counts; 2], [other_along, other_across]: [Counts; 2]| {
        [along.with(&other_along), across.with(&other_across)]
    };
    let counts = |grid: &Grid| (0..grid.nj).into_par_iter().fold(none, row).reduce(none, both);
    (grid.ni > 1 && grid.nj > 1).then(|| counts(grid).map(|counts| counts.growth(grid)))
}
