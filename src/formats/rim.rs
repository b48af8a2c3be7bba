//! Zones as files have them: what is known of each edge of their sides, which becomes the ranges of a grid's boundary.

use std::collections::HashMap;

use super::block::{Block, ReadFault};
use crate::grid::boundary::{Meets, PERIOD, Patch, Range, Segment, Side, SideKind};
use crate::grid::vector::{difference, distance};
use crate::grid::{Grid, Outside};

/// Tells which segment an edge of a side meets, with its two nodes in the order of the other side. It is none where the
/// file does not tell.
pub(super) type Edge = Option<Meets>;

/// The segment of another side.
fn other(meets: &mut Meets) -> Option<&mut Segment> {
    match meets {
        Meets::Link(to) | Meets::Partner(_, to) => Some(to),
        Meets::Patch(_) => None,
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct ReadZone {
    pub(super) name: String,
    pub(super) grid: Grid,
    /// The index of the file that the plane leaves out.
    pub(super) across: usize,
    /// Edges of each side, in the order of [`Side::ALL`].
    pub(super) sides: [Vec<Edge>; 4],
}

type ReadZones = fn(&[u8], &mut Vec<String>) -> Result<Vec<ReadZone>, ReadFault>;

/// Recognition and reading of the files of a format.
#[derive(Debug)]
pub(super) struct Reader {
    /// Whether a file begins like one of this format; none where that cannot be told.
    pub(super) begins: Option<fn(&[u8]) -> bool>,
    /// Hint to the layout that is read, for files with another one.
    pub(super) hint: &'static str,
    /// The plane zones of the bytes; remarks go to the notes.
    pub(super) zones: ReadZones,
}

/// Points of different zones closer than this part of the extent of all are one.
const SAME: f64 = 1e-9;

/// A wall by the condition of a patch, or any other.
pub(super) type Condition = Option<SideKind>;

/// The condition that a name suggests; the far field if it suggests none.
pub(super) fn condition_of(name: &str) -> Condition {
    use SideKind::{FarField, Inlet, Outlet, Periodic, Slip, Symmetry};
    let name = name.to_ascii_lowercase();
    let words: [(&[&str], Condition); 8] = [
        (&["periodic"], Some(Periodic)),
        (&["noslip", "no_slip", "no-slip"], None),
        (&["slip", "tangency", "inviscid"], Some(Slip)),
        (&["far"], Some(FarField)),
        (&["inlet", "inflow"], Some(Inlet)),
        (&["outlet", "outflow"], Some(Outlet)),
        (&["sym"], Some(Symmetry)),
        (&["wall", "foil", "wing", "body", "blade", "viscous", "base", "bump", "cylinder"], None),
    ];
    let found = words.into_iter().find(|(words, _)| words.iter().any(|word| name.contains(word)));
    found.map_or(Some(FarField), |(_, condition)| condition)
}

impl ReadZone {
    /// A zone of whose sides nothing is known.
    pub(super) fn new(name: &str, grid: Grid, across: usize) -> Self {
        let sides = Side::ALL.map(|side| vec![None; [grid.nj, grid.ni][side.across()] - 1]);
        Self { name: name.to_owned(), grid, across, sides }
    }

    pub(super) fn of_block(name: &str, block: Block) -> Result<Self, ReadFault> {
        block.plane().map(|(grid, across)| Self::new(name, grid, across))
    }

    pub(super) fn size(&self) -> [usize; 2] {
        [self.grid.ni, self.grid.nj]
    }

    /// Whether a segment is on its sides.
    pub(super) fn has(&self, segment: Segment) -> bool {
        let most = self.size()[1 - segment.side.across()];
        segment.nodes.iter().all(|node| *node < most)
    }

    /// Marks the edges of a segment of this zone.
    pub(super) fn mark(&mut self, on: Segment, meets: Meets) {
        let at =
            |nodes: [usize; 2], k| if nodes[0] <= nodes[1] { nodes[0] + k } else { nodes[0] - k };
        let backwards = on.nodes[0] > on.nodes[1];
        for k in 1..on.count() {
            let mut meets = meets;
            if let Some(Segment { nodes, .. }) = other(&mut meets) {
                *nodes = if backwards { [k, k - 1] } else { [k - 1, k] }.map(|k| at(*nodes, k));
            }
            let first = at(on.nodes, k - 1).min(at(on.nodes, k));
            if let Some(edge) = self.sides[on.side as usize].get_mut(first) {
                *edge = Some(meets);
            }
        }
    }

    /// Marks the edges between nodes of these numbers; a pair of numbers is in rising order.
    pub(super) fn mark_edges(&mut self, nodes: &[usize], patches: &HashMap<[usize; 2], Patch>) {
        let size = self.size();
        for side in Side::ALL {
            let all = Segment { block: 0, side, nodes: [0, size[1 - side.across()] - 1] };
            for (k, edge) in self.sides[side as usize].iter_mut().enumerate() {
                let [[a, b], [c, d]] = [k, k + 1].map(|k| all.node(size, k));
                let mut ends = [nodes[b * size[0] + a], nodes[d * size[0] + c]];
                ends.sort_unstable();
                if let Some(patch) = patches.get(&ends) {
                    *edge = Some(Meets::Patch(*patch));
                }
            }
        }
    }

    /// Marks what is not known of the sides by this boundary.
    pub(super) fn complete(&mut self, boundary: &[Range]) {
        let known = self.sides.clone();
        for range in boundary {
            self.mark(range.on, range.meets);
        }
        for (edge, known) in self.sides.iter_mut().flatten().zip(known.into_iter().flatten()) {
            let patch = matches!(known, Some(Meets::Patch(_) | Meets::Partner(..)));
            if patch && matches!(edge, Some(Meets::Patch(_)) | None) {
                *edge = known;
            }
        }
    }

    /// The turns by which the side that has most edges of walls becomes the line j = 0.
    pub(super) fn wall_below(&self) -> &'static [Reindex] {
        let is_wall =
            |edge: &&Edge| matches!(edge, Some(Meets::Patch(patch)) if patch.kind().is_none());
        let count = |side: Side| self.sides[side as usize].iter().filter(is_wall).count();
        let sides: [(Side, &[Reindex]); 4] = [
            (Side::Above, &[Reindex::Reverse(1)]),
            (Side::Behind, &[Reindex::Exchange, Reindex::Reverse(1)]),
            (Side::Before, &[Reindex::Exchange]),
            (Side::Below, &[]),
        ];
        // The last of equal ones, which needs no turn, where there is no wall.
        sides.into_iter().max_by_key(|(side, _)| count(*side)).map_or(&[], |(_, turns)| turns)
    }

    /// Its sides as the ranges of the boundary of this block; a side of which nothing is known is a patch of its name.
    pub(super) fn ranges(&self, block: usize) -> Vec<Range> {
        let mut ranges: Vec<Range> = Vec::new();
        for side in Side::ALL {
            let first = ranges.len();
            for (k, edge) in self.sides[side as usize].iter().enumerate() {
                let open = Patch::named(side.name(), Some(SideKind::FarField));
                let on = Segment { block, side, nodes: [k, k + 1] };
                let next = Range { on, meets: edge.unwrap_or(Meets::Patch(open)) };
                match ranges[first..].last_mut().filter(|last| goes_on(last, &next)) {
                    None => ranges.push(next),
                    Some(last) => {
                        last.on.nodes[1] = k + 1;
                        let end = next.link().or(next.partner());
                        if let Some((to, end)) = other(&mut last.meets).zip(end) {
                            to.nodes[1] = end.nodes[1];
                        }
                    }
                }
            }
        }
        ranges
    }
}

/// Returns true if a range meets what follows the neighbour of the one before it.
fn goes_on(before: &Range, next: &Range) -> bool {
    let to = |range: &Range| range.link().or(range.partner());
    let follows = match (to(before), to(next)) {
        (Some(a), Some(b)) => {
            (a.block, a.side, a.nodes[1]) == (b.block, b.side, b.nodes[0])
                && (a.nodes[0] < a.nodes[1]) == (b.nodes[0] < b.nodes[1])
        }
        (a, b) => a == b,
    };
    follows && before.patch() == next.patch()
}

/// A change of the indices of a zone.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Reindex {
    Exchange,
    /// The index with this number, 0 for i and 1 for j, runs backwards.
    Reverse(usize),
}

