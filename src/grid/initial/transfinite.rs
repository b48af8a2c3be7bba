//! Transfinite interpolation between the wall and the far field.

use super::{Outline, outer};
use crate::grid::Grid;

/// Straight lines from the points of the wall to evenly spaced ones of the outer line:
/// r(i, s) = (1 − s) r_wall + s r_outer, s the relative distance of the layers. It folds where
/// such a line crosses the body, as on cambered sections; the layers' first height is only met
/// where a line leaves the wall at a right angle.
pub(super) fn interpolate(outline: &Outline) -> Grid {
    let ni = outline.x.len();
    let nj = outline.layers.len();
    let end = outline.layers[nj - 1];
    let mut grid = Grid::new(outline.topology, ni, nj);
    for (j, layer) in outline.layers.iter().enumerate() {
        let s = layer / end;
        for i in 0..ni {
            let outer = outer::spaced(outline, i);
            let k = grid.index(i, j);
            grid.x[k] = (1.0 - s) * outline.x[i] + s * outer[0];
            grid.y[k] = (1.0 - s) * outline.y[i] + s * outer[1];
        }
    }
    grid
}
