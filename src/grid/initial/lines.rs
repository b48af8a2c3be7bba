//! Lines between the wall and a polygon, by transfinite interpolation and by Winslow's equations, and the layers
//! along them.

use rayon::prelude::*;

use super::outline::{Enclosed, Outline};
use crate::geometry::vector::{along, between, difference, distance, dot, unit};
use crate::geometry::{
    chord_lengths, growth_to_walls, last_interval, length_shares, spacing_geometric,
    spacing_layered, spacing_to_walls, turned,
};
use crate::grid::{Grid, Topology, interval_control};

/// Rows of the lines of Winslow's equations.
pub(super) const ROWS: usize = 25;
/// Most passes of Picard's iteration, the change in chords at which it ends, and the pass from which points slide.
const PASSES: usize = 25;
const CHANGE: f64 = 1e-4;
const SLIDE_FROM: usize = 3;
/// Share of the way to the foot of the perpendicular by which a point slides in a pass, and the points beside a corner
/// that slide less.
const SLIDE: f64 = 0.3;
const BESIDE_CORNER: f64 = 8.0;
/// An interval is at least this share of itself a pass before, and of itself at the start.
const LEAST_INTERVAL: [f64; 2] = [0.5, 0.4];
/// An interval does not shrink in a pass below that of a neighbour on its side over this ratio.
const SLIDING_GROWTH: f64 = 1.3;

/// Lines by transfinite interpolation from the line j = 0, the outer line, and the lines at both ends, of which each is
/// straight, or on an O-grid the seam.
pub(super) fn transfinite(outline: &Outline, enclosed: &Enclosed) -> Grid {
    let ni = outline.points.len();
    let outer = enclosed.points(&enclosed.start);
    let wall = outline.points;
    let share = |j: usize| j as f64 / (ROWS - 1) as f64;
    let end = |i: usize| -> Vec<[f64; 2]> {
        let (from, to) = (wall[i], outer[i]);
        let of_seam =
            |[slope, turn]: [f64; 2], s: f64| [from[0] + s, from[1] + slope * turned(s, turn)];
        let node = |j: usize| match enclosed.seam {
            Some(seam) => of_seam(seam, share(j) * (to[0] - from[0])),
            None => between(from, to, share(j)),
        };
        (0..ROWS).map(node).collect()
    };
    let ends = [end(0), end(ni - 1)];
    let [below, above] = [wall, &outer].map(length_shares);
    let [left, right] = ends.each_ref().map(|line| length_shares(line));
    let inner = |i: usize, j: usize| {
        let around = i as f64 / (ni - 1) as f64;
        let v = (1.0 - around) * left[j] + around * right[j];
        let u = (1.0 - v) * below[i] + v * above[i];
        [0, 1].map(|c| {
            let rows = (1.0 - v) * wall[i][c] + v * outer[i][c];
            let columns = (1.0 - u) * ends[0][j][c] + u * ends[1][j][c];
            let corners = (1.0 - v) * ((1.0 - u) * wall[0][c] + u * wall[ni - 1][c])
                + v * ((1.0 - u) * outer[0][c] + u * outer[ni - 1][c]);
            rows + columns - corners
        })
    };
    Grid::of_nodes(outline.topology, [ni, ROWS], |i, j| match (i, j) {
        (_, 0) => wall[i],
        (_, j) if j == ROWS - 1 => outer[i],
        (0, _) => ends[0][j],
        (i, _) if i == ni - 1 => ends[1][j],
        _ => inner(i, j),
    })
}

