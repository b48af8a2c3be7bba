//! A matrix cut into blocks of consecutive rows, one for each of several ranks.

use super::{Csr, Pattern};
use rayon::prelude::*;
use std::ops::Range;

/// The error of a matrix with fewer rows than ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a matrix of {rows} {} cannot be shared by {ranks} GPUs", if *rows == 1 { "row" } else { "rows" })]
pub struct TooFewRows {
    /// Rows of the matrix.
    pub rows: usize,
    /// Number of ranks, each of which needs a row.
    pub ranks: usize,
}

/// The partition of the rows of a square matrix over ranks, and the halo of each rank: the entries of a
/// vector that it needs from others.
///
/// A rank owns the entries of a vector that belong to its rows. For its part of A x it also needs the entries
/// for all other columns in which its rows have entries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowBlocks {
    /// First row of each block, and the number of rows at the end.
    starts: Vec<usize>,
    /// Columns outside of its block in which the rows of each rank have entries, rising.
    halos: Vec<Vec<u32>>,
}

/// Positions in a list of vector entries that are sent to another rank, or received from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage {
    /// The other rank.
    pub rank: usize,
    /// The positions.
    pub places: Range<usize>,
}

/// The part of a matrix that one rank owns.
#[derive(Debug, Clone, PartialEq)]
pub struct RowPart {
    /// Its rows.
    pub rows: Range<usize>,
    /// The entries in the rank's own columns; rows and columns are counted from its first row.
    pub own: Csr,
    /// The rows with entries in other columns, counted in the same way and rising.
    pub border: Vec<u32>,
    /// The entries in other columns: row k is row `border[k]`, a column is a position in the halo.
    pub beyond: Csr,
    /// Column of the matrix for each position of the halo, rising.
    pub halo: Vec<u32>,
    /// Positions of the halo that each other rank sends.
    pub received: Vec<Passage>,
    /// The own rows whose vector entries others need, by rank.
    pub packed: Vec<u32>,
    /// Positions in `packed` for each other rank.
    pub sent: Vec<Passage>,
}

impl RowBlocks {
    /// Cuts the rows so that each of `ranks` blocks has about equal work, the number of its entries and rows.
    /// Every block has at least one row.
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

    /// First row of each block, and the number of rows at the end.
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

    /// The part of the matrix that a rank owns.
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

    /// The halo columns of a rank that are rows of another rank.
    fn shared(&self, rank: usize, other: usize) -> &[u32] {
        let Range { start, end } = self.of(other);
        let halo = self.halo(rank);
        let [from, to] =
            [start, end].map(|row| halo.partition_point(|&column| (column as usize) < row));
        &halo[from..to]
    }

    /// Consecutive positions, `count` for each other rank, without the ranks that have none.
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

/// Columns outside of `rows` in which these rows have entries, rising.
fn halo(a: Pattern<'_>, rows: Range<usize>) -> Vec<u32> {
    let mut needed = vec![false; a.rows()];
    for &column in &a.columns[a.row_start[rows.start]..a.row_start[rows.end]] {
        needed[column as usize] = true;
    }
    needed[rows].fill(false);
    (0_u32..).zip(needed).filter(|&(_, needed)| needed).map(|(column, _)| column).collect()
}
