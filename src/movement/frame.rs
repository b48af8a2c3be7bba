//! The fixed nodes of a grid as a function of its wall points: the line j = 0, the line next to it, and the
//! seam of an O-grid or the cut of a C-grid, which the wall carries with it.

use crate::geometry::vector::{along, angle, cross, difference, distance, dot, middle, unit};
use crate::grid::{Grid, Seam, Topology};
use std::ops::RangeInclusive;

/// A wall that turns by more than this has the normal of the bisector.
const CORNER_DEGREES: f64 = 20.0;
/// Length, in chords, over which a carried line turns with the edge: without a limit the far end of a cut
/// moves by chords.
const ARM: f64 = 0.1;

type Vector = [f64; 2];

fn turned(v: Vector) -> Vector {
    [-v[1], v[0]]
}

/// The tangent at a wall point from the segments a before it and b after it, u and v their directions.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Tangent {
    /// u |b| + v |a|: that of the parabola through the three points.
    Parabola,
    /// u + v.
    Bisector,
    /// At a sharp edge the normal is σ (u − v).
    Sharp { sign: f64 },
}

impl Tangent {
    /// The formula of the generator for these segments, outward being the side of `first`.
    fn choose(a: Vector, b: Vector, first: Vector) -> Self {
        let (u, v) = (unit(a), unit(b));
        if dot(u, v) < 0.0 {
            return Self::Sharp { sign: dot(difference(u, v), first).signum() };
        }
        let corner = angle(u, v).abs() > CORNER_DEGREES.to_radians();
        if corner { Self::Bisector } else { Self::Parabola }
    }

    /// The unit tangent; turned left it is the normal.
    fn of(self, a: Vector, b: Vector) -> Vector {
        let (u, v) = (unit(a), unit(b));
        let (la, lb) = (dot(a, a).sqrt(), dot(b, b).sqrt());
        let sum = |wu: f64, wv: f64| [wu * u[0] + wv * v[0], wu * u[1] + wv * v[1]];
        match self {
            Self::Parabola => unit(sum(lb, la)),
            Self::Bisector => unit(sum(1.0, 1.0)),
            Self::Sharp { sign } => {
                let n = unit(sum(sign, -sign));
                [n[1], -n[0]]
            }
        }
    }
}

/// The map from wall points to fixed nodes that a grid defines.
#[derive(Debug, Clone)]
pub(super) struct Frame {
    reference: Grid,
    /// The formula of the tangent of each point of the line j = 0, chosen at the reference, and the first
    /// cell (α, β) along tangent and normal.
    first_cells: Vec<(Tangent, Vector)>,
    /// Share of the wall's displacement that each node takes, `[nj][ni]`: 1 at the wall and 0 at the end.
    shares: Vec<f64>,
}

impl Frame {
    pub(super) fn new(reference: Grid) -> Self {
        let (ni, nj) = (reference.ni, reference.nj);
        let line: Vec<Vector> = (0..ni).map(|i| reference.point(i, 0)).collect();
        let first_cells = (0..ni)
            .map(|i| {
                let first = difference(reference.point(i, 1), line[i]);
                let [a, b] = segments(reference.topology, &line, i);
                let tangent = Tangent::choose(a, b, first);
                let t = tangent.of(a, b);
                (tangent, [dot(first, t), dot(first, turned(t))])
            })
            .collect();
        let mut shares = vec![0.0; ni * nj];
        for i in 0..ni {
            let column: Vec<Vector> = (0..nj).map(|j| reference.point(i, j)).collect();
            for (j, share) in shares_along(&column).into_iter().enumerate() {
                shares[j * ni + i] = share;
            }
        }
        Self { reference, first_cells, shares }
    }

    pub(super) fn wall(&self) -> RangeInclusive<usize> {
        self.reference.topology.wall(self.reference.ni)
    }

    /// The grid whose nodes are the fixed ones for these wall points, and elsewhere those of `from`
    /// displaced by their share of what the line j = 0 has moved since.
    pub(super) fn start(&self, from: &Grid, wall: &[Vector]) -> Grid {
        let Grid { topology, ni, nj, .. } = *from;
        let mut moved = from.clone();
        let line = self.line(wall);
        let shift: Vec<Vector> = (0..ni).map(|i| difference(line[i], from.point(i, 0))).collect();
        for j in 1..nj - 1 {
            for (i, shift) in shift.iter().enumerate() {
                let (k, share) = (moved.index(i, j), self.shares[j * ni + i]);
                moved.x[k] += share * shift[0];
                moved.y[k] += share * shift[1];
            }
        }
        let mut set = |i: usize, j: usize, point: Vector| {
            let k = moved.index(i, j);
            [moved.x[k], moved.y[k]] = point;
        };
        if topology == Topology::O(Seam::Held) {
            for (j, point) in self.seam(&line).into_iter().enumerate() {
                set(0, j, point);
                set(ni - 1, j, point);
            }
        }
        // The outflow of a C-grid stays where it is.
        let ends = usize::from(!topology.closed());
        for i in ends..ni - ends {
            let (tangent, [along_wall, height]) = self.first_cells[i];
            let [a, b] = segments(topology, &line, i);
            let t = tangent.of(a, b);
            set(i, 0, line[i]);
            set(i, 1, along(along(line[i], t, along_wall), turned(t), height));
        }
        moved
    }