/// Passes of Picard's iteration over Winslow's equations with the control function P of both lines, linear between them,
///
/// ```text
/// (g22 + |r_ηη|²/4)(r_ξξ + P r_ξ) − 2 g12 r_ξη + (g11 + |r_ξξ|²/4) r_ηη = 0
/// ```
///
/// whose fractions keep rows and columns apart where a grid is folded. Returns the places of the points of the outer line,
/// which, if asked, slide by 0.3 (1 − e^(−(d/8)²)) of the way to the foot of the perpendicular in each pass, d columns from a corner.
pub(super) fn winslow(grid: &mut Grid, enclosed: &Enclosed, slides: bool) -> Vec<f64> {
    let (ni, m) = (grid.ni, ROWS - 2);
    let mut places = enclosed.start.clone();
    let intervals =
        |places: &[f64]| -> Vec<f64> { places.windows(2).map(|t| t[1] - t[0]).collect() };
    let at_start = intervals(&places);
    let from_corner =
        |i: usize| enclosed.corners.iter().map(|corner| corner.abs_diff(i)).min().unwrap_or(0);
    let shares: Vec<f64> = (0..ni)
        .map(|i| -SLIDE * (-(from_corner(i) as f64 / BESIDE_CORNER).powi(2)).exp_m1())
        .collect();
    let control = |grid: &Grid, j: usize, i: usize| {
        interval_control([i - 1, i, i + 1].map(|i| grid.point(i, j)))
    };
    let mut band = Band::new((ni - 2) * m, m + 1);
    for pass in 0..PASSES {
        band.clear();
        for i in 1..ni - 1 {
            let ends = [control(grid, 0, i), control(grid, ROWS - 1, i)];
            for j in 1..=m {
                let share = j as f64 / (ROWS - 1) as f64;
                let p = (1.0 - share) * ends[0] + share * ends[1];
                let half = |[a, b]: [[f64; 2]; 2]| difference(b, a).map(|c| 0.5 * c);
                let bend = |[a, b]: [[f64; 2]; 2]| {
                    let at = grid.point(i, j);
                    [0, 1].map(|c| a[c] + b[c] - 2.0 * at[c])
                };
                let beside = [i - 1, i + 1].map(|i| grid.point(i, j));
                let across = [j - 1, j + 1].map(|j| grid.point(i, j));
                let (xi, eta) = (half(beside), half(across));
                let a = dot(eta, eta) + 0.25 * dot(bend(across), bend(across));
                let c = dot(xi, xi) + 0.25 * dot(bend(beside), bend(beside));
                let cross = 0.5 * dot(xi, eta);
                let (west, east) = (a * (1.0 - 0.5 * p), a * (1.0 + 0.5 * p));
                let weights =
                    [[-cross, c, cross], [west, -2.0 * (a + c), east], [cross, c, -cross]];
                let own = (i - 1) * m + j - 1;
                for (dj, weights) in weights.iter().enumerate() {
                    for (di, weight) in weights.iter().enumerate() {
                        let (i, j) = (i + di - 1, j + dj - 1);
                        if (1..ni - 1).contains(&i) && (1..=m).contains(&j) {
                            band.add(own, (i - 1) * m + j - 1, *weight);
                        } else {
                            band.right[own] =
                                [0, 1].map(|k| band.right[own][k] - weight * grid.point(i, j)[k]);
                        }
                    }
                }
            }
        }
        let mut change: f64 = 0.0;
        for (k, node) in band.solve().iter().enumerate() {
            let [i, j] = [k / m + 1, k % m + 1];
            change = change.max(distance(*node, grid.point(i, j)));
            grid.set([i, j], *node);
        }
        if slides && pass >= SLIDE_FROM {
            let slid = |i: usize| {
                let way = difference(grid.point(i, ROWS - 2), grid.point(i, ROWS - 1));
                places[i] + shares[i] * dot(way, enclosed.line.tangent(places[i]))
            };
            let asked: Vec<f64> = (0..ni).map(slid).collect();
            let before = intervals(&places);
            for (columns, ends) in
                enclosed.corners.windows(2).zip(enclosed.line.corners().windows(2))
            {
                let [first, last] = [columns[0], columns[1]];
                let least = |k: usize| {
                    let beside = before[k.max(first + 1) - 1].max(before[(k + 1).min(last - 1)]);
                    let even = before[k].min(beside / SLIDING_GROWTH);
                    even.max(LEAST_INTERVAL[0] * before[k]).max(LEAST_INTERVAL[1] * at_start[k])
                };
                let held = places.clone();
                places[first] = ends[0];
                // Points that come too near to one another are held apart; others on the side stay where they slide to.
                for k in first + 1..last {
                    places[k] = asked[k].max(places[k - 1] + least(k - 1));
                }
                places[last] = ends[1];
                for k in (first + 1..last).rev() {
                    places[k] = places[k].min(places[k + 1] - least(k));
                }
                let slid = held[first..last].iter().zip(&places[first..last]);
                change =
                    slid.fold(change, |most, (before, after)| most.max((after - before).abs()));
            }
            for (i, point) in enclosed.points(&places).into_iter().enumerate() {
                grid.set([i, ROWS - 1], point);
            }
        }
        if change < CHANGE {
            break;
        }
    }
    places
}

