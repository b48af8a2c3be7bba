//! A grid cut into bands of columns, or a matrix into blocks of rows, one for each rank.

use crate::sparse::RowBlocks;
use std::ops::Range;

/// Fewest columns of a band: more than the smallest level of multigrid has, so that every rank
/// finds the same number of levels.
const NARROWEST: usize = 8;

/// Most times that the columns of a band can be halved, all bands but the last.
const HALVINGS: u32 = 6;

/// Too few columns for this number of ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{columns} unknown columns cannot be cut into {ranks} bands of at least {NARROWEST}")]
pub struct NarrowBands {
    /// Unknown columns of the grid.
    pub columns: usize,
    /// Number of bands that were to be made.
    pub ranks: usize,
}

/// The columns of unknown points of each rank: band r ends where band r + 1 starts.
///
/// A band keeps eta-lines whole. Its neighbours are the bands before and after it; around a
/// periodic seam the first and the last are neighbours too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bands {
    /// First columns of the bands, then the number of columns.
    starts: Vec<usize>,
    periodic: bool,
}

/// The rows of a matrix are the columns of a grid of one point each, in bands of any width.
impl From<&RowBlocks> for Bands {
    fn from(blocks: &RowBlocks) -> Self {
        Self { starts: blocks.starts().to_vec(), periodic: false }
    }
}

impl Bands {
    /// Cuts `columns` columns into `ranks` bands of nearly the same width. Widths but the last are
    /// multiples of a power of two, so that coarse points, which lie on every other fine one, stay
    /// with their band.
    pub fn new(columns: usize, ranks: usize, periodic: bool) -> Result<Self, NarrowBands> {
        let narrow = NarrowBands { columns, ranks };
        let even = columns.checked_div(ranks).unwrap_or(0);
        if even < NARROWEST {
            return Err(narrow);
        }
        // The last band makes up for the rounding of all others to the unit: a sixteenth of its
        // columns at most, or one for each of them.
        let share = even / (NARROWEST * (ranks - 1).max(1));
        let unit = 1 << share.max(1).ilog2().clamp(1, HALVINGS);
        let width = (columns as f64 / (ranks * unit) as f64).round() as usize * unit;
        let last = columns.checked_sub(width * (ranks - 1)).filter(|last| *last >= NARROWEST);
        let width = if last.is_some() { width } else { even / unit * unit };
        let mut starts: Vec<usize> = (0..ranks).map(|rank| rank * width).collect();
        starts.push(columns);
        Ok(Self { starts, periodic })
    }

    /// Number of bands.
    pub fn ranks(&self) -> usize {
        self.starts.len() - 1
    }

    /// Columns of all bands.
    pub fn columns(&self) -> usize {
        self.starts[self.ranks()]
    }

    /// Whether the first and the last band are neighbours.
    pub(crate) fn periodic(&self) -> bool {
        self.periodic
    }

    /// The columns of a band.
    pub fn of(&self, rank: usize) -> Range<usize> {
        self.starts[rank]..self.starts[rank + 1]
    }

    /// Width of all bands but the last, and of the widest.
    pub(crate) fn widths(&self) -> [usize; 2] {
        let last = self.of(self.ranks() - 1).len();
        [self.starts[1], last.max(self.starts[1])]
    }

    /// Whether there is a band before and after that of `rank`.
    pub(crate) fn neighbours(&self, rank: usize) -> [bool; 2] {
        [self.periodic || rank > 0, self.periodic || rank + 1 < self.ranks()]
    }

    /// The nodes of a line along i that the rank has of its own: those of its columns; at the ends of the
    /// line the nodes that are not unknown too, of a periodic line the last one, which repeats the first.
    pub(crate) fn nodes(&self, rank: usize) -> Range<usize> {
        let (columns, last) = (self.of(rank), rank + 1 == self.ranks());
        let frame = usize::from(!self.periodic);
        let start = if rank == 0 { 0 } else { columns.start + frame };
        start..columns.end + frame + usize::from(last)
    }

    /// The bands of the next coarser level, whose point I lies on fine point 2I + 1. A periodic row
    /// with an odd number of points is cut at the seam.
    #[must_use]
    pub fn coarser(&self) -> Self {
        let starts = self.starts.iter().map(|start| start / 2).collect();
        Self { periodic: self.coupled(), starts }
    }

    /// Whether a level in these bands can be coarsened where it is: no band is too narrow or starts
    /// between the fine points of two coarse ones.
    pub fn can_be_coarsened(&self) -> bool {
        let aligned = self.starts[..self.ranks()].iter().all(|start| start.is_multiple_of(2));
        aligned && self.starts.windows(2).all(|band| band[1] - band[0] >= NARROWEST)
    }

    /// These bands on a level of multigrid, where a seam with an odd number of points is cut.
    #[must_use]
    pub(crate) fn on_level(&self) -> Self {
        Self { starts: self.starts.clone(), periodic: self.coupled() }
    }

    fn coupled(&self) -> bool {
        self.periodic && self.columns().is_multiple_of(2)
    }

    /// The unknowns of a band among those of all columns, two a point.
    pub(crate) fn part_of_state(&self, rank: usize, state: &[f64]) -> Vec<f64> {
        let (row, columns) = (2 * self.columns(), self.of(rank));
        let own = 2 * columns.start..2 * columns.end;
        state.chunks(row).flat_map(|row| &row[own.clone()]).copied().collect()
    }
}
