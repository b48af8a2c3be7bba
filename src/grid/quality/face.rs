//! Measures of faces and cells that finite-volume programs use to judge meshes.

use rayon::prelude::*;

use super::cell::{Corners, cell_area, cell_corners};
use super::larger;
use crate::geometry::vector::{cross, difference, dot, middle};
use crate::grid::Grid;

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
    let [largest, smallest] = [
        areas.iter().copied().fold(0.0, f64::max),
        areas.iter().copied().fold(f64::INFINITY, f64::min),
    ];
    let sum: f64 = areas.iter().sum();
    (largest / smallest).max(sum / (6.0 * (area * depth).powf(2.0 / 3.0)))
}

/// Normal of an edge, to its right and of the same length.
fn normal([start, end]: [[f64; 2]; 2]) -> [f64; 2] {
    let edge = difference(end, start);
    [edge[1], -edge[0]]
}
