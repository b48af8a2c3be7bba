//! The grid as nodes and cells of an unstructured mesh, the seam or the cut welded.
//!
//! Column ni − 1 of an O-grid repeats column 0 bit for bit. Here it has no nodes of its own: node
//! (i, j) has the number `j (ni − 1) + i mod (ni − 1)`. On the line j = 0 of a C-grid the node
//! (ni − 1 − i, 0) repeats (i, 0) for i ≤ wake: that line has the nodes 0 to ni − 2 − wake, and the
//! others follow in rows of ni. Cell (i, j) has the number `j (ni − 1) + i` on both.

use std::ops::Range;

use crate::grid::{Grid, Topology};

/// Numbers of nodes and cells of a welded grid.
#[derive(Debug, Clone, Copy)]
pub(super) struct Welded<'a> {
    grid: &'a Grid,
    /// Cells along a line of constant j.
    pub(super) columns: usize,
    /// Layers of cells; there is one more line of nodes.
    pub(super) layers: usize,
    /// Cells of the cut; none on an O-grid.
    cut: Option<usize>,
}

/// A side of a cell, from its corner `side` to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Side {
    pub(super) cell: usize,
    pub(super) side: usize,
}

/// Sides of a cell by the neighbour across: below, behind (i + 1), above, before.
const BELOW: usize = 0;
const BEHIND: usize = 1;
const ABOVE: usize = 2;
const BEFORE: usize = 3;

impl<'a> Welded<'a> {
    pub(super) fn new(grid: &'a Grid) -> Self {
        let cut = match grid.topology {
            Topology::O(_) => None,
            Topology::C { wake } => Some(wake),
        };
        Self { grid, columns: grid.ni - 1, layers: grid.nj - 1, cut }
    }

    /// Number of nodes.
    pub(super) fn nodes(&self) -> usize {
        match self.cut {
            None => self.columns * (self.layers + 1),
            Some(wake) => self.first_line(wake) + (self.columns + 1) * self.layers,
        }
    }

    /// Nodes of the line j = 0 of a C-grid.
    fn first_line(&self, wake: usize) -> usize {
        self.columns - wake
    }

    /// Number of cells.
    pub(super) fn cells(&self) -> usize {
        self.columns * self.layers
    }

    /// Coordinates of a node.
    pub(super) fn point(&self, node: usize) -> [f64; 2] {
        let Some(wake) = self.cut else {
            return self.grid.point(node % self.columns, node / self.columns);
        };
        match node.checked_sub(self.first_line(wake)) {
            None => self.grid.point(node, 0),
            Some(k) => self.grid.point(k % (self.columns + 1), 1 + k / (self.columns + 1)),
        }
    }

    /// The node (i, j); `i` may be `columns`, which is column 0 of an O-grid.
    pub(super) fn node(&self, i: usize, j: usize) -> usize {
        match (self.cut, j) {
            (None, _) => j * self.columns + i % self.columns,
            (Some(wake), 0) if i >= self.columns - wake => self.columns - i,
            (Some(_), 0) => i,
            (Some(wake), j) => self.first_line(wake) + (j - 1) * (self.columns + 1) + i,
        }
    }

    /// Place (i, j) of a cell.
    pub(super) fn place(&self, cell: usize) -> [usize; 2] {
        [cell % self.columns, cell / self.columns]
    }

    /// Nodes of a cell, counter-clockwise from (i, j).
    pub(super) fn corners(&self, cell: usize) -> [usize; 4] {
        let [i, j] = self.place(cell);
        [self.node(i, j), self.node(i + 1, j), self.node(i + 1, j + 1), self.node(i, j + 1)]
    }

    /// The two nodes of a side, the cell on their left.
    pub(super) fn ends(&self, Side { cell, side }: Side) -> [usize; 2] {
        let corners = self.corners(cell);
        [corners[side], corners[(side + 1) % 4]]
    }

    /// Cells of the first layer that stand on the body.
    pub(super) fn body(&self) -> Range<usize> {
        let wake = self.cut.unwrap_or(0);
        wake..self.columns - wake
    }

    /// The k-th side on the body.
    pub(super) fn wall(&self, k: usize) -> Side {
        Side { cell: self.body().start + k, side: BELOW }
    }

    /// Sides on the far field, the outflow of a C-grid included.
    pub(super) fn far_sides(&self) -> usize {
        self.columns + if self.cut.is_some() { 2 * self.layers } else { 0 }
    }

    /// The k-th side on the far field: the outer line, then the outflow below and above the cut.
    pub(super) fn far_side(&self, k: usize) -> Side {
        let (columns, layers) = (self.columns, self.layers);
        match k.checked_sub(columns) {
            None => Side { cell: (layers - 1) * columns + k, side: ABOVE },
            Some(k) if k < layers => Side { cell: k * columns, side: BEFORE },
            Some(k) => Side { cell: (k - layers + 1) * columns - 1, side: BEHIND },
        }
    }

    /// How many of the first cells of a layer are welded to later ones: the first cell of each
    /// layer of an O-grid, the cells before the edge in the first layer of a C-grid.
    pub(super) fn welds(&self, layer: usize) -> usize {
        match self.cut {
            None => 1,
            Some(wake) if layer == 0 => wake,
            Some(_) => 0,
        }
    }

    /// The welded side of a cell among those, and the cell across.
    pub(super) fn weld(&self, cell: usize) -> (Side, usize) {
        match self.cut {
            None => (Side { cell, side: BEFORE }, cell + self.columns - 1),
            Some(_) => (Side { cell, side: BELOW }, self.columns - 1 - cell),
        }
    }

    /// The sides that a cell shares with the next one and with the one above.
    pub(super) fn next_and_up(cell: usize) -> [Side; 2] {
        [Side { cell, side: BEHIND }, Side { cell, side: ABOVE }]
    }
}
