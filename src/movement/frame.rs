//! The fixed nodes of a grid as a function of its wall points (theory section 7): the line j = 0, the line next to
//! it, and the seam of an O-grid or the cut of a C-grid, which the wall carries with it.

use super::tape::{Derivative, Tape};
use crate::backend::{FixedLines, FixedPlaces};
use crate::geometry::vector::{Scalar, Vector, along, angle, cross, difference, dot, middle, unit};
use crate::geometry::{CORNER_DEGREES, chord_lengths};
use crate::grid::{Grid, Seam, Topology};
use std::ops::RangeInclusive;
use std::sync::Arc;

/// Length, in chords, over which a carried line turns with the edge: without a limit the far end of a cut
/// moves by chords.
const ARM: f64 = 0.1;

/// Place and direction of an edge.
type Edge<S = f64> = ([S; 2], [S; 2]);

/// The map from wall points to fixed nodes that a grid defines.
#[derive(Debug, Clone)]
pub struct FixedNodeMap {
    reference: Arc<Grid>,
    /// Lines of constant j from the wall to the first that stays where it is.
    pub(super) lines: usize,
    /// The formula of the tangent of each point of the line j = 0, chosen at the reference, and the first
    /// cell (α, β) along tangent and normal.
    first_cells: Vec<(TangentRule, Vector)>,
}

impl FixedNodeMap {
    /// The map of a grid whose last lines stay, from the last of the `lines` of constant j on: the outer line, and where
    /// that is a wall the line of its first cells, too.
    pub fn new(reference: Arc<Grid>, lines: usize) -> Self {
        let line = reference.row(0);
        let first_cells = (0..reference.ni)
            .map(|i| {
                let first = difference(reference.point(i, 1), line[i]);
                let beside = segments(reference.topology, &line, i);
                let tangent = TangentRule::choose(beside, first);
                let t = tangent.of(beside);
                (tangent, [dot(first, t), dot(first, turned(t))])
            })
            .collect();
        Self { reference, lines, first_cells }
    }

    /// Raises the first cells by these amounts along the wall, as many as it has points.
    pub(super) fn with_heights(&self, changes: &[f64]) -> Self {
        let mut frame = self.clone();
        let cells = &mut frame.first_cells[self.wall()];
        for ((_, [_, height]), change) in cells.iter_mut().zip(changes) {
            *height += change;
        }
        frame
    }

    /// The grid that it was made of.
    pub fn reference(&self) -> &Grid {
        &self.reference
    }

    pub(super) fn wall(&self) -> RangeInclusive<usize> {
        self.reference.topology.wall(self.reference.ni)
    }

    /// The fixed nodes for these wall points.
    pub(super) fn fixed(&self, wall: &[Vector]) -> FixedLines {
        let heights: Vec<f64> = self.heights().collect();
        FixedLines { places: self.places(), values: self.values(wall, &heights) }
    }

    /// The heights of the first cells along the wall.
    pub fn heights(&self) -> impl Iterator<Item = f64> {
        self.first_cells[self.wall()].iter().map(|(_, [_, height])| *height)
    }

    /// The fixed nodes for wall points and heights of first cells, in the order of their places.
    pub fn values<S: Scalar>(&self, wall: &[[S; 2]], heights: &[S]) -> Vec<[S; 2]> {
        let Grid { topology, ni, .. } = *self.reference;
        let (line, places) = (self.line(wall), self.places());
        let held = topology == Topology::O(Seam::Held);
        let mut values = vec![[S::from(0.0); 2]; FixedLines::zeros(places, held).values.len()];
        if held {
            for (j, point) in self.seam(&line).into_iter().enumerate() {
                for end in 0..2 {
                    values[places.on_column(end, j)] = point;
                }
            }
        }
        let on_wall = |i: usize| i.checked_sub(*self.wall().start()).and_then(|k| heights.get(k));
        for i in 0..ni {
            let (tangent, [along_wall, height]) = self.first_cells[i];
            let height = on_wall(i).copied().unwrap_or(height.into());
            let t = tangent.of(segments(topology, &line, i));
            // The outflow of a C-grid stays where it is.
            let stays = !topology.closed() && (i == 0 || i + 1 == ni);
            values[places.on_line(0, i)] = line[i];
            values[places.on_line(1, i)] = if stays {
                self.reference.point(i, 1).map(S::from)
            } else {
                along(along(line[i], t, along_wall.into()), turned(t), height)
            };
        }
        values
    }

