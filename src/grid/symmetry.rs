//! Grids that are symmetric in the solution and nearly so in its digits.

use super::Grid;
use super::initial::FAR_FIELD_CENTRE;
use rayon::prelude::*;

/// Distance from symmetry, in chords, up to which a wall is symmetric.
const TOLERANCE: f64 = 1e-12;

/// A line of symmetry of a grid in its own frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Symmetry {
    /// About y = 0: node (ni − 1 − i, j) is at (x, −y) of node (i, j).
    UpDown,
    /// About x = 0.5: node (ni − 1 − i, j) is at (1 − x, y).
    LeftRight,
}

impl Symmetry {
    /// The symmetry of the line j = 0, if it has one.
    #[must_use]
    pub fn of_wall(grid: &Grid) -> Option<Self> {
        let holds = |symmetry: Self| {
            (0..=grid.ni / 2).all(|i| {
                let (a, b) = (grid.point(i, 0), symmetry.mirrored(grid.point(grid.ni - 1 - i, 0)));
                (a[0] - b[0]).abs().max((a[1] - b[1]).abs()) <= TOLERANCE
            })
        };
        [Self::UpDown, Self::LeftRight].into_iter().find(|&symmetry| holds(symmetry))
    }

    fn mirrored(self, [x, y]: [f64; 2]) -> [f64; 2] {
        match self {
            Self::UpDown => [x, -y],
            Self::LeftRight => [2.0 * FAR_FIELD_CENTRE[0] - x, y],
        }
    }

    fn on_line(self, [x, y]: [f64; 2]) -> [f64; 2] {
        match self {
            Self::UpDown => [x, 0.0],
            Self::LeftRight => [FAR_FIELD_CENTRE[0], y],
        }
    }

    /// Replaces each node and its mirror image by their mean, mirrored.
    ///
    /// The equations of a symmetric wall have a symmetric solution; iterations that stop at a
    /// residual, and sweeps that run one way, leave their mark in the digits below it. The mean is
    /// as near to the solution, or nearer.
    pub fn restore(self, grid: &mut Grid) {
        let ni = grid.ni;
        let rows = grid.x.par_chunks_mut(ni).zip(grid.y.par_chunks_mut(ni));
        rows.for_each(|(x, y)| {
            for i in 0..ni.div_ceil(2) {
                let m = ni - 1 - i;
                let (a, b) = ([x[i], y[i]], [x[m], y[m]]);
                if a.map(f64::to_bits) == b.map(f64::to_bits) {
                    // The middle column and the two copies of a seam are their own images.
                    [x[i], y[i]] = self.on_line(a);
                    [x[m], y[m]] = self.on_line(a);
                } else {
                    let image = self.mirrored(b);
                    let mean = [0, 1].map(|c| 0.5 * (a[c] + image[c]));
                    [x[i], y[i]] = mean;
                    [x[m], y[m]] = self.mirrored(mean);
                }
            }
        });
    }
}
