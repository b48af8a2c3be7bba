//! Layers along the lines of a grid in a box.

use rayon::prelude::*;

use super::enclosed::Enclosed;
use super::{Outline, first_heights};
use crate::geometry::vector::{along, between, difference, unit};
use crate::geometry::{chord_lengths, spacing_geometric, spacing_layered, spacing_to_walls};
use crate::grid::Grid;

/// Parts of an interval over which the length of a line is summed.
const PARTS: usize = 8;

/// Growth of the heights at an outer line with walls, from line to line beyond the ends of the walls.
const FADE: f64 = 1.1;

/// Layers along each of the lines: first cells of their height along the normals of the wall, and a constant ratio of the
/// intervals from there, or the layers that are given and then a constant ratio. An outer line with walls has first cells,
/// too, along the normals of its sides.
pub(super) fn layered(outline: &Outline, enclosed: &Enclosed, lines: &Grid) -> Grid {
    let (ni, nj) = (lines.ni, outline.layers.len());
    let base = outline.layers[1] - outline.layers[0];
    let own = || first_heights(outline.topology, outline.x, outline.y, base);
    let heights = outline.heights.map_or_else(own, <[f64]>::to_vec);
    let own_columns = outline.topology.columns(ni);
    // Around a closed line a wall is reached on both ways.
    let around = if outline.topology.closed() { own_columns } else { usize::MAX / 2 };
    let columns: Vec<Vec<[f64; 2]>> = (0..own_columns)
        .into_par_iter()
        .map(|i| {
            let line: Vec<[f64; 2]> = (0..lines.nj).map(|j| lines.point(i, j)).collect();
            let (normal, height) = (outline.normals[i], heights[i]);
            let end = line[lines.nj - 1];
            let opposite = enclosed.wall.as_ref().map(|(least, walls)| {
                let off = |[first, last]: &[usize; 2]| match (i < *first, i > *last) {
                    (true, _) => (first - i).min(i + around - last),
                    (_, true) => (i - last).min(first + around - i),
                    _ => 0,
                };
                let off = walls.iter().map(off).min().unwrap_or_default();
                let own = chord_lengths(&line)[lines.nj - 1] / (nj - 1) as f64;
                let height = own.min(least * FADE.powf(off as f64));
                // Far from walls lines end in the direction that they have.
                let share = if off == 0 { 0.0 } else { (height / least).ln() / (own / least).ln() };
                let back = unit(difference(line[lines.nj - 2], end));
                (between(enclosed.line.inward(end), back, share.clamp(0.0, 1.0)), height)
            });
            let leaves = opposite.map(|(inward, _)| unit(inward).map(|c| -c));
            let mut nodes = respaced(&line, (normal, leaves), |length| {
                let laid = match (enclosed.near, opposite) {
                    (_, Some((_, last))) => spacing_to_walls(nj, [height, last], length),
                    (Some(near), _) => spacing_layered(nj, height, near, length),
                    (None, _) => spacing_geometric(nj, height, length),
                };
                laid.or_else(|_| spacing_geometric(nj, height, length)).unwrap_or_default()
            });
            nodes[1] = along(line[0], normal, height);
            if let Some((inward, last)) = opposite {
                nodes[nj - 2] = along(end, inward, last);
            }
            nodes
        })
        .collect();
    let mut grid = Grid::new(outline.topology, ni, nj);
    for (i, nodes) in columns.iter().cycle().take(ni).enumerate() {
        for (j, node) in nodes.iter().enumerate() {
            let k = grid.index(i, j);
            [grid.x[k], grid.y[k]] = *node;
        }
    }
    grid
}

/// Points at the places `s` along a cubic spline through a line that has these directions at its ends, or no curvature
/// at its last point. `s` gets the length of the line.
fn respaced(
    line: &[[f64; 2]],
    directions: ([f64; 2], Option<[f64; 2]>),
    s: impl Fn(f64) -> Vec<f64>,
) -> Vec<[f64; 2]> {
    // Knots by arc length, from those by chords.
    let (_, lengths) = Clamped::new(chord_lengths(line), line, directions).lengths();
    let knots = lengths.into_iter().step_by(PARTS).collect();
    let spline = Clamped::new(knots, line, directions);
    let (places, lengths) = spline.lengths();
    let laid = s(lengths[lengths.len() - 1]);
    let node = |d: &f64| {
        let k = lengths.partition_point(|length| length < d).clamp(1, lengths.len() - 1);
        let share = (d - lengths[k - 1]) / (lengths[k] - lengths[k - 1]);
        spline.point(places[k - 1] + share * (places[k] - places[k - 1]))
    };
    let mut nodes: Vec<[f64; 2]> = laid.iter().map(node).collect();
    let last = nodes.len() - 1;
    (nodes[0], nodes[last]) = (line[0], line[line.len() - 1]);
    nodes
}

/// A cubic spline with given directions at its ends, or without curvature at its last point.
struct Clamped<'a> {
    knots: Vec<f64>,
    points: &'a [[f64; 2]],
    /// Second derivative at each knot.
    second: Vec<[f64; 2]>,
}

impl<'a> Clamped<'a> {
    fn new(
        knots: Vec<f64>,
        points: &'a [[f64; 2]],
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
        for k in 0..n - 1 {
            let (after, h) = (slope(k), knots[k + 1] - knots[k]);
            let (lower, before) =
                if k == 0 { (0.0, direction) } else { (knots[k] - knots[k - 1], slope(k - 1)) };
            let (past, known) =
                if k == 0 { (0.0, [0.0; 2]) } else { (upper[k - 1], second[k - 1]) };
            let pivot = 2.0 * (lower + h) - lower * past;
            upper[k] = h / pivot;
            second[k] = [0, 1].map(|c| (6.0 * (after[c] - before[c]) - lower * known[c]) / pivot);
        }
        if let Some(end) = end {
            let (lower, before) = (knots[n - 1] - knots[n - 2], slope(n - 2));
            let pivot = 2.0 * lower - lower * upper[n - 2];
            second[n - 1] =
                [0, 1].map(|c| (6.0 * (end[c] - before[c]) - lower * second[n - 2][c]) / pivot);
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