/// A banded system with two right-hand sides.
struct Band {
    half: usize,
    /// Rows of 2 half + 1 coefficients.
    rows: Vec<f64>,
    right: Vec<[f64; 2]>,
}

impl Band {
    fn new(n: usize, half: usize) -> Self {
        Self { half, rows: vec![0.0; n * (2 * half + 1)], right: vec![[0.0; 2]; n] }
    }

    fn clear(&mut self) {
        self.rows.fill(0.0);
        self.right.fill([0.0; 2]);
    }

    fn add(&mut self, row: usize, column: usize, value: f64) {
        self.rows[row * (2 * self.half + 1) + self.half + column - row] += value;
    }

    /// The solution by elimination without interchanges.
    fn solve(&mut self) -> &[[f64; 2]] {
        let (n, half, width) = (self.right.len(), self.half, 2 * self.half + 1);
        for k in 0..n {
            let (above, below) = self.rows.split_at_mut((k + 1) * width);
            let pivots = &above[k * width + half..];
            let right = self.right[k];
            for r in k + 1..(k + half + 1).min(n) {
                let row = &mut below[(r - k - 1) * width..(r - k) * width];
                let from = half + k - r;
                let factor = row[from] / pivots[0];
                if factor != 0.0 {
                    for (value, pivot) in row[from..=from + half].iter_mut().zip(pivots) {
                        *value -= factor * pivot;
                    }
                    let [x, y] = self.right[r];
                    self.right[r] = [x - factor * right[0], y - factor * right[1]];
                }
            }
        }
        for k in (0..n).rev() {
            let row = &self.rows[k * width + half..(k + 1) * width];
            let [mut x, mut y] = self.right[k];
            for (coefficient, known) in row[1..].iter().zip(&self.right[k + 1..]) {
                x -= coefficient * known[0];
                y -= coefficient * known[1];
            }
            self.right[k] = [x / row[0], y / row[0]];
        }
        &self.right
    }
}

/// Parts of an interval over which the length of a line is summed.
const PARTS: usize = 8;

