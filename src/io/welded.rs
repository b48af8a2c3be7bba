//! The grid as nodes and cells of an unstructured mesh, the seam welded.
//!
//! Column ni − 1 of an O-grid repeats column 0 bit for bit. Here it has no nodes of its own: node
//! (i, j) has the number `j (ni − 1) + i mod (ni − 1)`, cell (i, j) the number `j (ni − 1) + i`.

use crate::grid::Grid;

/// Numbers of nodes and cells of a grid whose seam is welded.
#[derive(Debug, Clone, Copy)]
pub(super) struct Welded<'a> {
    grid: &'a Grid,
    /// Cells around the body, as many as nodes.
    pub(super) columns: usize,
    /// Layers of cells; there is one more line of nodes.
    pub(super) layers: usize,
}

impl<'a> Welded<'a> {
    pub(super) fn new(grid: &'a Grid) -> Self {
        Self { grid, columns: grid.ni - 1, layers: grid.nj - 1 }
    }

    /// Number of nodes.
    pub(super) fn nodes(&self) -> usize {
        self.columns * (self.layers + 1)
    }

    /// Number of cells.
    pub(super) fn cells(&self) -> usize {
        self.columns * self.layers
    }

    /// Coordinates of a node.
    pub(super) fn point(&self, node: usize) -> [f64; 2] {
        self.grid.point(node % self.columns, node / self.columns)
    }

    /// The node (i, j); `i` may be `columns`, which is column 0.
    pub(super) fn node(&self, i: usize, j: usize) -> usize {
        j * self.columns + i % self.columns
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
}
