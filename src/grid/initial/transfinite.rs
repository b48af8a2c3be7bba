//! Transfinite interpolation between the wall and the outer circle.

use super::{FAR_FIELD_CENTRE, Outline};
use crate::grid::{Grid, Topology};

/// Straight lines from the wall points to equally spaced points of the outer circle:
/// r(i, s) = (1 − s) r_wall + s r_outer, s the relative distance of the layers. It folds where
/// such a line crosses the body, as on cambered sections; the layers' first height is only met
/// where a line leaves the wall at a right angle.
pub(super) fn interpolate(outline: &Outline) -> Grid {
    let ni = outline.x.len();
    let nj = outline.layers.len();
    let end = outline.layers[nj - 1];
    let [cx, cy] = FAR_FIELD_CENTRE;
    let mut grid = Grid::new(Topology::O(outline.seam), ni, nj);
    for (j, layer) in outline.layers.iter().enumerate() {
        let s = layer / end;
        for i in 0..ni {
            let around = (i % (ni - 1)) as f64 / (ni - 1) as f64;
            // Clockwise from the trailing edge.
            let (sin, cos) = (-std::f64::consts::TAU * around).sin_cos();
            let outer = [cx + outline.far_field * cos, cy + outline.far_field * sin];
            let k = grid.index(i, j);
            grid.x[k] = (1.0 - s) * outline.x[i] + s * outer[0];
            grid.y[k] = (1.0 - s) * outline.y[i] + s * outer[1];
        }
    }
    grid
}
