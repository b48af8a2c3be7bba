//! A block in any orientation: nodes by side and depth, the turn to its wall, its interior from its sides, and nodes
//! that slide along a side.

use crate::geometry::vector::{angle, between, difference, distance, foot};
use crate::geometry::{chord_lengths, length_shares};
use crate::grid::boundary::Side;
use crate::grid::quality::{corner_tangent, signed_area};
use crate::grid::{Grid, Seam, Topology};

/// Nodes closer than this part of a side's length are one.
const SAME: f64 = 1e-9;
/// Share of the way to the foot of the last inner node that an end point slides.
const SLIDE: f64 = 0.7;
/// Part of an interval that remains at least.
const LEAST: f64 = 0.2;

/// The side of this name.
pub fn side_named(name: &str) -> Option<Side> {
    Side::ALL.into_iter().find(|side| side.name() == name)
}

/// An exchange of i and j and reversals of both, after which a side is j = 0 and cells are counter-clockwise.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Orientation {
    exchanged: bool,
    reversed: [bool; 2],
}

impl Orientation {
    pub(super) fn of(grid: &Grid, side: Side) -> Self {
        let (exchanged, last) = (side.across() == 0, side.is_last());
        Self { exchanged, reversed: [(signed_area(grid) < 0.0) ^ exchanged ^ last, last] }
    }

    /// The node that becomes node (i, j) of a turned block of `ni` × `nj` nodes.
    fn source(self, [ni, nj]: [usize; 2], [i, j]: [usize; 2]) -> [usize; 2] {
        let [a, b] = self.reversed;
        let i = if a { ni - 1 - i } else { i };
        let j = if b { nj - 1 - j } else { j };
        if self.exchanged { [j, i] } else { [i, j] }
    }

    /// The block in this orientation. A rectangle is what is not an O-grid, unless nothing turns.
    pub(super) fn turned(self, grid: &Grid) -> Grid {
        if self == Self::default() {
            return grid.clone();
        }
        let size = if self.exchanged { [grid.nj, grid.ni] } else { [grid.ni, grid.nj] };
        let around = grid.topology.closed() && !self.exchanged;
        let topology = if around { grid.topology } else { Topology::Rectangle };
        Grid::of_nodes(topology, size, |i, j| {
            let [i, j] = self.source(size, [i, j]);
            grid.point(i, j)
        })
    }

    /// A turned block in the orientation of `grid`.
    pub(super) fn back(self, turned: &Grid, grid: &Grid) -> Grid {
        let (mut back, ni, nj) = (grid.clone(), turned.ni, turned.nj);
        for (j, i) in (0..nj).flat_map(|j| (0..ni).map(move |i| (j, i))) {
            back.set(self.source([ni, nj], [i, j]), turned.point(i, j));
        }
        back
    }

    /// The side that another one becomes.
    pub(super) fn side(self, side: Side) -> Side {
        let across = if self.exchanged { 1 - side.across() } else { side.across() };
        let last = side.is_last() ^ self.reversed[across];
        Side::ALL[2 * across + usize::from(last)]
    }
}

/// The topology that the points of a block tell: an O-grid whose ends in i coincide, with a seam that is solved for where
/// the wall has no corner there, a C-grid whose line j = 0 has a cut, or a rectangle.
pub(super) fn shape(grid: &Grid) -> Topology {
    let (last, wall) = (grid.ni - 1, grid.row(0));
    let found = Topology::of_coincident(grid, SAME * chord_lengths(&wall)[last]);
    let turn = angle(difference(wall[last], wall[last - 1]), difference(wall[1], wall[0]));
    match found.unwrap_or(Topology::Rectangle) {
        Topology::O(_) if turn.abs() <= corner_tangent().atan() => Topology::O(Seam::Periodic),
        other => other,
    }
}

/// The block whose interior is interpolated from its sides, by their lengths (transfinite interpolation, Gordon and Hall
/// 1973, doi:10.1002/nme.1620070405).
pub(crate) fn interpolated(grid: &Grid) -> Grid {
    let [ni, nj] = [grid.ni, grid.nj];
    let [south, north] = [0, nj - 1].map(|j| grid.row(j));
    let [west, east] = [0, ni - 1].map(|i| grid.column(i));
    let [a, b, c, d] = [&south, &north, &west, &east].map(|line| length_shares(line));
    let (mut made, [i1, j1]) = (grid.clone(), [ni - 1, nj - 1]);
    for (j, i) in (1..j1).flat_map(|j| (1..i1).map(move |i| (j, i))) {
        let middle = c[j] + i as f64 / i1 as f64 * (d[j] - c[j]);
        let u = a[i] + middle * (b[i] - a[i]);
        let v = c[j] + u * (d[j] - c[j]);
        let ends = [&south, &north].map(|line| between(line[0], line[i1], u));
        let lines = [between(south[i], north[i], v), between(west[j], east[j], u)];
        let corner = between(ends[0], ends[1], v);
        made.set([i, j], [0, 1].map(|k| lines[0][k] + lines[1][k] - corner[k]));
    }
    made
}

/// The block with the nodes of the line j = 0 moved along it towards the foot of the next node of their column. Corners
/// stay, and a fifth of each interval at least remains.
pub(super) fn slid(mut grid: Grid) -> Grid {
    let points = grid.row(0);
    let (s, last, mut reached) = (chord_lengths(&points), points.len() - 1, 0.0);
    for k in 1..last {
        let inner = grid.point(k, 1);
        let feet = (0..last).map(|m| (m, foot(inner, [points[m], points[m + 1]])));
        let away = |(_, place): &(usize, [f64; 2])| distance(*place, inner);
        let nearest = feet.min_by(|a, b| away(a).total_cmp(&away(b)));
        let foot = nearest.map_or(s[k], |(m, place)| s[m] + distance(points[m], place));
        let [low, high] = [reached + LEAST * (s[k] - s[k - 1]), s[last] - LEAST * (s[last] - s[k])];
        reached = (s[k] + SLIDE * (foot - s[k])).max(low).min(high);
        let m = s.partition_point(|length| *length <= reached).clamp(1, last) - 1;
        let place = between(points[m], points[m + 1], (reached - s[m]) / (s[m + 1] - s[m]));
        grid.set([k, 0], place);
    }
    grid
}
