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

/// Values of a sample, and how far below a percentile it places the guess, per cent: five times its deviation at 99 %
/// or more.
const SAMPLE: usize = 256;
const MARGIN: f64 = 3.0;

/// The `q`-th percentile by linear interpolation between order statistics (type 7 of Hyndman and
/// Fan, <https://doi.org/10.1080/00031305.1996.10473566>). NaN sorts last.
///
/// Counts of the leading bits of all values give the bits of the order statistic, sixteen at a time, until few values begin
/// with them. Only these values are searched, and of few values in all those above a low guess.
pub fn percentile(values: &[f64], q: f64) -> f64 {
    if values.is_empty() {
        return f64::NAN;
    }
    let (below, fraction) = order_of(q, values.len());
    // The known bits, all but `shift` of them, and the numbers of values with lower ones and with these.
    let (mut known, mut shift, mut before, mut near) = (0, u64::BITS, 0, values.len());
    while near >= BINS && shift > 0 {
        shift -= DIGIT;
        let counts = digits(values, known, shift);
        let mut digit = 0;
        while before + counts[digit] <= below {
            before += counts[digit];
            digit += 1;
        }
        (known, near) = (known << DIGIT | digit as u64, counts[digit]);
    }
    let leading = |value: f64| ordered(value).checked_shr(shift).unwrap_or_default();
    let all = || values.par_iter().copied();
    let (low, next) = if shift == 0 {
        // All of them are equal.
        let low = of_ordered(known);
        (low, (below + 1 < before + near).then_some(low))
    } else {
        let mut near: Vec<f64> = if shift < u64::BITS {
            all().filter(|&value| leading(value) == known).collect()
        } else {
            let least = guess_below(values, q);
            let is_above = |value: &f64| value.total_cmp(&least).is_ge();
            let upper: Vec<f64> = values.iter().copied().filter(is_above).collect();
            let is_low = values.len() - upper.len() <= below;
            let near = if is_low { upper } else { values.to_vec() };
            before = values.len() - near.len();
            near
        };
        let (_, &mut low, above) = near.select_nth_unstable_by(below - before, f64::total_cmp);
        // The next order statistic is the least of those above; there is none at the top.
        (low, above.iter().copied().min_by(f64::total_cmp))
    };
    let beyond = || all().filter(|&value| leading(value) > known).min_by(f64::total_cmp);
    let high = next.or_else(beyond).unwrap_or(low);
    // The difference of two infinite values is no number.
    if high.total_cmp(&low).is_eq() { low } else { low + (high - low) * fraction }
}

/// A value that is most likely below the `q`-th percentile, by a sample, and above most of what is below that.
fn guess_below(values: &[f64], q: f64) -> f64 {
    let mut sample: Vec<f64> =
        values.iter().copied().step_by(values.len().div_ceil(SAMPLE)).collect();
    sample.sort_unstable_by(f64::total_cmp);
    let (at, _) = order_of((q - MARGIN).max(0.0), sample.len());
    sample[at]
}

/// The order statistic below the `q`-th percentile of `n` values, counted from 0, and how far it is from
/// there to the next.
pub(crate) fn order_of(q: f64, n: usize) -> (usize, f64) {
    let rank = q / 100.0 * (n - 1) as f64;
    (rank.floor() as usize, rank - rank.floor())
}

/// Bits that are counted at a time, and their numbers.
const DIGIT: u32 = 16;
const BINS: usize = 1 << DIGIT;
const SIGN: u64 = 1 << 63;

/// The bits of a value as a number, in the order of [`f64::total_cmp`].
fn ordered(value: f64) -> u64 {
    let bits = value.to_bits();
    if bits & SIGN == 0 { bits | SIGN } else { !bits }
}

/// The value with these bits.
fn of_ordered(ordered: u64) -> f64 {
    f64::from_bits(if ordered & SIGN == 0 { !ordered } else { ordered & !SIGN })
}

/// The number of values with each of the possible digits above the last `shift` bits, of those whose bits before that are
/// `known`.
fn digits(values: &[f64], known: u64, shift: u32) -> Vec<usize> {
    let empty = || vec![0; BINS];
    let part = values.len().div_ceil(rayon::current_num_threads()).max(BINS);
    let counts = values.par_chunks(part).map(|values| {
        let mut counts = empty();
        for &value in values {
            let leading = ordered(value) >> shift;
            if leading >> DIGIT == known {
                counts[leading as usize % BINS] += 1;
            }
        }
        counts
    });
    counts.reduce(empty, |mut sum, counts| {
        sum.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        sum
    })
}
