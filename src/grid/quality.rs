//! Quality of a grid, computed from its node coordinates alone.
//!
//! All measures are invariant under translation and rotation; angles and ratios are invariant under scaling
//! too. Cells are counter-clockwise quadrilaterals, so a good cell has four positive corner determinants `e_i
//! × e_j`.

mod cell;
mod curved;
mod distribution;
mod interface;
mod line;

pub(crate) use crate::geometry::vector::middle;
pub use cell::{
    CellMeasure, Corners, cell_area, cell_aspect_ratio, cell_corners, cell_skewness,
    distance_from_right, nonorthogonality, right_angles_from_right, smallest_determinant,
};
pub(crate) use cell::{
    centroid, corner_determinants, face_skewness, fill_nonorthogonality, is_folded, off_normal,
    prism_aspect_ratio,
};
pub use curved::{CurvedQuality, MOST_ORDER};
pub(crate) use distribution::order_of;
pub use distribution::{BadCell, percentile, skewness_histogram, worst_cells};
pub use interface::{Interface, interfaces};

use rayon::prelude::*;

use super::boundary::{self, Side};
use super::{FAR_FIELD_CENTRE, Grid, Topology};
use crate::geometry::CORNER_DEGREES;
use crate::geometry::vector::{cross, difference, dot};
use cell::edge_length_squared;
use line::row_turning;
pub(crate) use line::waves;
pub use line::{Growth, TRANSITION, boundary_layer_cells, boundary_layer_thickness, growth};
use std::iter;
use std::ops::Range;

/// The percentile of the skewness that is reported.
pub(crate) const PERCENTILE: f64 = 99.0;

/// The wall on the line j = 0: the points `from` to `to`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WallLine {
    /// First point.
    pub from: usize,
    /// Last point.
    pub to: usize,
    /// True if the last point repeats the first. The two ends of an open wall have no normal.
    pub closed: bool,
}

impl WallLine {
    /// The wall of a grid with `ni` nodes around.
    pub(crate) fn of(topology: Topology, ni: usize) -> Self {
        let wall = topology.wall(ni);
        // A block without a body is measured along its line j = 0.
        let (from, to) = if wall.is_empty() { (0, ni - 1) } else { wall.into_inner() };
        Self { from, to, closed: matches!(topology, Topology::O(_) | Topology::C { .. }) }
    }

    /// The wall of a grid: that of its shape, or of a block the part of the line j = 0 that its file calls so, from the
    /// first to the last node of that.
    pub fn of_grid(grid: &Grid) -> Self {
        let outside = grid.outside.iter().filter(|_| grid.topology == Topology::Rectangle);
        let given = outside.flat_map(|outside| &outside.given);
        let walls = given.filter(|range| range.on.side == Side::Below && range.is_wall());
        let whole = walls.map(|range| range.on.nodes).reduce(|[from, _], [_, to]| [from, to]);
        let own = || Self::of(grid.topology, grid.ni);
        whole.map_or_else(own, |[from, to]| Self { from, to, closed: false })
    }

    /// Number of distinct points.
    pub(crate) fn points(self) -> usize {
        self.to - self.from + usize::from(!self.closed)
    }
}

/// Summary of the quality of a grid. Angles in degrees, lengths in chords.
///
/// A coordinate that is not finite makes the measures that touch it NaN and its cells folded.
#[derive(Debug, Clone, PartialEq, Default, serde::Serialize)]
pub struct Quality {
    /// Cells with a corner determinant that is not positive.
    pub folded_cells: usize,
    /// Smallest corner determinant `e_i × e_j` over all cells.
    pub min_jacobian: f64,
    /// Largest equiangle skewness `max((θ_max − 90)/90, (90 − θ_min)/90)`.
    pub max_skewness: f64,
    /// Cell (i, j) of the largest equiangle skewness.
    pub max_skewness_at: [usize; 2],
    /// 99th percentile of the equiangle skewness.
    pub p99_skewness: f64,
    /// Mean equiangle skewness.
    pub mean_skewness: f64,
    /// Largest angle between the first grid line and the wall normal, corners excluded.
    pub wall_angle_error_max_deg: f64,
    /// Mean angle between the first grid line and the wall normal, corners excluded.
    pub wall_angle_error_mean_deg: f64,
    /// Wall points excluded from both because the wall turns by more than 20° there.
    pub wall_corners: usize,
    /// Smallest distance from the wall to the first node.
    pub first_cell_min: f64,
    /// Largest distance from the wall to the first node.
    pub first_cell_max: f64,
    /// Largest ratio of a cell's longest to its shortest edge. Cells with an edge of length zero are excluded
    /// here and make the growth infinite.
    pub max_aspect_ratio: f64,
    /// Largest ratio of consecutive edge lengths in either direction.
    pub max_growth: f64,
    /// Largest ratio along i only, the pair across the seam left out.
    pub max_growth_i: f64,
    /// Largest ratio along j only.
    pub max_growth_j: f64,
    /// Waves of the lines of constant j: the largest turning of a line against its own sense, minus that of
    /// the line j = 0, in degrees. Around a convex body every line of a good grid is convex.
    pub waves_deg: f64,
    /// Number of lines whose waves exceed 1°.
    pub wavy_lines: usize,
    /// Cells within the estimated boundary layer at the trailing edge, on the line that has fewest; none where
    /// the Reynolds number is unknown.
    pub boundary_layer_cells: Option<usize>,
    /// Smallest distance of an outer node from the far-field centre (0.5, 0).
    pub far_field_min: f64,
    /// Largest distance of an outer node from the far-field centre (0.5, 0).
    pub far_field_max: f64,
}

