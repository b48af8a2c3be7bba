//! Grids whose solution is symmetric, and whose digits are nearly so.

use std::ops::RangeInclusive;

use rayon::prelude::*;

use crate::geometry::GeometryError;

use super::{FAR_FIELD_CENTRE, Grid, Symmetry, Topology};

/// Largest deviation of a symmetric wall from its mirror image, in chords.
const TOLERANCE: f64 = 1e-12;

impl Symmetry {
    /// The symmetry of a closed line of these points.
    ///
    /// # Errors
    /// [`GeometryError::NotSymmetric`] with the point that deviates most, in x or y, from the symmetry to
    /// which the line comes nearest.
    pub(crate) fn of_line(points: &[[f64; 2]]) -> Result<Self, GeometryError> {
        let asymmetry = |symmetry: Self| {
            let pairs = points.iter().zip(points.iter().rev());
            pairs.fold((points[0], 0.0), |(worst, most), (&at, partner)| {
                let image = symmetry.image(*partner);
                let by = (at[0] - image[0]).abs().max((at[1] - image[1]).abs());
                if by > most { (at, by) } else { (worst, most) }
            })
        };
        let [up_down, left_right] = [Self::UpDown, Self::LeftRight].map(asymmetry);
        match (up_down.1 <= TOLERANCE, left_right.1 <= TOLERANCE) {
            (true, _) => Ok(Self::UpDown),
            (false, true) => Ok(Self::LeftRight),
            (false, false) => {
                let (at, by) = if left_right.1 < up_down.1 { left_right } else { up_down };
                Err(GeometryError::NotSymmetric { at, by })
            }
        }
    }

    /// The mirror image of a node. The image of y = 0 is negative zero, as in the kernels.
    fn image(self, [x, y]: [f64; 2]) -> [f64; 2] {
        match self {
            Self::UpDown => [x, -y],
            Self::LeftRight => self.mirrored([x, y], FAR_FIELD_CENTRE),
        }
    }

    /// Replaces each node and its mirror image by their mean, mirrored.
    ///
    /// The equations of a symmetric wall have a symmetric solution. Iterations that stop at a residual, and
    /// sweeps in one direction, break the symmetry in the digits below it. The mean is at least as near to
    /// the solution.
    pub fn restore(self, grid: &mut Grid) {
        let ni = grid.ni;
        let rows = grid.x.par_chunks_mut(ni).zip(grid.y.par_chunks_mut(ni));
        rows.for_each(|(x, y)| {
            for i in 0..ni.div_ceil(2) {
                let m = ni - 1 - i;
                let (a, b) = ([x[i], y[i]], [x[m], y[m]]);
                if a.map(f64::to_bits) == b.map(f64::to_bits) {
                    // Nodes of the middle column and of the seam, which has two copies, are their own images.
                    let on_line = self.on_line(a, FAR_FIELD_CENTRE);
                    ([x[i], y[i]], [x[m], y[m]]) = (on_line, on_line);
                } else {
                    let image = self.image(b);
                    let mean = [0, 1].map(|c| 0.5 * (a[c] + image[c]));
                    [x[i], y[i]] = mean;
                    [x[m], y[m]] = self.image(mean);
                }
            }
        });
    }

    /// Columns of a whole grid of `ni` nodes around that belong to its half: those above y = 0, or from the
    /// first to the middle one, which is the right half if the wall starts at the top. The number of nodes is
    /// odd.
    pub(crate) fn kept(self, ni: usize) -> RangeInclusive<usize> {
        let middle = (ni - 1) / 2;
        match self {
            Self::UpDown => middle..=ni - 1,
            Self::LeftRight => 0..=middle,
        }
    }

    /// Half of an O-grid with this symmetry and an odd number of nodes around.
    ///
    /// On the plane of symmetry the equations of the whole grid have mirrored neighbours, so the half grid
    /// solves its own equations with mirror images beyond its ends.
    pub fn half(self, whole: &Grid) -> Grid {
        let columns = self.kept(whole.ni);
        let ni = columns.clone().count();
        let of_rows = |all: &[f64]| -> Vec<f64> {
            all.chunks(whole.ni).flat_map(|row| &row[columns.clone()]).copied().collect()
        };
        let (x, y) = (of_rows(&whole.x), of_rows(&whole.y));
        Grid { topology: Topology::Half(self), ni, nj: whole.nj, x, y, outside: None }
    }
}
