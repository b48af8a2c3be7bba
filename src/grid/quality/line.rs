//! Measures of lines: the cells of a boundary layer, and waves of the lines of constant j.

use super::{WallLine, larger, right_angles_from_right};
use crate::geometry::vector::{cross, difference, distance, dot};
use crate::grid::{Grid, Topology};

/// Lines with waves above this many degrees are counted.
const WAVY_DEG: f64 = 1.0;

/// Reynolds number of a chord below which its boundary layer counts as laminar, as on a flat plate.
pub const TRANSITION: f64 = 5e5;

/// Estimated thickness of the boundary layer at the trailing edge, in chords: that of a flat plate, turbulent, 0.37/Re^(1/5),
/// from [`TRANSITION`] on, laminar, 5/√Re, below (H. Schlichting, Boundary-Layer Theory, 7th ed. 1979, chapter 7 and eq. 21.8).
pub fn boundary_layer_thickness(reynolds: f64) -> f64 {
    if reynolds < TRANSITION { 5.0 / reynolds.sqrt() } else { 0.37 * reynolds.powf(-0.2) }
}

/// Cells within a boundary layer of [`boundary_layer_thickness`], of the line from the wall that has fewest; the
/// chord is the length of the wall in x.
pub fn boundary_layer_cells(grid: &Grid, wall: WallLine, reynolds: f64) -> usize {
    let x = &grid.x[wall.from..=wall.to];
    let ends = [f64::min, f64::max].map(|end| x.iter().copied().fold(x[0], end));
    let thickness = boundary_layer_thickness(reynolds) * (ends[1] - ends[0]);
    let cells = |i: usize| {
        let mut s = 0.0;
        let within = |j: &usize| {
            s += distance(grid.point(i, *j), grid.point(i, j + 1));
            s <= thickness
        };
        (0..grid.nj - 1).take_while(within).count()
    };
    (wall.from..=wall.to).map(cells).min().unwrap_or(0)
}

/// Turning of the line j to the left and to the right, both positive, in degrees, summed over its inner
/// points.
pub(super) fn row_turning(grid: &Grid, j: usize) -> [f64; 2] {
    let [mut left, mut right] = [0.0; 2];
    let mut before = difference(grid.point(1, j), grid.point(0, j));
    for i in 1..grid.ni - 1 {
        let after = difference(grid.point(i + 1, j), grid.point(i, j));
        let (sine, cosine) = (cross(before, after), dot(before, after));
        if sine < 0.0 {
            right += turn(-sine, cosine);
        } else {
            left += turn(sine, cosine);
        }
        before = after;
    }
    [left, right]
}

/// The angle in [0°, 180°] whose sine and cosine are a positive multiple of these.
fn turn(sine: f64, cosine: f64) -> f64 {
    // The complement has sine and cosine exchanged. A complement below 0° is given as an angle above 270°.
    let angle = right_angles_from_right(cosine, sine);
    90.0 * if cosine < 0.0 { 4.0 - angle } else { angle }
}

/// The largest wave of the lines j ≥ 1 in degrees, and the number of lines above [`WAVY_DEG`], from the
/// turning of all lines to either side, in the order of j. The turning of a line against its own sense is
/// that to the side to which it turns less.
pub(crate) fn waves(topology: Topology, turning: impl Iterator<Item = [f64; 2]>) -> (f64, usize) {
    let mut lines = turning.map(|[left, right]| {
        // The turns of a closed polygon add up to full circles, which gives the turn at the seam.
        let rest = if topology.closed() { right - left } else { 0.0 };
        let seam = rest - 360.0 * (rest / 360.0).round();
        let [left, right] = [left + seam.max(0.0), right + (-seam).max(0.0)];
        if left < right { left } else { right }
    });
    let wall = lines.next().unwrap_or(0.0);
    lines.map(|line| line - wall).fold((0.0, 0), |(largest, wavy), excess| {
        (larger(largest, excess), wavy + usize::from(excess > WAVY_DEG))
    })
}
