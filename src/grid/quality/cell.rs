//! Measures of one cell, and of all cells of a row on the vector unit.

use super::angle::{distance_from_right, right_angles_from_right};
use crate::geometry::vector::{cross, difference, dot};
use crate::grid::Grid;
use crate::simd::{self, Kernel};

/// Corners of a cell: (i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1).
pub type Corners = [[f64; 2]; 4];

/// Corners of cell (i, j), `i < ni − 1`, `j < nj − 1`.
#[inline(always)]
pub fn cell_corners(grid: &Grid, i: usize, j: usize) -> Corners {
    [grid.point(i, j), grid.point(i + 1, j), grid.point(i + 1, j + 1), grid.point(i, j + 1)]
}

/// Signed area, half the cross product of the diagonals; positive for counter-clockwise corners.
#[inline(always)]
pub fn cell_area(corners: &Corners) -> f64 {
    let [p0, p1, p2, p3] = *corners;
    0.5 * cross(difference(p2, p0), difference(p3, p1))
}

/// Determinants `e_i × e_j` at the four corners, in the order of the corners. The cell is convex
/// and not folded when all four are positive.
#[inline(always)]
pub(crate) fn corner_determinants(corners: &Corners) -> [f64; 4] {
    let mut determinants = [0.0; 4];
    for (k, determinant) in determinants.iter_mut().enumerate() {
        let (next, previous) = corner_edges(corners, k);
        *determinant = cross(next, previous);
    }
    determinants
}

/// Whether a cell with these [`corner_determinants`] is folded: one of them is not positive, or
/// not a number.
#[inline(always)]
pub(crate) fn is_folded(determinants: &[f64; 4]) -> bool {
    !determinants.iter().all(|&determinant| determinant > 0.0)
}

/// Smallest determinant `e_i × e_j` at a corner; NaN if one is.
#[inline(always)]
pub fn smallest_determinant(corners: &Corners) -> f64 {
    let determinants = corner_determinants(corners);
    let [a, b, c, d] = determinants;
    let smallest = least(least(a, b), least(c, d));
    if any_nan(&determinants) { f64::NAN } else { smallest }
}

/// Equiangle skewness `max((θ_max − 90)/90, (90 − θ_min)/90)` of the included angles θ in
/// [0°, 360°): 0 for a rectangle, 1 at an angle of 0° or 180°, above 1 when a corner is reflex.
///
/// Only the angle farthest from 90° is worked out.
#[inline(always)]
pub fn cell_skewness(corners: &Corners) -> f64 {
    let determinants = corner_determinants(corners);
    let mut distances = [0.0; 4];
    let mut worst = (f64::NEG_INFINITY, 0.0, 0.0);
    for k in 0..4 {
        let (next, previous) = corner_edges(corners, k);
        let (determinant, product) = (determinants[k], dot(next, previous));
        distances[k] = distance_from_right(determinant, product);
        let farther = distances[k] > worst.0;
        worst = if farther { (distances[k], determinant, product) } else { worst };
    }
    let (_, determinant, product) = worst;
    let skewness = right_angles_from_right(determinant, product);
    if any_nan(&distances) { f64::NAN } else { skewness }
}

/// Ratio of the longest to the shortest edge; infinite when an edge has length zero.
#[inline(always)]
pub fn cell_aspect_ratio(corners: &Corners) -> f64 {
    let [p0, p1, p2, p3] = *corners;
    let lengths = [
        edge_length_squared(p0, p1),
        edge_length_squared(p1, p2),
        edge_length_squared(p2, p3),
        edge_length_squared(p3, p0),
    ];
    let [a, b, c, d] = lengths;
    let shortest = least(least(a, b), least(c, d));
    let longest = -least(least(-a, -b), least(-c, -d));
    let ratio = (longest / shortest).sqrt();
    let ratio = if shortest == 0.0 { f64::INFINITY } else { ratio };
    if any_nan(&lengths) { f64::NAN } else { ratio }
}

#[inline(always)]
fn any_nan(values: &[f64; 4]) -> bool {
    let [a, b, c, d] = *values;
    a.is_nan() | b.is_nan() | c.is_nan() | d.is_nan()
}

/// The lesser of two numbers, neither NaN: one instruction, which `f64::min` is not.
#[inline(always)]
fn least(a: f64, b: f64) -> f64 {
    if b < a { b } else { a }
}

/// Edges leaving corner k: to the next corner and to the previous one.
#[inline(always)]
fn corner_edges(corners: &Corners, k: usize) -> ([f64; 2], [f64; 2]) {
    let corner = corners[k];
    (difference(corners[(k + 1) % 4], corner), difference(corners[(k + 3) % 4], corner))
}

/// Squared distance of two points.
#[inline(always)]
pub(super) fn edge_length_squared(from: [f64; 2], to: [f64; 2]) -> f64 {
    let edge = difference(to, from);
    dot(edge, edge)
}

/// A measure of a cell that depends on its corners alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CellMeasure {
    /// [`cell_area`].
    Area,
    /// [`cell_skewness`].
    Skewness,
    /// [`cell_aspect_ratio`].
    AspectRatio,
    /// The smallest corner determinant; NaN if one is. A cell is folded where it is not positive.
    SmallestDeterminant,
}

impl CellMeasure {
    /// Measures the cells of row j, to the bits of the function that measures one.
    ///
    /// `values` has one element for each of the `ni − 1` cells.
    pub fn fill_row(self, grid: &Grid, j: usize, values: &mut [f64]) {
        simd::run(Row { measure: self, grid, j, values });
    }
}

/// values ← measure of each cell of row j.
struct Row<'a> {
    measure: CellMeasure,
    grid: &'a Grid,
    j: usize,
    values: &'a mut [f64],
}

impl Kernel for Row<'_> {
    #[inline(always)]
    fn run(self) {
        let Self { measure, grid: &Grid { ni, ref x, ref y, .. }, j, values } = self;
        let n = values.len();
        // As many nodes as the loop reads, for it to have no branch.
        let [x0, x1] = [j, j + 1].map(|j| &x[j * ni..=j * ni + n]);
        let [y0, y1] = [j, j + 1].map(|j| &y[j * ni..=j * ni + n]);
        // Called through a pointer or a closure a measure need not be inlined, and would then be
        // compiled for the oldest processors.
        macro_rules! fill {
            ($of:path) => {
                for i in 0..n {
                    values[i] = $of(&[
                        [x0[i], y0[i]],
                        [x0[i + 1], y0[i + 1]],
                        [x1[i + 1], y1[i + 1]],
                        [x1[i], y1[i]],
                    ]);
                }
            };
        }
        match measure {
            CellMeasure::Area => fill!(cell_area),
            CellMeasure::Skewness => fill!(cell_skewness),
            CellMeasure::AspectRatio => fill!(cell_aspect_ratio),
            CellMeasure::SmallestDeterminant => fill!(smallest_determinant),
        }
    }
}
