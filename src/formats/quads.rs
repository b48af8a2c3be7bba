//! The structured block that quadrilaterals in any order make: i and j are found by walking from cell to cell.
//! Quadrilaterals in rows may make several blocks. The nodes of lines, quadrangles and hexahedra have gmsh's order.
//!
//! Corners come first, then the inner nodes of edges, of faces, and of the volume; those within a face or
//! a volume are numbered as the nodes of an element whose order is lower by two. Source: Gmsh 4.13 reference
//! manual, sections "Node ordering" and "High-order elements", <https://gmsh.info/doc/texinfo/gmsh.html>.

use std::collections::{HashMap, HashSet};

use super::block::{Block, ReadFault};
use super::rim::ReadZone;
use crate::grid::boundary::Patch;
use crate::grid::vector::{cross, difference, dot};

type Edge = [usize; 2];

/// Sizes of a block, and the points of its nodes.
type Nodes = ([usize; 2], Vec<usize>);

fn edge(a: usize, b: usize) -> Edge {
    [a.min(b), a.max(b)]
}

/// Joins cells of one order to plane blocks. A cell is given by its points in gmsh's order, counter-clockwise from a corner;
/// `patches` are those of edges on the rim, whose two points are in rising order.
///
/// Cells in rows keep their order, which several blocks and curved cells must have. A cut between two sides of a block, as in
/// the wake of a C-grid, begins at a point of the rim around which four cells lie; a block that closes around a body is cut
/// at the sharpest corner of its rim.
pub(super) fn zones<const N: usize>(
    (cells, order): (&[usize], usize),
    points: &[[f64; N]],
    patches: &HashMap<Edge, Patch>,
    notes: &mut Vec<String>,
) -> Result<Vec<ReadZone>, ReadFault> {
    if let Some(point) = cells.iter().find(|point| **point >= points.len()) {
        let last = points.len();
        return Err(
            format!("a cell has the point {point}, numbers below {last} were expected").into()
        );
    }
    let blocks = match rows(cells, order) {
        Err(UNSTRUCTURED) if order == 1 => {
            let cells = cells.as_chunks().0;
            let points: Vec<[f64; 2]> = points.iter().map(|point| [point[0], point[1]]).collect();
            match Walk::new(cells, &points)?.block() {
                Ok(found) => {
                    notes.push("i and j were found by walking from cell to cell.".to_owned());
                    vec![found]
                }
                Err(fault) => in_rows(cells).ok_or(fault)?,
            }
        }
        found => vec![found?],
    };
    let zone = |([ni, nj], nodes): Nodes| {
        let of = |c: usize| nodes.iter().map(|node| points[*node][c]).collect();
        let block = Block { dimensions: vec![ni, nj], coordinates: (0..N).map(of).collect() };
        let mut zone = ReadZone::of_block("", block)?;
        zone.mark_edges(&nodes, patches);
        Ok(zone)
    };
    blocks.into_iter().map(zone).collect()
}

/// The reason why [`rows`] refuses quadrilaterals.
const UNSTRUCTURED: &str = "the cells are not in the order of a structured grid";

/// Sizes and points of the nodes of quadrilaterals in rows, i fastest, each by its points in gmsh's order from its corner
/// (i, j) counter-clockwise. A point that several nodes share, at a seam or a cut, is each of them.
fn rows(cells: &[usize], order: usize) -> Result<Nodes, &'static str> {
    let places = quadrangle(order);
    let cells: Vec<&[usize]> = cells.chunks_exact(places.len()).collect();
    // The second row begins with the cell above the first.
    let above = cells.first().ok_or("there are no quadrilaterals")?[3];
    let columns = cells.iter().skip(1).position(|corners| corners[0] == above);
    let columns = columns.map_or(cells.len(), |k| k + 1);
    if !cells.len().is_multiple_of(columns) {
        return Err(UNSTRUCTURED);
    }
    let [ni, nj] = [columns, cells.len() / columns].map(|cells| cells * order + 1);
    let mut nodes = vec![None; ni * nj];
    for (k, cell) in cells.into_iter().enumerate() {
        let first = k / columns * order * ni + k % columns * order;
        for ([i, j], point) in places.iter().zip(cell) {
            if *nodes[first + j * ni + i].get_or_insert(*point) != *point {
                return Err(UNSTRUCTURED);
            }
        }
    }
    let nodes: Option<Vec<usize>> = nodes.into_iter().collect();
    Ok(([ni, nj], nodes.ok_or(UNSTRUCTURED)?))
}

