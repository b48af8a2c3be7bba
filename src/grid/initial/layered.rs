//! Layers along the lines of a grid in a box.

use rayon::prelude::*;

use super::Outline;
use super::enclosed::Enclosed;
use crate::geometry::vector::{along, difference, unit};
use crate::geometry::{
    chord_lengths, growth_to_walls, last_interval, spacing_geometric, spacing_layered,
    spacing_to_walls,
};
use crate::grid::{Grid, Topology};

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
            let Some(z) = between(walls, i, (columns, closed), growth) else { return *least };
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
        let laid = laid.or_else(|_| spacing_geometric(nj, height, length)).unwrap_or_default();
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
fn between(
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