    /// The line j = 0.
    fn line(&self, wall: &[Vector]) -> Vec<Vector> {
        let (grid, range) = (&self.reference, self.wall());
        let before: Vec<Vector> = range.clone().map(|i| grid.point(i, 0)).collect();
        let (first, last) = (*range.start(), *range.end());
        let edge = |wall: &[Vector]| middle(wall[0], wall[wall.len() - 1]);
        let direction = |wall: &[Vector]| {
            let n = wall.len() - 1;
            let [low, high] =
                [difference(wall[0], wall[1]), difference(wall[n], wall[n - 1])].map(unit);
            unit([low[0] + high[0], low[1] + high[1]])
        };
        let [now, then] = [wall, &before[..]].map(|wall| (edge(wall), direction(wall)));
        let cut = |range: Vec<usize>| -> Vec<Vector> {
            carried(&range.into_iter().map(|i| grid.point(i, 0)).collect::<Vec<_>>(), then, now)
        };
        let mut low = cut((0..=first).rev().collect());
        low.reverse();
        low.pop();
        let high = cut((last..grid.ni).collect());
        low.into_iter().chain(wall.iter().copied()).chain(high.into_iter().skip(1)).collect()
    }

    /// The seam of an O-grid that holds it.
    fn seam(&self, line: &[Vector]) -> Vec<Vector> {
        let grid = &self.reference;
        let before: Vec<Vector> = (0..grid.ni).map(|i| grid.point(i, 0)).collect();
        let at = |line: &[Vector]| {
            let [a, b] = segments(grid.topology, line, 0);
            (line[0], self.first_cells[0].0.of(a, b))
        };
        let seam: Vec<Vector> = (0..grid.nj).map(|j| grid.point(0, j)).collect();
        carried(&seam, at(&before), at(line))
    }
}

/// The segments before and after point i of the line j = 0; an end of an open line has one.
fn segments(topology: Topology, line: &[Vector], i: usize) -> [Vector; 2] {
    let last = line.len() - 1;
    let before = match i {
        0 if topology.closed() => last - 1,
        0 => 0,
        i => i - 1,
    };
    let after = if i < last {
        i + 1
    } else if topology.closed() {
        1
    } else {
        last
    };
    let [a, b] = [difference(line[i], line[before]), difference(line[after], line[i])];
    if before == i {
        [b, b]
    } else if after == i {
        [a, a]
    } else {
        [a, b]
    }
}

/// f = 1 − ln(1 + s²)/ln(1 + S²) with the distance s along a line of length S.
fn shares_along(line: &[Vector]) -> Vec<f64> {
    let lengths = lengths(line);
    let whole = lengths.last().map_or(1.0, |length| (length * length).ln_1p());
    lengths.iter().map(|s| 1.0 - (s * s).ln_1p() / whole).collect()
}

fn lengths(line: &[Vector]) -> Vec<f64> {
    let steps = line.windows(2).map(|pair| distance(pair[0], pair[1]));
    let sums = steps.scan(0.0, |sum, step| {
        *sum += step;
        Some(*sum)
    });
    std::iter::once(0.0).chain(sums).collect()
}

/// A line that begins at an edge, which moves from one place and direction to another:
/// r + f [(E − E⁰) + (c − 1) a + s a^⊥] with c, s the turn and a = (r − E⁰)(1 − e^(−s/d)) d/s.
fn carried(line: &[Vector], then: (Vector, Vector), now: (Vector, Vector)) -> Vec<Vector> {
    let shift = difference(now.0, then.0);
    let (cosine, sine) = (dot(then.1, now.1), cross(then.1, now.1));
    let place = |((r, share), s): ((&Vector, f64), f64)| {
        let reach = if s > 0.0 { -(-s / ARM).exp_m1() * ARM / s } else { 1.0 };
        let arm = difference(*r, then.0).map(|c| c * reach);
        let across = turned(arm);
        let by = |k: usize| share * (shift[k] + (cosine - 1.0) * arm[k] + sine * across[k]);
        [r[0] + by(0), r[1] + by(1)]
    };
    line.iter().zip(shares_along(line)).zip(lengths(line)).map(place).collect()
}
