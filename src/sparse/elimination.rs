//! Orders of elimination of incomplete factors.

use super::{EllPattern, Structure};

/// In which order, and with which waiting, the rows of incomplete factors are worked on.
///
/// All but [`Self::Colours`] and [`Self::Tiles`] apply the same M.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Schedule {
    /// For matrices by rows the fastest of those that apply the same M, timed in the first
    /// applications. For matrices of the grid equations tiles for DILU and levels for ILU(0) on a GPU,
    /// natural order on the CPU.
    #[default]
    Auto,
    /// Level sets: rows that wait for nobody, then those that wait only for them, and so on
    /// (Anderson and Saad 1989; Wang and Liu 2022, algorithm 2). On a grid with a held seam they are
    /// i + 2j; a periodic one has nearly as many as points.
    Levels,
    /// Every row waits for its own entries, flagged one by one (Liu, Li, Hogg, Duff and Vinter
    /// 2016).
    SyncFree,
    /// One colour of rows after the other, no two neighbours having the same: few levels, another M.
    /// Points of a grid have four colours, or six around a seam with an odd number of points.
    Colours,
    /// Natural order within tiles, whose couplings with other tiles are dropped: another M. A tile is
    /// `TILE` × `TILE` points of a grid, or [`super::ROW_TILE`] consecutive rows of a matrix.
    Tiles,
    /// Known values are pushed along columns, a counter a row saying how many are still to come
    /// (Liu, Jin et al. 2020).
    Correlation,
}

/// Points in each direction of a tile.
pub(crate) const TILE: usize = 32;

/// The order of elimination of the rows of a pattern. Colours and tiles need the nine-point pattern; other
/// patterns, and other schedules, are eliminated in natural order.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Elimination {
    schedule: Schedule,
    rows: u32,
    mi: usize,
    periodic: bool,
}

impl Elimination {
    /// The order that a schedule gives the rows of a pattern.
    #[must_use]
    pub(crate) fn new(pattern: &EllPattern, schedule: Schedule) -> Self {
        // A pattern numbers its rows in 32 bits.
        let rows = pattern.rows() as u32;
        match pattern.structure() {
            Structure::NinePoint { mi, periodic, .. } => Self { schedule, rows, mi, periodic },
            _ => Self { schedule: Schedule::Levels, rows, mi: 1, periodic: false },
        }
    }

    /// Rows with a smaller key are eliminated first. No two rows have the same.
    #[must_use]
    pub(crate) fn key(&self, row: usize) -> (usize, usize) {
        match self.schedule {
            Schedule::Colours => (self.colour(row), row),
            _ => (0, row),
        }
    }

    /// Whether the entry of a row in a column counts.
    #[must_use]
    pub(crate) fn keeps(&self, row: usize, column: usize) -> bool {
        if self.schedule != Schedule::Tiles {
            return true;
        }
        let ([i, j], [k, l]) = (self.place(row), self.place(column));
        // A tile as long as the grid does not reach around the seam either.
        (i / TILE, j / TILE) == (k / TILE, l / TILE) && i.abs_diff(k) <= 1
    }

    /// The rows, first to last.
    #[must_use]
    pub(crate) fn order(&self) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.rows).collect();
        if self.schedule == Schedule::Colours {
            order.sort_by_key(|&row| self.key(row as usize));
        }
        order
    }

    fn place(&self, row: usize) -> [usize; 2] {
        [row / 2 % self.mi, row / 2 / self.mi]
    }

    fn colour(&self, row: usize) -> usize {
        let [i, j] = self.place(row);
        // Around the seam the last of an odd number of points meets the first: a third colour.
        let odd_end = self.periodic && !self.mi.is_multiple_of(2) && i + 1 == self.mi;
        3 * (j % 2) + if odd_end { 2 } else { i % 2 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_neighbours_have_the_same_colour() {
        for (mi, periodic) in [(7, false), (8, true), (7, true), (3, true)] {
            let pattern = EllPattern::nine_point(mi, 5, periodic);
            let elimination = Elimination::new(&pattern, Schedule::Colours);
            for row in 0..pattern.rows() {
                for (_, column) in pattern.row(row).filter(|(_, column)| column / 2 != row / 2) {
                    let (own, other) = (elimination.colour(row), elimination.colour(column));
                    assert_ne!(own, other, "rows {row} and {column} of {mi}, {periodic}");
                }
            }
        }
    }

    #[test]
    fn a_tile_keeps_its_own_couplings() {
        let pattern = EllPattern::nine_point(70, 40, true);
        let elimination = Elimination::new(&pattern, Schedule::Tiles);
        let row = |i: usize, j: usize| 2 * (70 * j + i);

        assert!(elimination.keeps(row(31, 31), row(30, 30)));
        assert!(!elimination.keeps(row(31, 31), row(32, 31)));
        assert!(!elimination.keeps(row(31, 31), row(31, 32)));
        assert!(!elimination.keeps(row(0, 0), row(69, 0)));
    }
}
