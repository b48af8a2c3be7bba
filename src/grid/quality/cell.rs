//! Measures of cells and of the faces between them: those of one cell, of all cells of a row by vector
//! instructions, and those that finite-volume programs use to judge meshes.

use rayon::prelude::*;

use super::larger;
use crate::geometry::vector::{cross, difference, dot, middle};
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

/// Determinants `e_i × e_j` at the four corners, in the order of the corners. If all four are positive, the
/// cell is convex and not folded.
#[inline(always)]
pub(crate) fn corner_determinants(corners: &Corners) -> [f64; 4] {
    let mut determinants = [0.0; 4];
    for (k, determinant) in determinants.iter_mut().enumerate() {
        let (next, previous) = corner_edges(corners, k);
        *determinant = cross(next, previous);
    }
    determinants
}

/// True if a cell with these [`corner_determinants`] is folded: one of them is not positive, or not a number.
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
/// Only the angle farthest from 90° is computed.
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

/// The smaller of two numbers, neither of which is NaN. This is a single instruction, unlike `f64::min`.
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

#[inline(always)]
pub(super) fn edge_length_squared(from: [f64; 2], to: [f64; 2]) -> f64 {
    let edge = difference(to, from);
    dot(edge, edge)
}

// Distance of an angle θ in [0°, 360°) from a right angle, in operations that have vector instructions. θ is
// given by its sine and cosine up to a common positive factor. If both are zero, as at an edge without
// length, θ counts as 0°.

/// A number that rises with |θ − 90°|: the distance along the sides of a square instead of a circle.
#[inline(always)]
pub fn distance_from_right(sine: f64, cosine: f64) -> f64 {
    let size = sine.abs() + cosine.abs();
    let beside = cosine.abs() / size;
    let behind = 2.0 + cosine / size;
    let distance = if sine < 0.0 { behind } else { beside };
    if size == 0.0 { 1.0 } else { distance }
}

/// |θ − 90°| / 90°, to 4e-16.
#[inline(always)]
pub fn right_angles_from_right(sine: f64, cosine: f64) -> f64 {
    let (along, across) = (sine.abs(), cosine.abs());
    // The argument of atan is reduced to ±tan 22.5° by subtracting 0, 1 or 2 times 45° from the angle.
    let middle = across > TAN_22_5 * along;
    let steep = across > TAN_67_5 * along;
    let (numerator, denominator) =
        if middle { (across - along, across + along) } else { (across, along) };
    let (numerator, denominator) = if steep { (-along, across) } else { (numerator, denominator) };
    let base = if middle { 0.5 } else { 0.0 };
    let base = if steep { 1.0 } else { base };
    let quarter = base + std::f64::consts::FRAC_2_PI * small_atan(numerator / denominator);
    let quarter = if denominator == 0.0 { 1.0 } else { quarter };
    // Beyond 180° the distance continues to rise: θ = 180° has 90°, θ = 270° has 180°.
    let behind = if cosine > 0.0 { 2.0 + quarter } else { 2.0 - quarter };
    if sine < 0.0 { behind } else { quarter }
}

const TAN_22_5: f64 = std::f64::consts::SQRT_2 - 1.0;
const TAN_67_5: f64 = std::f64::consts::SQRT_2 + 1.0;

/// atan t for |t| ≤ tan 22.5°: t times a polynomial in t². Chebyshev fit of degree 10 to atan(√z)/√z over 0 ≤
/// z ≤ tan² 22.5°, computed with 40 digits; the error is below 4e-17.
#[inline(always)]
fn small_atan(t: f64) -> f64 {
    let z = t * t;
    t * ATAN.iter().rev().fold(0.0, |sum, c| sum * z + c)
}