/// Most blocks whose cells follow each other: cells in any order would be as many blocks as cells.
const MOST_BLOCKS: usize = 64;

/// The blocks of cells in rows, each a block behind the other, as gridgen writes those of a section; none where cells are in
/// another order. A block ends where a row does not go on from that below.
fn in_rows(cells: &[[usize; 4]]) -> Option<Vec<Nodes>> {
    let (mut blocks, mut rest) = (Vec::new(), cells);
    while !rest.is_empty() {
        let beside = |[a, b]: &[[usize; 4]; 2]| (b[0], b[3]) == (a[1], a[2]);
        let columns = 1 + rest.array_windows().take_while(|pair| beside(pair)).count();
        let goes_on =
            |(below, cell): &(&[usize; 4], &[usize; 4])| (cell[0], cell[1]) == (below[3], below[2]);
        let count = columns + rest.iter().zip(&rest[columns..]).take_while(goes_on).count();
        let (own, others) = rest.split_at(count - count % columns);
        if columns < 2 || own.len() < 2 * columns || blocks.len() == MOST_BLOCKS {
            return None;
        }
        blocks.push(rows(own.as_flattened(), 1).ok()?);
        rest = others;
    }
    Some(blocks)
}

struct Walk<'a> {
    cells: &'a [[usize; 4]],
    points: &'a [[f64; 2]],
    /// The cells of each edge.
    sides: HashMap<Edge, (usize, Option<usize>)>,
    /// Cells around each point.
    around: Vec<usize>,
    /// The neighbours of a point along the rim.
    rim: HashMap<usize, Vec<usize>>,
    cuts: HashSet<Edge>,
}

impl<'a> Walk<'a> {
    fn new(cells: &'a [[usize; 4]], points: &'a [[f64; 2]]) -> Result<Self, ReadFault> {
        let mut sides: HashMap<Edge, (usize, Option<usize>)> = HashMap::new();
        let mut around = vec![0; points.len()];
        for (cell, corners) in cells.iter().enumerate() {
            for k in 0..4 {
                let [a, b] = [corners[k], corners[(k + 1) % 4]];
                if corners[k + 1..].contains(&a) {
                    return Err(format!(
                        "the cell {cell} has the point {a} twice: it is no quadrilateral"
                    )
                    .into());
                }
                around[a] += 1;
                match sides.get_mut(&edge(a, b)) {
                    None => drop(sides.insert(edge(a, b), (cell, None))),
                    Some((_, other @ None)) => *other = Some(cell),
                    Some(_) => {
                        return Err(
                            format!("more than two cells have the points {a} and {b}").into()
                        );
                    }
                }
            }
        }
        let mut rim: HashMap<usize, Vec<usize>> = HashMap::new();
        for ([a, b], _) in sides.iter().filter(|(_, (_, other))| other.is_none()) {
            rim.entry(*a).or_default().push(*b);
            rim.entry(*b).or_default().push(*a);
        }
        Ok(Self { cells, points, sides, around, rim, cuts: HashSet::new() })
    }

    /// The neighbour of a corner in a cell that is not this one.
    fn other(&self, cell: usize, at: usize, not: usize) -> Option<usize> {
        let corners = self.cells[cell];
        let k = corners.iter().position(|corner| *corner == at)?;
        let [before, after] = [corners[(k + 3) % 4], corners[(k + 1) % 4]];
        if not == before { Some(after) } else { (not == after).then_some(before) }
    }

    /// The cell on the other side of an edge, unless that is a cut.
    fn across(&self, a: usize, b: usize, cell: usize) -> Option<usize> {
        let (first, second) = *self.sides.get(&edge(a, b))?;
        let other = if first == cell { second } else { Some(first) };
        other.filter(|_| !self.cuts.contains(&edge(a, b)))
    }

