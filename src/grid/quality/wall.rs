//! Angle and height of the first cells on the wall.

use super::cell::{cross, difference, dot};
use super::{CORNER_TURN_DEG, larger, smaller};
use crate::grid::{Grid, Topology};

/// Measures at the wall j = 0. Angles in degrees, heights in chords.
pub(super) struct WallMeasure {
    pub(super) angle_error_max_deg: f64,
    pub(super) angle_error_mean_deg: f64,
    pub(super) corners: usize,
    pub(super) first_cell_min: f64,
    pub(super) first_cell_max: f64,
}

/// Goes once around the wall. The angle errors are NaN when every point is a corner.
pub(super) fn measure_wall(grid: &Grid) -> WallMeasure {
    // The last column repeats the first: the wall has ni − 1 points, each with two neighbours.
    let Topology::O(_) = grid.topology;
    let points = grid.ni - 1;
    let mut wall = WallMeasure {
        angle_error_max_deg: 0.0,
        angle_error_mean_deg: 0.0,
        corners: 0,
        first_cell_min: f64::INFINITY,
        first_cell_max: 0.0,
    };
    for i in 0..points {
        let point = grid.point(i, 0);
        let before = difference(point, grid.point((i + points - 1) % points, 0));
        let after = difference(grid.point((i + 1) % points, 0), point);
        let line = difference(grid.point(i, 1), point);
        let height = dot(line, line).sqrt();
        wall.first_cell_min = smaller(wall.first_cell_min, height);
        wall.first_cell_max = larger(wall.first_cell_max, height);

        let (tangent, turn) = tangent_and_turn(before, after);
        if turn > CORNER_TURN_DEG {
            wall.corners += 1;
            continue;
        }
        // |90° − angle to the tangent|; the arc tangent keeps its digits near zero.
        let error = dot(tangent, line).abs().atan2(cross(tangent, line).abs()).to_degrees();
        wall.angle_error_max_deg = larger(wall.angle_error_max_deg, error);
        wall.angle_error_mean_deg += error;
    }
    let smooth = points - wall.corners;
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
