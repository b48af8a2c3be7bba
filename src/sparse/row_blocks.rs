//! A matrix cut into blocks of consecutive rows, one for each of several ranks.

use super::{Csr, Pattern};
use rayon::prelude::*;
use std::ops::Range;

/// Fewer rows than ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a matrix of {rows} {} cannot be shared by {ranks} GPUs", if *rows == 1 { "row" } else { "rows" })]
pub struct TooFewRows {
    /// Rows of the matrix.
    pub rows: usize,
    /// Ranks that shall each have one.
    pub ranks: usize,
}

/// Which rows of a square matrix each rank has, and which entries of a vector it needs of others: its
/// halo.
///
/// A rank has the entries of a vector that belong to its rows. For its part of A x it also needs those
/// in whose columns its rows have entries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowBlocks {
    /// First rows of the blocks, then the number of rows.
    starts: Vec<usize>,
    /// Columns outside of its block in which the rows of each rank have entries, rising.
    halos: Vec<Vec<u32>>,
}

/// Places in a list of entries of a vector that go to another rank, or come from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage {
    /// The other rank.
    pub rank: usize,
    /// The places.
    pub places: Range<usize>,
}

/// What one rank has of a matrix.
#[derive(Debug, Clone, PartialEq)]
pub struct RowPart {
    /// Its rows.
    pub rows: Range<usize>,
    /// The entries in columns of its own, rows and columns counted from the first of them.
    pub own: Csr,
    /// The rows that have other entries, counted alike and rising.
    pub border: Vec<u32>,
    /// Those entries: row k is row `border[k]`, a column is a place in the halo.
    pub beyond: Csr,
    /// Columns of the matrix at the places of the halo, rising.
    pub halo: Vec<u32>,
    /// Where the halo comes from, by rank.
    pub received: Vec<Passage>,
    /// The own rows whose entries of a vector others need, rank after rank.
    pub packed: Vec<u32>,
    /// Where they go, by rank.
    pub sent: Vec<Passage>,
}

impl RowBlocks {
    /// Cuts the rows where each of `ranks` blocks has about as many entries, a row counting for one
    /// more. Every block has a row.
    ///
    /// # Errors
    /// [`TooFewRows`].
    pub fn new(a: Pattern<'_>, ranks: usize) -> Result<Self, TooFewRows> {
        let rows = a.rows();
        if ranks == 0 || rows < ranks {
            return Err(TooFewRows { rows, ranks });
        }
        let work = |row: usize| a.row_start[row] + row;
        let mut starts = vec![0];
        for rank in 1..ranks {
            let target = work(rows) / ranks * rank + work(rows) % ranks * rank / ranks;
            let above = first(rows, |row| work(row) >= target);
            let nearer = above > 0 && target - work(above - 1) < work(above) - target;
            let row = if nearer { above - 1 } else { above };
            starts.push(row.clamp(starts[rank - 1] + 1, rows - (ranks - rank)));
        }
        starts.push(rows);
        let halos = starts.par_windows(2).map(|ends| halo(a, ends[0]..ends[1])).collect();
        Ok(Self { starts, halos })
    }

    /// Number of blocks.
    #[must_use]
    pub fn ranks(&self) -> usize {
        self.halos.len()
    }

    /// First rows of the blocks, then the number of rows.
    #[must_use]
    pub fn starts(&self) -> &[usize] {
        &self.starts
    }

    /// The rows of a rank.
    #[must_use]
    pub fn of(&self, rank: usize) -> Range<usize> {
        self.starts[rank]..self.starts[rank + 1]
    }

    /// Columns of other ranks in which the rows of a rank have entries, rising.
    #[must_use]
    pub fn halo(&self, rank: usize) -> &[u32] {
        &self.halos[rank]
    }

    /// The part of a rank of the matrix that was cut.
    #[must_use]
    pub fn part(&self, rank: usize, a: &Csr) -> RowPart {
        let (rows, halo) = (self.of(rank), self.halo(rank));
        let mut place = vec![0; a.rows()];
        for (k, &column) in (0_u32..).zip(halo) {
            place[column as usize] = k;
        }
        let (mut own, mut beyond) = (empty(), empty());
        let entries = a.row_start[rows.end] - a.row_start[rows.start];
        own.columns.reserve(entries);
        own.values.reserve(entries);
        let mut border = Vec::new();
        for row in rows.clone() {
            let before = beyond.columns.len();
            for (column, value) in a.row(row) {
                let (to, column) = if rows.contains(&column) {
                    (&mut own, (column - rows.start) as u32)
                } else {
                    (&mut beyond, place[column])
                };
                to.columns.push(column);
                to.values.push(value);
            }
            own.row_start.push(own.columns.len());
            if beyond.columns.len() > before {
                beyond.row_start.push(beyond.columns.len());
                border.push((row - rows.start) as u32);
            }
        }
        let received = self.passages(rank, |other| self.shared(rank, other).len());
        let sent = self.passages(rank, |other| self.shared(other, rank).len());
        let to = |passage: &Passage| self.shared(passage.rank, rank);
        let packed = sent.iter().flat_map(to).map(|&row| row - rows.start as u32).collect();
        RowPart { border, beyond, halo: halo.to_vec(), received, packed, sent, own, rows }
    }