impl Reindex {
    /// The grid with its indices changed.
    pub(super) fn of(self, grid: &Grid) -> Grid {
        let [ni, nj] = [grid.ni, grid.nj];
        let size = if self == Self::Exchange { [nj, ni] } else { [ni, nj] };
        Grid::of_nodes(grid.topology, size, |i, j| match self {
            Self::Exchange => grid.point(j, i),
            Self::Reverse(0) => grid.point(ni - 1 - i, j),
            Self::Reverse(_) => grid.point(i, nj - 1 - j),
        })
    }

    /// The change as a sentence begins with it.
    pub(super) fn said(self) -> &'static str {
        match self {
            Self::Exchange => "i and j were exchanged",
            Self::Reverse(0) => "i was reversed",
            Self::Reverse(_) => "j was reversed",
        }
    }
}

/// Turns a zone, and what is linked to it.
pub(super) fn turn(zones: &mut [ReadZone], block: usize, by: Reindex) {
    let zone = &mut zones[block];
    let size = zone.size();
    zone.grid = by.of(&zone.grid);
    match by {
        Reindex::Exchange => zone.sides.rotate_left(2),
        Reindex::Reverse(axis) => {
            zone.sides.swap(2 * axis, 2 * axis + 1);
            for edges in &mut zone.sides[2 - 2 * axis..4 - 2 * axis] {
                edges.reverse();
                edges.iter_mut().flatten().filter_map(other).for_each(|to| to.nodes.reverse());
            }
        }
    }
    let edges = zones.iter_mut().flat_map(|zone| &mut zone.sides).flatten().flatten();
    for to in edges.filter_map(other).filter(|to| to.block == block) {
        match by {
            Reindex::Exchange => to.side = Side::ALL[(to.side as usize + 2) % 4],
            Reindex::Reverse(axis) if to.side.across() == axis => {
                to.side = Side::ALL[to.side as usize ^ 1];
            }
            Reindex::Reverse(axis) => to.nodes = to.nodes.map(|node| size[axis] - 1 - node),
        }
    }
}

