//! Levels of a triangular pattern: how many rows in a row must wait for each other.

use super::Pattern;

/// The part of a pattern on one side of the diagonal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Triangle {
    /// Left of it: a row waits for rows above.
    Lower,
    /// Right of it: a row waits for rows below.
    Upper,
}

impl Triangle {
    /// The columns of a row that stand on this side.
    #[must_use]
    pub fn of(self, pattern: Pattern<'_>, row: usize) -> &[u32] {
        let columns = pattern.row(row);
        let beyond = columns.partition_point(|&column| (column as usize) < row);
        match self {
            Self::Lower => &columns[..beyond],
            Self::Upper if columns.get(beyond) == Some(&(row as u32)) => &columns[beyond + 1..],
            Self::Upper => &columns[beyond..],
        }
    }

    /// Rows in an order in which each comes after those that it waits for.
    pub fn order(self, rows: usize) -> impl Iterator<Item = usize> {
        (0..rows).map(move |k| if self == Self::Lower { k } else { rows - 1 - k })
    }
}

/// The level of every row, l_i = 1 + max l_j over the entries (i, j), zero where there are none.
///
/// One sweep in which a row takes the levels of those that it waits for: algorithm 7 of Wang and
/// Liu (2022), whose flags are all set where one thread goes through the rows in order.
#[must_use]
pub fn levels(pattern: Pattern<'_>, triangle: Triangle) -> Vec<u32> {
    let mut levels = vec![0; pattern.rows()];
    for row in triangle.order(pattern.rows()) {
        let before = triangle.of(pattern, row).iter().map(|&column| levels[column as usize] + 1);
        levels[row] = before.max().unwrap_or(0);
    }
    levels
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sparse::Csr;

    /// The 7 × 7 triangle of Wang and Liu, their equation 9.
    fn triangle() -> Csr {
        let columns: [&[usize]; 7] =
            [&[0], &[1], &[1, 2], &[1, 3], &[0, 2, 4], &[2, 3, 5], &[1, 6]];
        Csr::from_rows(columns.iter().map(|row| row.iter().map(|&column| (column, 1.0))))
    }

    #[test]
    fn the_levels_are_those_of_the_paper() {
        let a = triangle();

        assert_eq!(levels(a.pattern(), Triangle::Lower), [0, 0, 1, 1, 2, 2, 1]);
    }

    #[test]
    fn a_row_stands_above_all_that_it_waits_for() {
        let scattered = |row: usize| (0..4).map(move |k| ((row * row + 17 * k + 3) % 60, 1.0));
        let rows = (0..60).map(|row| {
            let mut row: Vec<_> = scattered(row).take(row % 5).collect();
            row.sort_by_key(|&(column, _)| column);
            row.dedup_by_key(|&mut (column, _)| column);
            row
        });
        let a = Csr::from_rows(rows);
        for triangle in [Triangle::Lower, Triangle::Upper] {
            let found = levels(a.pattern(), triangle);

            for row in 0..60 {
                let before = triangle.of(a.pattern(), row).iter().map(|&c| found[c as usize]);
                assert_eq!(before.max().map_or(0, |l| l + 1), found[row], "{triangle:?} {row}");
            }
        }
    }

    #[test]
    fn a_chain_has_a_level_a_row_and_a_diagonal_has_one() {
        let chain = Csr::from_rows((0..5_usize).map(|row| row.checked_sub(1).map(|c| (c, 1.0))));
        let diagonal = Csr::from_rows((0..5).map(|row| [(row, 1.0)]));

        assert_eq!(levels(chain.pattern(), Triangle::Lower), [0, 1, 2, 3, 4]);
        assert_eq!(levels(chain.pattern(), Triangle::Upper), [0; 5]);
        assert_eq!(levels(diagonal.pattern(), Triangle::Upper), [0; 5]);
    }
}
