//! A grid shared out among processes by its lines of constant j.
//!
//! Files hold grids line after line, and what happens at a seam or a cut happens within a line: a slab of
//! lines has all that a writer, a measure or a picture asks for.

use super::quality::{CellMeasure, Corners, cell_corners};
use super::{Grid, Topology};
use crate::ranks::{Processes, RanksError, values};
use std::borrow::Cow;
use std::ops::Range;

/// Which lines of constant j of a grid a process has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lines {
    /// Lines of the whole grid.
    nj: usize,
    /// First and end of those that are its own and of no other process.
    own: [usize; 2],
    /// The same of those in its memory.
    held: [usize; 2],
}

impl Lines {
    /// All `nj` lines.
    pub fn all(nj: usize) -> Self {
        Self { nj, own: [0, nj], held: [0, nj] }
    }

    /// Those of process `rank` of `size`, in blocks of `stride`, with as many beside them as measures of
    /// their cells need, of the grid of every `stride`-th line, too.
    pub fn of(nj: usize, [rank, size]: [usize; 2], stride: usize) -> Self {
        let blocks = nj.div_ceil(stride);
        // The first process has the line j = 0, however few lines there are.
        let first = |k: usize| ((blocks * k).div_ceil(size) * stride).min(nj);
        let [start, end] = [first(rank), first(rank + 1)];
        let held = if start == end || size == 1 {
            [start, end]
        } else {
            [start.saturating_sub(stride), (end + stride + 1).min(nj)]
        };
        Self { nj, own: [start, end], held }
    }

    /// Lines of the whole grid.
    pub fn count(&self) -> usize {
        self.nj
    }

    /// Those that are the process's own and of no other one.
    pub fn own(&self) -> Range<usize> {
        self.own[0]..self.own[1]
    }

    /// Those in its memory: its own, and some beside them.
    pub fn held(&self) -> Range<usize> {
        self.held[0]..self.held[1]
    }

    /// Those of the grid of every other line.
    #[must_use]
    pub(super) fn coarser(&self) -> Self {
        let halved = |[start, end]: [usize; 2]| [start.div_ceil(2), end.div_ceil(2)];
        Self { nj: self.nj.div_ceil(2), own: halved(self.own), held: halved(self.held) }
    }
}

/// The lines of a grid that this process has: all of them, or those of one of several processes.
#[derive(Debug, Clone, Copy)]
pub struct Slab<'a> {
    part: &'a Grid,
    lines: Lines,
    processes: Processes<'a>,
}

impl<'a> From<&'a Grid> for Slab<'a> {
    /// A whole grid.
    fn from(grid: &'a Grid) -> Self {
        Self { part: grid, lines: Lines::all(grid.nj), processes: Processes::ALONE }
    }
}

impl<'a> Slab<'a> {
    /// The lines `lines` of a grid, held by `part` as if they were all; `processes` have the others.
    pub fn new(part: &'a Grid, lines: Lines, processes: Processes<'a>) -> Self {
        Self { part, lines, processes }
    }

    /// Logical shape of the whole grid.
    pub fn topology(&self) -> Topology {
        self.part.topology
    }

    /// Nodes of the whole grid in i.
    pub fn ni(&self) -> usize {
        self.part.ni
    }

    /// Nodes of the whole grid in j.
    pub fn nj(&self) -> usize {
        self.lines.nj
    }

    /// Number of cells of the whole grid.
    pub fn cells(&self) -> usize {
        (self.ni() - 1) * (self.nj() - 1)
    }

    /// The lines that are this process's own.
    pub fn own(&self) -> Range<usize> {
        self.lines.own()
    }

    /// The rows of cells that begin at them.
    pub fn own_cells(&self) -> Range<usize> {
        let last = self.nj() - 1;
        self.lines.own[0].min(last)..self.lines.own[1].min(last)
    }

    /// The lines in memory.
    pub(crate) fn held(&self) -> Range<usize> {
        self.lines.held()
    }

    /// Whether a line is this process's own.
    pub fn owns(&self, j: usize) -> bool {
        self.own().contains(&j)
    }

    /// The processes that have the grid.
    pub fn processes(&self) -> Processes<'a> {
        self.processes
    }

    /// The nodes in memory, as a grid of their own.
    pub(crate) fn part(&self) -> &'a Grid {
        self.part
    }

    /// Where a line that is held stands in [`Self::part`].
    pub(crate) fn place(&self, j: usize) -> usize {
        j - self.lines.held[0]
    }

    /// x and y of the nodes of a line that is held.
    pub(crate) fn line(&self, j: usize) -> [&'a [f64]; 2] {
        let start = self.place(j) * self.part.ni;
        let nodes = start..start + self.part.ni;
        [&self.part.x[nodes.clone()], &self.part.y[nodes]]
    }

    /// x and y of the nodes of its own lines.
    pub(crate) fn own_nodes(&self) -> [&'a [f64]; 2] {
        let [start, end] = self.lines.own.map(|j| (j - self.lines.held[0]) * self.part.ni);
        [&self.part.x[start..end], &self.part.y[start..end]]
    }

    /// Coordinates of node (i, j) of a line that is held.
    #[inline]
    pub fn point(&self, i: usize, j: usize) -> [f64; 2] {
        self.part.point(i, self.place(j))
    }

    /// Corners of cell (i, j), whose two lines are held.
    #[inline]
    pub(crate) fn corners(&self, i: usize, j: usize) -> Corners {
        cell_corners(self.part, i, self.place(j))
    }

    /// Measures the cells of row j, one of its own: see [`CellMeasure::fill_row`].
    pub(crate) fn fill_row(&self, measure: CellMeasure, j: usize, values: &mut [f64]) {
        measure.fill_row(self.part, self.place(j), values);
    }

    /// The whole grid on the first process; none on the others.
    ///
    /// # Errors
    /// [`RanksError::Ended`].
    pub(crate) fn gathered(&self) -> Result<Option<Cow<'a, Grid>>, RanksError> {
        let (ni, processes) = (self.ni(), self.processes);
        if processes.size() == 1 {
            return Ok(Some(Cow::Borrowed(self.part)));
        }
        let [own_x, own_y] = self.own_nodes();
        if !processes.is_first() {
            // One after the other: the first holds no more than it needs.
            processes.receive(0)?;
            processes.send(0, bytemuck::cast_slice(&[own_x, own_y].concat()).to_vec());
            return Ok(None);
        }
        let mut grid = Grid { topology: self.topology(), ni, nj: self.nj(), x: vec![], y: vec![] };
        grid.x.reserve_exact(ni * self.nj());
        grid.y.reserve_exact(ni * self.nj());
        grid.x.extend(own_x);
        grid.y.extend(own_y);
        for rank in 1..processes.size() {
            processes.send(rank, Vec::new());
            let nodes = values(&processes.receive(rank)?);
            let (x, y) = nodes.split_at(nodes.len() / 2);
            grid.x.extend(x);
            grid.y.extend(y);
        }
        Ok(Some(Cow::Owned(grid)))
    }
}