/// Layers along each of the lines: first cells of their height along the normals of the wall, and a constant ratio of the
/// intervals from there, or the layers that are given and then a constant ratio. An outer line with walls has first cells,
/// too, along the normals of its sides.
pub(super) fn layered(outline: &Outline, enclosed: &Enclosed, lines: &Grid) -> Grid {
    let (ni, nj) = (lines.ni, outline.layers.len());
    let heights = outline.first_heights();
    let (columns, closed) = (outline.topology.columns(ni), outline.topology.closed());
    let curve = |i: usize| {
        let line = lines.column(i);
        let outwards = |_| unit(enclosed.line.inward(line[lines.nj - 1])).map(|c| -c);
        let leaves = enclosed.wall.as_ref().map(outwards);
        // At the corners of a base normals cross above columns that are as near as first cells are high.
        let base = matches!(outline.topology, Topology::Blunt { .. });
        let secant = || unit(difference(line[1], line[0]));
        let direction = if base { secant() } else { outline.normals[i] };
        Curve::new(line, (direction, leaves))
    };
    let curves: Vec<Curve> = (0..columns).into_par_iter().map(curve).collect();
    let opposite = enclosed.wall.as_ref().map(|(least, walls)| {
        // Beyond walls the lines grow as those to the ends of the walls do: lines of constant j have no waves.
        let growth = |k: usize| growth_to_walls(nj, [heights[k], *least], curves[k].length());
        let height = |i: usize| {
            let Some(z) = between_walls(walls, i, (columns, closed), growth) else { return *least };
            let length = curves[i].length();
            let equal = length / (nj - 1) as f64;
            last_interval(nj, heights[i], z, length).map_or(equal, |last| last.min(equal))
        };
        (0..columns).map(height).collect::<Vec<f64>>()
    });
    let nodes = |(i, curve): (usize, &Curve)| {
        let (height, length) = (heights[i], curve.length());
        let laid = match (enclosed.near, &opposite) {
            (_, Some(last)) => spacing_to_walls(nj, [height, last[i]], length),
            (Some(near), _) => spacing_layered(nj, height, near, length),
            (None, _) => spacing_geometric(nj, height, length),
        };
        // A line whose length is no number gives a folded grid.
        let laid = laid.or_else(|_| spacing_geometric(nj, height, length));
        let laid = laid.unwrap_or_else(|_| vec![f64::NAN; nj]);
        let mut nodes = curve.at(&laid);
        nodes[1] = along(nodes[0], outline.normals[i], height);
        if let Some(last) = &opposite {
            nodes[nj - 2] = along(nodes[nj - 1], enclosed.line.inward(nodes[nj - 1]), last[i]);
        }
        nodes
    };
    let all: Vec<Vec<[f64; 2]>> = curves.par_iter().enumerate().map(nodes).collect();
    Grid::of_nodes(outline.topology, [ni, nj], |i, j| all[i % columns][j])
}

/// A value of the columns at the ends of `walls`, of which each has a first and a last column, linear between two walls and
/// constant beyond the last one. None in a column of a wall. Around a closed line a wall is reached on both ways.
fn between_walls(
    walls: &[[usize; 2]],
    i: usize,
    (columns, closed): (usize, bool),
    value: impl Fn(usize) -> f64,
) -> Option<f64> {
    if walls.iter().any(|[first, last]| (first..=last).contains(&&i)) {
        return None;
    }
    let cells =
        |from: usize, to: usize| (closed || from <= to).then(|| (to + columns - from) % columns);
    let before = walls.iter().filter_map(|[_, last]| Some((cells(*last, i)?, last % columns)));
    let after = walls.iter().filter_map(|[first, _]| Some((cells(i, *first)?, *first)));
    match (before.min(), after.min()) {
        (Some((from, before)), Some((to, after))) => {
            let share = from as f64 / (from + to).max(1) as f64;
            Some((1.0 - share) * value(before) + share * value(after))
        }
        (Some((_, only)), None) | (None, Some((_, only))) => Some(value(only)),
        (None, None) => None,
    }
}

/// A cubic spline through a line that has given directions at its ends, or no curvature at its last point, by arc length.
struct Curve {
    spline: Clamped,
    /// Knots at equal parts of the intervals, and the length up to each.
    places: Vec<f64>,
    lengths: Vec<f64>,
}

impl Curve {
    fn new(line: Vec<[f64; 2]>, directions: ([f64; 2], Option<[f64; 2]>)) -> Self {
        // Knots by arc length, from those by chords.
        let (_, lengths) = Clamped::new(chord_lengths(&line), line.clone(), directions).lengths();
        let knots = lengths.into_iter().step_by(PARTS).collect();
        let spline = Clamped::new(knots, line, directions);
        let (places, lengths) = spline.lengths();
        Self { spline, places, lengths }
    }

