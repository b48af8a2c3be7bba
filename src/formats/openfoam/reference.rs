//! What force coefficients refer to.

use crate::grid::{Grid, Symmetry, Topology};

/// Length and place that force coefficients refer to, in the unit of the mesh.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reference {
    /// The chord.
    pub length: f64,
    /// Point that moments are taken about.
    pub centre: [f64; 2],
}

impl Reference {
    /// Those of a grid whose case is not known: the chord from the trailing edge to the point of the
    /// wall that is farthest from it, and its quarter.
    #[must_use]
    pub fn of(grid: &Grid) -> Self {
        let wall = grid.topology.wall(grid.ni);
        let edge = match grid.topology {
            Topology::Half(Symmetry::UpDown) => grid.point(*wall.end(), 0),
            _ => grid.point(*wall.start(), 0),
        };
        let from_edge = |[x, y]: [f64; 2]| (x - edge[0]).hypot(y - edge[1]);
        let points = wall.map(|i| grid.point(i, 0));
        let nose = points.fold(
            edge,
            |nose, point| {
                if from_edge(point) > from_edge(nose) { point } else { nose }
            },
        );
        let centre = [0, 1].map(|c| nose[c] + 0.25 * (edge[c] - nose[c]));
        Self { length: from_edge(nose), centre }
    }
}
