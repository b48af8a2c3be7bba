//! A grid as nodes and cells of an unstructured mesh, the seam or the cut welded.
//!
//! Nodes and cells are numbered block by block and line by line of constant j. A node that a link repeats has the number
//! of the first of its copies; the others follow without a gap. Where a cell takes several of the grid, that many lines
//! are between its corners, and cells are counted likewise.

use std::collections::HashMap;
use std::iter::repeat;

use crate::grid::Grid;
use crate::grid::boundary::{Patch, Range, Segment, Side};

/// Numbers of nodes and cells of a welded grid.
#[derive(Debug, Clone)]
pub(super) struct Welded<'a> {
    blocks: Vec<Block<'a>>,
    /// Cells of the grid that a cell takes in each direction.
    order: usize,
    /// Places of the nodes that repeat others, among those of all blocks; their numbers; and how many of them are before.
    repeated: Vec<(usize, usize, usize)>,
    pub(super) nodes: usize,
    pub(super) cells: usize,
}

#[derive(Debug, Clone)]
struct Block<'a> {
    grid: &'a Grid,
    boundary: Vec<Range>,
    /// Cells in i and j.
    counts: [usize; 2],
    /// Place of the first node, and number of the first cell.
    first_node: usize,
    first_cell: usize,
}

/// A side of a cell, from its corner `side` to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CellSide {
    pub(super) cell: usize,
    pub(super) side: usize,
}

/// A patch, the sides of its cells in the order of the grid, and the nodes from which and to which it runs with the cells
/// on its left.
pub(super) type PatchSides = (Patch, Vec<CellSide>, [usize; 2]);

/// Sides of a cell in the order of its corners.
const AROUND: [Side; 4] = [Side::Below, Side::Behind, Side::Above, Side::Before];

