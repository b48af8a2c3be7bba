//! The grid as nodes and cells of an unstructured mesh, the seam or the cut welded.
//!
//! Column ni − 1 of an O-grid repeats column 0 bit for bit. Here it has no nodes of its own: node
//! (i, j) has the number `j (ni − 1) + i mod (ni − 1)`. On the line j = 0 of a C-grid the node
//! (ni − 1 − i, 0) repeats (i, 0) for i ≤ wake: that line has the nodes 0 to ni − 2 − wake, and the
//! others follow in rows of ni. Half a grid has nothing to weld, and its nodes are numbered as they
//! stand. Cell (i, j) has the number `j (ni − 1) + i` on all.

use crate::grid::{Grid, Topology};

/// Numbers of nodes and cells of a welded grid.
#[derive(Debug, Clone, Copy)]
pub(super) struct Welded<'a> {
    grid: &'a Grid,
    /// Cells along a line of constant j.
    columns: usize,
    /// Layers of cells; there is one more line of nodes.
    pub(super) layers: usize,
    /// Nodes of the line j = 0, and of each other line.
    first_line: usize,
    line: usize,
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
        let (columns, layers) = (grid.ni - 1, grid.nj - 1);
        let (first_line, line) = match grid.topology {
            Topology::O(_) => (columns, columns),
            Topology::C { wake } => (columns - wake, columns + 1),
            Topology::Half(_) | Topology::Rectangle => (columns + 1, columns + 1),
        };
        Self { grid, columns, layers, first_line, line }
    }

    pub(super) fn nodes(&self) -> usize {
        self.first_line + self.line * self.layers
    }

    pub(super) fn cells(&self) -> usize {
        self.columns * self.layers
    }

    /// Numbers of the cells of a layer around the body.
    pub(super) fn layer(&self, layer: usize) -> std::ops::Range<usize> {
        layer * self.columns..(layer + 1) * self.columns
    }

    pub(super) fn point(&self, node: usize) -> [f64; 2] {
        match node.checked_sub(self.first_line) {
            None => self.grid.point(node, 0),
            Some(node) => self.grid.point(node % self.line, 1 + node / self.line),
        }
    }

    /// The node (i, j); `i` may be `columns`, which is column 0 of an O-grid.
    fn node(&self, i: usize, j: usize) -> usize {
        match j.checked_sub(1) {
            Some(lines) => self.first_line + lines * self.line + i % self.line,
            None if i < self.first_line => i,
            // The other end of the line, to which the seam or the cut welds this one.
            None => self.columns - i,
        }
    }

    /// Nodes of a cell, counter-clockwise from (i, j).
    pub(super) fn corners(&self, cell: usize) -> [usize; 4] {
        let (i, j) = (cell % self.columns, cell / self.columns);
        [self.node(i, j), self.node(i + 1, j), self.node(i + 1, j + 1), self.node(i, j + 1)]
    }

    /// The two nodes of a side, the cell on their left.
    pub(super) fn ends(&self, Side { cell, side }: Side) -> [usize; 2] {
        let corners = self.corners(cell);
        [corners[side], corners[(side + 1) % 4]]
    }

    /// The sides that a cell shares with cells of higher numbers, which are returned beside them: the
    /// next one along the line, the one across the seam or the cut, the one above.
    pub(super) fn shared(&self, cell: usize) -> impl Iterator<Item = (Side, usize)> + use<> {
        let (i, layer) = (cell % self.columns, cell / self.columns);
        let welded = match self.grid.topology {
            Topology::O(_) if i == 0 => Some((BEFORE, cell + self.columns - 1)),
            Topology::C { wake } if cell < wake => Some((BELOW, self.columns - 1 - cell)),
            _ => None,
        };
        let next = (i + 1 < self.columns).then_some((BEHIND, cell + 1));
        let above = (layer + 1 < self.layers).then_some((ABOVE, cell + self.columns));
        let all = [next, welded, above].into_iter().flatten();
        all.map(move |(side, other)| (Side { cell, side }, other))
    }

    /// The sides on the rim by the name of their patch: the body, the far field with the outflow of a
    /// C-grid or all sides of a rectangle, and on half a grid its plane of symmetry.
    pub(super) fn rims(&self) -> Vec<(&'static str, Vec<Side>)> {
        let wall = self.grid.topology.wall(self.grid.ni);
        let side = |side| move |cell| Side { cell, side };
        let body = (*wall.start()..*wall.end()).map(side(BELOW)).collect();
        let mut far: Vec<Side> = self.layer(self.layers - 1).map(side(ABOVE)).collect();
        let first = (0..self.layers).map(|layer| self.layer(layer).start);
        let last = (0..self.layers).map(|layer| self.layer(layer).end - 1);
        let ends = first.map(side(BEFORE)).chain(last.map(side(BEHIND)));
        let symmetry = match self.grid.topology {
            Topology::O(_) => None,
            Topology::C { .. } => {
                far.extend(ends);
                None
            }
            Topology::Half(_) => Some(("symmetry", ends.collect())),
            Topology::Rectangle => {
                far.extend(self.layer(0).map(side(BELOW)).chain(ends));
                None
            }
        };
        [("airfoil", body), ("farfield", far)].into_iter().chain(symmetry).collect()
    }
}