    fn places(&self) -> FixedPlaces {
        FixedPlaces { ni: self.reference.ni, nj: self.reference.nj }
    }

    /// The derivative of the fixed nodes for these wall points. Of a periodic grid the last column, which
    /// repeats the first, is left out.
    pub fn jacobian(&self, wall: &[Vector]) -> FixedNodes {
        let (tape, places, topology) = (Tape::default(), self.places(), self.reference.topology);
        let points: Vec<_> = wall.iter().map(|at| at.map(|c| tape.variable(c))).collect();
        let heights: Vec<_> = self.heights().map(|height| tape.variable(height)).collect();
        let FixedPlaces { ni, nj } = places;
        // At crossings of a line with a column the value of the line counts.
        let counts = |&at: &usize| match at.checked_sub(2 * ni) {
            Some(on_column) => on_column % nj > 1,
            None => !topology.periodic() || at % ni + 1 < ni,
        };
        let values = self.values(&points, &heights);
        let place = |at: usize| (at, values[at].map(|value| tape.place(value)));
        let nodes = (0..values.len()).filter(counts).map(place).collect();
        FixedNodes { wall: wall.len(), topology, places, nodes, derivative: tape.derivative() }
    }

    /// The line j = 0.
    fn line<S: Scalar>(&self, wall: &[[S; 2]]) -> Vec<[S; 2]> {
        let (grid, before) = (&self.reference, self.reference.wall());
        let (first, last) = self.wall().into_inner();
        let (mut low, high) = (grid.row(0), grid.row(0).split_off(last));
        low.truncate(first + 1);
        low.reverse();
        let (mut low, high) = if matches!(grid.topology, Topology::Blunt { .. }) {
            interfaces([&low, &high], wall)
        } else {
            let (now, then) = (edge(wall), edge(&before));
            (carried(&low, then, now, &CUT), carried(&high, then, now, &CUT))
        };
        low.reverse();
        low.pop();
        low.into_iter().chain(wall.iter().copied()).chain(high.into_iter().skip(1)).collect()
    }

    /// The seam of an O-grid that holds it.
    fn seam<S: Scalar>(&self, line: &[[S; 2]]) -> Vec<[S; 2]> {
        let (grid, tangent) = (&self.reference, self.first_cells[0].0);
        let before = grid.row(0);
        let then = (before[0], tangent.of(segments(grid.topology, &before, 0)));
        let now = (line[0], tangent.of(segments(grid.topology, line, 0)));
        let seam = grid.column(0);
        let (within, beyond) = seam.split_at(self.lines);
        let beyond = beyond.iter().map(|point| point.map(S::from));
        carried(within, then, now, &CUT).into_iter().chain(beyond).collect()
    }
}

/// Place and direction of the edge of a wall: the mean of its ends, and the bisector of both surfaces.
fn edge<S: Scalar>(wall: &[[S; 2]]) -> Edge<S> {
    let n = wall.len() - 1;
    let surfaces = [difference(wall[0], wall[1]), difference(wall[n], wall[n - 1])];
    let [low, high] = surfaces.map(unit);
    (middle(wall[0], wall[n]), unit([low[0] + high[0], low[1] + high[1]]))
}