const ATAN: [f64; 11] = [
    1.0,
    -0.333_333_333_333_284_35,
    0.199_999_999_988_541_68,
    -0.142_857_141_809_006_47,
    0.111_111_061_773_752_27,
    -0.090_907_730_032_408_28,
    0.076_899_524_882_330_16,
    -0.066_402_251_735_395,
    0.056_883_034_036_332_5,
    -0.043_479_198_390_465_37,
    0.021_133_752_033_748_364,
];

/// A measure of a cell that depends on its corners alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CellMeasure {
    /// [`cell_area`].
    Area,
    /// [`cell_skewness`].
    Skewness,
    /// [`cell_aspect_ratio`].
    AspectRatio,
    /// [`smallest_determinant`]. A cell is folded if it is not positive.
    SmallestDeterminant,
}

impl CellMeasure {
    /// Measures the cells of row j, with the same bits as the function that measures one cell.
    ///
    /// `values` has one element for each of the `ni − 1` cells.
    pub fn fill_row(self, grid: &Grid, j: usize, values: &mut [f64]) {
        simd::run(CellRow { measure: self, grid, j, values });
    }
}

/// values ← measure of each cell of row j.
struct CellRow<'a> {
    measure: CellMeasure,
    grid: &'a Grid,
    j: usize,
    values: &'a mut [f64],
}