    /// The point after `count` cells around `at`, counted from the edge to `from` into `cell`.
    fn rotated(&self, at: usize, mut from: usize, mut cell: usize, count: usize) -> Option<usize> {
        for k in 0..count {
            from = self.other(cell, at, from)?;
            if k + 1 < count {
                cell = self.across(at, from, cell)?;
            }
        }
        Some(from)
    }

    /// The fault of a point with a number of cells that a block does not have.
    fn irregular(&self, point: usize) -> ReadFault {
        let (cells, [x, y]) = (self.around[point], self.points[point]);
        let on_rim = self.rim.contains_key(&point);
        let expected =
            if on_rim { "1 at a corner, 2 on a side or 4 at the end of a cut" } else { "4" };
        let place = if on_rim { "on the rim" } else { "inside" };
        format!(
            "{cells} cells meet at the point {point} {place}, x = {x}, y = {y}; {expected} were expected of one block"
        )
        .into()
    }

    /// Cuts the block along the line of edges that leaves the rim at a point, in the middle between its cells.
    fn cut(&mut self, point: usize) -> Option<()> {
        let from = *self.rim.get(&point)?.iter().min()?;
        let (cell, _) = *self.sides.get(&edge(point, from))?;
        let (mut at, mut before) =
            (self.rotated(point, from, cell, self.around[point] / 2)?, point);
        while self.cuts.insert(edge(before, at)) && !self.rim.contains_key(&at) {
            // Two cells further around a point of four cells the line goes on.
            let (cell, _) = *self.sides.get(&edge(before, at))?;
            let beside = self.other(cell, at, before)?;
            let (first, second) = *self.sides.get(&edge(at, beside))?;
            let next = if first == cell { second? } else { first };
            (before, at) = (at, self.other(next, at, beside)?);
        }
        Some(())
    }

    fn block(mut self) -> Result<Nodes, ReadFault> {
        let mut ends = Vec::new();
        for point in (0..self.around.len()).filter(|point| self.around[*point] > 0) {
            match (self.around[point], self.rim.get(&point).map(Vec::len)) {
                (4, None) | (1 | 2, Some(2)) => {}
                (4, Some(2)) => ends.push(point),
                _ => return Err(self.irregular(point)),
            }
        }
        for point in ends {
            self.cut(point).ok_or("a cut does not end at the rim of the block")?;
        }
        if self.corner().is_none()
            && let Some(point) = self.sharpest()
        {
            self.cut(point);
        }
        let start =
            self.corner().ok_or("the block has no corner, nor a rim at which it can be cut")?;
        self.walk(start)
    }

    /// A cell with two neighbouring sides on the rim or a cut: its corner there and the two beside it.
    fn corner(&self) -> Option<(usize, [usize; 3])> {
        let is_end = |a: usize, b: usize, cell: usize| self.across(a, b, cell).is_none();
        let of_cell = |(cell, corners): (usize, &[usize; 4])| {
            let at = |k: usize| [corners[k], corners[(k + 1) % 4], corners[(k + 3) % 4]];
            let is_corner = |[p, q, t]: &[usize; 3]| is_end(*p, *q, cell) && is_end(*p, *t, cell);
            (0..4).map(at).find(is_corner).map(|at| (cell, at))
        };
        self.cells.iter().enumerate().find_map(of_cell)
    }

    /// The point of the rim at which it turns most, the first of equal ones.
    fn sharpest(&self) -> Option<usize> {
        let turn = |(point, beside): (&usize, &Vec<usize>)| {
            let [a, b] = [beside.first()?, beside.get(1)?].map(|k| self.points[*k]);
            let [a, b] = [difference(self.points[*point], a), difference(b, self.points[*point])];
            // Turns that differ by round-off are one.
            Some(((cross(a, b).abs().atan2(dot(a, b)) * 1e6).round() as i64, *point))
        };
        let turns = self.rim.iter().filter_map(turn);
        turns.min_by_key(|(turn, point)| (-turn, *point)).map(|(_, point)| point)
    }

