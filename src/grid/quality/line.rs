//! Measures of lines: the cells of a boundary layer, waves of the lines of constant j, and the growth of
//! neighbouring cells.

use std::cmp::Reverse;

use rayon::prelude::*;

use super::cell::edge_length_squared;
use super::{PERCENTILE, WallLine, larger, percentile, ratio, right_angles_from_right};
use crate::geometry::vector::{cross, difference, distance, dot};
use crate::grid::{Grid, Topology};
use crate::simd::{self, Kernel};

/// Lines with waves above this many degrees are counted.
const WAVY_DEG: f64 = 1.0;

/// Reynolds number of a chord below which its boundary layer counts as laminar, as on a flat plate.
pub const TRANSITION: f64 = 5e5;

/// Estimated thickness of the boundary layer at the trailing edge, in chords: that of a flat plate, turbulent, 0.37/Re^(1/5),
/// from [`TRANSITION`] on, laminar, 5/√Re, below (H. Schlichting, Boundary-Layer Theory, 7th ed. 1979, chapter 7 and eq. 21.8).
pub fn boundary_layer_thickness(reynolds: f64) -> f64 {
    if reynolds < TRANSITION { 5.0 / reynolds.sqrt() } else { 0.37 * reynolds.powf(-0.2) }
}

/// Cells within a boundary layer of [`boundary_layer_thickness`], of the line from the wall that has fewest; the
/// chord is the length of the wall in x.
pub fn boundary_layer_cells(grid: &Grid, wall: WallLine, reynolds: f64) -> usize {
    let x = &grid.x[wall.from..=wall.to];
    let ends = [f64::min, f64::max].map(|end| x.iter().copied().fold(x[0], end));
    let thickness = boundary_layer_thickness(reynolds) * (ends[1] - ends[0]);
    let cells = |i: usize| {
        let mut s = 0.0;
        let within = |j: &usize| {
            s += distance(grid.point(i, *j), grid.point(i, j + 1));
            s <= thickness
        };
        (0..grid.nj - 1).take_while(within).count()
    };
    (wall.from..=wall.to).map(cells).min().unwrap_or(0)
}

/// Turning of the line j to the left and to the right, both positive, in degrees, summed over its inner
/// points.
pub(super) fn row_turning(grid: &Grid, j: usize) -> [f64; 2] {
    let [mut left, mut right] = [0.0; 2];
    let mut before = difference(grid.point(1, j), grid.point(0, j));
    for i in 1..grid.ni - 1 {
        let after = difference(grid.point(i + 1, j), grid.point(i, j));
        let (sine, cosine) = (cross(before, after), dot(before, after));
        if sine < 0.0 {
            right += turn(-sine, cosine);
        } else {
            left += turn(sine, cosine);
        }
        before = after;
    }
    [left, right]
}

/// The angle in [0°, 180°] whose sine and cosine are a positive multiple of these.
fn turn(sine: f64, cosine: f64) -> f64 {
    // The complement has sine and cosine exchanged. A complement below 0° is given as an angle above 270°.
    let angle = right_angles_from_right(cosine, sine);
    90.0 * if cosine < 0.0 { 4.0 - angle } else { angle }
}

/// The largest wave of the lines j ≥ 1 in degrees, and the number of lines above [`WAVY_DEG`], from the
/// turning of all lines to either side, in the order of j. The turning of a line against its own sense is
/// that to the side to which it turns less.
pub(crate) fn waves(topology: Topology, turning: impl Iterator<Item = [f64; 2]>) -> (f64, usize) {
    let mut lines = turning.map(|[left, right]| {
        // The turns of a closed polygon add up to full circles, which gives the turn at the seam.
        let rest = if topology.closed() { right - left } else { 0.0 };
        let seam = rest - 360.0 * (rest / 360.0).round();
        let [left, right] = [left + seam.max(0.0), right + (-seam).max(0.0)];
        if left < right { left } else { right }
    });
    let wall = lines.next().unwrap_or(0.0);
    lines.map(|line| line - wall).fold((0.0, 0), |(largest, wavy), excess| {
        (larger(largest, excess), wavy + usize::from(excess > WAVY_DEG))
    })
}