    fn length(&self) -> f64 {
        self.lengths[self.lengths.len() - 1]
    }

    /// Points at the lengths `s`, whose first and last are the ends of the line.
    fn at(&self, s: &[f64]) -> Vec<[f64; 2]> {
        let Self { spline, places, lengths } = self;
        let node = |d: &f64| {
            let k = lengths.partition_point(|length| length < d).clamp(1, lengths.len() - 1);
            let share = (d - lengths[k - 1]) / (lengths[k] - lengths[k - 1]);
            spline.point(places[k - 1] + share * (places[k] - places[k - 1]))
        };
        let mut nodes: Vec<[f64; 2]> = s.iter().map(node).collect();
        let (last, ends) = (nodes.len() - 1, &spline.points);
        (nodes[0], nodes[last]) = (ends[0], ends[ends.len() - 1]);
        nodes
    }
}

/// A cubic spline with given directions at its ends, or without curvature at its last point.
struct Clamped {
    knots: Vec<f64>,
    points: Vec<[f64; 2]>,
    /// Second derivative at each knot.
    second: Vec<[f64; 2]>,
}

impl Clamped {
    fn new(
        knots: Vec<f64>,
        points: Vec<[f64; 2]>,
        (direction, end): ([f64; 2], Option<[f64; 2]>),
    ) -> Self {
        let n = points.len();
        let slope = |k: usize| {
            let h = knots[k + 1] - knots[k];
            difference(points[k + 1], points[k]).map(|c| c / h)
        };
        // Row k: lower (k − 1), 2 (lower + upper) k, upper (k + 1), of which the first has no lower part.
        let mut upper = vec![0.0; n];
        let mut second = vec![[0.0; 2]; n];
        for k in 0..n {
            let (after, h) = match end {
                _ if k + 1 < n => (slope(k), knots[k + 1] - knots[k]),
                Some(end) => (end, 0.0),
                None => break,
            };
            let (lower, before) =
                if k == 0 { (0.0, direction) } else { (knots[k] - knots[k - 1], slope(k - 1)) };
            let (past, known) =
                if k == 0 { (0.0, [0.0; 2]) } else { (upper[k - 1], second[k - 1]) };
            let pivot = 2.0 * (lower + h) - lower * past;
            upper[k] = h / pivot;
            second[k] = [0, 1].map(|c| (6.0 * (after[c] - before[c]) - lower * known[c]) / pivot);
        }
        for k in (0..n - 1).rev() {
            second[k] = [0, 1].map(|c| second[k][c] - upper[k] * second[k + 1][c]);
        }
        Self { knots, points, second }
    }

    fn point(&self, t: f64) -> [f64; 2] {
        let k = self.knots.partition_point(|knot| *knot <= t).clamp(1, self.knots.len() - 1) - 1;
        let h = self.knots[k + 1] - self.knots[k];
        let b = (t - self.knots[k]) / h;
        let a = 1.0 - b;
        [0, 1].map(|c| {
            let [bend_a, bend_b] = [self.second[k][c], self.second[k + 1][c]];
            let bend = (a * a * a - a) * bend_a + (b * b * b - b) * bend_b;
            a * self.points[k][c] + b * self.points[k + 1][c] + bend * h * h / 6.0
        })
    }

    /// Parameters at equal parts of all intervals, and the length of the curve up to each.
    fn lengths(&self) -> (Vec<f64>, Vec<f64>) {
        let mut places = vec![0.0];
        for ends in self.knots.windows(2) {
            let part = |part: usize| ends[0] + (ends[1] - ends[0]) * part as f64 / PARTS as f64;
            places.extend((1..=PARTS).map(part));
        }
        let nodes: Vec<[f64; 2]> = places.iter().map(|t| self.point(*t)).collect();
        let lengths = chord_lengths(&nodes);
        (places, lengths)
    }
}
