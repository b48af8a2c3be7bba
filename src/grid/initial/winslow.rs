//! Lines between the wall and a polygon: by transfinite interpolation, and by Winslow's equations.

use super::Outline;
use super::enclosed::Enclosed;
use crate::geometry::vector::{between, difference, distance, dot};
use crate::geometry::{length_shares, turned};
use crate::grid::{Grid, interval_control};

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
