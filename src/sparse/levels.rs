//! Levels of a triangular pattern, and ordered sets of rows.

use super::{Pattern, Sorted};
use std::ops::Range;

/// The part of a pattern on one side of the diagonal, by its number in kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Triangle {
    /// Left of the diagonal: a row depends on rows above.
    Lower = 0,
    /// Right of the diagonal: a row depends on rows below.
    Upper = 1,
}

impl Triangle {
    /// The columns of a row on this side of the diagonal.
    pub fn of(self, pattern: Pattern<'_>, row: usize) -> &[u32] {
        let columns = pattern.row(row);
        let beyond = columns.partition_point(|&column| (column as usize) < row);
        match self {
            Self::Lower => &columns[..beyond],
            Self::Upper if columns.get(beyond) == Some(&(row as u32)) => &columns[beyond + 1..],
            Self::Upper => &columns[beyond..],
        }
    }

    /// Rows in an order in which each comes after those that it depends on.
    pub fn order(self, rows: usize) -> impl Iterator<Item = usize> {
        (0..rows).map(move |k| if self == Self::Lower { k } else { rows - 1 - k })
    }
}

/// The level of every row, l_i = 1 + max l_j over the entries (i, j); zero for a row without such entries.
///
/// One sweep, in which a row takes the levels of the rows that it depends on: algorithm 7 of Wang and Liu
/// (2022), whose flags are not needed if one thread processes the rows in order.
pub fn levels(pattern: Pattern<'_>, triangle: Triangle) -> Vec<u32> {
    let mut levels = vec![0; pattern.rows()];
    for row in triangle.order(pattern.rows()) {
        let before = triangle.of(pattern, row).iter().map(|&column| levels[column as usize] + 1);
        levels[row] = before.max().unwrap_or(0);
    }
    levels
}

/// Rows of a tile: a block of consecutive rows whose couplings to other blocks are dropped.
pub const ROW_TILE: usize = 1024;

/// The rows of a matrix in sets, for example the levels of a triangle, or colours. The rows of one set are
/// processed together, the sets one after the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowSets(Sorted<u32>);

impl RowSets {
    /// The sets of rows with the same number, by rising number: sorted rows, and the start of each set (Wang
    /// and Liu 2022, lines 14 to 20 of algorithm 2). A counting sort leaves the rows of a set in rising
    /// order.
    pub fn by_number(numbers: &[u32]) -> Self {
        let sets = numbers.iter().max().map_or(0, |&most| most as usize + 1);
        let numbered = || (0..).zip(numbers).map(|(row, &number)| (number as usize, row));
        Self(Sorted::new(sets, numbered))
    }

    /// All rows, set by set.
    pub fn rows(&self) -> &[u32] {
        &self.0.entries
    }

    /// Start of each set in [`Self::rows`], and the number of rows at the end.
    pub fn offsets(&self) -> &[usize] {
        &self.0.start
    }

    /// Ranges of [`Self::rows`] to be processed one after the other: each set of more than `small` rows by
    /// itself, and runs of smaller sets as one range. The rows of a run depend on each other in the given
    /// order and must be processed by one worker.
    pub fn merged(&self, small: usize) -> Vec<Turn> {
        let mut turns: Vec<Turn> = Vec::new();
        for ends in self.0.start.windows(2) {
            let together = ends[1] - ends[0] > small;
            match turns.last_mut() {
                Some(last) if !together && !last.together => last.range.end = ends[1],
                _ => turns.push(Turn { range: ends[0]..ends[1], together }),
            }
        }
        turns
    }
}

/// Rows that are processed between two barriers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    /// Their range in [`RowSets::rows`].
    pub range: Range<usize>,
    /// True if they are one set, in which no row depends on another.
    pub together: bool,
}
