//! Angle and height of the first cells on the wall.

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
    let points = line.to - line.from + usize::from(!line.closed);
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
        let (tangent, turn) = tangent_and_turn(before, after);
        if turn > CORNER_TURN_DEG {
            wall.corners += 1;
            continue;
        }
        // |90° − angle to the tangent|; the arc tangent keeps its digits near zero.
        let error =
            dot(tangent, first_line).abs().atan2(cross(tangent, first_line).abs()).to_degrees();
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

/// Direction of the parabola through three points at the middle one, and the turn there in
/// degrees. With edges a, b of lengths `l_a`, `l_b` the direction is `a l_b / l_a + b l_a / l_b`.
fn tangent_and_turn(before: [f64; 2], after: [f64; 2]) -> ([f64; 2], f64) {
    let l_before = dot(before, before).sqrt();
    let l_after = dot(after, after).sqrt();
    if l_before == 0.0 || l_after == 0.0 {
        return ([before[0] + after[0], before[1] + after[1]], 0.0);
    }
    let (w_before, w_after) = (l_after / l_before, l_before / l_after);
    let tangent =
        [before[0] * w_before + after[0] * w_after, before[1] * w_before + after[1] * w_after];
    (tangent, cross(before, after).atan2(dot(before, after)).abs().to_degrees())
}