impl Kernel for CellRow<'_> {
    #[inline(always)]
    fn run(self) {
        let Self { measure, grid: &Grid { ni, ref x, ref y, .. }, j, values } = self;
        let n = values.len();
        // The slices have exactly the nodes that the loop reads, so it needs no bounds checks.
        let [x0, x1] = [j, j + 1].map(|j| &x[j * ni..=j * ni + n]);
        let [y0, y1] = [j, j + 1].map(|j| &y[j * ni..=j * ni + n]);
        // A measure called through a pointer or a closure would not be inlined, and then be compiled for the
        // oldest processors.
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

/// The non-orthogonality of each cell in degrees, `[nj − 1][ni − 1]`: the largest angle, over its faces
/// shared with other cells, between the face's normal and the line from its centre to the other's.
/// Finite-volume programs judge meshes by it (OpenFOAM's `checkMesh`). Cells on both sides of the seam of an
/// O-grid or of the cut of a C-grid are neighbours.
#[must_use]
pub fn nonorthogonality(grid: &Grid) -> Vec<f64> {
    let mut angles = vec![0.0; grid.cells()];
    let rows = angles.par_chunks_mut(grid.ni - 1).enumerate();
    rows.for_each(|(j, row)| fill_nonorthogonality(grid, j, row));
    angles
}

/// [`nonorthogonality`] of the cells of row j.
pub(crate) fn fill_nonorthogonality(grid: &Grid, j: usize, row: &mut [f64]) {
    let (closed, wake) = (grid.topology.closed(), grid.topology.cut());
    let columns = grid.ni - 1;
    let centre = |i: usize, j: usize| centroid(&cell_corners(grid, i, j));
    row.fill(0.0);
    for i in 0..columns {
        let here = centre(i, j);
        let corners = cell_corners(grid, i, j);
        let next = if i + 1 < columns { Some(i + 1) } else { closed.then_some(0) };
        if let Some(next) = next {
            let angle = off_normal(here, centre(next, j), [corners[1], corners[2]]);
            row[i] = larger(row[i], angle);
            row[next] = larger(row[next], angle);
        }
        if j + 2 < grid.nj {
            let above = off_normal(here, centre(i, j + 1), [corners[2], corners[3]]);
            row[i] = larger(row[i], above);
        }
        let in_cut = i < wake || i >= columns - wake;
        let below = match j {
            0 => in_cut.then(|| centre(columns - 1 - i, 0)),
            j => Some(centre(i, j - 1)),
        };
        if let Some(below) = below {
            row[i] = larger(row[i], off_normal(here, below, [corners[0], corners[1]]));
        }
    }
}

/// Centre of area; for a cell without area, the mean of its corners.
pub(crate) fn centroid(corners: &Corners) -> [f64; 2] {
    let [a, b, c, d] = *corners;
    let area = |p, q, r| cross(difference(q, p), difference(r, p));
    let (first, second) = (area(a, b, c), area(a, c, d));
    let total = first + second;
    std::array::from_fn(|k| {
        if total == 0.0 {
            0.25 * (a[k] + b[k] + c[k] + d[k])
        } else {
            // Computed relative to a corner, so that cells far from the origin lose no digits.
            let off = |p: [f64; 2], q: [f64; 2]| (p[k] - a[k] + (q[k] - a[k])) / 3.0;
            a[k] + (first * off(b, c) + second * off(c, d)) / total
        }
    })
}

/// Angle in degrees between the line from one centre to the other and the outward normal of the edge between
/// them. The edge runs counter-clockwise around the first centre.
pub(crate) fn off_normal(from: [f64; 2], to: [f64; 2], edge: [[f64; 2]; 2]) -> f64 {
    let normal = normal(edge);
    let line = difference(to, from);
    cross(normal, line).abs().atan2(dot(normal, line)).to_degrees()
}

/// The distance by which the line from one centre to the other misses the middle m of the edge between them, over
/// the reach of the edge in that direction.
///
/// With the normal s of the edge, c and e the centres and d = e − c, the line misses m by v = m − c − d s·(m
/// − c)/(s·d). |v| is divided by |(b − a)·v|/(2 |v|), a and b being the ends of the edge, or by 0.2 |d| if
/// that is larger. On a boundary, without a second centre, d is the part of m − c along s, and 0.4 |d|
/// replaces 0.2 |d|. Source: OpenFOAM 1912, `faceSkewness` and `boundaryFaceSkewness` in
/// `primitiveMeshTools.C`.
pub(crate) fn face_skewness(from: [f64; 2], to: Option<[f64; 2]>, edge: [[f64; 2]; 2]) -> f64 {
    let [start, end] = edge;
    let normal = normal(edge);
    let to_middle = difference(middle(start, end), from);
    let across = dot(normal, to_middle);
    let (line, least) = match to {
        Some(to) => (difference(to, from), 0.2),
        None => (normal.map(|c| across / dot(normal, normal) * c), 0.4),
    };
    let miss = difference(to_middle, line.map(|c| across / dot(normal, line) * c));
    let length = dot(miss, miss).sqrt();
    if length == 0.0 {
        return 0.0;
    }
    let reach = 0.5 * dot(difference(end, start), miss).abs() / length;
    length / reach.max(least * dot(line, line).sqrt())
}

/// Aspect ratio of the prism on a cell: the largest over the smallest of the sums of its face areas,
/// projected onto the coordinate planes.
///
/// Without a `depth` the two planes along z count. With one, the third counts too, and the
/// sum of the three over 6 V^(2/3), V being the volume, counts if that is more. Source: OpenFOAM 1912,
/// `cellClosedness` in `primitiveMeshTools.C`.
pub(crate) fn prism_aspect_ratio(corners: &Corners, depth: Option<f64>) -> f64 {
    let sum = |k: usize| -> f64 {
        (0..4).map(|corner| (corners[(corner + 1) % 4][k] - corners[corner][k]).abs()).sum()
    };
    let (along_x, along_y) = (sum(0), sum(1));
    let Some(depth) = depth else {
        return along_x.max(along_y) / along_x.min(along_y);
    };
    let area = cell_area(corners).abs();
    let areas = [depth * along_y, depth * along_x, 2.0 * area];
    let largest = areas.iter().copied().fold(0.0, f64::max);
    let smallest = areas.iter().copied().fold(f64::INFINITY, f64::min);
    let sum: f64 = areas.iter().sum();
    (largest / smallest).max(sum / (6.0 * (area * depth).powf(2.0 / 3.0)))
}

/// Normal of an edge, to its right and of the same length.
fn normal([start, end]: [[f64; 2]; 2]) -> [f64; 2] {
    let edge = difference(end, start);
    [edge[1], -edge[0]]
}
