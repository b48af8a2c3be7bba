//! Rows in sets that follow each other.

use super::Sorted;
use std::ops::Range;

/// Rows of a tile: blocks of consecutive rows whose couplings with other blocks are dropped.
pub const ROW_TILE: usize = 1024;

/// The rows of a matrix in sets, the rows of one set worked on together and the sets one after the
/// other: levels of a triangle, or colours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowSets {
    rows: Vec<u32>,
    offsets: Vec<usize>,
}

impl RowSets {
    /// The sets of rows with the same number, by rising number: sorted rows, and where each set
    /// starts among them (Wang and Liu 2022, lines 14 to 20 of algorithm 2). The sort counts, and
    /// the rows of a set rise.
    #[must_use]
    pub fn by_number(numbers: &[u32]) -> Self {
        let sets = numbers.iter().max().map_or(0, |&most| most as usize + 1);
        let numbered = || (0..).zip(numbers).map(|(row, &number)| (number as usize, row));
        let Sorted { start: offsets, entries: rows } = Sorted::new(sets, numbered);
        Self { rows, offsets }
    }

    /// Number of sets.
    #[must_use]
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there is no row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// All rows, set by set.
    #[must_use]
    pub fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// Where each set starts in [`Self::rows`]; one more than sets.
    #[must_use]
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// Rows of each set.
    pub fn sizes(&self) -> impl Iterator<Item = usize> + '_ {
        self.offsets.windows(2).map(|ends| ends[1] - ends[0])
    }

    /// Ranges of [`Self::rows`] to be worked on in turn: a set of more than `small` rows alone, and
    /// runs of smaller ones as one range, whose rows wait for each other in the order given and are
    /// for one worker.
    #[must_use]
    pub fn merged(&self, small: usize) -> Vec<Turn> {
        let mut turns: Vec<Turn> = Vec::new();
        for ends in self.offsets.windows(2) {
            let together = ends[1] - ends[0] > small;
            match turns.last_mut() {
                Some(last) if !together && !last.together => last.range.end = ends[1],
                _ => turns.push(Turn { range: ends[0]..ends[1], together }),
            }
        }
        turns
    }
}

/// Rows that are worked on between two waits of all workers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    /// Where they stand in [`RowSets::rows`].
    pub range: Range<usize>,
    /// Whether they are one set and wait for none of each other.
    pub together: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_sorted_by_number_and_rise_within_a_set() {
        let sets = RowSets::by_number(&[0, 0, 1, 1, 2, 2, 1]);

        // The example of Wang and Liu, their figure 3.
        assert_eq!(sets.rows(), [0, 1, 2, 3, 6, 4, 5]);
        assert_eq!(sets.offsets(), [0, 2, 5, 7]);
        assert_eq!(sets.len(), 3);
    }

    #[test]
    fn runs_of_small_sets_are_one_turn() {
        let sets = RowSets::by_number(&[0, 1, 1, 1, 2, 3, 3, 4, 4, 4]);

        let turns: Vec<_> =
            sets.merged(2).into_iter().map(|turn| (turn.range, turn.together)).collect();

        assert_eq!(turns, [(0..1, false), (1..4, true), (4..7, false), (7..10, true)]);
    }

    #[test]
    fn no_rows_make_no_sets() {
        let sets = RowSets::by_number(&[]);

        assert!(sets.is_empty() && sets.offsets() == [0] && sets.merged(9).is_empty());
    }
}
