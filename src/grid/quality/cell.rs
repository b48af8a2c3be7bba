//! Measures of one cell.

use crate::grid::Grid;

/// Corners of a cell: (i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1).
pub type Corners = [[f64; 2]; 4];

/// Corners of cell (i, j), `i < ni − 1`, `j < nj − 1`.
#[inline]
#[must_use]
pub fn cell_corners(grid: &Grid, i: usize, j: usize) -> Corners {
    [grid.point(i, j), grid.point(i + 1, j), grid.point(i + 1, j + 1), grid.point(i, j + 1)]
}

/// Signed area, half the cross product of the diagonals; positive for counter-clockwise corners.
#[inline]
#[must_use]
pub fn cell_area(corners: &Corners) -> f64 {
    let [p0, p1, p2, p3] = *corners;
    0.5 * cross(difference(p2, p0), difference(p3, p1))
}

/// Determinants `e_i × e_j` at the four corners, in the order of the corners. The cell is convex
/// and not folded when all four are positive.
#[inline]
#[must_use]
pub fn corner_determinants(corners: &Corners) -> [f64; 4] {
    std::array::from_fn(|k| {
        let (next, previous) = corner_edges(corners, k);
        cross(next, previous)
    })
}

/// Whether a cell with these [`corner_determinants`] is folded: one of them is not positive, or
/// not a number.
#[inline]
#[must_use]
pub fn is_folded(determinants: &[f64; 4]) -> bool {
    !determinants.iter().all(|&determinant| determinant > 0.0)
}

/// Equiangle skewness `max((θ_max − 90)/90, (90 − θ_min)/90)` of the included angles θ in
/// [0°, 360°): 0 for a rectangle, 1 at an angle of 0° or 180°, above 1 when a corner is reflex.
#[inline]
#[must_use]
pub fn cell_skewness(corners: &Corners) -> f64 {
    skewness_of(corners, &corner_determinants(corners))
}

/// [`cell_skewness`] where the corner determinants are already known. Only the angle farthest from
/// 90° is worked out.
#[inline]
pub(super) fn skewness_of(corners: &Corners, determinants: &[f64; 4]) -> f64 {
    let mut worst = (f64::NEG_INFINITY, 0.0, 0.0);
    for (k, &determinant) in determinants.iter().enumerate() {
        let (next, previous) = corner_edges(corners, k);
        let product = dot(next, previous);
        let distance = distance_from_right(determinant, product);
        if distance.is_nan() {
            return f64::NAN;
        }
        if distance > worst.0 {
            worst = (distance, determinant, product);
        }
    }
    let (_, determinant, product) = worst;
    let angle = determinant.atan2(product).to_degrees();
    let angle = if angle < 0.0 { angle + 360.0 } else { angle };
    ((angle - 90.0) / 90.0).max((90.0 - angle) / 90.0)
}

/// A number that rises with |θ − 90°|, where θ in [0°, 360°) has this sine and cosine up to a common
/// factor: the distance along the sides of a square in place of a circle.
#[inline]
fn distance_from_right(sine: f64, cosine: f64) -> f64 {
    let size = sine.abs() + cosine.abs();
    if size == 0.0 {
        // An edge without length: its angles count as 0°.
        1.0
    } else if sine < 0.0 {
        2.0 + cosine / size
    } else {
        cosine.abs() / size
    }
}

/// Ratio of the longest to the shortest edge; infinite when an edge has length zero.
#[inline]
#[must_use]
pub fn cell_aspect_ratio(corners: &Corners) -> f64 {
    let [p0, p1, p2, p3] = *corners;
    let edges = [(p0, p1), (p1, p2), (p2, p3), (p3, p0)];
    let mut shortest = f64::INFINITY;
    let mut longest: f64 = 0.0;
    for (from, to) in edges {
        let length = edge_length_squared(from, to);
        if length.is_nan() {
            return f64::NAN;
        }
        shortest = shortest.min(length);
        longest = longest.max(length);
    }
    if shortest == 0.0 { f64::INFINITY } else { (longest / shortest).sqrt() }
}

/// Edges leaving corner k: to the next corner and to the previous one.
#[inline]
fn corner_edges(corners: &Corners, k: usize) -> ([f64; 2], [f64; 2]) {
    let corner = corners[k];
    (difference(corners[(k + 1) % 4], corner), difference(corners[(k + 3) % 4], corner))
}

/// Squared distance of two points.
#[inline]
pub(super) fn edge_length_squared(from: [f64; 2], to: [f64; 2]) -> f64 {
    let edge = difference(to, from);
    dot(edge, edge)
}

/// `a − b`.
#[inline]
pub(super) fn difference(a: [f64; 2], b: [f64; 2]) -> [f64; 2] {
    [a[0] - b[0], a[1] - b[1]]
}

/// `a_x b_y − a_y b_x`.
#[inline]
pub(super) fn cross(a: [f64; 2], b: [f64; 2]) -> f64 {
    a[0] * b[1] - a[1] * b[0]
}

/// `a · b`.
#[inline]
pub(super) fn dot(a: [f64; 2], b: [f64; 2]) -> f64 {
    a[0] * b[0] + a[1] * b[1]
}