    /// Rows of nodes from a corner on.
    fn walk(&self, mut start: (usize, [usize; 3])) -> Result<Nodes, ReadFault> {
        const OPEN: &str = "the rows of cells do not close to one block of i and j";
        let (mut nodes, mut ni, mut count) = (Vec::new(), 0, 0);
        loop {
            let (mut cell, [mut p, mut q, mut t]) = start;
            let (mut below, mut above) = (vec![p], vec![t]);
            loop {
                count += 1;
                let r = self.other(cell, q, p).filter(|_| count <= self.cells.len()).ok_or(OPEN)?;
                below.push(q);
                above.push(r);
                let Some(next) = self.across(q, r, cell) else { break };
                (p, t, cell) = (q, r, next);
                q = self.other(cell, p, t).ok_or(OPEN)?;
            }
            if nodes.is_empty() {
                ni = below.len();
                nodes.extend(&below);
            }
            if below.len() != ni || !nodes.ends_with(&below) {
                return Err(OPEN.into());
            }
            let [a, b] = [above[0], above[1]];
            nodes.append(&mut above);
            let Some(next) = self.across(a, b, start.0) else { break };
            start = (next, [a, b, self.other(next, a, b).ok_or(OPEN)?]);
        }
        if count != self.cells.len() {
            let all = self.cells.len();
            return Err(format!(
                "a block of {count} of the {all} cells; one block of all was expected"
            )
            .into());
        }
        Ok(([ni, nodes.len() / ni], nodes))
    }
}

/// A node by its steps in each direction from the first corner, 0 to the order of the element.
type Place<const N: usize> = [usize; N];

pub(super) fn line(order: usize) -> impl Iterator<Item = usize> {
    [0, order].into_iter().chain(1..order)
}

/// Edges of a quadrangle by their corners.
const SIDES: [[usize; 2]; 4] = [[0, 1], [1, 2], [2, 3], [3, 0]];

/// The nodes of a quadrangle of this order, counter-clockwise.
pub(super) fn quadrangle(order: usize) -> Vec<Place<2>> {
    let n = order;
    let corners = [[0, 0], [n, 0], [n, n], [0, n]];
    if order == 0 {
        return vec![[0, 0]];
    }
    let mut nodes = corners.to_vec();
    nodes.extend(SIDES.iter().flat_map(|side| inner(side.map(|k| corners[k]), order)));
    if order > 1 {
        nodes.extend(quadrangle(order - 2).iter().map(|node| node.map(|k| k + 1)));
    }
    nodes
}

/// Faces of a hexahedron by their corners.
const FACES: [[usize; 4]; 6] =
    [[0, 3, 2, 1], [0, 1, 5, 4], [0, 4, 7, 3], [1, 2, 6, 5], [2, 3, 7, 6], [4, 5, 6, 7]];

pub(super) fn hexahedron(order: usize) -> Vec<Place<3>> {
    let n = order;
    if order == 0 {
        return vec![[0; 3]];
    }
    let base = [[0, 0], [n, 0], [n, n], [0, n]];
    let corners: Vec<Place<3>> =
        [0, n].iter().flat_map(|&z| base.map(|[x, y]| [x, y, z])).collect();
    let mut nodes = corners.clone();
    // Edges are ordered by their two corners, which differ in one direction.
    for (k, from) in corners.iter().enumerate() {
        let others = corners[k + 1..].iter();
        let beside = others.filter(|to| (0..3).filter(|c| from[*c] != to[*c]).count() == 1);
        nodes.extend(beside.flat_map(|to| inner([*from, *to], order)));
    }
    if order > 1 {
        for face in FACES {
            let [first, along, _, across] = face.map(|k| corners[k]);
            let inside = quadrangle(order - 2).into_iter().map(|[u, v]| {
                let up = |c: usize| first[c] * n + (u + 1) * along[c] + (v + 1) * across[c];
                let down = |c: usize| (u + v + 2) * first[c];
                [0, 1, 2].map(|c| (up(c) - down(c)) / n)
            });
            nodes.extend(inside);
        }
        nodes.extend(hexahedron(order - 2).iter().map(|node| node.map(|k| k + 1)));
    }
    nodes
}

/// The nodes between the two ends of an edge.
fn inner<const N: usize>(
    [from, to]: [Place<N>; 2],
    order: usize,
) -> impl Iterator<Item = Place<N>> {
    (1..order).map(move |k| std::array::from_fn(|c| (from[c] * (order - k) + to[c] * k) / order))
}