/// The lower and the upper interface behind the base of a wall, which begin at its ends. Their centre line is carried with
/// middle and normal of the base, half the way across d turns with it, so that lines across stay at right angles, and
/// follows the base by its share f: R d + f (d⁰' − R⁰ d⁰) with the turn R of the centre line there.
fn interfaces<S: Scalar>(
    [lower, upper]: [&[Vector]; 2],
    wall: &[[S; 2]],
) -> (Vec<[S; 2]>, Vec<[S; 2]>) {
    let ends = [wall[0], wall[wall.len() - 1]];
    let given = |point: Vector| point.map(S::from);
    let half = |[a, b]: [[S; 2]; 2]| difference(b, a).map(|c| S::from(0.5) * c);
    let line: Vec<Vector> = lower.iter().zip(upper).map(|(a, b)| middle(*a, *b)).collect();
    let normal = unit(turned(difference(upper[0], lower[0])));
    let now = unit(turned(half(ends)));
    let carried = carried(&line, (line[0], normal), (middle(ends[0], ends[1]), now), &INTERFACE);
    // A half way of the reference, turned as one direction turns to the other.
    let across = |i: usize, from: Vector, to: [S; 2]| {
        let (from, d) = (given(from), half([given(lower[i]), given(upper[i])]));
        let (cosine, sine) = (dot(from, to), cross(from, to));
        [cosine * d[0] - sine * d[1], sine * d[0] + cosine * d[1]]
    };
    let excess = difference(half(ends), across(0, normal, now));
    let (mut low, mut high) = (vec![ends[0]], vec![ends[1]]);
    let last = line.len() - 1;
    for (i, share) in INTERFACE.shares(&line).into_iter().enumerate().take(last).skip(1) {
        let from = unit(difference(line[i + 1], line[i - 1]));
        let to = unit(difference(carried[i + 1], carried[i - 1]));
        let across = along(across(i, from, to), excess, S::from(share));
        low.push(difference(carried[i], across));
        high.push(along(carried[i], across, S::from(1.0)));
    }
    // The outflow stays where it is.
    low.push(given(lower[last]));
    high.push(given(upper[last]));
    (low, high)
}

/// The derivative of the fixed nodes by wall points and by the heights of first cells, which are the variables of
/// its record in this order.
#[derive(Debug)]
pub struct FixedNodes {
    wall: usize,
    topology: Topology,
    places: FixedPlaces,
    /// Places of nodes, and of their coordinates in the record.
    nodes: Vec<(usize, [usize; 2])>,
    derivative: Derivative,
}

impl FixedNodes {
    /// The displacement of the fixed nodes.
    pub fn displacement(&self, wall: &[Vector], heights: &[f64]) -> FixedLines {
        let held = self.topology == Topology::O(Seam::Held);
        let mut nodes = FixedLines::zeros(self.places, held);
        let found = self.derivative.along(&[wall.as_flattened(), heights].concat());
        for (node, places) in &self.nodes {
            nodes.values[*node] = places.map(|place| found[place]);
        }
        if self.topology.periodic() {
            // The last column repeats the first.
            for j in 0..2 {
                let [first, last] = [0, self.places.ni - 1].map(|i| self.places.on_line(j, i));
                nodes.values[last] = nodes.values[first];
            }
        }
        nodes
    }

    /// The transpose of [`Self::displacement`]: derivatives by the wall points and by the heights from those by
    /// the nodes, of a periodic grid without those by the last column.
    pub fn gather(&self, nodes: &FixedLines) -> (Vec<Vector>, Vec<f64>) {
        let places = self.nodes.iter();
        let by_places =
            places.flat_map(|(node, places)| places.iter().copied().zip(nodes.values[*node]));
        let mut wall = self.derivative.transposed(3 * self.wall, by_places);
        let heights = wall.split_off(2 * self.wall);
        (wall.as_chunks().0.to_vec(), heights)
    }
}

/// The segments before and after point i of the line j = 0; an end of an open line has one.
fn segments<S: Scalar>(topology: Topology, line: &[[S; 2]], i: usize) -> [[S; 2]; 2] {
    let last = line.len() - 1;
    let ends = if topology.closed() { [last - 1, 1] } else { [0, last] };
    let before = if i == 0 { ends[0] } else { i - 1 };
    let after = if i == last { ends[1] } else { i + 1 };
    let [a, b] = [difference(line[i], line[before]), difference(line[after], line[i])];
    match [before == i, after == i] {
        [true, _] => [b, b],
        [_, true] => [a, a],
        _ => [a, b],
    }
}

