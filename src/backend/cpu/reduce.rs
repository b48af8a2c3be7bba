//! Reductions whose order of additions is fixed.

use std::ops::Range;

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_index_is_visited_once_at_awkward_sizes() {
        for n in [0, 1, 31, 32, 33, 257, 1961] {
            let sum = reduce(0..n, 32, &|range: Range<usize>| range.sum::<usize>(), &|a, b| a + b);

            assert_eq!(sum, n * n.saturating_sub(1) / 2);
        }
    }
}
