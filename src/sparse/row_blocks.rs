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
        let work: Vec<usize> =
            a.row_start.iter().zip(0..).map(|(start, row)| start + row).collect();
        let mut starts = vec![0];
        for rank in 1..ranks {
            let target = work[rows] / ranks * rank + work[rows] % ranks * rank / ranks;
            let above = work.partition_point(|&work| work < target);
            let nearer = above > 0 && target - work[above - 1] < work[above] - target;
            let row = if nearer { above - 1 } else { above };
            starts.push(row.clamp(starts[rank - 1] + 1, rows - (ranks - rank)));
        }
        starts.push(rows);
        let halos = starts.par_windows(2).map(|ends| halo(a, ends[0]..ends[1])).collect();
        Ok(Self { starts, halos })
    }

    /// Number of blocks.
    pub fn ranks(&self) -> usize {
        self.halos.len()
    }

    /// First rows of the blocks, then the number of rows.
    pub fn starts(&self) -> &[usize] {
        &self.starts
    }

    /// The rows of a rank.
    pub fn of(&self, rank: usize) -> Range<usize> {
        self.starts[rank]..self.starts[rank + 1]
    }

    /// Columns of other ranks in which the rows of a rank have entries, rising.
    pub fn halo(&self, rank: usize) -> &[u32] {
        &self.halos[rank]
    }

    /// The part of a rank of the matrix that was cut.
    pub fn part(&self, rank: usize, a: &Csr) -> RowPart {
        let (rows, halo) = (self.of(rank), self.halo(rank));
        let mut place = vec![0; a.rows()];
        for (k, &column) in (0_u32..).zip(halo) {
            place[column as usize] = k;
        }
        let empty = Csr { row_start: vec![0], ..Csr::default() };
        let (mut own, mut beyond) = (empty.clone(), empty);
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

/// Columns outside of `rows` in which these have entries, rising.
fn halo(a: Pattern<'_>, rows: Range<usize>) -> Vec<u32> {
    let mut needed = vec![false; a.rows()];
    for &column in &a.columns[a.row_start[rows.start]..a.row_start[rows.end]] {
        needed[column as usize] = true;
    }
    needed[rows].fill(false);
    (0_u32..).zip(needed).filter(|&(_, needed)| needed).map(|(column, _)| column).collect()
}