impl<'a> Welded<'a> {
    /// Cells that take `order` × `order` of the blocks of a grid; their counts of cells and those of their links are
    /// multiples of it.
    pub(super) fn of_order(grids: &[&'a Grid], order: usize) -> Self {
        let mut blocks: Vec<Block<'a>> = Vec::new();
        let (mut first_node, mut first_cell) = (0, 0);
        for grid in grids {
            let counts = [grid.ni, grid.nj].map(|nodes| (nodes - 1) / order);
            blocks.push(Block { grid, boundary: grid.boundary(), counts, first_node, first_cell });
            (first_node, first_cell) =
                (first_node + grid.ni * grid.nj, first_cell + counts[0] * counts[1]);
        }
        let place = |segment: Segment, k| {
            let Block { grid, first_node, .. } = blocks[segment.block];
            let [i, j] = segment.node([grid.ni, grid.nj], k);
            first_node + grid.index(i, j)
        };
        let copies = blocks.iter().enumerate().flat_map(|(block, Block { boundary, .. })| {
            boundary.iter().flat_map(move |range| {
                let (on, to) = (Segment { block, ..range.on }, range.link());
                let to = to.filter(|to| to.block < grids.len());
                to.into_iter().flat_map(move |to| (0..on.count()).map(move |k| (on, to, k)))
            })
        });
        let copies = copies.map(|(on, to, k)| (place(on, k), place(to, k)));
        let mut copies: Vec<_> = copies.filter(|(copy, first)| first != copy).collect();
        // Where several blocks meet, a node is linked to its first copy over others.
        let mut firsts: HashMap<usize, usize> = HashMap::new();
        for &(a, b) in &copies {
            let [a, b] = [a, b].map(|place| root(&mut firsts, place));
            if a != b {
                firsts.insert(a.max(b), a.min(b));
            }
        }
        for (copy, first) in &mut copies {
            *first = root(&mut firsts, *copy);
        }
        copies.retain(|(copy, first)| first < copy);
        copies.sort_unstable();
        copies.dedup_by_key(|(copy, _)| *copy);
        let mut repeated: Vec<(usize, usize, usize)> = Vec::with_capacity(copies.len());
        for (copy, first) in copies {
            let number = numbered(&repeated, first);
            repeated.push((copy, number, repeated.len()));
        }
        let nodes = first_node - repeated.len();
        Self { blocks, order, repeated, nodes, cells: first_cell }
    }

    pub(super) fn point(&self, node: usize) -> [f64; 2] {
        // The copies before a node are those with at most as many other nodes before them.
        let place = node + self.repeated.partition_point(|(copy, _, before)| copy - before <= node);
        let block = self.blocks.iter().rev().find(|block| block.first_node <= place);
        let Some(Block { grid, first_node, .. }) = block else { return [f64::NAN; 2] };
        [grid.x[place - first_node], grid.y[place - first_node]]
    }

    /// Block and place (i, j) of a cell.
    fn place(&self, cell: usize) -> (&Block<'a>, [usize; 2]) {
        let after = self.blocks.partition_point(|block| block.first_cell <= cell);
        let block = &self.blocks[after - 1];
        let cell = cell - block.first_cell;
        (block, [cell % block.counts[0], cell / block.counts[0]])
    }

    fn node(&self, block: &Block<'_>, [i, j]: [usize; 2]) -> usize {
        numbered(&self.repeated, block.first_node + block.grid.index(i, j))
    }

    /// The node `a` lines in i and `b` in j from the first of a cell, both at most its order.
    pub(super) fn node_of(&self, cell: usize, [a, b]: [usize; 2]) -> usize {
        let (block, [i, j]) = self.place(cell);
        self.node(block, [self.order * i + a, self.order * j + b])
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

    /// The cell across a side, in the block or over a link.
    fn across(&self, cell: usize, side: Side) -> Option<usize> {
        let (block, at) = self.place(cell);
        let (across, stride) = (side.across(), [1, block.counts[0]]);
        if side.is_last() && at[across] + 1 < block.counts[across] {
            return Some(cell + stride[across]);
        }
        if !side.is_last() && at[across] > 0 {
            return Some(cell - stride[across]);
        }
        let k = at[1 - across] * self.order;
        let here = |range: &&Range| {
            range.on.side == side && (range.on.nodes[0]..range.on.nodes[1]).contains(&k)
        };
        let range = block.boundary.iter().find(here)?;
        let to = range.link()?;
        Some(self.beside(self.blocks.get(to.block)?, to, k - range.on.nodes[0]))
    }

    /// The cell beside a segment of a block, of those that begin at this step of it.
    fn beside(&self, block: &Block<'_>, on: Segment, step: usize) -> usize {
        let size = [block.grid.ni, block.grid.nj];
        let [a, b] = [step, step + self.order].map(|step| on.node(size, step));
        let [i, j] = [0, 1].map(|c| (a[c].min(b[c]) / self.order).min(block.counts[c] - 1));
        block.first_cell + j * block.counts[0] + i
    }

    /// The sides that a cell shares with cells of higher numbers, which are returned beside them in order.
    pub(super) fn shared(&self, cell: usize) -> impl Iterator<Item = (CellSide, usize)> + use<> {
        let mut all = [0, 1, 2, 3].map(|side| {
            let other = self.across(cell, AROUND[side]).filter(|other| *other > cell);
            other.map(|other| (CellSide { cell, side }, other))
        });
        all.sort_by_key(|found| found.map_or(usize::MAX, |(_, other)| other));
        all.into_iter().flatten()
    }

    /// The sides of cells along a segment of a block, in its order.
    fn along(&self, block: &Block<'_>, on: Segment) -> Vec<CellSide> {
        let side = AROUND.iter().position(|at| *at == on.side).unwrap_or(0);
        let cell = |k| CellSide { cell: self.beside(block, on, k * self.order), side };
        (0..(on.count() - 1) / self.order).map(cell).collect()
    }

    /// The sides at both ends of a period, one beside its partner.
    pub(super) fn partners(&self, lower: Patch) -> [Vec<CellSide>; 2] {
        let ranges = self.blocks.iter().flat_map(|block| block.boundary.iter().zip(repeat(block)));
        let ranges = ranges.filter(|(range, _)| range.patch() == Some(lower));
        let sides = ranges.filter_map(|(range, block)| {
            let to = range.partner()?;
            Some((self.along(block, range.on), self.along(self.blocks.get(to.block)?, to)))
        });
        let (lower, upper): (Vec<_>, Vec<_>) = sides.unzip();
        [lower.concat(), upper.concat()]
    }

    /// The patches on a side of all blocks.
    pub(super) fn patches(&self, side: Side) -> impl Iterator<Item = PatchSides> {
        let corner = AROUND.iter().position(|at| *at == side).unwrap_or(0);
        let forwards = corner < 2;
        self.blocks.iter().flat_map(move |block| {
            let on_side = block.boundary.iter().filter(move |range| range.on.side == side);
            on_side.filter_map(move |range| {
                let patch = range.patch()?;
                let size = [block.grid.ni, block.grid.nj];
                let steps = range.on.count() - 1;
                let ends = [0, steps].map(|k| self.node(block, range.on.node(size, k)));
                let ends = if forwards { ends } else { [ends[1], ends[0]] };
                Some((patch, self.along(block, range.on), ends))
            })
        })
    }

    /// The sides on the rim by patch: the body, the far field with the outflow, and planes of symmetry.
    pub(super) fn rims(&self) -> Vec<(Patch, Vec<CellSide>)> {
        let outside = || self.blocks.iter().filter_map(|block| block.grid.outside.as_ref());
        let mut rims = Vec::new();
        if outside().all(|outside| outside.given.is_empty()) {
            rims.push((Patch::Wall, Vec::new()));
        }
        if outside().next().is_none() {
            rims.push((Patch::FarField, Vec::new()));
        }
        for side in [Side::Above, Side::Below, Side::Before, Side::Behind] {
            for (patch, sides, _) in self.patches(side) {
                let patch = if patch == Patch::Outflow { Patch::FarField } else { patch };
                match rims.iter_mut().find(|(other, _)| *other == patch) {
                    Some((_, all)) => all.extend(sides),
                    None => rims.push((patch, sides)),
                }
            }
        }
        rims
    }
}

/// The first of the copies of a node at a place; the way there becomes shorter.
fn root(firsts: &mut HashMap<usize, usize>, mut place: usize) -> usize {
    while let Some(&first) = firsts.get(&place) {
        if let Some(&before) = firsts.get(&first) {
            firsts.insert(place, before);
        }
        place = first;
    }
    place
}

/// The number of the node at a place, of which these repeat others.
fn numbered(repeated: &[(usize, usize, usize)], place: usize) -> usize {
    match repeated.binary_search_by_key(&place, |(copy, ..)| *copy) {
        Ok(found) => repeated[found].1,
        Err(before) => place - before,
    }
}
