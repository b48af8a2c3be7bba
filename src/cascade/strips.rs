//! First guesses of the strips ahead of and behind the blades: straight lines to points of a plane.

use super::blocks::BladeLine;
use super::{BladePassage, StripEnd};
use crate::geometry::chord_lengths;
use crate::geometry::vector::between;
use crate::grid::{Grid, Seam, Topology};

/// Share of the spacing of the first line in that of the points on the plane; the other part is even.
const OWN_SPACING: f64 = 0.3;

/// The strip ahead: i upwards from b of the O-grid along the nose and the front of the passage to b of the next one, j to the
/// inlet.
pub(super) fn inlet_strip(ring: &BladeLine, passage_block: &Grid, passage: &BladePassage) -> Grid {
    let [_, b, c, _] = ring.corners;
    let nose = ring.points[b..=c].iter().copied();
    let front = (1..passage_block.nj).map(|j| passage_block.point(0, j));
    strip(&nose.chain(front).collect::<Vec<_>>(), passage.inlet)
}

/// The strip behind: i downwards from a of the next O-grid along the rear of the passage and the edge to a, j to the outlet.
pub(super) fn outlet_strip(ring: &BladeLine, passage_block: &Grid, passage: &BladePassage) -> Grid {
    let [a, _, _, d] = ring.corners;
    let rear = (0..passage_block.nj).rev().map(|j| passage_block.point(passage_block.ni - 1, j));
    let edge = ring.points[d + 1..].iter().chain(&ring.points[1..=a]).copied();
    strip(&rear.chain(edge).collect::<Vec<_>>(), passage.outlet)
}

/// Straight lines from a line that rises or falls by a pitch to a plane.
fn strip(line: &[[f64; 2]], plane: StripEnd) -> Grid {
    let last = line.len() - 1;
    let mut grid = Grid::new(Topology::O(Seam::Periodic), last + 1, plane.cells + 1);
    let s = chord_lengths(line);
    let pitch = line[last][1] - line[0][1];
    let mean = |c: usize| line.iter().map(|point| point[c]).sum::<f64>() / line.len() as f64;
    let centre = mean(1) + (plane.x - mean(0)) * plane.angle.to_radians().tan();
    for (i, from) in line.iter().enumerate() {
        let share = OWN_SPACING * s[i] / s[last] + (1.0 - OWN_SPACING) * i as f64 / last as f64;
        let to = [plane.x, centre + pitch * (share - 0.5)];
        for j in 0..=plane.cells {
            grid.set([i, j], between(*from, to, j as f64 / plane.cells as f64));
        }
    }
    grid
}