    /// The columns of the halo of a rank that are rows of another.
    fn shared(&self, rank: usize, other: usize) -> &[u32] {
        let Range { start, end } = self.of(other);
        let halo = self.halo(rank);
        let [from, to] =
            [start, end].map(|row| halo.partition_point(|&column| (column as usize) < row));
        &halo[from..to]
    }

    /// Places that follow each other, `count` for each other rank that has any.
    fn passages(&self, rank: usize, count: impl Fn(usize) -> usize) -> Vec<Passage> {
        let mut at = 0;
        let others = (0..self.ranks()).filter(|&other| other != rank);
        let passage = |other: usize| {
            let places = at..at + count(other);
            at = places.end;
            Passage { rank: other, places }
        };
        others.map(passage).filter(|passage| !passage.places.is_empty()).collect()
    }
}

/// A matrix without rows.
fn empty() -> Csr {
    Csr { row_start: vec![0], ..Csr::default() }
}

/// The first of `0..=end` for which `holds`, which holds for `end` and all after the first.
fn first(end: usize, holds: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, end);
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

/// Columns outside of `rows` in which these have entries, rising.
fn halo(a: Pattern<'_>, rows: Range<usize>) -> Vec<u32> {
    let mut needed = vec![false; a.rows()];
    for &column in &a.columns[a.row_start[rows.start]..a.row_start[rows.end]] {
        needed[column as usize] = true;
    }
    needed[rows].fill(false);
    (0_u32..).zip(needed).filter(|&(_, needed)| needed).map(|(column, _)| column).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failing step fails the test")]
mod tests {
    use super::*;

    /// Rows with ones in these columns.
    fn ones(rows: &[&[usize]]) -> Csr {
        Csr::from_rows(rows.iter().map(|row| row.iter().map(|&column| (column, 1.0))))
    }

    fn starts(lengths: &[usize], ranks: usize) -> Vec<usize> {
        let rows = lengths.iter().map(|&length| (0..length).map(|column| (column, 1.0)));
        RowBlocks::new(Csr::from_rows(rows).pattern(), ranks).unwrap().starts().to_vec()
    }

    #[test]
    fn blocks_have_about_as_many_entries_each() {
        assert_eq!(starts(&[1; 9], 3), [0, 3, 6, 9]);
        // 22 of work: rows of 6, 1, 1, …
        assert_eq!(starts(&[5, 0, 0, 0, 1, 1, 1, 1, 1, 1], 2), [0, 5, 10]);
        assert_eq!(starts(&[0, 0, 0, 0, 0, 6], 2), [0, 5, 6]);
        assert_eq!(starts(&[0; 6], 2), [0, 3, 6]);
    }

    #[test]
    fn every_block_has_a_row_however_heavy_one_is() {
        assert_eq!(starts(&[4, 0, 0, 0], 4), [0, 1, 2, 3, 4]);
        assert_eq!(starts(&[0, 0, 0, 4], 3), [0, 2, 3, 4]);
        let few = RowBlocks::new(ones(&[&[0]]).pattern(), 2);
        assert_eq!(few, Err(TooFewRows { rows: 1, ranks: 2 }));
        assert_eq!(few.unwrap_err().to_string(), "a matrix of 1 row cannot be shared by 2 GPUs");
    }

    #[test]
    fn a_part_has_its_rows_and_the_places_of_what_it_needs() {
        let a = ones(&[&[0, 3], &[1], &[0, 2, 3, 5], &[3], &[4], &[0, 1, 5]]);
        let blocks = RowBlocks { starts: vec![0, 2, 4, 6], halos: Vec::new() };
        let halos = (0..3).map(|k| halo(a.pattern(), 2 * k..2 * k + 2)).collect();
        let blocks = RowBlocks { halos, ..blocks };

        let part = blocks.part(1, &a);

        assert_eq!(part.halo, [0, 5]);
        assert_eq!(part.own, ones(&[&[0, 1], &[1]]));
        assert_eq!((part.border, part.beyond), (vec![0], ones(&[&[0, 1]])));
        let passage = |rank, places| Passage { rank, places };
        assert_eq!(part.received, [passage(0, 0..1), passage(2, 1..2)]);
        // Rank 0 needs row 3; rank 2 needs nothing of rank 1.
        assert_eq!((part.packed, part.sent), (vec![1], vec![passage(0, 0..1)]));
        assert_eq!(blocks.part(0, &a).packed, [0, 0, 1]);
    }
}
