//! The distribution of a measure over all cells: percentiles, the histogram of skewness, the worst cells.

use rayon::prelude::*;

use super::cell::{cell_corners, cell_skewness, corner_determinants, is_folded};
use crate::grid::Grid;

/// A cell with its place.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct BadCell {
    /// Cell (i, j).
    pub cell: [usize; 2],
    /// Mean of its corners, chords.
    pub centre: [f64; 2],
    /// Equiangle skewness.
    pub skewness: f64,
    /// Whether a corner determinant is not positive.
    pub folded: bool,
}

impl BadCell {
    fn of(grid: &Grid, i: usize, j: usize) -> Self {
        let corners = cell_corners(grid, i, j);
        Self {
            cell: [i, j],
            centre: [0, 1].map(|c| 0.25 * corners.iter().map(|corner| corner[c]).sum::<f64>()),
            skewness: cell_skewness(&corners),
            folded: is_folded(&corner_determinants(&corners)),
        }
    }

    /// Folded before unfolded, then by falling skewness (NaN first), then by place.
    fn order(&self, other: &Self) -> std::cmp::Ordering {
        let place = |cell: [usize; 2]| [cell[1], cell[0]];
        other
            .folded
            .cmp(&self.folded)
            .then(other.skewness.total_cmp(&self.skewness))
            .then(place(self.cell).cmp(&place(other.cell)))
    }
}

/// The `count` worst cells, the worst first: folded ones, then the most skewed.
#[must_use]
pub fn worst_cells(grid: &Grid, count: usize) -> Vec<BadCell> {
    let rows = (0..grid.nj - 1).into_par_iter().map(|j| {
        let mut row: Vec<BadCell> = (0..grid.ni - 1).map(|i| BadCell::of(grid, i, j)).collect();
        row.sort_by(BadCell::order);
        row.truncate(count);
        row
    });
    let mut worst: Vec<BadCell> = rows.flatten_iter().collect();
    worst.sort_by(BadCell::order);
    worst.truncate(count);
    worst
}

/// Number of cells in each of `bins` equal intervals of equiangle skewness from 0 to 1, and last
/// of those at 1 and above or NaN.
#[must_use]
pub fn skewness_histogram(grid: &Grid, bins: usize) -> Vec<usize> {
    let mut counts = vec![0; bins + 1];
    for j in 0..grid.nj - 1 {
        for i in 0..grid.ni - 1 {
            let skewness = BadCell::of(grid, i, j).skewness;
            let bin = if skewness < 1.0 { (skewness * bins as f64) as usize } else { bins };
            counts[bin.min(bins)] += 1;
        }
    }
    counts
}

/// The `q`-th percentile by linear interpolation between order statistics (type 7 of Hyndman and
/// Fan, <https://doi.org/10.1080/00031305.1996.10473566>). NaN sorts last.
///
/// A count of the leading bits of many values says between which of them the order statistic lies;
/// only those are sorted out.
pub fn percentile(values: &[f64], q: f64) -> f64 {
    if values.is_empty() {
        return f64::NAN;
    }
    let (below, fraction) = order_of(q, values.len());
    let all = || values.par_iter().copied();
    // A short list is searched whole, and no value is beyond its only bin.
    let (before, bin, mut near) = if values.len() < BINS {
        (0, BINS, values.to_vec())
    } else {
        let counts = leading_bits(values);
        let (mut before, mut bin) = (0, 0);
        while before + counts[bin] <= below {
            before += counts[bin];
            bin += 1;
        }
        (before, bin, all().filter(|&value| leading(value) == bin).collect())
    };
    let (_, &mut low, above) = near.select_nth_unstable_by(below - before, f64::total_cmp);
    // The next order statistic is the least of those above; there is none at the top.
    let next = above.iter().copied().min_by(f64::total_cmp);
    let beyond = || all().filter(|&value| leading(value) > bin).min_by(f64::total_cmp);
    let high = next.or_else(beyond).unwrap_or(low);
    // The difference of two infinite values is no number.
    if high.total_cmp(&low).is_eq() { low } else { low + (high - low) * fraction }
}

/// The order statistic below the `q`-th percentile of `n` values, counted from 0, and how far it is from
/// there to the next.
pub(crate) fn order_of(q: f64, n: usize) -> (usize, f64) {
    let rank = q / 100.0 * (n - 1) as f64;
    (rank.floor() as usize, rank - rank.floor())
}

/// Numbers of the leading bits.
const BINS: usize = 1 << 16;

/// Leading bits of a number, in the order of [`f64::total_cmp`].
fn leading(value: f64) -> usize {
    let bits = value.to_bits();
    let ordered = if bits >> 63 == 1 { !bits } else { bits | 1 << 63 };
    (ordered >> 48) as usize
}

/// The number of values with each of the possible leading bits.
fn leading_bits(values: &[f64]) -> Vec<usize> {
    let empty = || vec![0; BINS];
    let part = values.len().div_ceil(rayon::current_num_threads()).max(BINS);
    let counts = values.par_chunks(part).map(|values| {
        let mut counts = empty();
        for &value in values {
            counts[leading(value)] += 1;
        }
        counts
    });
    counts.reduce(empty, |mut sum, counts| {
        sum.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        sum
    })
}
