//! Angle and height of the first cells on the wall.

use super::angle::right_angles_from_right;
use super::cell::{cross, difference, dot};
use super::{CORNER_TURN_DEG, WallLine, larger, smaller};
use crate::grid::Grid;

/// Measures at the wall j = 0. Angles in degrees, heights in chords.
pub(super) struct WallMeasure {
    pub(super) angle_error_max_deg: f64,
    pub(super) angle_error_mean_deg: f64,
    pub(super) corners: usize,
    pub(super) first_cell_min: f64,
    pub(super) first_cell_max: f64,
}

/// Goes once along the wall. The angle errors are NaN when every point is a corner or an end.
pub(super) fn measure_wall(grid: &Grid, line: WallLine) -> WallMeasure {
    // Where the last point repeats the first it is left out, and every point has two neighbours.
    let points = line.points();
    let corner = corner_tangent();
    let at = |k: usize| grid.point(line.from + k % points, 0);
    let mut smooth = 0_usize;
    let mut wall = WallMeasure {
        angle_error_max_deg: 0.0,
        angle_error_mean_deg: 0.0,
        corners: 0,
        first_cell_min: f64::INFINITY,
        first_cell_max: 0.0,
    };
    for k in 0..points {
        let point = at(k);
        let first_line = difference(grid.point(line.from + k, 1), point);
        let height = dot(first_line, first_line).sqrt();
        wall.first_cell_min = smaller(wall.first_cell_min, height);
        wall.first_cell_max = larger(wall.first_cell_max, height);
        if !line.closed && (k == 0 || k + 1 == points) {
            continue; // An end has a neighbour on one side only.
        }

        let before = difference(point, at(k + points - 1));
        let after = difference(at(k + 1), point);
        // Beyond 90° the product of the edges is negative.
        if cross(before, after).abs() > corner * dot(before, after) {
            wall.corners += 1;
            continue;
        }
        let tangent = tangent(before, after);
        // |90° − angle to the tangent|, on whichever side the line leaves.
        let sine = cross(tangent, first_line).abs();
        let error = 90.0 * right_angles_from_right(sine, dot(tangent, first_line));
        wall.angle_error_max_deg = larger(wall.angle_error_max_deg, error);
        wall.angle_error_mean_deg += error;
        smooth += 1;
    }
    if smooth == 0 {
        wall.angle_error_max_deg = f64::NAN;
    }
    wall.angle_error_mean_deg /= smooth as f64;
    wall
}

/// Tangent of [`CORNER_TURN_DEG`].
pub(crate) fn corner_tangent() -> f64 {
    CORNER_TURN_DEG.to_radians().tan()
}

/// Direction of the parabola through three points at the middle one. With edges a, b of lengths `l_a`,
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