/// A line that begins at an edge, which moves from one place and direction to another:
/// r + f [(E − E⁰) + (c − 1) a + s a^⊥] with c, s the turn and a, f of [`Decay`] (theory eq. 18).
fn carried<S: Scalar>(line: &[Vector], then: Edge, now: Edge<S>, decay: &Decay) -> Vec<[S; 2]> {
    let shift = difference(now.0, then.0.map(S::from));
    let direction = then.1.map(S::from);
    let (cosine, sine) = (dot(direction, now.1), cross(direction, now.1));
    let place = |(r, (share, arm)): (&Vector, (f64, Vector))| {
        let across = turned(arm);
        let by = |k: usize| {
            let (along, across) = (S::from(arm[k]), S::from(across[k]));
            S::from(share) * (shift[k] + (cosine - S::from(1.0)) * along + sine * across)
        };
        [S::from(r[0]) + by(0), S::from(r[1]) + by(1)]
    };
    line.iter().zip(decay.arms(line, then.0)).map(place).collect()
}

/// The decay of a movement along a line that begins at an edge, at the distance s from it on a line of length S.
struct Decay {
    /// Power n of the share f = 1 − ln(1 + sⁿ)/ln(1 + Sⁿ) of the movement of the edge.
    power: i32,
    /// The length a of the arm that turns with the edge, both in units of [`ARM`].
    arm: fn(f64) -> f64,
}

/// Along a seam or a cut: a = 1 − e^(−s).
const CUT: Decay = Decay { power: 2, arm: |s| -(-s).exp_m1() };

/// Along the middle between two interfaces: a = tanh s. A movement leaves no curvature at the base, whose first cells are as
/// high at the corners as between them.
const INTERFACE: Decay = Decay { power: 3, arm: f64::tanh };

impl Decay {
    fn shares(&self, line: &[Vector]) -> Vec<f64> {
        let lengths = chord_lengths(line);
        let whole = lengths.last().map_or(1.0, |length| length.powi(self.power).ln_1p());
        lengths.iter().map(|s| 1.0 - s.powi(self.power).ln_1p() / whole).collect()
    }

    /// Share f and arm a (r − E⁰)/s of each point of a line that begins at the edge E⁰.
    fn arms(&self, line: &[Vector], edge: Vector) -> impl Iterator<Item = (f64, Vector)> {
        let arm = move |(r, s): (&Vector, f64)| {
            let reach = if s > 0.0 { (self.arm)(s / ARM) * ARM / s } else { 1.0 };
            difference(*r, edge).map(|c| c * reach)
        };
        self.shares(line).into_iter().zip(line.iter().zip(chord_lengths(line)).map(arm))
    }
}

/// v turned left by 90°.
pub(super) fn turned<S: Scalar>(v: [S; 2]) -> [S; 2] {
    [-v[1], v[0]]
}

/// The tangent at a wall point from the segments a before it and b after it, u and v their directions
/// (theory eq. 17).
#[derive(Debug, Clone, Copy, PartialEq)]
enum TangentRule {
    /// u |b| + v |a|: that of the parabola through the three points.
    Parabola,
    /// u + v.
    Bisector,
    /// At a sharp edge the normal is σ (u − v).
    Sharp { sign: f64 },
}

impl TangentRule {
    /// The formula of the generator for these segments, outward being the side of `first`.
    fn choose([a, b]: [Vector; 2], first: Vector) -> Self {
        let (u, v) = (unit(a), unit(b));
        if dot(u, v) < 0.0 {
            return Self::Sharp { sign: dot(difference(u, v), first).signum() };
        }
        let corner = angle(u, v).abs() > CORNER_DEGREES.to_radians();
        if corner { Self::Bisector } else { Self::Parabola }
    }

    /// The unit tangent; turned left it is the normal.
    fn of<S: Scalar>(self, [a, b]: [[S; 2]; 2]) -> [S; 2] {
        let (u, v) = (unit(a), unit(b));
        let (la, lb) = (dot(a, a).sqrt(), dot(b, b).sqrt());
        let sum = |wu: S, wv: S| [wu * u[0] + wv * v[0], wu * u[1] + wv * v[1]];
        match self {
            Self::Parabola => unit(sum(lb, la)),
            Self::Bisector => unit(sum(1.0.into(), 1.0.into())),
            Self::Sharp { sign } => {
                let n = unit(sum(sign.into(), (-sign).into()));
                [n[1], -n[0]]
            }
        }
    }
}
