//! The grid as nodes and cells of an unstructured mesh, the seam or the cut welded.
//!
//! Column ni − 1 of an O-grid repeats column 0 bit for bit. Here it has no nodes of its own: node
//! (i, j) has the number `j (ni − 1) + i mod (ni − 1)`. On the line j = 0 of a C-grid the node
//! (ni − 1 − i, 0) repeats (i, 0) for i ≤ wake: that line has the nodes 0 to ni − 2 − wake, and the
//! others follow in rows of ni. Half a grid has nothing to weld, and its nodes are numbered as they
//! stand. Cell (i, j) has the number `j (ni − 1) + i` on all.

use std::ops::Range;

use crate::grid::{Grid, Topology};

/// How the ends of the lines around the body meet.
#[derive(Debug, Clone, Copy)]
enum Ends {
    /// In a seam.
    Seam,
    /// In a cut of so many cells on each side, on the line j = 0.
    Cut(usize),
    /// Nowhere: they lie on a plane of symmetry.
    Apart,
}

/// Numbers of nodes and cells of a welded grid.
#[derive(Debug, Clone, Copy)]
pub(super) struct Welded<'a> {
    grid: &'a Grid,
    /// Cells along a line of constant j.
    pub(super) columns: usize,
    /// Layers of cells; there is one more line of nodes.
    pub(super) layers: usize,
    ends: Ends,
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
        let ends = match grid.topology {
            Topology::O(_) => Ends::Seam,
            Topology::C { wake } => Ends::Cut(wake),
            Topology::Half(_) => Ends::Apart,
        };
        Self { grid, columns: grid.ni - 1, layers: grid.nj - 1, ends }
    }

    /// Number of nodes.
    pub(super) fn nodes(&self) -> usize {
        match self.ends {
            Ends::Seam => self.columns * (self.layers + 1),
            Ends::Cut(wake) => self.first_line(wake) + (self.columns + 1) * self.layers,
            Ends::Apart => (self.columns + 1) * (self.layers + 1),
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
        let in_row = |node: usize, row: usize| (node % row, node / row);
        let (i, j) = match self.ends {
            Ends::Seam => in_row(node, self.columns),
            Ends::Apart => in_row(node, self.columns + 1),
            Ends::Cut(wake) => match node.checked_sub(self.first_line(wake)) {
                None => (node, 0),
                Some(node) => {
                    let (i, j) = in_row(node, self.columns + 1);
                    (i, 1 + j)
                }
            },
        };
        self.grid.point(i, j)
    }

    /// The node (i, j); `i` may be `columns`, which is column 0 of an O-grid.
    pub(super) fn node(&self, i: usize, j: usize) -> usize {
        match (self.ends, j) {
            (Ends::Seam, _) => j * self.columns + i % self.columns,
            (Ends::Apart, _) => j * (self.columns + 1) + i,
            (Ends::Cut(wake), 0) if i >= self.columns - wake => self.columns - i,
            (Ends::Cut(_), 0) => i,
            (Ends::Cut(wake), j) => self.first_line(wake) + (j - 1) * (self.columns + 1) + i,
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
        let wake = match self.ends {
            Ends::Cut(wake) => wake,
            Ends::Seam | Ends::Apart => 0,
        };
        wake..self.columns - wake
    }

    /// The k-th side on the body.
    pub(super) fn wall(&self, k: usize) -> Side {
        Side { cell: self.body().start + k, side: BELOW }
    }

    /// Sides on the far field, the outflow of a C-grid included.
    pub(super) fn far_sides(&self) -> usize {
        self.columns + if matches!(self.ends, Ends::Cut(_)) { 2 * self.layers } else { 0 }
    }

    /// The k-th side on the far field: the outer line, then the outflow below and above the cut.
    pub(super) fn far_side(&self, k: usize) -> Side {
        match k.checked_sub(self.columns) {
            None => Side { cell: (self.layers - 1) * self.columns + k, side: ABOVE },
            Some(k) => self.end_side(k),
        }
    }

    /// Sides on the plane of symmetry of half a grid; none on others.
    pub(super) fn plane_sides(&self) -> usize {
        if matches!(self.ends, Ends::Apart) { 2 * self.layers } else { 0 }
    }

    /// The k-th side at the ends of the lines: those of the first column, then those of the last.
    pub(super) fn end_side(&self, k: usize) -> Side {
        let (columns, layers) = (self.columns, self.layers);
        if k < layers {
            Side { cell: k * columns, side: BEFORE }
        } else {
            Side { cell: (k - layers + 1) * columns - 1, side: BEHIND }
        }
    }

    /// How many of the first cells of a layer are welded to later ones: the first cell of each
    /// layer of an O-grid, the cells before the edge in the first layer of a C-grid.
    pub(super) fn welds(&self, layer: usize) -> usize {
        match self.ends {
            Ends::Seam => 1,
            Ends::Cut(wake) if layer == 0 => wake,
            Ends::Cut(_) | Ends::Apart => 0,
        }
    }

    /// The welded side of a cell among those, and the cell across.
    pub(super) fn weld(&self, cell: usize) -> (Side, usize) {
        match self.ends {
            Ends::Cut(_) => (Side { cell, side: BELOW }, self.columns - 1 - cell),
            Ends::Seam | Ends::Apart => (Side { cell, side: BEFORE }, cell + self.columns - 1),
        }
    }

    /// The sides that a cell shares with the next one and with the one above.
    pub(super) fn next_and_up(cell: usize) -> [Side; 2] {
        [Side { cell, side: BEHIND }, Side { cell, side: ABOVE }]
    }
}