/// Links edges of which nothing is known to others that have the same points.
pub(super) fn join(zones: &mut [ReadZone]) {
    let width = SAME * farthest(zones);
    // Points are one if they are in the same or in neighbouring squares of that width.
    let mut known: HashMap<[i64; 2], usize> = HashMap::new();
    let mut number = |point: [f64; 2]| {
        let [x, y] = point.map(|c| (c / width).round() as i64);
        let beside = (-1..=1)
            .flat_map(|a| (-1..=1).map(move |b| [x.saturating_add(a), y.saturating_add(b)]));
        let found = beside.filter_map(|square| known.get(&square).copied()).min();
        let next = known.len();
        found.unwrap_or_else(|| *known.entry([x, y]).or_insert(next))
    };
    let mut edges: HashMap<[usize; 2], Vec<(Segment, bool)>> = HashMap::new();
    for (block, zone) in zones.iter().enumerate() {
        let size = zone.size();
        for side in Side::ALL {
            let all = Segment { block, side, nodes: [0, size[1 - side.across()] - 1] };
            for (k, edge) in zone.sides[side as usize].iter().enumerate() {
                let ends = [k, k + 1].map(|k| all.node(size, k));
                let [a, b] = ends.map(|[i, j]| number(zone.grid.point(i, j)));
                if edge.is_none() && a != b {
                    let here = (Segment { nodes: [k, k + 1], ..all }, a < b);
                    edges.entry([a.min(b), a.max(b)]).or_default().push(here);
                }
            }
        }
    }
    for pair in edges.into_values() {
        let [(a, a_rises), (mut b, b_rises)] = pair[..] else { continue };
        if a_rises != b_rises {
            b.nodes.reverse();
        }
        tie(zones, [a, b], Tie::Link);
    }
}

/// Points of two segments that differ by less than this part of the largest coordinate are one.
const NEAR: f64 = 1e-6;

/// The way in which two segments of as many nodes meet.
#[derive(Debug, Clone, Copy)]
pub(super) enum Tie {
    /// They have the same points.
    Link,
    /// They are the ends of a period, of these patches.
    Period([Patch; 2]),
}

impl Tie {
    /// The tie of two segments whose points are all one vector apart, the lower end of a period by y, or else by x;
    /// none where there is no such vector, as after a rotation.
    pub(super) fn of([on, to]: [Segment; 2], zones: &[ReadZone]) -> Option<Self> {
        let near = NEAR * farthest(zones);
        let point = |segment: Segment, k| segment.point(&zones[segment.block].grid, k, 0);
        let between = |k| difference(point(to, k), point(on, k));
        let vector @ [x, y] = between(0);
        let is_one = (0..on.count()).all(|k| distance(vector, between(k)) <= near);
        let [lower, upper] = PERIOD;
        let ends = if (y, x) > (0.0, 0.0) { [lower, upper] } else { [upper, lower] };
        let ends = ends.map(|name| Patch::named(name, Some(SideKind::Periodic)));
        is_one.then_some(if x.hypot(y) > near { Self::Period(ends) } else { Self::Link })
    }
}

/// Ties two segments.
pub(super) fn tie(zones: &mut [ReadZone], [a, b]: [Segment; 2], by: Tie) {
    for (end, (on, to)) in [(a, b), (b, a)].into_iter().enumerate() {
        let meets = match by {
            Tie::Link => Meets::Link(to),
            Tie::Period(ends) => Meets::Partner(ends[end], to),
        };
        zones[on.block].mark(on, meets);
    }
}

/// The largest coordinate.
fn farthest(zones: &[ReadZone]) -> f64 {
    let all = zones.iter().flat_map(|zone| zone.grid.x.iter().chain(&zone.grid.y));
    all.fold(0.0, |most: f64, c| most.max(c.abs()))
}

/// The grids of several zones with their boundaries.
pub(super) fn bounded(zones: Vec<ReadZone>) -> Vec<Grid> {
    let with = |(block, zone): (usize, ReadZone)| {
        let ranges = zone.ranges(block);
        Grid { outside: Some(Outside::of_ranges(ranges)), ..zone.grid }
    };
    zones.into_iter().enumerate().map(with).collect()
}
