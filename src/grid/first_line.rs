//! Heights of the first cells.

use super::Topology;

/// Longest cell of the wake in heights of its first cell. A cell that is as low as those of the wall
/// and many chords long would be 1e7 times as long as high; P0 grows with the square of that, and
/// with 5e6 here Newton stopped short (449 × 129 points, 1.8e-6, far field 500). Less costs solvers
/// more than it gains: where heights grow along the wake, the centres of cells no longer stand above
/// each other.
const ASPECT: f64 = 1e6;

/// Height of the first cell at each of the points (`x`, `y`) of the line j = 0, in chords.
///
/// It is `first_cell` on the body. In the wake it grows with the spacing d of the points from what
/// that is at the trailing edge, d₀,
///
/// ```text
/// h_i = h √(1 + ((d_i − d₀)/(A h))²),   A = 1e6
/// ```
///
/// so that no first cell is longer than about A times its height.
#[must_use]
pub fn first_heights(topology: Topology, x: &[f64], y: &[f64], first_cell: f64) -> Vec<f64> {
    let ni = x.len();
    let Topology::C { wake } = topology else { return vec![first_cell; ni] };
    let interval = |i: usize| (x[i + 1] - x[i]).hypot(y[i + 1] - y[i]);
    // Point k of the cut counted from the trailing edge, the same on both sides. In the outflow the march
    // takes the heights of the neighbour, and so does this.
    let spacing = |k: usize| {
        let i = (wake - k).max(1);
        0.5 * (interval(i - 1) + interval(i))
    };
    let at_edge = interval(wake - 1);
    let height = |i: usize| {
        let from_end = i.min(ni - 1 - i);
        if from_end >= wake {
            return first_cell;
        }
        let growth = (spacing(wake - from_end) - at_edge).max(0.0) / (ASPECT * first_cell);
        first_cell * growth.hypot(1.0)
    };
    (0..ni).map(height).collect()
}