/// Measures a grid.
///
/// The grid must have at least 2 × 2 nodes. The work is linear in the number of nodes and shared between
/// threads by rows. In addition to the grid, memory is used for one number a cell, for the percentile. The
/// result does not depend on the number of threads.
///
/// Included angles are `atan2(e_next × e_prev, e_next · e_prev)` in [0°, 360°). The percentile
/// interpolates linearly between order statistics. The wall tangent at a point belongs to the
/// parabola through it and its two neighbours, parametrised by chord length.
#[must_use]
pub fn measure(grid: &Grid) -> Quality {
    measure_along(grid, WallLine::of(grid.topology, grid.ni))
}

/// [`measure`] for a grid whose wall is a part of the line j = 0, as on a C-grid, or open, as on half a grid.
#[must_use]
pub fn measure_along(grid: &Grid, line: WallLine) -> Quality {
    let cells_i = grid.ni - 1;
    let mut skewness = vec![0.0; grid.cells()];
    let mut cells = || -> Vec<Quality> {
        let rows = skewness.par_chunks_mut(cells_i).enumerate();
        let scratch = || vec![0.0; cells_i];
        rows.map_init(scratch, |scratch, (j, row)| measure_cell_row(grid, j, row, scratch))
            .collect()
    };
    let lines = || -> Vec<(f64, [f64; 2])> {
        let line = |j| (line::largest_growth(grid, 0, j), row_turning(grid, j));
        (0..grid.nj).into_par_iter().map(line).collect()
    };
    let ((rows, lines), wall) = rayon::join(|| (cells(), lines()), || measure_wall(grid, line));

    // Sums are taken over the rows in order, which gives the same bits for any number of threads.
    let mut all = rows.iter().fold(wall, Quality::join_cells);
    all.p99_skewness = percentile(&skewness, PERCENTILE);
    all.mean_skewness /= grid.cells() as f64;
    all.max_growth_i = lines.iter().map(|(growth, _)| *growth).fold(1.0, larger);
    (all.waves_deg, all.wavy_lines) =
        waves(grid.topology, lines.into_iter().map(|(_, turning)| turning));
    all.max_growth = larger(all.max_growth_i, all.max_growth_j);
    let radius = |i| edge_length_squared(grid.point(i, grid.nj - 1), FAR_FIELD_CENTRE).sqrt();
    for radius in (0..grid.ni).map(radius) {
        all.far_field_min = smaller(all.far_field_min, radius);
        all.far_field_max = larger(all.far_field_max, radius);
    }
    all
}

/// Measures blocks together, with the walls on any of their sides. Measures of one line around a body, the mean error of
/// wall angles, waves, and the distance of the far field, are not made, and are those of no grid.
#[must_use]
pub fn measure_blocks(grids: &[Grid]) -> Quality {
    let all = Quality::of_nothing().joined(0, grids);
    Quality { wall_angle_error_mean_deg: f64::NAN, far_field_max: f64::NAN, ..all }
}

impl Quality {
    /// The quality of no cells and no wall points: the first number replaces extrema, means are sums.
    fn of_nothing() -> Self {
        Self {
            min_jacobian: f64::INFINITY,
            first_cell_min: f64::INFINITY,
            max_aspect_ratio: 1.0,
            max_growth_j: 1.0,
            far_field_min: f64::INFINITY,
            ..Self::default()
        }
    }

