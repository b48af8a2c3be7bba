//! The grid as nodes and cells of an unstructured mesh, the seam or the cut welded.
//!
//! Column ni − 1 of an O-grid repeats column 0 bit for bit. Here it has no nodes of its own: node
//! (i, j) has the number `j (ni − 1) + i mod (ni − 1)`. On the line j = 0 of a C-grid the node
//! (ni − 1 − i, 0) repeats (i, 0) for i ≤ wake: that line has the nodes 0 to ni − 2 − wake, and the
//! others follow in rows of ni. Half a grid has nothing to weld, and its nodes are numbered as they
//! stand. Cell (i, j) has the number `j (ni − 1) + i` on all; where a cell takes several of the grid, that
//! many lines are between its corners, and cells are counted likewise.

use crate::grid::{Grid, Topology};
use std::ops::Range;

/// Numbers of nodes and cells of a welded grid.
#[derive(Debug, Clone, Copy)]
pub(super) struct Welded<'a> {
    grid: &'a Grid,
    /// Cells of the grid that a cell takes in each direction.
    order: usize,
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
pub(super) struct CellSide {
    pub(super) cell: usize,
    pub(super) side: usize,
}

/// The sides on the rim of a grid.
pub(super) struct RimSides {
    /// On the body; of a rectangle on the line j = 0.
    pub(super) body: Vec<CellSide>,
    /// On the outer line j = nj − 1.
    pub(super) outer: Vec<CellSide>,
    /// On the line i = 0; none where the lines around the body close.
    pub(super) first: Vec<CellSide>,
    /// On the line i = ni − 1; likewise.
    pub(super) last: Vec<CellSide>,
}

/// Sides of a cell by the neighbour across: below, behind (i + 1), above, before.
const BELOW: usize = 0;
const BEHIND: usize = 1;
const ABOVE: usize = 2;
const BEFORE: usize = 3;

impl<'a> Welded<'a> {
    /// The cells of the grid.
    pub(super) fn new(grid: &'a Grid) -> Self {
        Self::of_order(grid, 1)
    }

    /// Cells that take `order` × `order` of the grid; its counts of cells and that of its cut are multiples
    /// of it.
    pub(super) fn of_order(grid: &'a Grid, order: usize) -> Self {
        let ni = grid.ni;
        let (first_line, line) = match grid.topology {
            Topology::O(_) => (ni - 1, ni - 1),
            Topology::C { wake } => (ni - 1 - wake, ni),
            Topology::Half(_) | Topology::Rectangle => (ni, ni),
        };
        let (columns, layers) = ((ni - 1) / order, (grid.nj - 1) / order);
        Self { grid, order, columns, layers, first_line, line }
    }

    pub(super) fn nodes(&self) -> usize {
        self.first_line + self.line * (self.grid.nj - 1)
    }

    pub(super) fn cells(&self) -> usize {
        self.columns * self.layers
    }

    /// Numbers of the cells of a layer around the body.
    pub(super) fn layer(&self, layer: usize) -> Range<usize> {
        layer * self.columns..(layer + 1) * self.columns
    }

    /// Coordinates of a node.
    pub(super) fn point(&self, node: usize) -> [f64; 2] {
        match node.checked_sub(self.first_line) {
            None => self.grid.point(node, 0),
            Some(node) => self.grid.point(node % self.line, 1 + node / self.line),
        }
    }

    /// The node (i, j); `i` may be `ni − 1`, which is column 0 of an O-grid.
    pub(super) fn node(&self, i: usize, j: usize) -> usize {
        match j.checked_sub(1) {
            Some(lines) => self.first_line + lines * self.line + i % self.line,
            None if i < self.first_line => i,
            // The other end of the line, to which the seam or the cut welds this one.
            None => self.grid.ni - 1 - i,
        }
    }

    /// The node `a` lines in i and `b` in j from the first of a cell, both at most its order.
    pub(super) fn node_of(&self, cell: usize, [a, b]: [usize; 2]) -> usize {
        let (i, j) = (cell % self.columns, cell / self.columns);
        self.node(self.order * i + a, self.order * j + b)
    }

    /// Corners of a cell, counter-clockwise from (i, j).
    pub(super) fn corners(&self, cell: usize) -> [usize; 4] {
        let n = self.order;
        [[0, 0], [n, 0], [n, n], [0, n]].map(|at| self.node_of(cell, at))
    }

    /// The two nodes of a side, the cell on their left.
    pub(super) fn ends(&self, CellSide { cell, side }: CellSide) -> [usize; 2] {
        let corners = self.corners(cell);
        [corners[side], corners[(side + 1) % 4]]
    }

    /// The node `k` lines from the first of a side, the cell on the left.
    pub(super) fn node_of_side(&self, CellSide { cell, side }: CellSide, k: usize) -> usize {
        let n = self.order;
        self.node_of(cell, [[k, 0], [n, k], [n - k, n], [0, n - k]][side])
    }

    /// The sides that a cell shares with cells of higher numbers, which are returned beside them: the
    /// next one along the line, the one across the seam or the cut, the one above.
    pub(super) fn shared(&self, cell: usize) -> impl Iterator<Item = (CellSide, usize)> + use<> {
        let (i, layer) = (cell % self.columns, cell / self.columns);
        let welded = match self.grid.topology {
            Topology::O(_) if i == 0 => Some((BEFORE, cell + self.columns - 1)),
            Topology::C { wake } if cell < wake / self.order => {
                Some((BELOW, self.columns - 1 - cell))
            }
            _ => None,
        };
        let next = (i + 1 < self.columns).then_some((BEHIND, cell + 1));
        let above = (layer + 1 < self.layers).then_some((ABOVE, cell + self.columns));
        let all = [next, welded, above].into_iter().flatten();
        all.map(move |(side, other)| (CellSide { cell, side }, other))
    }

    /// The sides on the rim by the name of their patch: the body, the far field with the outflow of a
    /// C-grid or all sides of a rectangle, and on half a grid its plane of symmetry.
    pub(super) fn rims(&self) -> Vec<(&'static str, Vec<CellSide>)> {
        let RimSides { body, outer, first, last } = self.rim();
        let ends = [first, last].concat();
        match self.grid.topology {
            Topology::O(_) | Topology::C { .. } => {
                vec![("airfoil", body), ("farfield", [outer, ends].concat())]
            }
            Topology::Half(_) => vec![("airfoil", body), ("farfield", outer), ("symmetry", ends)],
            Topology::Rectangle => {
                vec![("airfoil", Vec::new()), ("farfield", [outer, body, ends].concat())]
            }
        }
    }

    /// The sides on the rim.
    pub(super) fn rim(&self) -> RimSides {
        let topology = self.grid.topology;
        let wall = match topology {
            Topology::Rectangle => 0..=self.grid.ni - 1,
            _ => topology.wall(self.grid.ni),
        };
        let side = |side| move |cell| CellSide { cell, side };
        let open = !topology.closed();
        let layers = || (0..self.layers).filter(|_| open).map(|layer| self.layer(layer));
        RimSides {
            body: (wall.start() / self.order..wall.end() / self.order).map(side(BELOW)).collect(),
            outer: self.layer(self.layers - 1).map(side(ABOVE)).collect(),
            first: layers().map(|layer| layer.start).map(side(BEFORE)).collect(),
            last: layers().map(|layer| layer.end - 1).map(side(BEHIND)).collect(),
        }
    }
}