/// Growth of consecutive edges along i or along j.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Growth {
    /// Largest ratio of two consecutive edges, the longer over the shorter.
    pub largest: f64,
    /// Node i, j between these two.
    pub node: [usize; 2],
    /// Its place, in the unit of the grid.
    pub at: [f64; 2],
    /// 99th percentile of the ratios.
    pub p99: f64,
}

/// Growth along i, without the pair across a seam, and along j. None for a grid without inner nodes.
pub fn growth(grid: &Grid) -> Option<[Growth; 2]> {
    (grid.ni > 2 && grid.nj > 2).then(|| [0, 1].map(|direction| growth_along(grid, direction)))
}

/// Largest ratio, at least 1, of consecutive edges of the line j, without the pair across the seam (`direction` 0), or of the
/// edges from there along j (1).
pub(super) fn largest_growth(grid: &Grid, direction: usize, j: usize) -> f64 {
    let mut ratios = vec![0.0; [grid.ni - 2, grid.ni][direction]];
    GrowthRow::fill(grid, direction, j, &mut ratios);
    ratios.into_iter().fold(1.0, larger)
}

/// Growth along i (`direction` 0) or j (1).
fn growth_along(grid: &Grid, direction: usize) -> Growth {
    let mut size = [grid.ni, grid.nj];
    size[direction] -= 2;
    let columns = size[0];
    let mut ratios = vec![0.0; columns * size[1]];
    let rows = ratios.par_chunks_mut(columns).enumerate();
    let of_rows = rows.map(|(j, ratios)| (GrowthRow::fill(grid, direction, j, ratios), Reverse(j)));
    let (most, Reverse(j)) = of_rows.max().unwrap_or_default();
    // The first of the largest.
    let row = &ratios[j * columns..][..columns];
    let i = row.iter().position(|&ratio| key(ratio) == most).unwrap_or_default();
    let mut node = [i, j];
    node[direction] += 1;
    let at = grid.point(node[0], node[1]);
    Growth { largest: row[i], node, at, p99: percentile(&ratios, PERCENTILE) }
}

/// A number in the order of [`f64::total_cmp`], of which the largest of a row is found by vector instructions.
#[inline(always)]
fn key(ratio: f64) -> i64 {
    let bits = ratio.to_bits().cast_signed();
    bits ^ (((bits >> 63) as u64) >> 1).cast_signed()
}

/// ratios ← those of the edges from the nodes `first`, `first` + 1, … by `step` and of the next ones, most ← the largest
/// [`key`].
struct GrowthRow<'a> {
    grid: &'a Grid,
    first: usize,
    step: usize,
    ratios: &'a mut [f64],
    most: &'a mut i64,
}

impl<'a> GrowthRow<'a> {
    /// ratios ← those at the nodes of line j along i (`direction` 0) or j (1); returns the largest [`key`].
    fn fill(grid: &'a Grid, direction: usize, j: usize, ratios: &'a mut [f64]) -> i64 {
        let (first, step, mut most) = (j * grid.ni, [1, grid.ni][direction], i64::MIN);
        simd::run(GrowthRow { grid, first, step, ratios, most: &mut most });
        most
    }
}

impl Kernel for GrowthRow<'_> {
    #[inline(always)]
    fn run(self) {
        let Self { grid: Grid { x, y, .. }, first, step, ratios, most } = self;
        let n = ratios.len();
        // The slices have exactly the nodes that the loop reads, so it needs no bounds checks.
        let [x0, x1, x2] = [0, 1, 2].map(|k| &x[first + k * step..][..n]);
        let [y0, y1, y2] = [0, 1, 2].map(|k| &y[first + k * step..][..n]);
        for k in 0..n {
            let node = [x1[k], y1[k]];
            let before = edge_length_squared([x0[k], y0[k]], node);
            ratios[k] = ratio(before, edge_length_squared(node, [x2[k], y2[k]])).sqrt();
        }
        // A number behind a reference would be stored in each turn.
        let mut largest = i64::MIN;
        for k in 0..n {
            let key = key(ratios[k]);
            largest = if key > largest { key } else { largest };
        }
        *most = largest;
    }
}