    /// The quality of `cells` cells together with blocks, whose walls may be on any side: extremes of all, the mean of
    /// all cells, and the largest 99th percentile.
    pub(crate) fn joined<'g>(
        mut self,
        mut cells: usize,
        blocks: impl IntoIterator<Item = &'g Grid>,
    ) -> Self {
        for block in blocks {
            let side = WallLine { from: 0, to: block.ni - 1, closed: false };
            let own = measure_along(block, side);
            let [here, there] = [cells, block.cells()].map(|cells| cells as f64);
            let mean = (here * self.mean_skewness + there * own.mean_skewness) / (here + there);
            self = self.join_cells(&own);
            self.mean_skewness = mean;
            self.p99_skewness = larger(self.p99_skewness, own.p99_skewness);
            self.max_growth_i = larger(self.max_growth_i, own.max_growth_i);
            self.max_growth = larger(self.max_growth, own.max_growth);
            let walls = block.boundary().into_iter().filter(boundary::Range::is_wall);
            for wall in walls.map(|range| range.on) {
                let [at, inner] = [0, 1].map(|step| move |k| wall.point(block, k, step));
                for k in 1..wall.count() - 1 {
                    let edges = [difference(at(k), at(k - 1)), difference(at(k + 1), at(k))];
                    self.add_first_cell(difference(inner(k), at(k)), Some(edges), corner_tangent());
                }
            }
            cells += block.cells();
        }
        self
    }

    /// Adds a first cell, whose line leaves the wall between the edges before and after. Returns the angle by which it is off
    /// the normal, in degrees; none without edges, and none where the wall turns by more than the angle of this tangent.
    fn add_first_cell(
        &mut self,
        line: [f64; 2],
        edges: Option<[[f64; 2]; 2]>,
        corner: f64,
    ) -> Option<f64> {
        let height = dot(line, line).sqrt();
        self.first_cell_min = smaller(self.first_cell_min, height);
        self.first_cell_max = larger(self.first_cell_max, height);
        let [before, after] = edges?;
        // For a turn beyond 90° the product of the edges is negative.
        if cross(before, after).abs() > corner * dot(before, after) {
            self.wall_corners += 1;
            return None;
        }
        let tangent = tangent(before, after);
        // |90° − angle to the tangent|, on whichever side the line leaves the wall.
        let error = 90.0 * right_angles_from_right(cross(tangent, line).abs(), dot(tangent, line));
        self.wall_angle_error_max_deg = larger(self.wall_angle_error_max_deg, error);
        Some(error)
    }

    /// The quality of `grid`, which this is, together with blocks beside it, whose walls may be on any side: extremes of all,
    /// and mean and 99th percentile of the skewness of all cells.
    #[must_use]
    pub fn with_blocks<'g>(
        self,
        grid: &'g Grid,
        others: impl Iterator<Item = &'g Grid> + Clone,
    ) -> Self {
        let mut all = self.joined(grid.cells(), others.clone());
        let mut skewness = Vec::new();
        for grid in iter::once(grid).chain(others) {
            for j in 0..grid.nj - 1 {
                let known = skewness.len();
                skewness.resize(known + grid.ni - 1, 0.0);
                CellMeasure::Skewness.fill_row(grid, j, &mut skewness[known..]);
            }
        }
        all.p99_skewness = percentile(&skewness, PERCENTILE);
        all
    }

    /// Adds the cells of a row.
    fn join_cells(mut self, row: &Self) -> Self {
        self.folded_cells += row.folded_cells;
        self.min_jacobian = smaller(self.min_jacobian, row.min_jacobian);
        if exceeds(row.max_skewness, self.max_skewness) {
            self.max_skewness = row.max_skewness;
            self.max_skewness_at = row.max_skewness_at;
        }
        self.mean_skewness += row.mean_skewness;
        self.max_aspect_ratio = larger(self.max_aspect_ratio, row.max_aspect_ratio);
        self.max_growth_j = larger(self.max_growth_j, row.max_growth_j);
        self
    }
}

/// Measures the cells of row j; `scratch` has one element per cell.
fn measure_cell_row(grid: &Grid, j: usize, skewness: &mut [f64], scratch: &mut [f64]) -> Quality {
    let mut row = Quality::of_nothing();
    CellMeasure::Skewness.fill_row(grid, j, skewness);
    for (i, skew) in skewness.iter().enumerate() {
        row.mean_skewness += skew;
        if exceeds(*skew, row.max_skewness) {
            row.max_skewness = *skew;
            row.max_skewness_at = [i, j];
        }
    }
    CellMeasure::SmallestDeterminant.fill_row(grid, j, scratch);
    for determinant in scratch.iter() {
        row.folded_cells += usize::from(determinant.is_nan() || *determinant <= 0.0);
        row.min_jacobian = smaller(row.min_jacobian, *determinant);
    }
    CellMeasure::AspectRatio.fill_row(grid, j, scratch);
    for aspect_ratio in scratch.iter().filter(|ratio| ratio.is_finite()) {
        row.max_aspect_ratio = row.max_aspect_ratio.max(*aspect_ratio);
    }
    if j + 2 < grid.nj {
        row.max_growth_j = line::largest_growth(grid, 1, j);
    }
    row
}

