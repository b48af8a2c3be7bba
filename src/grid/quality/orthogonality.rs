//! How far cell centres lie off the normals of the faces between them.

use rayon::prelude::*;

use super::cell::cell_corners;
use super::face::{centroid, off_normal};
use super::larger;
use crate::grid::{Grid, Topology};

/// The non-orthogonality of each cell in degrees, `[nj − 1][ni − 1]`: the largest angle, over its
/// faces to other cells, between the face's normal and the line from its centre to the other's.
/// Finite-volume programs judge meshes by it (OpenFOAM's `checkMesh`). Across
/// the seam of an O-grid and the cut of a C-grid cells are neighbours.
#[must_use]
pub fn nonorthogonality(grid: &Grid) -> Vec<f64> {
    let (closed, wake) = match grid.topology {
        Topology::O(_) => (true, 0),
        Topology::Half(_) => (false, 0),
        Topology::C { wake } => (false, wake),
    };
    let columns = grid.ni - 1;
    let rows = grid.nj - 1;
    let centre = |i: usize, j: usize| centroid(&cell_corners(grid, i, j));
    let mut angles = vec![0.0; grid.cells()];
    angles.par_chunks_mut(columns).enumerate().for_each(|(j, row)| {
        for i in 0..columns {
            let here = centre(i, j);
            let corners = cell_corners(grid, i, j);
            let next = if i + 1 < columns { Some(i + 1) } else { closed.then_some(0) };
            if let Some(next) = next {
                let angle = off_normal(here, centre(next, j), [corners[1], corners[2]]);
                row[i] = larger(row[i], angle);
                row[next] = larger(row[next], angle);
            }
            if j + 1 < rows {
                let above = off_normal(here, centre(i, j + 1), [corners[2], corners[3]]);
                row[i] = larger(row[i], above);
            }
            let in_cut = i < wake || i >= columns - wake;
            let below = match j {
                0 => in_cut.then(|| centre(columns - 1 - i, 0)),
                j => Some(centre(i, j - 1)),
            };
            if let Some(below) = below {
                row[i] = larger(row[i], off_normal(here, below, [corners[0], corners[1]]));
            }
        }
    });
    angles
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sheared(slope: f64) -> Grid {
        let mut grid = Grid::new(Topology::C { wake: 0 }, 4, 4);
        for j in 0..4 {
            for i in 0..4 {
                let k = grid.index(i, j);
                (grid.x[k], grid.y[k]) = (i as f64 + slope * j as f64, j as f64);
            }
        }
        grid
    }

    #[test]
    fn rectangles_are_orthogonal() {
        assert!(nonorthogonality(&sheared(0.0)).iter().all(|&angle| angle == 0.0));
    }

    /// Centres above each other lie off by the shear, 45°; those beside each other by the same
    /// angle, because the face leans and the line does not.
    #[test]
    fn parallelograms_are_off_by_their_shear() {
        let angles = nonorthogonality(&sheared(1.0));

        assert!(angles.iter().all(|angle| (angle - 45.0).abs() < 1e-12), "{angles:?}");
    }
}