/// Cells with a corner determinant e_i × e_j that is not positive (or not a number).
pub fn folds(grid: &Grid) -> usize {
    folds_in(grid, 0..grid.ni - 1)
}

/// Folded cells without those on both sides of the seam of an O-grid.
pub(crate) fn folds_off_seam(grid: &Grid) -> usize {
    if grid.topology.closed() { folds_in(grid, 1..grid.ni - 2) } else { folds(grid) }
}

fn folds_in(grid: &Grid, columns: Range<usize>) -> usize {
    let folded = |i: usize, j: usize| is_folded(&corner_determinants(&cell_corners(grid, i, j)));
    let row = |j: usize| columns.clone().filter(|&i| folded(i, j)).count();
    (0..grid.nj - 1).into_par_iter().map(row).sum()
}

/// `max(a/b, b/a)`, infinite when a length is zero.
#[inline(always)]
fn ratio(a: f64, b: f64) -> f64 {
    let (high, low) = if a < b { (b, a) } else { (a, b) };
    if a == 0.0 || b == 0.0 { f64::INFINITY } else { high / low }
}

/// True if `b` is worse than the largest so far; NaN is the worst and is kept.
fn exceeds(b: f64, a: f64) -> bool {
    b > a || (b.is_nan() && !a.is_nan())
}

/// The larger of two numbers; NaN if either is, unlike [`f64::max`].
pub(crate) fn larger(a: f64, b: f64) -> f64 {
    if exceeds(b, a) { b } else { a }
}

/// The smaller of two numbers; NaN if either is.
pub(crate) fn smaller(a: f64, b: f64) -> f64 {
    -larger(-a, -b)
}

/// Area of all cells, counter-clockwise ones positive.
pub(crate) fn signed_area(grid: &Grid) -> f64 {
    let cell = |cell| cell_area(&cell_corners(grid, cell % (grid.ni - 1), cell / (grid.ni - 1)));
    (0..grid.cells()).map(cell).sum()
}

/// Measures along the wall, in one pass. The angle errors are NaN if every point is a corner or an end.
fn measure_wall(grid: &Grid, line: WallLine) -> Quality {
    // A last point that repeats the first is left out, and every point has two neighbours.
    let points = line.points();
    let corner = corner_tangent();
    let at = |k: usize| grid.point(line.from + k % points, 0);
    let mut smooth = 0_usize;
    let mut wall = Quality::of_nothing();
    for k in 0..points {
        let first_line = difference(grid.point(line.from + k, 1), at(k));
        // An end has a neighbour on one side only.
        let inner = line.closed || (k > 0 && k + 1 < points);
        let edges = || [difference(at(k), at(k + points - 1)), difference(at(k + 1), at(k))];
        if let Some(error) = wall.add_first_cell(first_line, inner.then(edges), corner) {
            wall.wall_angle_error_mean_deg += error;
            smooth += 1;
        }
    }
    if smooth == 0 {
        wall.wall_angle_error_max_deg = f64::NAN;
    }
    wall.wall_angle_error_mean_deg /= smooth as f64;
    wall
}

/// Tangent of the turn above which a wall point has no unique normal: its first line is excluded from the errors of angles.
pub(crate) fn corner_tangent() -> f64 {
    CORNER_DEGREES.to_radians().tan()
}

/// Direction at the middle point of the parabola through three points. With edges a, b of lengths `l_a`,
/// `l_b` it is `a l_b / l_a + b l_a / l_b`.
fn tangent(before: [f64; 2], after: [f64; 2]) -> [f64; 2] {
    let l_before = dot(before, before).sqrt();
    let l_after = dot(after, after).sqrt();
    if l_before == 0.0 || l_after == 0.0 {
        return [before[0] + after[0], before[1] + after[1]];
    }
    let (w_before, w_after) = (l_after / l_before, l_before / l_after);
    [before[0] * w_before + after[0] * w_after, before[1] * w_before + after[1] * w_after]
}
